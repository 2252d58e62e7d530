"""Commit and abort: everything or nothing, once, and by nobody who is late (003.33, R14)."""

import pytest

from tests.core.transactions.coordinated import TIMEOUT_MS, TX, Client, Coordinated
from trivium.core.commands.topics import DeleteTopics
from trivium.core.commands.transactions import Ended
from trivium.core.faults import Fault
from trivium.core.topic_deletion import TopicDeletion
from trivium.core.transactions.ending import MARKER_RETRY_MS
from trivium.core.transactions.expiry import ABORT_RETRY_MS
from trivium.core.transactions.transaction import EPOCH_LAST

KINDS = pytest.mark.parametrize("renews", [True, False], ids=["renewed epochs", "one epoch"])


def old_client(world: Coordinated) -> Client:
    client = world.init()
    client.renews = False
    return client


def client_of(world: Coordinated, *, renews: bool) -> Client:
    return world.init() if renews else old_client(world)


def begin(client: Client, *partitions: int) -> None:
    """Records in these partitions, in a transaction."""
    if not client.renews:
        assert client.add(*partitions) == [None] * len(partitions)
    for partition in partitions:
        assert client.send(b"%d of %d" % (partition, client.epoch), partition).fault is None


@KINDS
def test_committed_records_are_seen_in_every_partition_and_not_before(renews: bool) -> None:
    world = Coordinated()
    client = client_of(world, renews=renews)
    begin(client, 0, 1)
    assert (world.committed(0), world.committed(1)) == ([], [])
    assert world.log(0).last_stable_offset == 0
    assert client.end(commits=True).fault is None
    assert (world.committed(0), world.committed(1)) == ([b"0 of 0"], [b"1 of 0"])
    assert world.log(0).last_stable_offset == 2
    assert world.described().state == "CompleteCommit"


@KINDS
def test_aborted_records_are_never_seen(renews: bool) -> None:
    world = Coordinated()
    client = client_of(world, renews=renews)
    begin(client, 0)
    assert client.end(commits=False).fault is None
    begin(client, 0)
    assert client.end(commits=True).fault is None
    assert len(world.committed()) == 1
    assert len(world.log().records()) == 2


def test_epoch_is_renewed_with_every_end_and_markers_carry_it() -> None:
    """KIP-890: a marker is newer than all records that it decides about."""
    world = Coordinated()
    client = world.init()
    for epoch in range(3):
        begin(client, 0)
        assert client.end(commits=True) == Ended(None, client.producer_id, epoch + 1)
    assert world.markers() == [(client.producer_id, epoch) for epoch in (1, 2, 3)]


def test_epoch_of_an_old_client_stays() -> None:
    world = Coordinated()
    client = old_client(world)
    for _ in range(2):
        begin(client, 0)
        assert client.end(commits=True).fault is None
    assert world.markers() == [(client.producer_id, 0)] * 2


@pytest.mark.parametrize("commits", [True, False])
@KINDS
def test_end_that_is_repeated_is_answered_alike_and_happens_once(commits: bool, renews: bool) -> None:
    world = Coordinated()
    client = client_of(world, renews=renews)
    begin(client, 0)
    asked = client.ending(commits=commits)
    first = world.execute(asked)
    end = world.log().log_end_offset
    assert world.execute(asked) == first
    assert world.log().log_end_offset == end


@KINDS
def test_end_that_contradicts_the_first_is_refused(renews: bool) -> None:
    world = Coordinated()
    client = client_of(world, renews=renews)
    begin(client, 0)
    contrary = client.ending(commits=False)
    client.end(commits=True)
    assert world.execute(contrary).fault is Fault.INVALID_TXN_STATE
    assert len(world.committed()) == 1


def test_late_end_does_not_end_the_next_transaction() -> None:
    """RELIABILITY, lesson 3: before Kafka 4.0 a late EndTxn ended the transaction after its own."""
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    late = client.ending(commits=True)
    client.end(commits=True)
    begin(client, 0)
    assert world.execute(late).fault is Fault.PRODUCER_FENCED
    assert world.described().state == "Ongoing"


