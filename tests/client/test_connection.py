"""One connection: versions, order, deadlines, and what strangers at the other end may do to it."""

import socket

import pytest

from tests.client.scripted import Accident, ScriptedBroker
from trivium.client.address import Address
from trivium.client.connection import Connection, arrived, open_connection
from trivium.client.deadline import Deadline
from trivium.client.errors import ClientError, ConnectionLost, TimedOut, Unreachable
from trivium.messages.api.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import encode_response
from trivium.messages.version_range import VersionRange
from trivium.wire.framing import KAFKA_LENGTH, frame
from trivium.wire.limits import FRAME_BYTES_MAX

SOON = 0.05


def connect(broker: ScriptedBroker, seconds: float = 10) -> Connection:
    return open_connection(broker.address, "test", Deadline(seconds))


def heartbeat() -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def metadata(*names: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])


def test_connection_speaks_the_newest_common_version() -> None:
    with ScriptedBroker(
        {HeartbeatRequest: HeartbeatResponse(error_code=27)}, versions={HeartbeatRequest: VersionRange(0, 2)}
    ) as broker:
        answer = connect(broker).call(heartbeat(), HeartbeatResponse, Deadline(10))
        assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
        assert broker.versions == [4, 2]


def test_connection_to_an_older_broker_asks_again_in_its_version() -> None:
    """KIP-511: a broker that does not know our ApiVersions answers in version 0 and says what it knows."""

    def refuse(request: ApiVersionsRequest) -> bytes:
        only = ApiVersion(api_key=18, min_version=0, max_version=2)
        answer = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[only])
        return frame(KAFKA_LENGTH, encode_response(answer, 0, 0))

    known = ApiVersionsResponse(error_code=0, api_keys=[ApiVersion(api_key=12, min_version=0, max_version=3)])
    with ScriptedBroker({ApiVersionsRequest: [refuse, known]}) as broker:
        connection = connect(broker)
        assert broker.versions == [4, 2]
        assert connection.versions.pick(HeartbeatRequest) == 3


def test_connection_takes_answers_in_the_order_of_the_requests() -> None:
    """Mission 003.1 and 001.49: several requests under way, one answer each."""
    with ScriptedBroker(
        {HeartbeatRequest: [HeartbeatResponse(error_code=code) for code in range(5)]}
    ) as broker:
        connection = connect(broker)
        for _ in range(5):
            connection.send(heartbeat(), HeartbeatResponse, Deadline(10))
        assert connection.in_flight == 5
        answers = [connection.receive(Deadline(10)) for _ in range(5)]
        assert [answer.error_code for answer in answers if isinstance(answer, HeartbeatResponse)] == [
            0,
            1,
            2,
            3,
            4,
        ]
        assert connection.in_flight == 0


def test_answers_may_arrive_byte_by_byte() -> None:
    with ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=0)}, chunk_bytes=1) as broker:
        connection = connect(broker)
        assert connection.call(heartbeat(), HeartbeatResponse, Deadline(10)).error_code == 0
        assert connection.call(heartbeat(), HeartbeatResponse, Deadline(10)).error_code == 0


def test_arrived_tells_which_connection_has_an_answer() -> None:
    with (
        ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=0)}) as quick,
        ScriptedBroker({HeartbeatRequest: Accident.SILENCE}) as silent,
    ):
        connections = {1: connect(quick), 2: connect(silent)}
        assert arrived(connections, 0) == []
        for connection in connections.values():
            connection.send(heartbeat(), HeartbeatResponse, Deadline(10))
        assert arrived(connections, 10) == [1]


def test_answer_that_does_not_come_times_out_and_closes() -> None:
    with ScriptedBroker({HeartbeatRequest: Accident.SILENCE}) as broker:
        connection = connect(broker)
        with pytest.raises(TimedOut, match="does not answer in time"):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(SOON))
        assert connection.is_closed


def test_connection_that_ends_is_lost() -> None:
    with ScriptedBroker({HeartbeatRequest: Accident.HANG_UP}) as broker:
        connection = connect(broker)
        with pytest.raises(ConnectionLost, match=r"^The connection to 127\.0\.0\.1:\d+ ended: [^;]+$"):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))
        assert connection.is_closed


