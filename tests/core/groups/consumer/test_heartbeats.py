"""ConsumerGroupHeartbeat in the core: joining, living, being slow or silent, leaving (KIP-848, R10, R15)."""

import pytest

from tests.core.groups.consumer.consuming import AWAY, REBALANCE_MS, SESSION_MS, Consuming, settle
from tests.core.groups.coordinated import CALLER
from trivium.core.access import Operation, Resource
from trivium.core.commands.consumer_groups import ConsumerBeat
from trivium.core.commands.offsets import DeleteOffsets
from trivium.core.faults import Fault
from trivium.core.features import GROUP_VERSION
from trivium.core.groups.consumer.patience import RETRY_MS
from trivium.core.groups.patterns.automaton import TEXT_CHARS_MAX


@pytest.fixture
def groups() -> Consuming:
    return Consuming()


# -- sharing ---------------------------------------------------------------------------------------


def test_members_share_all_partitions_of_their_topic(groups: Consuming) -> None:
    members = [groups.consumer(name) for name in ("one", "two", "three")]
    for member in members:
        member.join()
    settle(*members)
    assert sorted(number for member in members for number in member.numbers) == [0, 1, 2, 3]
    assert {len(member.numbers) for member in members} == {1, 2}
    assert groups.described().state == "Stable"


def test_member_gets_nothing_until_the_other_has_said_that_it_gave_up(groups: Consuming) -> None:
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    two.join()
    assert two.numbers == []
    one.beat()
    assert one.numbers == [0, 1]
    two.beat()
    assert two.numbers == []
    one.confirm()
    two.beat()
    assert two.numbers == [2, 3]


def test_assignment_is_told_once_unless_the_member_tells_all(groups: Consuming) -> None:
    one = groups.consumer("one")
    assert one.join().assignment is not None
    assert one.beat().assignment is None
    full = one.beat(rebalance_timeout_ms=REBALANCE_MS, topic_names=["t"], owned=one.owned)
    assert full.assignment == one.owned


def test_members_that_come_within_the_interval_share_the_next_assignment() -> None:
    groups = Consuming({"group.consumer.assignment.interval.ms": "1000"})
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    assert two.join().member_epoch == one.epoch
    assert groups.described().state == "Assigning"
    groups.pass_time(999)
    two.beat()
    assert groups.described().assignment_epoch == one.epoch
    groups.pass_time(1)
    two.beat()
    settle(one, two)
    assert (len(one.numbers), len(two.numbers)) == (2, 2)


def test_member_that_unsubscribes_loses_its_partitions_before_the_next_assignment() -> None:
    groups = Consuming({"group.consumer.assignment.interval.ms": "1000"})
    one = groups.consumer("one")
    one.join()
    assert one.beat(topic_names=[], owned=one.owned).assignment == {}
    one.confirm()
    assert groups.holdings() == {"one": []}


def test_heartbeat_interval_of_a_group_counts_within_the_brokers_bounds(groups: Consuming) -> None:
    one = groups.consumer("one")
    for value, counts_ms in (("14000", 14_000), ("1", 5000), ("99999999", 15_000)):
        groups.set_for_group("consumer.heartbeat.interval.ms", value)
        assert one.join().heartbeat_interval_ms == counts_ms


def test_session_timeout_of_a_group_counts(groups: Consuming) -> None:
    groups.set_for_group("consumer.session.timeout.ms", str(SESSION_MS + 5000))
    groups.consumer("one").join()
    groups.pass_time(SESSION_MS + 4999)
    assert groups.described().state == "Stable"
    groups.pass_time(1)
    assert groups.described().state == "Empty"


def test_group_over_its_size_takes_no_more_members() -> None:
    groups = Consuming({"group.consumer.max.size": "1"})
    one = groups.consumer("one")
    one.join()
    refused = groups.consumer("two").join()
    assert refused == ConsumerBeat(
        Fault.GROUP_MAX_SIZE_REACHED, "The consumer group has reached its maximum capacity of 1 members."
    )
    assert one.join().fault is None


# -- topics ----------------------------------------------------------------------------------------


def test_topic_that_comes_later_is_shared_at_the_next_heartbeat(groups: Consuming) -> None:
    one = groups.consumer("one", topic_names=["later"])
    one.join()
    assert one.numbers == []
    groups.world.create_topic("later", 2)
    assert one.beat().assignment is not None
    assert one.numbers == [0, 1]


def test_topic_that_is_deleted_is_taken_from_its_reader(groups: Consuming) -> None:
    one = groups.consumer("one")
    one.join()
    epoch = groups.described().epoch
    groups.delete_topic("t")
    assert one.beat().assignment == {}
    one.confirm()
    assert (groups.described().epoch, groups.described().state) == (epoch + 1, "Stable")


def test_metadata_that_does_not_concern_the_group_changes_no_epoch(groups: Consuming) -> None:
    one = groups.consumer("one")
    one.join()
    before = one.epoch
    groups.world.create_topic("other", 2)
    assert one.beat().member_epoch == before