def test_late_record_does_not_get_into_the_next_transaction() -> None:
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    late = client.sending(b"late", 0)
    client.end(commits=False)
    assert world.execute(late)[0].fault is Fault.INVALID_PRODUCER_EPOCH
    begin(client, 0)
    assert world.execute(late)[0].fault is Fault.INVALID_PRODUCER_EPOCH
    client.end(commits=True)
    assert world.committed() == [b"0 of 1"]


def test_commit_of_nothing_is_refused_and_abort_of_nothing_renews_the_epoch() -> None:
    """A client that does not know whether its record arrived makes sure by an abort."""
    world = Coordinated()
    client = world.init()
    assert client.end(commits=True).fault is Fault.INVALID_TXN_STATE
    assert client.end(commits=False) == Ended(None, client.producer_id, 1)
    assert world.described().state == "CompleteAbort"
    assert client.end(commits=False) == Ended(None, client.producer_id, 2)
    assert client.end(commits=True).fault is Fault.INVALID_TXN_STATE


def test_old_client_cannot_end_what_it_has_not_begun() -> None:
    world = Coordinated()
    client = old_client(world)
    assert client.end(commits=True).fault is Fault.INVALID_TXN_STATE
    assert client.end(commits=False).fault is Fault.INVALID_TXN_STATE
    assert world.described().state == "Empty"


def test_end_by_somebody_else_is_refused() -> None:
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    stranger = Client(world, TX, client.answer._replace(producer_id=77))
    assert stranger.end(commits=True).fault is Fault.INVALID_PRODUCER_ID_MAPPING
    newer = Client(world, TX, client.answer._replace(producer_epoch=5))
    assert newer.end(commits=True).fault is Fault.PRODUCER_FENCED
    unknown = Client(world, "never seen", client.answer)
    assert unknown.end(commits=True).fault is Fault.INVALID_PRODUCER_ID_MAPPING
    nameless = Client(world, "", client.answer)
    assert nameless.end(commits=True).fault is Fault.INVALID_REQUEST
    assert world.described().state == "Ongoing"


def test_nothing_is_marked_before_the_decision_is_durable() -> None:
    """R14: a crash that undoes a decision must not leave a marker of it."""
    world = Coordinated()
    client = world.init()
    begin(client, 0, 1)
    world.world.storage.holds_syncs = True
    replies = world.submit(client.ending(commits=True))
    assert (world.markers(0), world.markers(1), replies) == ([], [], [])
    world.world.storage.sync()
    assert len(world.markers(0)) == len(world.markers(1)) == 1
    assert world.described().state == "PrepareCommit"
    world.world.storage.sync()
    assert world.described().state == "CompleteCommit"
    assert replies == [Ended(None, client.producer_id, 1)]


@KINDS
def test_whoever_comes_before_all_is_marked_is_asked_to_wait(renews: bool) -> None:
    world = Coordinated()
    client = client_of(world, renews=renews)
    begin(client, 0)
    world.world.storage.holds_syncs = True
    asked = client.ending(commits=True)
    world.submit(asked)
    assert world.execute(asked).fault is Fault.CONCURRENT_TRANSACTIONS
    assert world.execute(client.ending(commits=False)).fault is Fault.INVALID_TXN_STATE
    client.epoch += 1 if renews else 0
    assert client.add(0) == [Fault.CONCURRENT_TRANSACTIONS]


def test_partition_that_cannot_be_marked_is_marked_later_and_the_answer_does_not_wait() -> None:
    world = Coordinated()
    client = world.init()
    begin(client, 0, 1)
    world.log(1).fault = Fault.STORAGE
    assert client.end(commits=True).fault is None
    assert (world.committed(0), world.described().state) == ([b"0 of 0"], "PrepareCommit")
    world.log(1).fault = None
    world.world.pass_time(MARKER_RETRY_MS)
    assert (world.committed(1), world.described().state) == ([b"1 of 0"], "CompleteCommit")
    assert len(world.markers(0)) == 1


