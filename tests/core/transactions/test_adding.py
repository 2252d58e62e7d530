"""What is part of a transaction: partitions, by request or by being written to, and groups (KIP-890)."""

import pytest

from tests.core.batches import batch
from tests.core.rights import Denying
from tests.core.transactions.coordinated import TX, Client, Coordinated
from trivium.core.access import Operation, Resource
from trivium.core.commands.offsets import OffsetToCommit
from trivium.core.commands.records import Produce, ProducePart
from trivium.core.commands.transactions import AddedBatch, AddedPart, AddPartitions, AddPartitionsInBatch
from trivium.core.faults import Fault


def old_client(world: Coordinated) -> Client:
    client = world.init()
    client.renews = False
    return client


def test_partition_becomes_part_of_a_transaction_by_being_written_to() -> None:
    world = Coordinated()
    client = world.init()
    assert client.send(b"v", 1).fault is None
    described = world.described()
    assert (described.state, described.partitions) == ("Ongoing", [("t", 1)])
    assert described.started_at_ms == world.world.clock.wall_ms()


def test_first_record_is_not_written_before_the_ledger_says_so_durably() -> None:
    """R14: otherwise a crash could leave a transaction that nobody ever ends."""
    world = Coordinated()
    client = world.init()
    world.world.storage.holds_syncs = True
    first, second = world.submit(client.sending(b"1")), world.submit(client.sending(b"2"))
    assert world.log().log_end_offset == 0
    world.world.storage.sync()
    assert [value for _, _, value in world.log().records()] == [b"1", b"2"]
    world.world.storage.sync()
    assert [reply[0].fault for reply in (*first, *second)] == [None, None]


def test_write_that_waits_for_the_ledger_is_not_overtaken_by_the_next() -> None:
    """R13, R14: the first of two writes also goes to a partition that is new to the transaction. The second
    goes only where the transaction has begun, and must not come before what the first has for that place.
    """
    world = Coordinated()
    client = world.init()
    assert client.send(b"1").fault is None
    world.world.storage.holds_syncs = True
    first, other = client.sending(b"2"), client.sending(b"2", 1)
    both = first.changed(parts=[*first.parts, *other.parts])
    replies = [world.submit(both), world.submit(client.sending(b"3"))]
    for _ in range(3):
        world.world.storage.sync()
    assert [part.fault for (parts,) in replies for part in parts] == [None, None, None]
    assert [value for _, _, value in world.log().records()] == [b"1", b"2", b"3"]


def test_writes_stay_in_their_order_when_a_later_sync_of_the_ledger_is_done_first() -> None:
    """R13, R14: syncs of one log may overtake each other, the records of one producer must not."""
    world = Coordinated()
    client = world.init()
    storage = world.world.storage
    storage.holds_syncs = True
    replies = [world.submit(client.sending(value)) for value in (b"1", b"2", b"3")]
    storage.sync_last()
    assert [value for _, _, value in world.log().records()] == [b"1", b"2", b"3"]
    storage.sync()
    storage.sync()
    assert [parts[0].fault for (parts,) in replies] == [None, None, None]


def test_mistake_of_one_who_waited_for_the_ledger_keeps_it_from_nobody_else() -> None:
    world = Coordinated()
    world.init()
    (ledger,) = world.coordinator.ledgers.loaded
    storage, told = world.world.storage, list[str]()
    storage.holds_syncs = True

    def fail(_fault: Fault | None) -> None:
        told.append("first")
        raise RuntimeError("a bolt is loose")

    ledger.when_durable(fail)
    ledger.when_durable(lambda _fault: told.append("second"))
    with pytest.raises(RuntimeError):
        storage.sync_last()
    storage.sync()
    assert told == ["first", "second"]


def test_record_of_an_old_client_is_refused_where_its_transaction_is_not() -> None:
    world = Coordinated()
    client = old_client(world)
    assert client.send(b"v", sequence=0).fault is Fault.TRANSACTION_ABORTABLE
    assert client.add(1) == [None]
    assert client.send(b"v", sequence=0).fault is Fault.TRANSACTION_ABORTABLE
    assert client.send(b"v", 1, sequence=0).fault is None
    assert world.log(0).log_end_offset == 0


def test_record_of_an_old_client_is_taken_unseen_if_nobody_is_to_verify() -> None:
    world = Coordinated({"transaction.partition.verification.enable": "false"})
    assert old_client(world).send(b"v").fault is None


def test_record_that_comes_after_the_end_is_refused() -> None:
    """Of an old client, whose epoch does not tell it from what comes next."""
    world = Coordinated()
    client = old_client(world)
    client.add(0)
    client.send(b"v")
    late = client.sending(b"late")
    client.end(commits=True)
    assert world.execute(late)[0].fault is Fault.TRANSACTION_ABORTABLE
    assert world.committed() == [b"v"]


