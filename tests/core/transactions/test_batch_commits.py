"""One commit for many prepared transactions: all of them or none, once for each batch (R14, R19, ADR 11)."""

from random import Random
from typing import Any

import pytest

from tests.core.rights import Denying
from tests.core.transactions.coordinated import TIMEOUT_MS, TX, Client, Coordinated
from trivium.core.access import Operation, Resource
from trivium.core.commands.batches import (
    CommitBatch,
    CommittedBatch,
    DescribedQuery,
    DescribeQueries,
    Outcome,
    Prepared,
    PrepareTransaction,
)
from trivium.core.faults import Fault, Refused
from trivium.core.ports import Done
from trivium.core.transactions import batch_commits
from trivium.core.transactions.batch_commits import FOLLOW_RETRY_MS, PREPARED_MAX, QUERY_ID_CHARS_MAX
from trivium.core.transactions.transaction import EPOCH_LAST, PREPARED_MS_MAX
from trivium.core.trivium_log import TOPIC, TriviumLog

QUERY = "query"
IN_MANY_LEDGERS = {"transaction.state.log.num.partitions": "7"}


def task(world: Coordinated, number: int, value: bytes = b"row", **fields: Any) -> Client:
    """A task of the query that has written one record to the partition of its number."""
    client = world.init(f"{QUERY}-{number}", **fields)
    assert client.send(value, number).fault is None
    return client


def prepared(client: Client) -> Prepared:
    return Prepared(client.transactional_id, client.producer_id, client.epoch)


def prepare(world: Coordinated, client: Client) -> Fault | None:
    return world.execute(PrepareTransaction(*prepared(client))).fault


def batch(batch_id: int, *clients: Client) -> CommitBatch:
    return CommitBatch(QUERY, batch_id, [prepared(client) for client in clients])


def last_batch(world: Coordinated, query_id: str = QUERY) -> int:
    (described,) = world.execute(DescribeQueries([query_id]))
    assert described.fault is None
    return described.last_batch_id


def seen(world: Coordinated) -> list[list[bytes | None]]:
    return [world.committed(partition) for partition in range(3)]


# -- committing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2])
def test_batch_is_seen_in_every_partition_and_is_remembered(level: int) -> None:
    world = Coordinated(IN_MANY_LEDGERS, level=level)
    tasks = [task(world, number) for number in range(3)]
    assert [prepare(world, each) for each in tasks] == [None] * 3
    assert seen(world) == [[], [], []]
    assert world.execute(batch(0, *tasks)) == CommittedBatch(last_batch_id=0)
    assert seen(world) == [[b"row"]] * 3
    assert last_batch(world) == 0


def test_batch_that_comes_again_commits_nothing_and_aborts_what_was_written_for_it() -> None:
    """A driver that is killed between the commit and its own note of it writes the batch again."""
    world = Coordinated(IN_MANY_LEDGERS)
    world.execute(batch(5, task(world, 0), task(world, 1)))
    again = [task(world, 0, b"again"), task(world, 1, b"again")]
    assert world.execute(batch(5, *again)) == CommittedBatch(last_batch_id=5, was_repeated=True)
    assert world.execute(batch(4)) == CommittedBatch(last_batch_id=5, was_repeated=True)
    assert seen(world) == [[b"row"], [b"row"], []]
    assert world.log(0).last_stable_offset == world.log(0).log_end_offset


def test_request_that_is_repeated_because_its_answer_was_lost_is_answered_alike() -> None:
    world = Coordinated()
    request = batch(0, task(world, 0))
    world.execute(request)
    assert world.execute(request) == CommittedBatch(last_batch_id=0, was_repeated=True)
    assert seen(world)[0] == [b"row"]


def test_batch_with_one_fenced_transaction_commits_none_of_them() -> None:
    world = Coordinated(IN_MANY_LEDGERS)
    tasks = [task(world, number) for number in range(3)]
    newer = world.init(f"{QUERY}-1")
    answer = world.execute(batch(0, *tasks))
    assert answer.fault is Fault.PRODUCER_FENCED
    assert answer.message is not None
    assert f"{QUERY}-1" in answer.message
    assert seen(world) == [[], [], []]
    assert last_batch(world) == -1
    # Nothing is held back: all of them can still be ended by their producers.
    assert tasks[0].end(commits=False).fault is None
    assert newer.send(b"new").fault is None


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"producer_id": 999}, Fault.INVALID_PRODUCER_ID_MAPPING),
        ({"transactional_id": "stranger"}, Fault.INVALID_PRODUCER_ID_MAPPING),
        ({"producer_epoch": 7}, Fault.PRODUCER_FENCED),
        ({"transactional_id": ""}, Fault.INVALID_REQUEST),
    ],
)
def test_transaction_that_is_not_known_so_is_refused(change: dict[str, Any], fault: Fault) -> None:
    world = Coordinated()
    other = prepared(task(world, 0))._replace(**change)
    assert world.execute(CommitBatch(QUERY, 0, [other])).fault is fault
    assert world.execute(PrepareTransaction(*other)).fault is fault
    assert (seen(world)[0], last_batch(world)) == ([], -1)