def test_partition_that_is_deleted_meanwhile_is_not_waited_for() -> None:
    world = Coordinated()
    world.world.create_topic("gone")
    client = world.init()
    client.renews = False
    begin(client, 0)
    assert client.add(0, topic="gone") == [None]
    inner = world.world
    inner.add(TopicDeletion(inner.cluster, inner.settings, inner.access, inner.timers).routes)
    inner.execute(DeleteTopics(["gone"], 30_000))
    assert client.end(commits=True).fault is None
    assert world.described().state == "CompleteCommit"


def test_ledger_that_cannot_be_written_refuses_and_nothing_has_happened() -> None:
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    world.log(0, "__transaction_state").fault = Fault.STORAGE
    assert client.end(commits=True).fault is Fault.NOT_COORDINATOR
    world.log(0, "__transaction_state").fault = None
    assert world.described().state == "Ongoing"
    assert client.end(commits=True).fault is None


def test_decision_whose_sync_failed_is_no_answer_and_the_ledger_is_read_anew() -> None:
    """R4."""
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    world.world.storage.holds_syncs = True
    replies = world.submit(client.ending(commits=True))
    world.world.storage.sync(Fault.STORAGE)
    assert replies == [Ended(Fault.NOT_COORDINATOR)]
    assert world.markers() == []


# -- epochs that run out -------------------------------------------------------------------------


def test_producer_whose_epochs_have_run_out_goes_on_under_a_new_id() -> None:
    world = Coordinated()
    client = world.init()
    begin(client, 0)
    client.end(commits=True)
    exhausted = world.exhausted(client)
    begin(exhausted, 0)
    asked = exhausted.ending(commits=True)
    ended = exhausted.end(commits=True)
    assert (ended.fault, ended.producer_epoch) == (None, 0)
    assert ended.producer_id != client.producer_id
    assert world.markers()[-1] == (client.producer_id, EPOCH_LAST)
    assert world.execute(asked) == ended, "the retry is told the same"
    begin(exhausted, 0)
    assert exhausted.end(commits=True) == Ended(None, ended.producer_id, 1)


def test_producer_with_the_last_epoch_whose_transaction_took_too_long_goes_on_under_a_new_id() -> None:
    world = Coordinated()
    client = world.exhausted(world.init())
    begin(client, 0)
    before = client.producer_id
    world.world.pass_time(TIMEOUT_MS)
    ended = client.end(commits=False)
    assert (ended.fault, ended.producer_id != before, ended.producer_epoch) == (None, True, 0)
    assert world.markers() == [(before, EPOCH_LAST)]
    begin(client, 0)
    assert client.end(commits=True) == Ended(None, ended.producer_id, 1)


def test_time_out_that_finds_no_new_id_is_tried_again() -> None:
    world = Coordinated()
    client = world.exhausted(world.init())
    begin(client, 0)
    next_ids = world.world.image.producer_ids
    world.restart()
    before, next_ids.next_id = next_ids.next_id, 2**63 - 1
    world.world.pass_time(TIMEOUT_MS + 1_000)
    assert world.described().state == "Ongoing"
    next_ids.next_id = before
    world.world.pass_time(ABORT_RETRY_MS)
    assert world.described().state == "CompleteAbort"


@pytest.mark.parametrize("commits", [True, False])
def test_epoch_that_nobody_is_given_is_fenced(commits: bool) -> None:
    """After a time-out of an old life, or by guessing."""
    world = Coordinated(level=1)
    client = world.exhausted(world.init())
    begin(client, 0)
    world.world.pass_time(TIMEOUT_MS)
    assert world.described().producer_epoch == EPOCH_LAST
    client.epoch = EPOCH_LAST
    assert client.add(0) == [Fault.PRODUCER_FENCED]
    assert client.send(b"v").fault is Fault.INVALID_PRODUCER_EPOCH
    assert client.end(commits=commits).fault is Fault.PRODUCER_FENCED
    assert world.described().state == "CompleteAbort"
