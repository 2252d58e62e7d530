"""Reading: bounds of an answer, epochs, waiting, and who is told when."""

from typing import Any

import pytest

from tests.core.batches import batch, fetch, produce, values, writing_world
from tests.core.fakes import NODE_ID, World
from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.records import Fetch, FetchedPart, FetchPart, Leader
from trivium.core.faults import Fault
from trivium.core.fetch import FETCH_BYTES_MAX, TURN_BYTES_MAX, Fetching
from trivium.messages.stored.metadata_topics import RemoveTopicRecord
from trivium.records.batch import check_batches

BIG = 1 << 20


def part(offset: int = 0, partition: int = 0, max_bytes: int = BIG, **fields: int) -> FetchPart:
    return FetchPart("t", partition, offset, max_bytes, **fields)


def read(world: World, *parts: FetchPart, **fields: Any) -> list[FetchedPart]:
    return world.execute(fetch(*parts, **fields))


# -- what is read --------------------------------------------------------------------------------


def test_fetch_gives_records_and_offsets() -> None:
    """001.43: real records, from a partition's log."""
    world = writing_world()
    produce(world, batch(b"a", b"b"))
    produce(world, batch(b"c"))
    (result,) = read(world, part())
    assert values(result) == [b"a", b"b", b"c"]
    assert (result.high_watermark, result.last_stable_offset, result.log_start_offset) == (3, 3, 0)


def test_fetch_from_within_a_batch_gives_the_whole_batch() -> None:
    world = writing_world()
    produce(world, batch(b"a", b"b"))
    (result,) = read(world, part(1))
    assert values(result) == [b"a", b"b"]


def test_fetch_of_an_empty_partition_is_empty_and_no_fault() -> None:
    """001.42: known and empty; the consumer keeps polling."""
    (result,) = read(writing_world(), part())
    assert (result.fault, result.runs, result.high_watermark) == (None, (), 0)


def test_fetch_by_topic_id_repeats_the_id() -> None:
    """001.41: a topic is looked up by its id."""
    world = writing_world()
    topic_id = world.image.topics.by_name["t"].topic_id
    produce(world, batch(b"a"))
    (result,) = world.execute(fetch(FetchPart(topic_id, 0, 0, BIG)))
    assert (result.topic, values(result)) == (topic_id, [b"a"])


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        (FetchPart("missing", 0, 0, BIG), Fault.UNKNOWN_TOPIC),
        (FetchPart("t", 9, 0, BIG), Fault.UNKNOWN_TOPIC),
        (FetchPart(bytes(15) + b"\xee", 0, 0, BIG), Fault.UNKNOWN_TOPIC_ID),
        (FetchPart("t", 0, 1, BIG), Fault.OFFSET_OUT_OF_RANGE),
        (FetchPart("t", 0, -1, BIG), Fault.OFFSET_OUT_OF_RANGE),
    ],
)
def test_fetch_of_what_is_not_there_is_refused_at_once(asked: FetchPart, fault: Fault) -> None:
    """001.38: a fault of a partition, not of the request. Waiting would not make it better."""
    world = writing_world()
    asked_well = FetchPart("t", 1, 0, BIG)
    bad, good = world.execute(fetch(asked, asked_well, max_wait_ms=60_000))
    assert (bad.fault, good.fault) == (fault, None)