def test_transaction_that_its_producer_has_ended_is_refused() -> None:
    world = Coordinated(level=1)
    client = task(world, 0)
    client.renews = False
    request = batch(0, client)
    client.end(commits=False)
    assert world.execute(request).fault is Fault.INVALID_TXN_STATE


def test_task_without_records_is_a_part_of_its_batch_and_of_nothing_more() -> None:
    """What it begins later must not be taken for a part of the batch by a start."""
    world = Coordinated()
    idle = world.init(f"{QUERY}-0")
    assert prepare(world, idle) is None
    assert world.execute(batch(0, idle)) == CommittedBatch(last_batch_id=0)
    idle.send(b"later")
    world.restart()
    assert seen(world)[0] == []


def test_batch_without_transactions_is_remembered() -> None:
    world = Coordinated()
    assert world.execute(batch(3)) == CommittedBatch(last_batch_id=3)
    world.restart()
    assert last_batch(world) == 3


def test_producer_is_fenced_by_the_commit_of_its_batch() -> None:
    world = Coordinated()
    client = task(world, 0)
    world.execute(batch(0, client))
    assert client.send(b"late").fault is Fault.INVALID_PRODUCER_EPOCH
    assert task(world, 0, b"next").epoch > client.epoch


def test_producer_without_a_further_epoch_is_followed_by_a_new_one() -> None:
    world = Coordinated()
    client = world.exhausted(world.init(f"{QUERY}-0"))
    client.send(b"row")
    world.execute(batch(0, client))
    assert seen(world)[0] == [b"row"]
    assert world.markers() == [(client.producer_id, EPOCH_LAST)]
    assert task(world, 0, b"next").producer_id != client.producer_id


# -- limits and rights -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query_id", "batch_id", "count"),
    [("", 0, 0), ("q" * (QUERY_ID_CHARS_MAX + 1), 0, 0), (QUERY, -1, 0), (QUERY, 0, PREPARED_MAX + 1)],
)
def test_batch_beyond_the_limits_is_an_invalid_request(query_id: str, batch_id: int, count: int) -> None:
    world = Coordinated()
    parts = [Prepared(str(number), number, 0) for number in range(count)]
    assert world.execute(CommitBatch(query_id, batch_id, parts)).fault is Fault.INVALID_REQUEST


def test_transactional_id_that_comes_twice_is_an_invalid_request() -> None:
    world = Coordinated()
    client = task(world, 0)
    assert world.execute(batch(0, client, client)).fault is Fault.INVALID_REQUEST


@pytest.mark.parametrize("denied", [QUERY, f"{QUERY}-1"])
def test_batch_needs_the_right_to_write_on_its_query_and_on_every_transaction(denied: str) -> None:
    """S10: a foreign query must not be told that its next batches are there already."""
    world = Coordinated()
    tasks = [task(world, 0), task(world, 1)]
    world.world.access = Denying((Operation.WRITE, Resource.TRANSACTIONAL_ID, denied))
    world.restart()
    assert world.execute(batch(0, *tasks)).fault is Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID
    assert last_batch(world) == -1


def test_query_that_may_not_be_described_is_refused_alone() -> None:
    world = Coordinated(access=Denying((Operation.DESCRIBE, Resource.TRANSACTIONAL_ID, "theirs")))
    assert world.execute(DescribeQueries(["theirs", "mine"])) == [
        DescribedQuery("theirs", Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID),
        DescribedQuery("mine"),
    ]


def test_query_that_has_committed_nothing_for_longest_is_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_commits, "QUERIES_MAX", 2)
    world = Coordinated()
    for query_id, batch_id in (("a", 0), ("b", 0), ("a", 1), ("c", 0)):
        assert world.execute(CommitBatch(query_id, batch_id, [])).fault is None
    for _ in range(2):
        assert [last_batch(world, query_id) for query_id in "abc"] == [1, -1, 0]
        world.restart()


