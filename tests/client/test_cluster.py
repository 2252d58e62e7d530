"""Finding topics, leaders and coordinators, and patience with what passes (mission 003.34)."""

import socket

import pytest

from tests.client.scripted import Accident, ScriptedBroker, describing, topic_id_of
from trivium.client.cluster import NEW_TOPIC_PATIENCE_S, Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import ClientError, ConnectionLost, LoginFailed, Refused, TimedOut, Unreachable
from trivium.client.security import Security
from trivium.client.topology import TopicPartition
from trivium.messages.api.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.api.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from trivium.messages.api.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from trivium.messages.errors import ErrorCode
from trivium.messages.version_range import VersionRange


def connect(broker: ScriptedBroker, *others: ScriptedBroker, timeout_s: float = 10) -> Cluster:
    return Cluster.connect(",".join(each.bootstrap for each in (broker, *others)), timeout_s=timeout_s)


def coordinated_by(broker: ScriptedBroker) -> FindCoordinatorResponse:
    host, port = broker.address
    found = Coordinator(
        key="g", node_id=broker.node_id, host=host, port=port, error_code=0, error_message=None
    )
    return FindCoordinatorResponse(coordinators=[found])


def beat(cluster: Cluster) -> int:
    request = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
    answer = cluster.call(
        cluster.coordinator("g"), request, HeartbeatResponse, codes=lambda response: [response.error_code]
    )
    return answer.error_code


def test_connect_takes_the_next_address_when_one_is_dead() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = listener.getsockname()[1]
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker))
        with Cluster.connect(f"127.0.0.1:{dead},{broker.bootstrap}") as cluster:
            assert cluster.topics() == {}


def test_connect_to_nobody_is_one_sentence_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = listener.getsockname()[1]
    with pytest.raises(Unreachable, match=r"Nothing listens .* Nothing listens "):
        Cluster.connect(f"127.0.0.1:{dead},127.0.0.1:{dead},localhost:{dead}")


def test_who_is_not_let_in_does_not_wait_also_with_several_addresses() -> None:
    no_logins = SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dead = listener.getsockname()[1]
    with ScriptedBroker({SaslHandshakeRequest: no_logins}) as broker:
        addresses = f"127.0.0.1:{dead},{broker.bootstrap}"
        with pytest.raises(LoginFailed, match="takes no logins"):
            Cluster.connect(addresses, security=Security(username="ann", password="x"), patience_s=2)
        assert broker.connections == 1


def test_topics_are_sorted_and_know_their_leaders() -> None:
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"b": [1, -1], "a": [1]}))
        with connect(broker) as cluster:
            topics = cluster.topics()
            assert list(topics) == ["a", "b"]
            assert topics["b"].topic_id == topic_id_of("b")
            assert [partition.leader_id for partition in topics["b"].partitions] == [1, -1]
            assert cluster.topology.cluster_id == "scripted"


def test_topic_that_is_known_is_not_asked_for_again() -> None:
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1]}))
        with connect(broker) as cluster:
            assert cluster.topic("a") is cluster.topic("a")
            assert len(broker.asked(MetadataRequest)) == 1
            cluster.forget_leaders(["a"])
            cluster.topic("a")
            assert len(broker.asked(MetadataRequest)) == 2


def test_topic_just_created_is_waited_for() -> None:
    leaders: dict[str, list[int]] = {}
    with ScriptedBroker({}) as broker:
        describe = describing(broker, leaders=leaders)

        def appear(request: MetadataRequest) -> MetadataResponse:
            if len(broker.asked(MetadataRequest)) == 3:
                leaders["a"] = [1]
            return describe(request)

        broker.answer(MetadataRequest, appear)
        with connect(broker) as cluster:
            assert cluster.topic("a").name == "a"


def test_topic_that_does_not_come_is_refused_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.client.cluster.NEW_TOPIC_PATIENCE_S", NEW_TOPIC_PATIENCE_S / 10)
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker))
        with connect(broker, timeout_s=3600) as cluster, pytest.raises(Refused) as refused:
            cluster.topic("a")
        assert str(refused.value) == "There is no topic a; 'trivium topic list' shows what there is."
        assert all(not each.allow_auto_topic_creation for each in broker.asked(MetadataRequest))


def test_topic_with_a_name_that_is_not_allowed_is_refused_at_once() -> None:
    described = MetadataResponseTopic(error_code=ErrorCode.INVALID_TOPIC_EXCEPTION, name="a/b", partitions=[])
    answer = MetadataResponse(brokers=[], topics=[described])
    with ScriptedBroker({MetadataRequest: answer}) as broker, connect(broker) as cluster:
        with pytest.raises(Refused):
            cluster.topic("a/b")
        assert len(broker.asked(MetadataRequest)) == 1


