"""Writing: what is taken, what is refused and how, and when an ack is earned."""

import pytest

from tests.core.batches import batch, produce, writing_world
from tests.core.fakes import NODE_ID, NOW_MS
from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.records import Produce, ProducePart
from trivium.core.faults import Fault
from trivium.core.produce import ACKS_ALL, ACKS_LEADER, ACKS_NONE, TIMEOUT_STEP_MS
from trivium.messages.stored.metadata_topics import PartitionRecord, TopicRecord
from trivium.records.batch import check_batches
from trivium.wire.uuid_text import ZERO_UUID


def test_produce_gives_offsets_in_order() -> None:
    """001.45: accepted, written, acknowledged."""
    world = writing_world()
    assert produce(world, batch(b"a", b"b")).base_offset == 0
    assert produce(world, batch(b"c")).base_offset == 2
    assert [value for _, _, value in world.log("t").records()] == [b"a", b"b", b"c"]


def test_produce_by_topic_id_finds_the_topic() -> None:
    world = writing_world()
    topic_id = world.image.topics.by_name["t"].topic_id
    result = produce(world, batch(b"a"), topic=topic_id)
    assert (result.topic, result.fault, result.base_offset) == (topic_id, None, 0)


@pytest.mark.parametrize(
    ("topic", "partition", "fault"),
    [
        ("missing", 0, Fault.UNKNOWN_TOPIC),
        ("t", 2, Fault.UNKNOWN_TOPIC),
        ("t", -1, Fault.UNKNOWN_TOPIC),
        (bytes(15) + b"\xff", 0, Fault.UNKNOWN_TOPIC_ID),
    ],
)
def test_produce_to_what_is_not_there_is_refused(topic: str | bytes, partition: int, fault: Fault) -> None:
    result = produce(writing_world(), batch(b"a"), topic, partition)
    assert (result.fault, result.base_offset) == (fault, -1)


def test_produce_with_one_bad_partition_writes_the_others() -> None:
    world = writing_world()
    parts = [
        ProducePart("t", 0, batch(b"a")),
        ProducePart("t", 1, b"\x00" * 80),
        ProducePart("t", 1, batch(b"c")),
    ]
    first, second, third = world.execute(Produce(parts, ACKS_LEADER, 1_000))
    assert (first.base_offset, second.fault, third.base_offset) == (0, Fault.CORRUPT_MESSAGE, 0)


def test_produce_of_batches_that_were_made_here_checks_them_once() -> None:
    world = writing_world()
    data = batch(b"a", b"b")
    unlike = bytearray(data)
    unlike[-1] ^= 1  # Nobody computes the checksum again.
    part = ProducePart("t", 0, memoryview(unlike), check_batches(data))
    (result,) = world.execute(Produce([part], ACKS_LEADER, 1_000))
    assert (result.fault, result.base_offset) == (None, 0)


def test_produce_of_batches_that_were_made_here_keeps_to_what_the_topic_takes() -> None:
    world = writing_world({"message.max.bytes": "100"})
    data = batch(b"v" * 200)
    part = ProducePart("t", 0, memoryview(bytearray(data)), check_batches(data))
    (result,) = world.execute(Produce([part], ACKS_LEADER, 1_000))
    assert result.fault is Fault.MESSAGE_TOO_LARGE
    assert not world.log("t").records()


def test_produce_twice_to_one_partition_in_a_request_appends_both() -> None:
    world = writing_world()
    parts = [ProducePart("t", 0, batch(b"a")), ProducePart("t", 0, batch(b"b"))]
    results = world.execute(Produce(parts, ACKS_LEADER, 1_000))
    assert [result.base_offset for result in results] == [0, 1]


@pytest.mark.parametrize("acks", [2, -2, 32_767])
def test_produce_with_unknown_acks_is_refused_and_writes_nothing(acks: int) -> None:
    world = writing_world()
    assert produce(world, batch(b"a"), acks=acks).fault is Fault.INVALID_REQUIRED_ACKS
    assert world.log("t").log_end_offset == 0


def test_produce_to_an_internal_topic_is_refused() -> None:
    world = writing_world()
    world.create_topic("__consumer_offsets")
    result = produce(world, batch(b"a"), topic="__consumer_offsets")
    assert result.fault is Fault.INVALID_TOPIC_NAME


