"""InitProducerId with a transactional id: who comes last has it, everybody before is fenced (KIP-98)."""

import pytest

from tests.core.rights import Denying
from tests.core.transactions.coordinated import TIMEOUT_MS, TX, Client, Coordinated
from trivium.core.access import Operation, Resource
from trivium.core.commands.producers import NewProducer
from trivium.core.commands.transactions import Ended, InitTransactions
from trivium.core.faults import Fault
from trivium.core.transactions.transaction import EPOCH_LAST


def test_id_stays_and_epoch_grows_with_everybody_who_comes() -> None:
    world = Coordinated()
    first, second = world.init(), world.init()
    assert (first.answer.fault, second.answer.fault) == (None, None)
    assert first.producer_id == second.producer_id
    assert (first.epoch, second.epoch) == (0, 1)
    other = world.init("other")
    assert other.producer_id != first.producer_id


def test_answer_comes_when_it_is_durable() -> None:
    world = Coordinated()
    world.init()
    world.world.storage.holds_syncs = True
    replies = world.submit(InitTransactions(TX, TIMEOUT_MS))
    assert replies == []
    world.world.storage.sync()
    assert [reply.producer_epoch for reply in replies] == [1]


@pytest.mark.parametrize("level", [2, 1, 0])
def test_predecessor_is_fenced_and_its_transaction_is_aborted(level: int) -> None:
    """R14, at every ``transaction.version``."""
    world = Coordinated(level=level)
    zombie = world.init()
    zombie.renews = level == 2
    if not zombie.renews:
        assert zombie.add(0) == [None]
    assert zombie.send(b"zombie").fault is None
    assert world.execute(InitTransactions(TX, TIMEOUT_MS)).fault is Fault.CONCURRENT_TRANSACTIONS
    assert world.described().state == "CompleteAbort"
    assert world.markers() == [(zombie.producer_id, 1)]
    successor = world.init()
    assert successor.epoch == 2
    assert zombie.send(b"late").fault is Fault.INVALID_PRODUCER_EPOCH
    assert zombie.add(0) == [Fault.PRODUCER_FENCED]
    assert zombie.end(commits=True).fault is Fault.PRODUCER_FENCED
    assert world.committed() == []


def test_whoever_comes_while_markers_are_missing_is_asked_to_wait() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.world.storage.holds_syncs = True
    world.submit(client.ending(commits=True))
    assert world.execute(InitTransactions(TX, TIMEOUT_MS)).fault is Fault.CONCURRENT_TRANSACTIONS


# -- going on after an error (KIP-360) -----------------------------------------------------------


def goes_on(client: Client) -> NewProducer:
    return client.world.execute(
        InitTransactions(client.transactional_id, TIMEOUT_MS, client.producer_id, client.epoch)
    )


def test_producer_that_says_who_it_is_gets_the_next_epoch_and_may_repeat_the_question() -> None:
    world = Coordinated()
    client = world.init()
    assert goes_on(client) == NewProducer(None, client.producer_id, 1)
    assert goes_on(client) == NewProducer(None, client.producer_id, 1)


def test_producer_that_says_who_it_is_is_fenced_by_whoever_came_after_it() -> None:
    world = Coordinated()
    client = world.init()
    world.init()
    assert goes_on(client).fault is Fault.PRODUCER_FENCED
    stranger = Client(world, TX, client.answer._replace(producer_id=77))
    assert goes_on(stranger).fault is Fault.PRODUCER_FENCED


def test_producer_that_goes_on_with_a_transaction_open_gets_an_epoch_behind_its_abort() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    assert goes_on(client).fault is Fault.CONCURRENT_TRANSACTIONS
    answer = goes_on(client)
    assert (answer.fault, answer.producer_epoch) == (None, 1)
    assert world.committed() == []
    again = Client(world, TX, answer)
    assert again.send(b"w").fault is None
    assert again.end(commits=True).fault is None
    assert world.committed() == [b"w"]


def test_producer_of_an_id_that_has_been_forgotten_begins_anew() -> None:
    world = Coordinated()
    client = Client(world, TX, NewProducer(None, 5, 3))
    answer = goes_on(client)
    assert (answer.fault, answer.producer_epoch) == (None, 0)


@pytest.mark.parametrize("says_who", [True, False])
def test_exhausted_epochs_are_followed_by_a_new_id(says_who: bool) -> None:
    world = Coordinated()
    client = world.exhausted(world.init())
    answer = goes_on(client) if says_who else world.init().answer
    assert (answer.fault, answer.producer_epoch) == (None, 0)
    assert answer.producer_id != client.producer_id
    if says_who:
        assert goes_on(client) == answer, "asked again, because the answer got lost"
    else:
        assert goes_on(client).fault is Fault.PRODUCER_FENCED


def test_producer_with_the_last_epoch_can_still_be_fenced() -> None:
    world = Coordinated()
    zombie = world.exhausted(world.init())
    assert zombie.send(b"v").fault is None
    successor = world.init()
    assert successor.answer.fault is None
    assert (successor.producer_id != zombie.producer_id, successor.epoch) == (True, 1)
    assert world.markers() == [(zombie.producer_id, EPOCH_LAST)]
    assert zombie.end(commits=True).fault is Fault.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("renews", [True, False])
def test_producer_whose_transaction_took_too_long_goes_on_if_nobody_else_has_come(renews: bool) -> None:
    """As with Kafka since every transaction has an epoch: its next one is known already."""
    world = Coordinated()
    client = world.init()
    client.renews = renews
    client.add(0)
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS)
    answer = goes_on(client)
    assert (answer.fault, answer.producer_id, answer.producer_epoch) == (None, client.producer_id, 1)
    assert world.init().answer.fault is None
    assert goes_on(client).fault is Fault.PRODUCER_FENCED