def test_fetch_without_the_right_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    world = writing_world()
    asked: list[tuple[Operation, Resource, str]] = []

    def allows(self: Access, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        asked.append((operation, resource, name))
        return False

    monkeypatch.setattr(Access, "allows", allows)
    (result,) = read(world, part())
    assert result.fault is Fault.NOT_AUTHORIZED_TOPIC
    assert asked == [(Operation.READ, Resource.TOPIC, "t")]


def test_fetch_of_a_follower_is_refused() -> None:
    """Nobody follows a broker that is alone. Kafka answers the same to a replica that is not assigned."""
    world = writing_world()
    produce(world, batch(b"a"))
    (old,) = read(world, part(), replica_id=2)
    (new,) = read(world, part(current_leader_epoch=0), replica_id=2)
    assert (old.fault, new.fault) == (Fault.NOT_LEADER, Fault.UNKNOWN_LEADER_EPOCH)


# -- how much is read ----------------------------------------------------------------------------


def filled(batches: int = 4, value_bytes: int = 1_000) -> tuple[World, int]:
    """A world with as many batches in both partitions, and the size of one."""
    world = writing_world()
    for partition in (0, 1):
        for _ in range(batches):
            produce(world, batch(bytes(value_bytes)), partition=partition)
    return world, len(batch(bytes(value_bytes)))


def sizes(results: list[FetchedPart]) -> list[int]:
    return [sum(map(len, result.runs)) for result in results]


def test_first_batch_comes_whole_however_small_the_bounds() -> None:
    """KIP-74: somebody must get past it."""
    world, size = filled()
    assert sizes(read(world, part(max_bytes=1), part(partition=1, max_bytes=1), max_bytes=1)) == [size, 0]


def test_bound_of_a_partition_holds() -> None:
    world, size = filled()
    assert sizes(read(world, part(max_bytes=2 * size), part(partition=1))) == [2 * size, 4 * size]


def test_bound_of_the_answer_holds_over_partitions() -> None:
    world, size = filled()
    assert sizes(read(world, part(), part(partition=1), max_bytes=5 * size)) == [4 * size, size]


def test_later_batch_that_does_not_fit_is_left_for_the_next_fetch() -> None:
    world, size = filled()
    assert sizes(read(world, part(), part(partition=1), max_bytes=5 * size - 1)) == [4 * size, 0]
    assert sizes(read(world, part(max_bytes=size), part(partition=1, max_bytes=size - 1))) == [size, 0]


def test_bound_of_the_broker_holds_whatever_is_asked_for() -> None:
    """``fetch.max.bytes``, and what one turn may read at most."""
    world, size = filled()
    world.add(Fetching(world.cluster, world.access, world.timers, world.soon, 3 * size).routes)
    assert sizes(read(world, part(), part(partition=1), max_bytes=2**31 - 1)) == [3 * size, 0]
    assert TURN_BYTES_MAX < FETCH_BYTES_MAX


def test_partition_without_room_still_says_that_its_offset_is_wrong() -> None:
    world, size = filled()
    _, second = read(world, part(), part(99, partition=1), max_bytes=size)
    assert second.fault is Fault.OFFSET_OUT_OF_RANGE


# -- epochs (KIP-320, KIP-595) -------------------------------------------------------------------


def test_old_leader_epoch_is_fenced_and_told_who_leads() -> None:
    world = writing_world()
    world.cluster.partition("t", 0).leader_epoch = 3
    (result,) = read(world, part(current_leader_epoch=2))
    assert (result.fault, result.leader) == (Fault.FENCED_LEADER_EPOCH, Leader(NODE_ID, 3))


def test_leader_epoch_below_zero_says_nothing() -> None:
    world = writing_world()
    assert [read(world, part(current_leader_epoch=epoch))[0].fault for epoch in (-1, -2)] == [None, None]


def test_leader_epoch_from_the_future_is_unknown() -> None:
    (result,) = read(writing_world(), part(current_leader_epoch=1))
    assert (result.fault, result.leader) == (Fault.UNKNOWN_LEADER_EPOCH, None)


def two_epochs() -> World:
    """Epoch 0 up to offset 2, epoch 3 up to offset 4."""
    world = writing_world()
    produce(world, batch(b"a", b"b"))
    world.cluster.partition("t", 0).leader_epoch = 3
    produce(world, batch(b"c", b"d"))
    return world


def test_history_that_went_on_differently_is_told_where_it_parted() -> None:
    (result,) = read(two_epochs(), part(3, last_fetched_epoch=0), max_wait_ms=60_000)
    assert (result.diverging, result.runs) == ((0, 2), ())
    (committed,) = read(two_epochs(), part(3, last_fetched_epoch=0), committed=True)
    assert (committed.diverging, committed.aborted) == ((0, 2), None)


def test_history_with_an_epoch_between_ours_ends_at_the_one_before() -> None:
    (result,) = read(two_epochs(), part(2, last_fetched_epoch=1))
    assert result.diverging == (0, 2)


def test_history_that_is_ours_is_read_on() -> None:
    (result,) = read(two_epochs(), part(2, last_fetched_epoch=0))
    assert (result.diverging, values(result)) == (None, [b"c", b"d"])


def test_history_of_an_unknown_epoch_is_out_of_range() -> None:
    (result,) = read(two_epochs(), part(2, last_fetched_epoch=9))
    assert result.fault is Fault.OFFSET_OUT_OF_RANGE


# -- waiting -------------------------------------------------------------------------------------


def test_long_poll_is_answered_when_records_arrive() -> None:
    world = writing_world()
    replies = world.submit(fetch(part(), max_wait_ms=1_000))
    assert replies == []
    produce(world, batch(b"a"))
    world.turn()
    assert [values(result) for result in replies[0]] == [[b"a"]]


def test_long_poll_is_answered_once_for_all_that_came_together() -> None:
    world = writing_world()
    replies = world.submit(fetch(part(), part(partition=1), max_wait_ms=1_000))
    for value in (b"a", b"b", b"c"):
        produce(world, batch(value))
    produce(world, batch(b"d"), partition=1)
    assert replies == []
    world.turn()
    assert len(replies) == 1
    assert [values(result) for result in replies[0]] == [[b"a", b"b", b"c"], [b"d"]]


def test_long_poll_reads_only_the_partitions_that_got_something() -> None:
    """A fetch of a thousand partitions must not read them all again for every append."""
    world = writing_world()
    world.create_topic("wide", 1_000)
    asked = [FetchPart("wide", index, 0, BIG) for index in range(1_000)]
    replies = world.submit(fetch(*asked, max_wait_ms=1_000))
    produce(world, batch(b"a"), topic="wide", partition=7)
    world.turn()
    assert values(replies[0][7]) == [b"a"]
    assert [index for index in range(1_000) if world.log("wide", index).reads] == [7]
    assert world.log("wide", 7).reads == 1


def test_long_poll_ends_with_its_time_and_what_there_is() -> None:
    world = writing_world()
    replies = world.submit(fetch(part(), max_wait_ms=500, min_bytes=10_000))
    produce(world, batch(b"a"))
    world.turn()
    world.pass_time(499)
    assert replies == []
    world.pass_time(1)
    assert [values(result) for result in replies[0]] == [[b"a"]]
    assert world.timers.next_due_ms is None


def test_long_poll_waits_for_as_many_bytes_as_it_wants() -> None:
    world = writing_world()
    size = len(batch(b"a"))
    replies = world.submit(fetch(part(), part(partition=1), max_wait_ms=500, min_bytes=2 * size))
    produce(world, batch(b"a"))
    world.turn()
    assert (replies, world.log("t").reads) == ([], 0)
    produce(world, batch(b"b"), partition=1)
    world.turn()
    assert [values(result) for result in replies[0]] == [[b"a"], [b"b"]]


def test_fetch_that_waits_for_nothing_is_answered_at_once() -> None:
    world = writing_world()
    assert len(world.submit(fetch(part(), max_wait_ms=0))) == 1
    assert len(world.submit(fetch(part(), max_wait_ms=500, min_bytes=0))) == 1
    assert world.submit(fetch(max_wait_ms=500)) == [[]]


def test_long_poll_on_a_topic_that_is_deleted_hears_of_it() -> None:
    world = writing_world()
    topic_id = world.image.topics.by_name["t"].topic_id
    by_name = world.submit(fetch(part(), max_wait_ms=60_000))
    by_id = world.submit(fetch(FetchPart(topic_id, 1, 0, BIG), max_wait_ms=60_000))
    world.cluster.commit([(RemoveTopicRecord(topic_id=topic_id), 0)], lambda _fault: None)
    world.turn()
    assert [result.fault for result in by_name[0]] == [Fault.UNKNOWN_TOPIC]
    assert [result.fault for result in by_id[0]] == [Fault.UNKNOWN_TOPIC_ID]


def test_long_poll_of_a_caller_that_leaves_ends_and_leaves_nothing_behind() -> None:
    world = writing_world()
    caller = Caller()
    replies = world.submit(fetch(part(), max_wait_ms=60_000), caller)
    caller.presence.leave()
    assert len(replies) == 1
    produce(world, batch(b"a"))
    world.turn()
    assert (len(replies), world.timers.next_due_ms) == (1, None)
    assert not world.cluster.partition("t", 0).waiting


def test_long_polls_of_many_readers_are_all_answered() -> None:
    world = writing_world()
    replies = [world.submit(fetch(part(), max_wait_ms=1_000)) for _ in range(20)]
    produce(world, batch(b"a"))
    world.turn()
    assert all(len(each) == 1 for each in replies)


def test_long_poll_is_answered_whatever_goes_wrong_for_others_of_one_connection() -> None:
    """The second of their mistakes is told by nobody: the connection ends by the first."""
    world, caller = writing_world(), Mistakes()
    broken = Caller(presence=caller.presence)
    for _ in range(2):
        with asking(caller, "Fetch"):
            world.routes[Fetch](fetch(part(), max_wait_ms=1_000), broken, lambda _results: loose())
    replies = world.submit(fetch(part(), max_wait_ms=1_000))
    produce(world, batch(b"a"))
    with pytest.raises(RuntimeError):
        world.turn()
    assert [values(result) for result in replies[0]] == [[b"a"]]
    assert caller.found[0] == ("Fetch", "a bolt is loose")


def test_clock_jump_does_not_end_a_long_poll() -> None:
    """R10."""
    world = writing_world()
    replies = world.submit(fetch(part(), max_wait_ms=1_000))
    world.clock.jump(10**9)
    world.timers.run_due()
    assert replies == []


# -- isolation -----------------------------------------------------------------------------------


def test_committed_reading_stops_before_an_open_transaction() -> None:
    world = writing_world()
    produce(world, batch(b"a"))
    begun = bytearray(batch(b"b", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True))
    world.log("t").append(begun, check_batches(begun), 0)
    (committed,) = read(world, part(), committed=True)
    (all_of_it,) = read(world, part())
    assert (values(committed), committed.aborted, committed.last_stable_offset) == ([b"a"], (), 1)
    assert (values(all_of_it), all_of_it.aborted) == ([b"a", b"b"], None)
    replies = world.submit(fetch(part(1), max_wait_ms=100, committed=True))
    assert replies == []


# -- records that the disk has yet to give ---------------------------------------------------------


def test_fetch_of_records_that_are_not_in_memory_waits_for_them_and_for_nothing_else() -> None:
    """R9: also a fetch that said it would not wait; what is in memory is read meanwhile."""
    world = writing_world()
    produce(world, batch(b"far"))
    produce(world, batch(b"near"), partition=1)
    world.log("t").far = {0}
    replies = world.submit(fetch(part(), part(partition=1), max_wait_ms=0))
    assert (replies, world.log("t").reads, world.log("t", 1).reads) == ([], 0, 1)
    world.log("t").summoned.pop()()
    assert [values(result) for result in replies[0]] == [[b"far"], [b"near"]]


def test_fetch_of_several_far_partitions_is_answered_when_the_last_is_near() -> None:
    world = writing_world()
    for partition in (0, 1):
        produce(world, batch(b"far"), partition=partition)
        world.log("t", partition).far = {0}
    replies = world.submit(fetch(part(), part(partition=1), max_wait_ms=500))
    world.log("t", 1).summoned.pop()()
    assert replies == []
    world.log("t").summoned.pop()()
    assert [values(result) for result in replies[0]] == [[b"far"], [b"far"]]


def test_fetch_whose_far_records_are_fewer_than_it_wants_goes_on_waiting() -> None:
    world = writing_world()
    produce(world, batch(b"far"))
    world.log("t").far = {0}
    replies = world.submit(fetch(part(), max_wait_ms=500, min_bytes=len(batch(b"far")) + 1))
    world.log("t").summoned.pop()()
    assert replies == []
    produce(world, batch(b"new"))
    world.turn()
    assert values(replies[0][0]) == [b"far", b"new"]


def test_topic_that_is_deleted_while_the_disk_is_asked_is_unknown() -> None:
    world = writing_world()
    produce(world, batch(b"far"))
    log = world.log("t")
    log.far = {0}
    replies = world.submit(fetch(part(), max_wait_ms=500))
    topic_id = world.image.topics.by_name["t"].topic_id
    world.cluster.commit([(RemoveTopicRecord(topic_id=topic_id), 0)], lambda _fault: None)
    log.summoned.pop()()
    assert replies[0][0].fault is Fault.UNKNOWN_TOPIC


def test_fetch_whose_caller_leaves_while_the_disk_is_asked_waits_for_nothing_more() -> None:
    """Else it would stay for as long as its caller meant to wait, which may be days."""
    world, caller = writing_world(), Caller()
    produce(world, batch(b"a"))
    world.log("t").far = {0}
    replies = world.submit(fetch(part(), max_wait_ms=60_000, min_bytes=BIG), caller)
    caller.presence.forget()
    caller.presence.leave()
    world.log("t").summoned.pop()()
    assert (len(replies), world.timers.next_due_ms) == (1, None)
    assert not world.cluster.partition("t", 0).waiting