def test_produce_without_the_right_is_refused_and_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    world = writing_world()
    asked: list[tuple[Operation, Resource, str]] = []

    def allows(self: Access, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        asked.append((operation, resource, name))
        return False

    monkeypatch.setattr(Access, "allows", allows)
    assert produce(world, batch(b"a")).fault is Fault.NOT_AUTHORIZED_TOPIC
    assert asked == [(Operation.WRITE, Resource.TOPIC, "t")]
    assert world.log("t").log_end_offset == 0


def test_produce_on_a_failing_log_is_a_storage_fault() -> None:
    """R5: a full disk is an error, not an accident."""
    world = writing_world()
    world.log("t").fault = Fault.STORAGE
    assert produce(world, batch(b"a")).fault is Fault.STORAGE
    world.log("t").fault = None
    assert produce(world, batch(b"a")).base_offset == 0


def test_produce_of_bytes_that_may_not_be_changed_copies_them() -> None:
    """A caller's own memory is not written to unless it is handed over as writable."""
    world = writing_world()
    records = batch(b"a", base_offset=0)
    before = bytes(records)
    produce(world, batch(b"x"))
    produce(world, records)
    assert records == before


# -- acks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("acks", [ACKS_NONE, ACKS_LEADER])
def test_ack_of_the_leader_does_not_wait_for_a_sync(acks: int) -> None:
    world = writing_world()
    world.storage.holds_syncs = True
    assert produce(world, batch(b"a"), acks=acks).base_offset == 0


def test_ack_of_all_waits_for_the_sync() -> None:
    """R2: what acks=all has answered is synced."""
    world = writing_world()
    world.storage.holds_syncs = True
    replies = world.submit(Produce([ProducePart("t", 0, batch(b"a"))], ACKS_ALL, 500))
    assert replies == []
    world.storage.sync()
    assert [part.base_offset for part in replies[0]] == [0]


def test_ack_of_all_waits_for_every_partition() -> None:
    world = writing_world()
    world.storage.holds_syncs = True
    parts = [
        ProducePart("t", 0, batch(b"a")),
        ProducePart("t", 1, batch(b"b")),
        ProducePart("x", 0, batch(b"c")),
    ]
    replies = world.submit(Produce(parts, ACKS_ALL, 500))
    assert replies == []
    world.storage.sync()
    assert [part.fault for part in replies[0]] == [None, None, Fault.UNKNOWN_TOPIC]


def test_ack_of_a_failed_sync_is_a_storage_fault() -> None:
    """R4: a failed sync is never swallowed."""
    world = writing_world()
    world.storage.holds_syncs = True
    replies = world.submit(Produce([ProducePart("t", 0, batch(b"a"))], ACKS_ALL, 500))
    world.storage.sync(Fault.STORAGE)
    assert [(part.fault, part.base_offset) for part in replies[0]] == [(Fault.STORAGE, -1)]


def test_ack_of_all_without_durability_is_given_at_once() -> None:
    world = writing_world()
    world.storage.holds_syncs = True
    live = world.cluster.partition("t", 0)
    live.rules = live.rules._replace(durable=False)
    assert produce(world, batch(b"a"), acks=ACKS_ALL).base_offset == 0


def test_ack_of_one_waits_for_a_sync_where_the_topic_says_so() -> None:
    """``flush.messages=1`` means a sync before every ack, as it does with Kafka."""
    world = writing_world()
    world.storage.holds_syncs = True
    live = world.cluster.partition("t", 0)
    live.rules = live.rules._replace(sync_each=True)
    replies = world.submit(Produce([ProducePart("t", 0, batch(b"a"))], ACKS_LEADER, 500))
    assert replies == []
    world.storage.sync()
    assert [(part.fault, part.base_offset) for part in replies[0]] == [(None, 0)]


def test_ack_that_a_hanging_sync_keeps_times_out_once() -> None:
    world = writing_world()
    world.storage.holds_syncs = True
    replies = world.submit(Produce([ProducePart("t", 0, batch(b"a"))], ACKS_ALL, 500))
    world.pass_time(499)
    assert replies == []
    world.pass_time(1 + TIMEOUT_STEP_MS)
    assert [(part.fault, part.base_offset) for part in replies[0]] == [(Fault.TIMED_OUT, 0)]
    world.storage.sync()
    assert len(replies) == 1


def test_acks_time_out_whatever_goes_wrong_for_another() -> None:
    """A mistake ends the connection of the one whose answer it was, now and in later rounds of the timer."""
    world, caller = writing_world(), Mistakes()
    world.storage.holds_syncs = True
    command = Produce([ProducePart("t", 0, batch(b"a"))], ACKS_ALL, 500)
    with asking(caller, "Produce"):
        world.routes[Produce](command, Caller(presence=caller.presence), lambda _results: loose())
    others = [world.submit(command.changed(timeout_ms=each)) for each in (500, 5_000)]
    world.pass_time(5_000 + TIMEOUT_STEP_MS)
    assert [[part.fault for part in replies[0]] for replies in others] == [[Fault.TIMED_OUT]] * 2
    assert caller.found == [("Produce", "a bolt is loose")]


def test_acks_that_wait_share_one_timer() -> None:
    """A timer for each would cost as much as the write."""
    world = writing_world()
    world.storage.holds_syncs = True
    for _ in range(50):
        world.submit(Produce([ProducePart("t", 0, batch(b"a"))], ACKS_ALL, 30_000))
    assert world.timers.next_due_ms == TIMEOUT_STEP_MS
    world.storage.sync()
    world.pass_time(TIMEOUT_STEP_MS)
    assert world.timers.next_due_ms is None


# -- rules of the topic --------------------------------------------------------------------------


def test_batch_larger_than_the_topic_allows_is_refused() -> None:
    """003.30: a limit with a name."""
    world = writing_world()
    world.create_topic("small", max_message_bytes="200")
    fits = batch(b"v" * 100)
    assert produce(world, fits, topic="small").fault is None
    result = produce(world, batch(b"v" * 200), topic="small")
    assert result.fault is Fault.MESSAGE_TOO_LARGE
    assert "max.message.bytes" in str(result.message)


def test_batch_of_just_the_allowed_size_is_taken() -> None:
    world = writing_world()
    records = batch(b"v" * 100)
    world.create_topic("exact", max_message_bytes=str(len(records)))
    world.create_topic("tight", max_message_bytes=str(len(records) - 1))
    assert produce(world, records, topic="exact").fault is None
    assert produce(world, records, topic="tight").fault is Fault.MESSAGE_TOO_LARGE


def test_batch_larger_than_a_segment_is_refused() -> None:
    world = writing_world()
    world.create_topic("t2", segment_bytes="1048576", max_message_bytes="3000000")
    assert produce(world, batch(b"v" * 1_500_000), topic="t2").fault is Fault.RECORD_LIST_TOO_LARGE


def test_append_time_is_stamped_and_answered() -> None:
    world = writing_world()
    world.create_topic("stamped", message_timestamp_type="LogAppendTime")
    result = produce(world, batch(b"a", b"b", timestamp=5), topic="stamped")
    assert result.log_append_time_ms == NOW_MS
    found = world.log("stamped").first_at_or_after(0)
    assert found is not None
    assert (found.offset, found.timestamp_ms) == (0, NOW_MS)


def test_create_time_is_kept_and_not_answered() -> None:
    world = writing_world()
    result = produce(world, batch(b"a", timestamp=77))
    assert result.log_append_time_ms == -1
    found = world.log("t").first_at_or_after(0)
    assert found is not None
    assert found.timestamp_ms == 77


def test_min_insync_replicas_is_no_more_than_a_partition_has() -> None:
    """One replica is all there is: as with Kafka, asking for two does not stop the writing."""
    world = writing_world()
    world.create_topic("careful", min_insync_replicas="2")
    assert produce(world, batch(b"a"), topic="careful", acks=ACKS_ALL).fault is None


def test_min_insync_replicas_that_are_missing_refuse_acks_all_only() -> None:
    world = writing_world()
    topic_id = bytes(15) + b"\x77"
    records = [
        (TopicRecord(name="lonely", topic_id=topic_id), 0),
        (
            PartitionRecord(
                partition_id=0,
                topic_id=topic_id,
                replicas=[NODE_ID, 2],
                isr=[NODE_ID],
                removing_replicas=[],
                adding_replicas=[],
                leader=NODE_ID,
                leader_epoch=0,
                partition_epoch=0,
                directories=[ZERO_UUID, ZERO_UUID],
            ),
            1,
        ),
    ]
    world.cluster.commit(records, lambda _fault: None)
    live = world.cluster.partition("lonely", 0)
    live.rules = live.rules._replace(min_insync_replicas=2)
    assert produce(world, batch(b"a"), topic="lonely", acks=ACKS_ALL).fault is Fault.NOT_ENOUGH_REPLICAS
    assert produce(world, batch(b"a"), topic="lonely", acks=ACKS_LEADER).fault is None


def test_leader_epoch_is_stamped_into_the_batch() -> None:
    world = writing_world()
    produce(world, batch(b"a"))
    ((_, header),) = check_batches(world.log("t").read(0, 1, committed=False).runs[0])
    assert (header.base_offset, header.leader_epoch) == (0, 0)


def test_produce_to_what_is_not_there_says_so_whatever_else_is_wrong() -> None:
    """In Kafka's order: a client that asks for what has gone must look it up again, not give up."""
    world = writing_world()
    wrong = Fault.INVALID_RECORD, "No records."
    parts = [ProducePart("gone", 0, None, wrong=wrong), ProducePart("t", 0, None, wrong=wrong)]
    results = world.execute(Produce([*parts, ProducePart("t", 0, batch(b"a"))], 2, 1_000))
    assert [result.fault for result in results] == [
        Fault.UNKNOWN_TOPIC,
        Fault.INVALID_RECORD,
        Fault.INVALID_REQUIRED_ACKS,
    ]
    assert not world.log("t").records()


def test_produce_that_is_refused_hears_where_the_log_begins_unless_its_bytes_are_wrong() -> None:
    world = writing_world({"message.max.bytes": "500"})
    produce(world, batch(b"a"))
    unsequenced = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=-1)
    assert produce(world, unsequenced).log_start_offset == 0
    assert produce(world, batch(b"v" * 600)).log_start_offset == -1
    assert produce(world, bytes(80)).log_start_offset == -1