def test_pattern_follows_topics_that_match_it(groups: Consuming) -> None:
    one = groups.consumer("one", topic_names=None, topic_regex="or.*")
    one.join()
    first = groups.world.create_topic("orders", 1)
    groups.world.create_topic("payments", 1)
    one.beat()
    assert one.owned == {first: [0]}
    second = groups.world.create_topic("oranges", 1)
    one.beat()
    assert one.owned == {first: [0], second: [0]}
    groups.restart()
    assert groups.described().members[0].topic_regex == "or.*"
    assert one.confirm().fault is None
    one.beat(topic_regex="")
    assert one.owned == {}


def test_pattern_gives_only_topics_that_the_member_may_see(
    groups: Consuming, monkeypatch: pytest.MonkeyPatch
) -> None:
    visible = groups.world.create_topic("a-visible", 1)
    groups.world.create_topic("a-hidden", 1)
    monkeypatch.setattr(
        groups.world.access, "allows", lambda _caller, _operation, _resource, name: name != "a-hidden"
    )
    one = groups.consumer("one", topic_names=None, topic_regex="a-.*")
    one.join()
    assert one.owned == {visible: [0]}


def test_names_of_topics_that_the_member_may_not_see_are_refused(
    groups: Consuming, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Operation, Resource, str]] = []

    def allows(_caller: object, operation: Operation, resource: Resource, name: str) -> bool:
        asked.append((operation, resource, name))
        return False

    monkeypatch.setattr(groups.world.access, "allows", allows)
    assert groups.consumer("one").join().fault is Fault.NOT_AUTHORIZED_TOPIC
    assert asked == [(Operation.DESCRIBE, Resource.TOPIC, "t")]


@pytest.mark.parametrize("regex", ["(", "(?=a)", "a" * (TEXT_CHARS_MAX + 1)])
def test_invalid_pattern_is_refused_and_nobody_has_joined(groups: Consuming, regex: str) -> None:
    refused = groups.consumer("one").join(topic_names=None, topic_regex=regex)
    assert refused.fault is Fault.INVALID_REGULAR_EXPRESSION
    assert groups.described().fault is Fault.GROUP_ID_NOT_FOUND


# -- time ------------------------------------------------------------------------------------------


def test_member_that_is_silent_for_its_session_is_sent_away(groups: Consuming) -> None:
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    two.join()
    settle(one, two)
    groups.pass_time(SESSION_MS - 1)
    one.beat()
    groups.pass_time(1)
    one.beat()
    assert one.numbers == [0, 1, 2, 3]
    assert two.beat().fault is Fault.UNKNOWN_MEMBER_ID


def test_jump_of_the_wall_clock_sends_nobody_away(groups: Consuming) -> None:
    one = groups.consumer("one")
    one.join()
    groups.world.clock.jump(10 * SESSION_MS)
    groups.pass_time(1)
    assert one.beat().fault is None