# -- waiting for the batch ---------------------------------------------------------------------------


def test_prepared_transaction_outlives_its_time_out_and_not_for_ever() -> None:
    world = Coordinated()
    waiting, forgetful = task(world, 0), task(world, 1)
    prepare(world, waiting)
    world.world.pass_time(TIMEOUT_MS)
    assert world.described(f"{QUERY}-1").state == "CompleteAbort"
    world.world.pass_time(PREPARED_MS_MAX - TIMEOUT_MS - 1)
    assert world.described(f"{QUERY}-0").state == "Ongoing"
    world.world.pass_time(1)
    assert world.described(f"{QUERY}-0").state == "CompleteAbort"
    assert world.execute(batch(0, waiting)).fault is Fault.PRODUCER_FENCED
    assert world.execute(batch(0, forgetful)).fault is Fault.PRODUCER_FENCED


def test_prepared_transaction_waits_on_after_a_restart() -> None:
    world = Coordinated()
    client = task(world, 0)
    assert prepare(world, client) is None
    assert prepare(world, client) is None
    world.restart()
    world.world.pass_time(TIMEOUT_MS)
    assert world.execute(batch(0, client)) == CommittedBatch(last_batch_id=0)


def test_transaction_with_two_phase_commit_is_not_shortened_by_being_prepared() -> None:
    """KIP-939: it never times out, and takes part in a batch like any other."""
    world = Coordinated({"transaction.two.phase.commit.enable": "true"})
    client = task(world, 0, is_two_phase=True)
    prepare(world, client)
    world.world.pass_time(PREPARED_MS_MAX + 1)
    kept = world.init(f"{QUERY}-0", is_two_phase=True, keeps_prepared=True)
    assert world.execute(batch(0, kept)) == CommittedBatch(last_batch_id=0)
    assert seen(world)[0] == [b"row"]


# -- while it is decided -----------------------------------------------------------------------------


def test_nobody_ends_or_fences_a_transaction_while_its_batch_is_decided() -> None:
    """What an abort would do to it in between would tear the batch."""
    world = Coordinated(IN_MANY_LEDGERS)
    tasks = [task(world, 0), task(world, 1)]
    world.world.storage.holds_syncs = True
    replies = world.submit(batch(0, *tasks))
    assert replies == []
    assert world.submit(tasks[0].ending(commits=False))[0].fault is Fault.INVALID_TXN_STATE
    assert world.init(f"{QUERY}-1").answer.fault is Fault.CONCURRENT_TRANSACTIONS
    assert world.execute(batch(0, *tasks)).fault is Fault.CONCURRENT_TRANSACTIONS
    world.world.pass_time(TIMEOUT_MS)
    described = world.submit(DescribeQueries([QUERY]))
    assert (replies, described, seen(world)) == ([], [], [[], [], []])
    for _ in range(3):
        world.world.storage.sync()
    assert replies == [CommittedBatch(last_batch_id=0)]
    assert described[0][0].last_batch_id == 0
    assert seen(world) == [[b"row"], [b"row"], []]


def test_decision_that_cannot_be_written_changes_nothing() -> None:
    world = Coordinated()
    world.execute(batch(0))
    client = task(world, 0)
    world.log(topic=TOPIC).fault = Fault.STORAGE
    assert world.execute(batch(1, client)).fault is Fault.NOT_COORDINATOR
    world.log(topic=TOPIC).fault = None
    assert world.execute(batch(1, client)) == CommittedBatch(last_batch_id=1)
    assert seen(world)[0] == [b"row"]


def test_decision_whose_sync_has_failed_is_neither_committed_nor_aborted_before_a_start() -> None:
    world = Coordinated()
    client = task(world, 0)
    world.world.storage.holds_syncs = True
    replies = world.submit(batch(0, client))
    world.world.storage.sync(Fault.STORAGE)
    assert replies[0].fault is Fault.NOT_COORDINATOR
    world.world.storage.holds_syncs = False
    world.world.pass_time(TIMEOUT_MS)
    assert seen(world)[0] == []
    assert world.execute(batch(0, client)).fault is Fault.CONCURRENT_TRANSACTIONS
    world.restart()
    assert seen(world)[0] == [b"row"]


