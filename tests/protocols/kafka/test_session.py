"""The session as a state machine: order, pieces, and what it does with bytes that are not a request."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.batches import batch, produce
from tests.core.fakes import World
from tests.protocols.kafka.conversation import CLIENT_HOST, HERE, Conversation, protocol_of
from tests.protocols.kafka.data_world import conversation_with, data_world
from trivium.core.commands.records import Produce
from trivium.core.metadata_configs import ConfigType
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.extensions import EXTENSION_KEY_MIN, EXTENSIONS_TAG, ExtensionKey
from trivium.messages.frames import encode_request
from trivium.messages.stored.metadata_topics import ConfigRecord
from trivium.protocols.kafka.session import KafkaSession
from trivium.wire.errors import DecodeError

TELEMETRY = {ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY}

PRODUCE, FETCH, API_VERSIONS = 0, 1, 18
SCRATCH_BYTES = 512


def framed(frame: bytes) -> bytes:
    return struct.pack(">i", len(frame)) + frame


def producing(records: bytes, acks: int = 1) -> ProduceRequest:
    part = PartitionProduceData(index=0, records=records)
    return ProduceRequest(
        acks=acks, timeout_ms=1_000, topic_data=[TopicProduceData(name="t", partition_data=[part])]
    )


class Wire:
    """A session and a small scratch: requests come in pieces of any size."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.wakes = 0
        self.session = KafkaSession(protocol_of(world), CLIENT_HOST, HERE, self._wake)
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))

    def _wake(self) -> None:
        self.wakes += 1

    def feed(self, data: bytes, piece_bytes: int = 1 << 30) -> None:
        at = 0
        while at < len(data):
            space = self.session.space(self._scratch)
            count = min(len(space), piece_bytes, len(data) - at)
            space[:count] = data[at : at + count]
            self.session.received(count, self._scratch)
            at += count

    def sent(self) -> bytes:
        return b"".join(self.session.data_to_send())


# -- order and pieces ----------------------------------------------------------------------------


def correlation_ids(data: bytes) -> list[int]:
    found = []
    while data:
        size, correlation_id = struct.unpack_from(">ii", data)
        found.append(correlation_id)
        data = data[4 + size :]
    return found


@given(st.integers(1, 700))
def test_requests_are_carried_out_whatever_pieces_they_come_in(piece_bytes: int) -> None:
    """S1: three pipelined requests, the second larger than the scratch."""
    wire = Wire(data_world())
    sizes = (10, 5_000, 1)
    stream = b"".join(
        framed(encode_request(producing(batch(bytes(size))), 9, number, "c"))
        for number, size in enumerate(sizes)
    )
    wire.feed(stream, piece_bytes)
    assert correlation_ids(wire.sent()) == [0, 1, 2]
    assert [len(value or b"") for _, _, value in wire.world.log("t").records()] == list(sizes)


def test_answers_leave_in_the_order_of_requests_and_wake_the_connection() -> None:
    """001.7, 001.49: matched by the correlation id, which is the request's."""
    wire = Wire(data_world())
    waiting = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        topics=[
            FetchTopic(
                topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=99)]
            )
        ],
    )
    wire.feed(framed(encode_request(waiting, 11, 70, "c")))
    wire.feed(framed(encode_request(ApiVersionsRequest(), 2, 71, "c")))
    assert (wire.sent(), wire.wakes) == (b"", 0)
    wire.world.pass_time(500)
    assert wire.wakes == 1
    assert correlation_ids(wire.sent()) == [70, 71]


def test_half_a_frame_is_waited_for_and_costs_nobody() -> None:
    world = data_world()
    wire, other = Wire(world), Wire(world)
    frame = framed(encode_request(producing(batch(b"a")), 9, 1, "c"))
    wire.feed(frame[:-1])
    assert (wire.sent(), wire.session.is_between_requests) == (b"", False)
    other.feed(frame)
    assert correlation_ids(other.sent()) == [1]
    wire.feed(frame[-1:])
    assert correlation_ids(wire.sent()) == [1]


