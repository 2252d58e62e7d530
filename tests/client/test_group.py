"""Members of a group: each partition read by one, each record at least once, none skipped (R15)."""

import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.client.live import fill, make_topic
from tests.client.scripted import ScriptedBroker, describing
from trivium.client.admin_groups import describe_group
from trivium.client.admin_topics import add_partitions
from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError, Refused
from trivium.client.group import GroupConsumer
from trivium.client.group_offsets import committed_offsets
from trivium.client.membership import (
    HEARTBEAT_S,
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    Membership,
)
from trivium.client.offsets import LATEST
from trivium.client.producer import Producer
from trivium.client.topology import TopicPartition
from trivium.messages.api.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.api.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from trivium.messages.api.leave_group import LeaveGroupRequest, LeaveGroupResponse
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.api.sync_group import SyncGroupRequest, SyncGroupResponse
from trivium.messages.consumer_protocol import decode_assignment
from trivium.messages.errors import ErrorCode


def polled(consumer: GroupConsumer, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    while len(found) < count:
        found += [record.value for chunk in consumer.poll(10) for record in chunk.records]
    return found


def test_group_goes_on_where_it_has_left_off(cluster: Cluster, topic: str, name: str) -> None:
    fill(cluster, topic, b"a", b"b")
    with GroupConsumer(cluster, name, [topic]) as consumer:
        assert polled(consumer, 2) == [b"a", b"b"]
        assert consumer.commit()
    fill(cluster, topic, b"c")
    with GroupConsumer(cluster, name, [topic]) as consumer:
        assert polled(consumer, 1) == [b"c"]


def test_group_reads_again_what_was_not_committed(cluster: Cluster, topic: str, name: str) -> None:
    fill(cluster, topic, b"a", b"b")
    for _ in range(2):
        with GroupConsumer(cluster, name, [topic], commit_interval_s=None) as consumer:
            assert polled(consumer, 2) == [b"a", b"b"]


def test_group_commits_what_the_next_poll_makes_done(cluster: Cluster, topic: str, name: str) -> None:
    fill(cluster, topic, b"a", b"b")
    with GroupConsumer(cluster, name, [topic], commit_interval_s=0) as consumer:
        while not consumer.poll(10, records_max=1):
            pass
        assert committed_offsets(cluster, name).get(TopicPartition(topic, 0)) is None
        consumer.poll(10, records_max=1)
        assert committed_offsets(cluster, name)[TopicPartition(topic, 0)].offset == 1


def test_new_group_may_start_at_the_end(cluster: Cluster, topic: str, name: str) -> None:
    fill(cluster, topic, b"old")
    with GroupConsumer(cluster, name, [topic], start=LATEST) as consumer:
        consumer.poll(0)
        fill(cluster, topic, b"new")
        assert polled(consumer, 1) == [b"new"]


def test_group_on_a_topic_that_is_not_there_is_refused(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.client.cluster.NEW_TOPIC_PATIENCE_S", 0.05)
    with pytest.raises(Refused, match="There is no topic"):
        GroupConsumer(cluster, name, [f"{name}-missing"])


@dataclass
class Worker:
    """A member in a thread of its own, until it is told to stop."""

    bootstrap: str
    group: str
    topic: str
    seen: Counter[bytes] = field(default_factory=Counter)
    owned: set[TopicPartition] = field(default_factory=set)
    failure: ClientError | None = None

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)
        assert self.failure is None, self.failure

    def _run(self) -> None:
        try:
            with (
                Cluster.connect(self.bootstrap) as cluster,
                GroupConsumer(
                    cluster, self.group, [self.topic], heartbeat_s=0.05, commit_interval_s=0
                ) as consumer,
            ):
                while not self._stop.is_set():
                    for chunk in consumer.poll(0.1):
                        self.seen.update(record.value or b"" for record in chunk.records)
                    self.owned = set(consumer.positions)
                consumer.commit()
        except ClientError as error:
            self.failure = error


def wait_until(condition: object) -> None:
    """For threads: looks now and then, and gives up after a minute."""
    assert callable(condition)
    pause = threading.Event()
    for _ in range(1200):
        if condition():
            return
        pause.wait(0.05)
    raise AssertionError("it did not happen")


def test_members_share_partitions_and_take_over_from_those_who_leave(
    cluster: Cluster, bootstrap: str, name: str
) -> None:
    """R15: through two rebalances every record is read, and with clean leaving only once."""
    topic = make_topic(cluster, name, partitions=4)
    keys = set(cluster.topic(topic).partition_keys())
    first = Worker(bootstrap, name, topic)
    wait_until(lambda: first.owned == keys)
    second = Worker(bootstrap, name, topic)
    wait_until(lambda: len(first.owned) == len(second.owned) == 2)
    assert first.owned | second.owned == keys
    with Producer(cluster) as producer:
        for number in range(400):
            producer.send(topic, b"%d" % number, key=b"%d" % number)
    wait_until(lambda: sum((first.seen + second.seen).values()) >= 400)
    first.stop()
    wait_until(lambda: second.owned == keys)
    with Producer(cluster) as producer:
        for number in range(400, 500):
            producer.send(topic, b"%d" % number, key=b"%d" % number)
    wait_until(lambda: sum((first.seen + second.seen).values()) >= 500)
    second.stop()
    assert first.seen + second.seen == Counter(b"%d" % number for number in range(500))
    assert sum(each.offset for each in committed_offsets(cluster, name).values()) == 500
    assert describe_group(cluster, name).state == "Empty"


def test_rebalance_commits_first_what_was_done(
    cluster: Cluster, bootstrap: str, topic: str, name: str
) -> None:
    """Else whoever gets the partition would read again what its last reader has done."""
    fill(cluster, topic, b"a", b"b")
    with GroupConsumer(cluster, name, [topic], heartbeat_s=0.05, commit_interval_s=3600) as consumer:
        polled(consumer, 2)
        other = Worker(bootstrap, name, topic)
        while len(consumer.positions) == 2:
            consumer.poll(0.05)
    wait_until(lambda: len(other.owned) == 2)
    other.stop()
    assert committed_offsets(cluster, name)[TopicPartition(topic, 0)].offset == 2
    assert other.seen == Counter()


def test_partitions_added_later_are_read_too(
    cluster: Cluster, topic: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.client.membership.GROWTH_S", 0)
    with GroupConsumer(cluster, name, [topic], heartbeat_s=0.05) as consumer:
        consumer.poll(0)
        assert len(consumer.positions) == 2
        add_partitions(cluster, {topic: 3})
        while len(consumer.positions) < 3:
            consumer.poll(0.1)
        fill(cluster, topic, b"v", partition=2)
        assert polled(consumer, 1) == [b"v"]


def test_commit_of_a_member_that_was_thrown_out_is_not_taken(
    cluster: Cluster, bootstrap: str, topic: str, name: str
) -> None:
    fill(cluster, topic, b"a")
    with GroupConsumer(cluster, name, [topic]) as consumer:
        polled(consumer, 1)
        with Cluster.connect(bootstrap) as other:
            evictor = Membership(other, name, [topic])
            evictor.committer = consumer._membership.committer
            evictor.leave()
        assert not consumer.commit()
        assert polled(consumer, 1) == [b"a"]  # It joins again, and reads again what nobody has committed.


# -- a coordinator that is difficult ---------------------------------------------------------------


@pytest.fixture
def scripted() -> Iterator[ScriptedBroker]:
    with ScriptedBroker({LeaveGroupRequest: LeaveGroupResponse(error_code=0)}) as broker:
        host, port = broker.address
        found = Coordinator(key="g", node_id=1, host=host, port=port, error_code=0, error_message=None)
        broker.answer(FindCoordinatorRequest, FindCoordinatorResponse(coordinators=[found]))
        broker.answer(MetadataRequest, describing(broker, leaders={"orders": [1, 1]}))
        broker.answer(HeartbeatRequest, HeartbeatResponse(error_code=0))
        broker.answer(JoinGroupRequest, joined())
        broker.answer(SyncGroupRequest, give_back)
        yield broker


def joined(code: int = 0, member_id: str = "m-1") -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=code,
        generation_id=3,
        protocol_name="range",
        leader="m-1",
        member_id=member_id,
        members=[JoinGroupResponseMember(member_id="m-1", metadata=SUBSCRIPTION)] if code == 0 else [],
    )


SUBSCRIPTION = b"\0\0" + b"\0\0\0\1" + b"\0\6orders" + b"\xff\xff\xff\xff"


def give_back(request: SyncGroupRequest) -> SyncGroupResponse:
    """To the leader what it has given out to itself."""
    mine = next((each.assignment for each in request.assignments), b"")
    return SyncGroupResponse(error_code=0, assignment=mine)


def test_member_comes_back_with_the_id_that_it_was_given(scripted: ScriptedBroker) -> None:
    """KIP-394."""
    scripted.answer(JoinGroupRequest, joined(ErrorCode.MEMBER_ID_REQUIRED, "given"), joined())
    with Cluster.connect(scripted.bootstrap) as cluster:
        membership = Membership(cluster, "g", ["orders"])
        assert membership.join() == [TopicPartition("orders", 0), TopicPartition("orders", 1)]
    assert [each.member_id for each in scripted.asked(JoinGroupRequest)] == ["", "given"]


@pytest.mark.parametrize(
    ("code", "id_then"),
    [
        (ErrorCode.REBALANCE_IN_PROGRESS, "m-1"),
        (ErrorCode.ILLEGAL_GENERATION, "m-1"),
        (ErrorCode.UNKNOWN_MEMBER_ID, ""),
    ],
)
def test_member_joins_again_when_the_group_has_moved_on(
    scripted: ScriptedBroker, code: ErrorCode, id_then: str
) -> None:
    with Cluster.connect(scripted.bootstrap) as cluster:
        membership = Membership(cluster, "g", ["orders"], heartbeat_s=0)
        membership.join()
        scripted.answer(HeartbeatRequest, HeartbeatResponse(error_code=code))
        assert not membership.heartbeat()
        membership.join()
    assert scripted.asked(JoinGroupRequest)[-1].member_id == id_then


def test_member_whose_sync_comes_too_late_joins_again(scripted: ScriptedBroker) -> None:
    late = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS, assignment=b"")
    scripted.answer(SyncGroupRequest, late, give_back)
    with Cluster.connect(scripted.bootstrap) as cluster:
        assert len(Membership(cluster, "g", ["orders"]).join()) == 2
    assert len(scripted.asked(JoinGroupRequest)) == 2