def test_ledger_that_cannot_be_written_follows_when_it_can() -> None:
    world = Coordinated()
    client = task(world, 0)
    world.log(topic="__transaction_state").fault = Fault.STORAGE
    assert world.execute(batch(0, client)) == CommittedBatch(last_batch_id=0)
    assert seen(world)[0] == []
    assert world.execute(batch(1)).fault is Fault.CONCURRENT_TRANSACTIONS
    world.log(topic="__transaction_state").fault = None
    world.world.pass_time(FOLLOW_RETRY_MS)
    assert seen(world)[0] == [b"row"]
    assert world.execute(batch(1)) == CommittedBatch(last_batch_id=1)


def test_ledger_is_not_read_while_decisions_cannot_be() -> None:
    """An abort by somebody who does not know the decision would tear the batch."""
    world = Coordinated()
    client = task(world, 0)
    world.execute(batch(0))
    world.log(topic=TOPIC).fault = Fault.STORAGE
    world.restart()
    assert world.init(f"{QUERY}-0").answer.fault is Fault.NOT_COORDINATOR
    world.log(topic=TOPIC).fault = None
    assert world.execute(batch(1, client)) == CommittedBatch(last_batch_id=1)


def test_decision_that_cannot_be_synced_at_a_start_is_followed_when_it_can() -> None:
    world = Coordinated()
    client = task(world, 0)
    world.world.storage.holds_syncs = True
    world.submit(batch(0, client))
    world.world.storage.sync(Fault.STORAGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TriviumLog, "when_durable", _refuse)
        world.restart()
        assert seen(world)[0] == []
        assert client.end(commits=False).fault is Fault.INVALID_TXN_STATE
    world.world.pass_time(FOLLOW_RETRY_MS)
    assert seen(world)[0] == [b"row"]


def _refuse(_log: TriviumLog, _done: Done) -> None:
    raise Refused(Fault.STORAGE)


# -- after a crash -----------------------------------------------------------------------------------


def crash(world: Coordinated, kept: dict[tuple[str, int], int]) -> None:
    """The machine is gone, and each log ends where it was ``kept``."""
    storage = world.world.storage
    for key, offset_end in kept.items():
        storage.logs[key] = storage.logs[key].left_after(offset_end)
        world.world.cluster.forget_live(*key)
    storage.sync(Fault.STORAGE)
    world.restart()


@pytest.mark.parametrize("syncs", range(4))
@pytest.mark.parametrize("seed", range(8))
def test_crash_between_any_two_records_leaves_the_whole_batch_or_nothing_of_it(syncs: int, seed: int) -> None:
    """R14: after so many syncs every log keeps as much of what was not synced as it likes."""
    choice = Random(seed)
    world = Coordinated(IN_MANY_LEDGERS)
    world.execute(batch(0))
    tasks = [task(world, number) for number in range(3)]
    storage = world.world.storage
    synced = {key: log.log_end_offset for key, log in storage.logs.items()}
    storage.holds_syncs = True
    replies = world.submit(batch(1, *tasks))
    for _ in range(syncs):
        synced = {key: log.log_end_offset for key, log in storage.logs.items()}
        storage.sync()
    is_answered = bool(replies)
    crash(
        world,
        {key: choice.randint(synced[key], log.log_end_offset) for key, log in storage.logs.items()},
    )
    is_committed = last_batch(world) == 1
    assert seen(world) == ([[b"row"]] * 3 if is_committed else [[]] * 3)
    assert is_committed or not is_answered
    assert is_committed or syncs == 0


def test_transaction_after_a_committed_batch_is_not_taken_for_a_part_of_it() -> None:
    world = Coordinated(level=0)
    client = task(world, 0)
    world.execute(batch(0, client))
    task(world, 0, b"next")
    world.restart()
    assert seen(world)[0] == [b"row"]


def test_next_batch_after_a_crash_waits_until_the_one_before_needs_its_record_no_more() -> None:
    """The record of a batch replaces the one before it: a crash must not find a decision gone."""
    world = Coordinated(IN_MANY_LEDGERS)
    old = task(world, 0)
    world.world.storage.holds_syncs = True
    world.submit(batch(0, old))
    world.world.storage.sync(Fault.STORAGE)
    world.restart(holds_syncs=True)
    assert world.execute(batch(1)).fault is Fault.CONCURRENT_TRANSACTIONS
    for _ in range(3):
        world.world.storage.sync()
    world.world.storage.holds_syncs = False
    assert world.execute(batch(1)) == CommittedBatch(last_batch_id=1)
    assert seen(world)[0] == [b"row"]


def test_outcome_of_preparing_says_nothing_went_wrong() -> None:
    world = Coordinated()
    client = world.init(TX)
    client.send(b"row")
    assert world.execute(PrepareTransaction(TX, client.producer_id, client.epoch)) == Outcome()