# -- the header ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [7, 9])
@pytest.mark.parametrize("client_id", [None, "", "client", "ключ"])
def test_client_id_is_read_in_both_headers(version: int, client_id: str | None) -> None:
    """003.10: header v1 and v2."""
    wire = Wire(data_world())
    for _ in range(2):
        wire.feed(framed(encode_request(producing(batch(b"a")), version, 1, client_id)))
    assert wire.session.caller.client_id == (client_id or "")
    assert wire.world.log("t").log_end_offset == 2


def test_tagged_fields_of_the_header_are_passed_over() -> None:
    wire = Wire(data_world())
    frame = encode_request(producing(batch(b"a")), 9, 5, "c")
    head = 8 + 2 + 1
    assert frame[head] == 0
    tagged = frame[:head] + bytes.fromhex("01 05 03 aabbcc") + frame[head + 1 :]
    wire.feed(framed(tagged))
    assert wire.world.log("t").log_end_offset == 1


def test_bytes_behind_the_body_are_ignored() -> None:
    """librdkafka 2.16 sends some with Metadata v13; Kafka ignores them."""
    wire = Wire(data_world())
    wire.feed(framed(encode_request(producing(batch(b"a")), 9, 5, "c") + b"\x00\x00\x01"))
    assert correlation_ids(wire.sent()) == [5]


# -- bytes that are no request -------------------------------------------------------------------


def head(key: int, version: int, rest: bytes = b"") -> bytes:
    return framed(struct.pack(">hhih", key, version, 9, -1) + rest)


@pytest.mark.parametrize(
    "data",
    [
        framed(b""),
        framed(b"\x00\x12"),
        head(9_999, 0),
        head(-1, 0),
        head(4, 0),
        head(PRODUCE, -1),
        head(PRODUCE, 14),
        head(FETCH, 99),
        head(PRODUCE, 9, b"\x00garbage"),
        framed(struct.pack(">hhih", PRODUCE, 9, 1, 500)),
        framed(struct.pack(">hhih", PRODUCE, 9, 1, -2)),
        framed(struct.pack(">hhih", PRODUCE, 9, 1, 2) + b"\xff\xfe"),
        b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n",
        struct.pack(">i", -1),
        struct.pack(">i", 2**31 - 1),
    ],
)
def test_bytes_that_are_no_request_end_the_connection(data: bytes) -> None:
    """Unknown API, unsupported version, garbage, wrong lengths: Kafka hangs up, and so do we."""
    world = data_world()
    produce(world, batch(b"a"))
    with pytest.raises(DecodeError):
        Wire(world).feed(data)
    assert world.log("t").log_end_offset == 1


def test_seed_manual_request_with_a_wrong_size_ends_the_connection() -> None:
    """001.52: 26 bytes are announced and 35 follow."""
    wire = Wire(data_world())
    sent = "0000001a0012000467890abc00096b61666b612d636c69000a6b61666b612d636c6904302e3100"
    with pytest.raises(DecodeError):
        wire.feed(bytes.fromhex(sent))


def test_answers_before_bad_bytes_are_still_sent() -> None:
    wire = Wire(data_world())
    good = framed(encode_request(producing(batch(b"a")), 9, 5, "c"))
    with pytest.raises(DecodeError):
        wire.feed(good + head(9_999, 0))
    assert correlation_ids(wire.sent()) == [5]


@given(st.binary(max_size=120), st.integers(0, 13))
def test_any_body_of_a_produce_is_answered_or_ends_the_connection(body: bytes, version: int) -> None:
    """S1: nothing but DecodeError, whatever the bytes."""
    wire = Wire(data_world())
    try:
        wire.feed(head(PRODUCE, version, body))
    except DecodeError:
        return
    assert wire.session.in_flight == 0


@given(st.binary(max_size=200))
def test_any_records_are_answered_with_a_fault_or_an_offset(records: bytes) -> None:
    """S1: records are the client's, and may be anything."""
    world = data_world()
    for version in (2, 9):
        answer = conversation_with(world).ask(producing(records), version, ProduceResponse)
        part = answer.responses[0].partition_responses[0]
        assert part.error_code
        assert world.log("t").log_end_offset == 0