def test_record_without_a_transactional_id_is_refused_even_in_an_open_transaction() -> None:
    """RELIABILITY, lesson 6: the right to the id is asked for with every write."""
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    smuggled = client.sending(b"w").changed(transactional_id=None)
    assert world.execute(smuggled)[0].fault is Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID


def test_record_of_somebody_without_the_right_is_refused() -> None:
    world = Coordinated(access=Denying((Operation.WRITE, Resource.TRANSACTIONAL_ID, "mine")))
    client = world.init()
    client.transactional_id = "mine"
    assert client.send(b"v").fault is Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID


def test_records_of_two_producers_in_one_request_are_refused() -> None:
    world = Coordinated()
    one, other = world.init(), world.init("other")
    both = Produce(
        [one.sending(b"v", 0).parts[0], other.sending(b"v", 1).parts[0]],
        -1,
        30_000,
        TX,
        joins_transaction=True,
    )
    assert [part.fault for part in world.execute(both)] == [Fault.INVALID_PRODUCER_ID_MAPPING] * 2
    assert world.log(0).log_end_offset == 0


def test_unknown_partition_and_damaged_records_are_refused_for_themselves() -> None:
    world = Coordinated()
    client = world.init()
    good = client.sending(b"v", 0).parts[0]
    command = Produce(
        [good, good._replace(partition=9), ProducePart("t", 1, batch(b"x")[:50])], -1, 30_000, TX, True
    )
    faults = [part.fault for part in world.execute(command)]
    assert faults == [None, Fault.UNKNOWN_TOPIC, Fault.CORRUPT_MESSAGE]
    assert world.described().partitions == [("t", 0)]


# -- by request ----------------------------------------------------------------------------------


def test_partitions_are_added_all_or_none() -> None:
    world = Coordinated()
    client = world.init()
    assert client.add(0, 9, 1) == [
        Fault.OPERATION_NOT_ATTEMPTED,
        Fault.UNKNOWN_TOPIC,
        Fault.OPERATION_NOT_ATTEMPTED,
    ]
    assert world.described().state == "Empty"
    assert client.add(0, 1) == [None, None]
    assert client.add(1, 2) == [None, None]
    assert world.described().partitions == [("t", 0), ("t", 1), ("t", 2)]


def test_partition_that_is_there_already_costs_no_record() -> None:
    world = Coordinated()
    client = world.init()
    client.add(0, 1)
    end = world.log(0, "__transaction_state").log_end_offset
    assert client.add(1) == [None]
    assert world.log(0, "__transaction_state").log_end_offset == end


def test_broker_s_own_topics_and_forbidden_ones_cannot_be_added() -> None:
    world = Coordinated(access=Denying((Operation.WRITE, Resource.TOPIC, "t")))
    client = world.init()
    assert client.add(0) == [Fault.NOT_AUTHORIZED_TOPIC]
    assert client.add(0, topic="__transaction_state") == [Fault.NOT_AUTHORIZED_TOPIC]


@pytest.mark.parametrize(
    ("producer_id", "epoch", "fault"),
    [
        (77, 0, Fault.INVALID_PRODUCER_ID_MAPPING),
        (0, 0, Fault.PRODUCER_FENCED),
        (0, 2, Fault.PRODUCER_FENCED),
    ],
)
def test_partition_is_not_added_for_somebody_else(producer_id: int, epoch: int, fault: Fault) -> None:
    world = Coordinated()
    world.init()
    client = world.init()
    assert (client.producer_id, client.epoch) == (0, 1)
    client.producer_id, client.epoch = producer_id, epoch
    assert client.add(0) == [fault]
    assert world.described().state == "Empty"


def test_batch_of_a_broker_adds_and_verifies_each_transaction_for_itself() -> None:
    world = Coordinated()
    one, other = world.init("one"), world.init("other")
    one.add(0)
    ids = (one.producer_id, one.epoch), (other.producer_id, other.epoch)
    command = AddPartitionsInBatch(
        [
            AddPartitions("one", *ids[0], [("t", 0), ("t", 1)], verifies_only=True),
            AddPartitions("other", *ids[1], [("t", 2)]),
            AddPartitions("other", *ids[1], [("t", 2), ("t", 9)]),
            AddPartitions("nobody", 3, 0, [("t", 2)], verifies_only=True),
        ]
    )
    assert world.execute(command) == AddedBatch(
        parts=[
            [AddedPart("t", 0), AddedPart("t", 1, Fault.TRANSACTION_ABORTABLE)],
            [AddedPart("t", 2)],
            [AddedPart("t", 2, Fault.OPERATION_NOT_ATTEMPTED), AddedPart("t", 9, Fault.UNKNOWN_TOPIC)],
            [AddedPart("t", 2, Fault.INVALID_PRODUCER_ID_MAPPING)],
        ]
    )
    assert world.described("one").partitions == [("t", 0)]
    assert world.execute(AddPartitionsInBatch([])) == AddedBatch()