def test_peer_that_hangs_up_on_the_first_question_may_want_a_login() -> None:
    with ScriptedBroker({HeartbeatRequest: Accident.HANG_UP}) as broker:
        broker.answer(HeartbeatRequest, Accident.HANG_UP)
        with pytest.raises(ConnectionLost, match=r"without an answer\. Perhaps it wants a login"):
            connect(broker).call(heartbeat(), HeartbeatResponse, Deadline(10))
        broker.answer(HeartbeatRequest, lambda _: HeartbeatResponse(error_code=0), Accident.HANG_UP)
        connection = connect(broker)
        connection.call(heartbeat(), HeartbeatResponse, Deadline(10))
        with pytest.raises(ConnectionLost, match="ended") as lost:
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))
        assert "login" not in str(lost.value)


def test_peer_that_hangs_up_on_the_first_request_may_be_no_kafka() -> None:
    with (
        ScriptedBroker({ApiVersionsRequest: Accident.HANG_UP}) as broker,
        pytest.raises(ConnectionLost, match="before it said a word; check the port"),
    ):
        connect(broker)


def test_answer_to_another_request_is_not_taken() -> None:
    stray = frame(KAFKA_LENGTH, encode_response(HeartbeatResponse(error_code=0), 4, 999))
    with ScriptedBroker({HeartbeatRequest: stray}) as broker:
        connection = connect(broker)
        with pytest.raises(ConnectionLost, match="belongs to request 999, not 1"):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))
        assert connection.is_closed


def test_answer_that_makes_no_sense_is_one_sentence() -> None:
    cut_off = frame(KAFKA_LENGTH, bytes((0, 0, 0, 1)))
    with ScriptedBroker({HeartbeatRequest: cut_off}) as broker:
        connection = connect(broker)
        with pytest.raises(ConnectionLost, match="to Heartbeat makes no sense"):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))


@pytest.mark.parametrize(
    "reply", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x46", b"\0\0\0\2ab"]
)
def test_port_of_another_protocol_is_called_that(reply: bytes) -> None:
    with (
        ScriptedBroker({ApiVersionsRequest: reply}) as broker,
        pytest.raises(ConnectionLost, match="is not Kafka's protocol"),
    ):
        connect(broker)


def test_frame_above_the_limit_is_refused_by_its_length() -> None:
    """S3, on this side of the wire: what a broker announces is not allocated."""
    huge = KAFKA_LENGTH.pack(FRAME_BYTES_MAX + 1)
    with ScriptedBroker({HeartbeatRequest: huge}) as broker:
        connection = connect(broker)
        with pytest.raises(ConnectionLost, match="a frame of 104857601 bytes is announced"):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))


def test_nothing_listening_is_a_sentence_that_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match=rf"^Nothing listens at 127\.0\.0\.1:{port}; start a broker with"):
        open_connection(Address("127.0.0.1", port), "test", Deadline(10))


def test_host_without_an_address_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(Unreachable, match=r"^The host nowhere is not known"):
        open_connection(Address("nowhere", 9092), "test", Deadline(10))


def test_what_the_protocol_cannot_say_is_one_sentence() -> None:
    with ScriptedBroker({MetadataRequest: HeartbeatResponse(error_code=0)}) as broker:
        connection = connect(broker)
        with pytest.raises(ClientError, match="cannot be said in Kafka's protocol"):
            connection.send(metadata("half a character: \ud800"), MetadataResponse, Deadline(10))
        assert connection.in_flight == 0


def test_interrupted_call_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever presses Ctrl-C waits for no answer; the next call must not take it for its own."""
    with ScriptedBroker({HeartbeatRequest: Accident.SILENCE}) as broker:
        connection = connect(broker)

        def interrupt(deadline: Deadline) -> bytes:
            raise KeyboardInterrupt

        monkeypatch.setattr(connection, "_frame", interrupt)
        with pytest.raises(KeyboardInterrupt):
            connection.call(heartbeat(), HeartbeatResponse, Deadline(10))
        assert connection.is_closed


def test_request_without_an_answer_is_not_waited_for() -> None:
    with ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=0)}) as broker:
        connection = connect(broker)
        connection.send(heartbeat(), None, Deadline(10))
        assert connection.in_flight == 0