# -- ApiVersions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [5, 99, -1])
def test_unknown_version_of_api_versions_is_answered_in_version_0(version: int) -> None:
    """001.9, KIP-511: error 35 and the one row that the client needs to ask again."""
    wire = Wire(data_world())
    wire.feed(head(API_VERSIONS, version, b"\x00\x07unknown"))
    assert wire.sent() == bytes.fromhex("00000010 00000009 0023 00000001 0012 0000 0004")
    wire.feed(framed(encode_request(ApiVersionsRequest(), 0, 10, "c")))
    assert correlation_ids(wire.sent()) == [10]


@pytest.mark.parametrize("version", range(5))
def test_api_versions_lists_what_is_served(version: int) -> None:
    """001.8, 001.10, 001.13, 001.34, 003.18: from the table of what is really there."""
    conversation = conversation_with(data_world())
    asked = ApiVersionsRequest()
    if version >= 3:
        asked = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    answer = conversation.ask(asked, version, ApiVersionsResponse)
    rows = {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}
    assert answer.error_code == 0
    assert rows == {
        key: (api.version_min, api.version_last)
        for key, api in conversation.session.protocol.apis.items()
        if key < EXTENSION_KEY_MIN and key not in TELEMETRY
    }
    assert (rows[PRODUCE], rows[FETCH], rows[API_VERSIONS]) == ((0, 13), (0, 18), (0, 4))
    assert [row.api_key for row in answer.api_keys] == sorted(rows)


def test_api_versions_lists_extensions_for_a_client_that_asks_for_them() -> None:
    conversation = conversation_with(data_world())
    asked = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    asked.unknown_tags = {EXTENSIONS_TAG: b""}
    answer = conversation.ask(asked, 4, ApiVersionsResponse)
    listed = {row.api_key for row in answer.api_keys}
    assert listed == set(conversation.session.protocol.apis) - TELEMETRY
    assert set(ExtensionKey) <= listed


def test_api_versions_lists_telemetry_while_somebody_wants_metrics_of_clients() -> None:
    """As Kafka does: a client that sees these APIs asks for subscriptions on every connection."""
    world = data_world()
    conversation = conversation_with(world)
    asked = ApiVersionsRequest(client_software_name="test", client_software_version="1.0")
    for value, listed in (("*", TELEMETRY), (None, set[ApiKey]())):
        wanted = ConfigRecord(
            resource_type=ConfigType.CLIENT_METRICS, resource_name="all", name="metrics", value=value
        )
        world.cluster.commit([(wanted, 0)], lambda _fault: None)
        answer = conversation.ask(asked, 4, ApiVersionsResponse)
        assert {row.api_key for row in answer.api_keys} & TELEMETRY == listed


@pytest.mark.parametrize(
    ("name", "version"),
    [("", "1.0"), ("client", ""), ("-client", "1"), ("cli ent", "1"), ("client", "1."), ("cl/ient", "1")],
)
def test_client_that_introduces_itself_badly_is_an_invalid_request(name: str, version: str) -> None:
    """KIP-511: 42 is INVALID_REQUEST, and the connection stays."""
    conversation = conversation_with(data_world())
    asked = ApiVersionsRequest(client_software_name=name, client_software_version=version)
    answer = conversation.ask(asked, 3, ApiVersionsResponse)
    assert (answer.error_code, answer.api_keys) == (42, [])
    good = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="4.3.1")
    assert conversation.ask(good, 4, ApiVersionsResponse).error_code == 0
    assert conversation.session.caller.software_name == "apache-kafka-java"


def test_introduction_is_kept_when_the_client_id_changes() -> None:
    conversation = conversation_with(data_world())
    asked = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.0")
    conversation.ask(asked, 3, ApiVersionsResponse)
    conversation.send(producing(batch(b"a")), 9)
    caller = conversation.session.caller
    assert (caller.software_name, caller.software_version) == ("librdkafka", "2.16.0")


def test_command_of_a_produce_is_made_of_views_into_the_frame() -> None:
    """Records are not copied on their way to the log."""
    world = data_world()
    seen: list[Produce] = []
    world.routes[Produce] = lambda command, caller, reply: seen.append(command)
    Conversation(protocol_of(world)).send(producing(batch(b"a")), 9)
    (command,) = seen
    records = command.parts[0].records
    assert isinstance(records, memoryview)
    assert not records.readonly