def test_leader_gives_out_all_partitions(scripted: ScriptedBroker) -> None:
    with Cluster.connect(scripted.bootstrap) as cluster:
        Membership(cluster, "g", ["orders"]).join()
    (request,) = scripted.asked(SyncGroupRequest)
    (mine,) = request.assignments
    _, assignment = decode_assignment(mine.assignment)
    assert [(each.topic, each.partitions) for each in assignment.assigned_partitions] == [("orders", [0, 1])]


def test_group_that_does_not_fit_is_one_sentence(scripted: ScriptedBroker) -> None:
    scripted.answer(JoinGroupRequest, joined(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
    with Cluster.connect(scripted.bootstrap) as cluster, pytest.raises(Refused, match="choose another group"):
        Membership(cluster, "g", ["orders"]).join()


def test_members_who_speak_nonsense_are_one_sentence(scripted: ScriptedBroker) -> None:
    odd = joined()
    odd.members[0].metadata = b"\0"
    scripted.answer(JoinGroupRequest, odd)
    with (
        Cluster.connect(scripted.bootstrap) as cluster,
        pytest.raises(ClientError, match="do not understand each other"),
    ):
        Membership(cluster, "g", ["orders"]).join()


def test_member_says_how_long_it_may_be_silent(scripted: ScriptedBroker) -> None:
    with Cluster.connect(scripted.bootstrap) as cluster:
        Membership(cluster, "g", ["orders"]).join()
    (request,) = scripted.asked(JoinGroupRequest)
    assert request.session_timeout_ms == SESSION_TIMEOUT_MS
    assert request.rebalance_timeout_ms == REBALANCE_TIMEOUT_MS
    assert HEARTBEAT_S * 1000 * 3 < SESSION_TIMEOUT_MS


def test_heartbeats_are_sent_only_when_they_are_due(scripted: ScriptedBroker) -> None:
    with Cluster.connect(scripted.bootstrap) as cluster:
        membership = Membership(cluster, "g", ["orders"], heartbeat_s=3600)
        membership.join()
        assert membership.heartbeat()
    assert scripted.asked(HeartbeatRequest) == []


def test_member_that_never_joined_has_nothing_to_leave(scripted: ScriptedBroker) -> None:
    with Cluster.connect(scripted.bootstrap) as cluster:
        Membership(cluster, "g", ["orders"]).leave()
    assert scripted.asked(LeaveGroupRequest) == []