def test_leader_of_a_partition_that_is_not_there_is_one_sentence() -> None:
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1, -1]}))
        with connect(broker) as cluster:
            assert cluster.leader(TopicPartition("a", 0)) == 1
            with pytest.raises(ClientError, match="in topic a: it has 2, numbered from 0"):
                cluster.leader(TopicPartition("a", 2))
            with pytest.raises(Refused, match="has no leader"):
                cluster.leader(TopicPartition("a", 1))


@pytest.mark.parametrize("versions", [VersionRange(0, 6), VersionRange(0, 3)])
def test_coordinator_is_looked_up_once(versions: VersionRange) -> None:
    with ScriptedBroker(
        {HeartbeatRequest: HeartbeatResponse(error_code=0)}, versions={FindCoordinatorRequest: versions}
    ) as broker:
        broker.answer(MetadataRequest, describing(broker))
        found = coordinated_by(broker)
        if versions.last < 4:
            host, port = broker.address
            found = FindCoordinatorResponse(node_id=1, host=host, port=port)
        broker.answer(FindCoordinatorRequest, found)
        with connect(broker) as cluster:
            assert beat(cluster) == beat(cluster) == 0
            assert len(broker.asked(FindCoordinatorRequest)) == 1


def test_coordinator_that_moved_is_looked_up_again() -> None:
    with (
        ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=16)}, node_id=1) as old,
        ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=0)}, node_id=2) as new,
    ):
        old.answer(MetadataRequest, describing(old, new))
        old.answer(FindCoordinatorRequest, coordinated_by(old), coordinated_by(new))
        with connect(old) as cluster:
            assert beat(cluster) == 0
        assert len(old.asked(HeartbeatRequest)) == len(new.asked(HeartbeatRequest)) == 1


def test_call_gives_up_at_the_deadline_with_the_last_answer() -> None:
    with ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=15)}) as broker:
        broker.answer(MetadataRequest, describing(broker))
        broker.answer(FindCoordinatorRequest, coordinated_by(broker))
        with connect(broker, timeout_s=0.2) as cluster:
            assert beat(cluster) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert len(broker.asked(HeartbeatRequest)) > 1


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
def test_call_does_not_repeat_what_will_not_change(code: ErrorCode) -> None:
    with ScriptedBroker({HeartbeatRequest: HeartbeatResponse(error_code=code)}) as broker:
        broker.answer(MetadataRequest, describing(broker))
        broker.answer(FindCoordinatorRequest, coordinated_by(broker))
        with connect(broker) as cluster:
            assert beat(cluster) == code
        assert len(broker.asked(HeartbeatRequest)) == 1


def test_call_survives_a_connection_that_ends() -> None:
    with ScriptedBroker(
        {HeartbeatRequest: [Accident.HANG_UP, Accident.HANG_UP, HeartbeatResponse(error_code=0)]}
    ) as broker:
        broker.answer(MetadataRequest, describing(broker))
        broker.answer(FindCoordinatorRequest, coordinated_by(broker))
        with connect(broker) as cluster:
            assert beat(cluster) == 0
        assert len(broker.asked(HeartbeatRequest)) == 3


def test_call_that_nobody_answers_times_out() -> None:
    with (
        ScriptedBroker({MetadataRequest: Accident.SILENCE}) as broker,
        connect(broker) as cluster,
        pytest.raises(TimedOut),
    ):
        cluster.metadata([], deadline=Deadline(0.05))


def test_call_that_always_fails_says_how_it_failed() -> None:
    with (
        ScriptedBroker({MetadataRequest: Accident.HANG_UP}) as broker,
        connect(broker) as cluster,
        pytest.raises(ConnectionLost),
    ):
        cluster.metadata([], deadline=Deadline(0.1))


def test_broker_that_advertises_a_dead_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commonest mistake with brokers in containers."""
    monkeypatch.setattr("trivium.client.cluster.UNREACHABLE_PATIENCE_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    brokers = [MetadataResponseBroker(node_id=7, host="127.0.0.1", port=port)]
    answer = MetadataResponse(brokers=brokers, controller_id=7, topics=[])
    with ScriptedBroker({MetadataRequest: answer}) as broker, connect(broker) as cluster:
        sentence = (
            rf"^Broker 7 sends its clients to 127\.0\.0\.1:{port} \(its advertised\.listeners\)\. Nothing"
        )
        with pytest.raises(Unreachable, match=sentence):
            cluster.call(
                cluster.controller,
                HeartbeatRequest(group_id="", generation_id=0, member_id=""),
                HeartbeatResponse,
            )


def test_interrupted_call_leaves_a_cluster_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedBroker({}) as broker:
        broker.answer(MetadataRequest, describing(broker, leaders={"a": [1]}))
        with connect(broker) as cluster:
            with monkeypatch.context() as patch:
                patch.setattr("trivium.client.connection.Connection._frame", _interrupt)
                with pytest.raises(KeyboardInterrupt):
                    cluster.topics()
            assert list(cluster.topics()) == ["a"]


def _interrupt(*_: object) -> bytes:
    raise KeyboardInterrupt