# -- the offsets of a group ----------------------------------------------------------------------


@pytest.mark.parametrize("renews", [True, False])
def test_offset_counts_when_the_transaction_does(renews: bool) -> None:
    """KIP-447: until then a reader who wants a stable offset is told to wait."""
    world = Coordinated()
    client = world.init()
    client.renews = renews
    if not renews:
        assert client.commit_offset(5) is Fault.TRANSACTION_ABORTABLE
        assert client.add_offsets() is None
    assert client.commit_offset(5) is None
    assert world.offset().offset == -1
    assert world.offset(require_stable=True).fault is Fault.UNSTABLE_OFFSET_COMMIT
    assert client.end(commits=True).fault is None
    assert world.offset(require_stable=True).offset == 5


def test_offset_of_an_aborted_transaction_never_counts() -> None:
    world = Coordinated()
    client = world.init()
    client.commit_offset(5)
    client.end(commits=True)
    client.commit_offset(9)
    client.end(commits=False)
    assert (world.offset(require_stable=True).offset, world.offset().fault) == (5, None)


@pytest.mark.parametrize("commits", [True, False])
def test_pending_offset_survives_a_restart_and_is_decided_after_it(commits: bool) -> None:
    world = Coordinated()
    client = world.init()
    client.commit_offset(5)
    world.restart()
    assert world.offset(require_stable=True).fault is Fault.UNSTABLE_OFFSET_COMMIT
    assert client.end(commits=commits).fault is None
    assert world.offset(require_stable=True).offset == (5 if commits else -1)
    world.restart()
    assert world.offset(require_stable=True).offset == (5 if commits else -1)


@pytest.mark.parametrize("later_first", [True, False])
def test_of_two_transactions_for_one_offset_the_later_commit_wins(later_first: bool) -> None:
    world = Coordinated()
    one, other = world.init("one"), world.init("other")
    one.commit_offset(5)
    other.commit_offset(7)
    for client in (other, one) if later_first else (one, other):
        client.end(commits=True)
    assert world.offset(require_stable=True).offset == 7
    world.restart()
    assert world.offset(require_stable=True).offset == 7


def test_offset_of_a_member_that_is_none_is_refused() -> None:
    world = Coordinated()
    client = world.init()
    assert client.commit_offset(5, member_id="stranger", generation=3) is Fault.GROUP_ID_NOT_FOUND
    assert client.commit_offset(5) is None


def test_partition_that_is_not_there_cannot_be_verified() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    places = [("t", 0), ("t", 9)]
    asked = AddPartitions(TX, client.producer_id, client.epoch, places, verifies_only=True)
    (parts,) = world.execute(AddPartitionsInBatch([asked])).parts
    assert [part.fault for part in parts] == [Fault.OPERATION_NOT_ATTEMPTED, Fault.UNKNOWN_TOPIC]


def test_offset_of_a_topic_that_is_not_there_is_refused_for_itself() -> None:
    world = Coordinated()
    client = world.init()
    good, bad = client.committing(5).parts[0], OffsetToCommit("nowhere", 0, 5)
    for parts, faults in (
        ([bad], [Fault.UNKNOWN_TOPIC]),
        ([bad, good], [Fault.UNKNOWN_TOPIC, Fault.INVALID_PRODUCER_EPOCH]),
        ([bad, good], [Fault.UNKNOWN_TOPIC, None]),
    ):
        command = client.committing(5).changed(parts=parts)
        if Fault.INVALID_PRODUCER_EPOCH in faults:
            command = command.changed(producer_epoch=client.epoch + 1)
        assert [part.fault for part in world.execute(command)] == faults
        assert world.described().state == ("Ongoing" if None in faults else "Empty")
    assert client.end(commits=True).fault is None
    assert world.offset().offset == 5


def test_offset_of_a_topic_that_is_forbidden_leaves_the_transaction_as_it_is() -> None:
    world = Coordinated(access=Denying((Operation.READ, Resource.TOPIC)))
    client = world.init()
    assert client.commit_offset(5) is Fault.NOT_AUTHORIZED_TOPIC
    assert world.described().state == "Empty"


def test_group_of_somebody_without_the_right_is_refused() -> None:
    world = Coordinated(access=Denying((Operation.READ, Resource.GROUP)))
    client = world.init()
    assert client.add_offsets() is Fault.NOT_AUTHORIZED_GROUP
    assert client.commit_offset(5) is Fault.NOT_AUTHORIZED_GROUP
    assert world.described().state == "Empty"


def test_offset_of_a_fenced_producer_is_refused() -> None:
    world = Coordinated()
    zombie = world.init()
    world.init()
    assert zombie.add_offsets() is Fault.PRODUCER_FENCED
    assert zombie.commit_offset(5) is Fault.INVALID_PRODUCER_EPOCH