def test_epoch_of_the_transaction_before_does_not_end_the_one_that_is_open() -> None:
    """R14: a request that is late, or of somebody who has not heard of the end."""
    world = Coordinated()
    client = world.init()
    late = Client(world, TX, client.answer)
    client.send(b"v")
    client.end(commits=True)
    client.send(b"w")
    assert goes_on(late).fault is Fault.PRODUCER_FENCED
    assert world.described().state == "Ongoing"
    assert client.end(commits=True).fault is None
    assert world.committed() == [b"v", b"w"]


def test_producer_whose_transaction_took_too_long_is_fenced_where_epochs_are_not_renewed() -> None:
    world = Coordinated(level=1)
    client = world.init()
    client.renews = False
    client.add(0)
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS)
    assert goes_on(client).fault is Fault.PRODUCER_FENCED


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"transactional_id": ""}, Fault.INVALID_REQUEST),
        ({"producer_id": 5}, Fault.INVALID_REQUEST),
        ({"producer_epoch": 5}, Fault.INVALID_REQUEST),
        ({"timeout_ms": 0}, Fault.INVALID_TXN_TIMEOUT),
        ({"timeout_ms": -1}, Fault.INVALID_TXN_TIMEOUT),
        ({"timeout_ms": 900_001}, Fault.INVALID_TXN_TIMEOUT),
        ({"is_two_phase": True}, Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID),
        ({"keeps_prepared": True}, Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID),
    ],
)
def test_question_that_cannot_be_answered_is_told_why_and_changes_nothing(
    fields: dict[str, object], fault: Fault
) -> None:
    world = Coordinated()
    command = InitTransactions(**{"transactional_id": TX, "timeout_ms": TIMEOUT_MS, **fields})  # type: ignore[arg-type]
    assert world.execute(command) == NewProducer(fault)
    assert world.described().fault is Fault.TRANSACTIONAL_ID_NOT_FOUND


def test_longest_timeout_is_the_settings() -> None:
    world = Coordinated({"transaction.max.timeout.ms": "5000"})
    assert world.init(timeout_ms=5000).answer.fault is None
    assert world.init(timeout_ms=5001).answer.fault is Fault.INVALID_TXN_TIMEOUT


# -- two-phase commit (KIP-939) ------------------------------------------------------------------

TWO_PHASE = {"transaction.two.phase.commit.enable": "true"}


def test_transaction_that_somebody_else_decides_never_times_out() -> None:
    world = Coordinated(TWO_PHASE)
    client = world.init(is_two_phase=True, timeout_ms=0)
    client.send(b"v")
    world.world.pass_time(30 * 24 * 3_600_000)
    assert world.described().state == "Ongoing"
    assert client.end(commits=True).fault is None
    assert world.committed() == [b"v"]


def test_two_phase_commit_without_its_right_is_refused_and_changes_nothing() -> None:
    """S10: ``TWO_PHASE_COMMIT`` on the transactional id, besides the right to write."""
    denying = Denying((Operation.TWO_PHASE_COMMIT, Resource.TRANSACTIONAL_ID, TX))
    world = Coordinated(TWO_PHASE, access=denying)
    refused = world.init(is_two_phase=True).answer
    assert refused == NewProducer(Fault.NOT_AUTHORIZED_TRANSACTIONAL_ID)
    assert world.described().fault is Fault.TRANSACTIONAL_ID_NOT_FOUND
    assert world.init().answer.fault is None
    assert world.init("other", is_two_phase=True).answer.fault is None


@pytest.mark.parametrize("commits", [True, False])
def test_prepared_transaction_is_decided_by_the_producer_that_came_back(commits: bool) -> None:
    world = Coordinated(TWO_PHASE)
    before = world.init(is_two_phase=True)
    before.send(b"v")
    world.restart()
    after = world.init(is_two_phase=True, keeps_prepared=True)
    assert after.answer == NewProducer(None, before.producer_id, 1, before.producer_id, 0)
    assert before.end(commits=True).fault is Fault.PRODUCER_FENCED
    world.restart()
    again = world.init(is_two_phase=True, keeps_prepared=True)
    assert again.answer == NewProducer(None, before.producer_id, 2, before.producer_id, 0)
    assert after.end(commits=True).fault is Fault.PRODUCER_FENCED
    assert again.end(commits=commits) == Ended(None, before.producer_id, 3)
    assert world.committed() == ([b"v"] if commits else [])
    assert again.send(b"next").fault is None
    assert again.end(commits=True).fault is None


def test_nothing_prepared_is_a_plain_beginning() -> None:
    world = Coordinated(TWO_PHASE)
    answer = world.init(is_two_phase=True, keeps_prepared=True).answer
    assert (answer.fault, answer.producer_epoch, answer.ongoing_producer_id) == (None, 0, -1)


def test_producer_that_came_back_with_exhausted_epochs_decides_under_a_new_id() -> None:
    world = Coordinated(TWO_PHASE)
    before = world.exhausted(world.init(is_two_phase=True))
    assert before.send(b"v").fault is None
    after = world.init(is_two_phase=True, keeps_prepared=True)
    assert (after.epoch, after.answer.ongoing_producer_id) == (0, before.producer_id)
    assert after.end(commits=True) == Ended(None, after.producer_id, 1)
    assert world.markers() == [(before.producer_id, EPOCH_LAST)]
    assert world.committed() == [b"v"]