def test_member_that_does_not_give_up_in_time_is_sent_away(groups: Consuming) -> None:
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    two.join()
    everything = one.owned
    one.beat()
    for _ in range(2):
        groups.pass_time(REBALANCE_MS // 2)
        refused = one.beat(owned=everything)
        two.beat()
    assert refused.fault is Fault.UNKNOWN_MEMBER_ID
    assert two.numbers == [0, 1, 2, 3]


def test_member_that_has_given_up_in_time_stays(groups: Consuming) -> None:
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    two.join()
    one.beat()
    one.confirm()
    groups.pass_time(REBALANCE_MS)
    assert one.beat().fault is None


def test_sessions_begin_anew_with_a_restart(groups: Consuming) -> None:
    one = groups.consumer("one")
    one.join()
    groups.pass_time(SESSION_MS - 1000)
    groups.restart()
    groups.pass_time(SESSION_MS - 1000)
    assert one.beat().fault is None
    groups.pass_time(SESSION_MS)
    assert groups.described().state == "Empty"


# -- static members --------------------------------------------------------------------------------


def test_static_member_that_is_away_keeps_its_partitions_for_its_next_self(groups: Consuming) -> None:
    one = groups.consumer("one", instance_id="name")
    one.join()
    epoch = groups.described().epoch
    assert one.leave(AWAY) is None
    groups.restart()
    again = groups.consumer("again", instance_id="name")
    assert (again.join().fault, again.numbers) == (None, [0, 1, 2, 3])
    assert groups.described().epoch == epoch


def test_static_member_that_stays_away_is_sent_away(groups: Consuming) -> None:
    one = groups.consumer("one", instance_id="name")
    one.join()
    one.leave(AWAY)
    groups.pass_time(SESSION_MS)
    assert groups.described().state == "Empty"
    assert groups.consumer("two", instance_id="name").join().fault is None


def test_static_member_replaced_before_it_was_assigned_anything_has_a_place_too() -> None:
    groups = Consuming({"group.consumer.assignment.interval.ms": "1000"})
    groups.consumer("one").join()
    early = groups.consumer("early", instance_id="name")
    early.join()
    early.leave(AWAY)
    assert groups.consumer("again", instance_id="name").join().fault is None


# -- durability ------------------------------------------------------------------------------------


def test_answer_waits_until_the_step_is_durable(groups: Consuming) -> None:
    groups.consumer("zero", "other").join()
    groups.world.storage.holds_syncs = True
    one = groups.consumer("one")
    reply = one.send(rebalance_timeout_ms=REBALANCE_MS, owned={}, topic_names=["t"])
    assert not reply
    groups.world.storage.sync()
    assert reply[0].assignment


def test_answer_that_changes_nothing_waits_for_what_it_tells(groups: Consuming) -> None:
    """Or a crash could give the same partition to another one."""
    groups.consumer("zero", "other").join()
    groups.world.storage.holds_syncs = True
    one = groups.consumer("one")
    one.send(rebalance_timeout_ms=REBALANCE_MS, owned={}, topic_names=["t"])
    written = groups.log.log_end_offset
    again = one.send(rebalance_timeout_ms=REBALANCE_MS, owned={}, topic_names=["t"])
    assert (again, groups.log.log_end_offset) == ([], written)
    groups.world.storage.sync()
    assert again[0].assignment


def test_step_that_cannot_be_written_changes_nothing(groups: Consuming) -> None:
    one = groups.consumer("one")
    one.join()
    before = groups.described()
    groups.log.fault = Fault.STORAGE
    assert groups.consumer("two").join().fault is Fault.NOT_COORDINATOR
    assert groups.described() == before
    groups.log.fault = None
    assert groups.consumer("two").join().fault is None


def test_end_that_cannot_be_written_is_tried_again(groups: Consuming) -> None:
    groups.consumer("one").join()
    groups.log.fault = Fault.STORAGE
    groups.pass_time(SESSION_MS)
    assert groups.described().state == "Stable"
    groups.log.fault = None
    groups.pass_time(RETRY_MS)
    assert groups.described().state == "Empty"


# -- offsets ---------------------------------------------------------------------------------------


def test_offsets_of_topics_that_nobody_reads_expire_and_the_empty_group_with_them() -> None:
    groups = Consuming({"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"})
    one = groups.consumer("one")
    one.join()
    groups.world.create_topic("other", 1)
    assert groups.commit(5)[0][0].fault is Fault.UNKNOWN_MEMBER_ID
    one.leave()
    groups.commit(5)
    groups.commit(6, topic="other")
    one.join()
    for _ in range(3):
        groups.pass_time(30_000)
        one.beat()
    assert groups.offsets() == {("t", 0): 5}
    deleted = groups.world.execute(DeleteOffsets("g", [("t", 0)]), CALLER)
    assert deleted.parts[0].fault is Fault.GROUP_SUBSCRIBED_TO_TOPIC
    one.leave()
    groups.pass_time(61_000)
    assert groups.described().fault is Fault.GROUP_ID_NOT_FOUND


# -- heartbeats that come late -----------------------------------------------------------------------


def test_assignment_of_a_late_joining_heartbeat_is_told_to_the_next_one(groups: Consuming) -> None:
    """A client gives a connection up, joins on another one, and lives on; then the first request arrives. Its
    answer, which nobody hears, is the only one with what the other member has given up by now (R15).
    """
    one, two = groups.consumer("one"), groups.consumer("two")
    one.join()
    two.join()
    one.beat()
    one.confirm()
    assert two.numbers == []
    late = two.send(epoch=0, rebalance_timeout_ms=REBALANCE_MS, topic_names=["t"], owned={})
    assert late[0].assignment
    assert late[0].member_epoch == two.epoch
    two.beat()
    assert two.numbers == [2, 3]
    assert two.beat().assignment is None


def test_cluster_that_has_not_agreed_to_consumer_groups_has_none(groups: Consuming) -> None:
    """``group.version`` 0, as Kafka does: nothing is made, and a group that is there stays (KIP-848)."""
    one = groups.consumer("one")
    one.join()
    groups.world.image.features.levels[GROUP_VERSION] = 0
    assert one.beat().fault is Fault.UNSUPPORTED
    assert groups.consumer("two", "other").join().fault is Fault.UNSUPPORTED
    assert groups.described().fault is Fault.UNSUPPORTED
    groups.world.image.features.levels[GROUP_VERSION] = 1
    assert one.beat().fault is None
    assert groups.described("other").fault is Fault.GROUP_ID_NOT_FOUND


def test_broker_whose_settings_leave_consumer_groups_out_has_none() -> None:
    groups = Consuming({"group.coordinator.rebalance.protocols": "classic"})
    refused = groups.consumer("one").join()
    assert refused.fault is Fault.UNSUPPORTED
    assert "group.coordinator.rebalance.protocols" in (refused.message or "")
    assert groups.described().fault is Fault.UNSUPPORTED
