"""Time: transactions that take too long, and transactional ids that nobody uses (R10, R14)."""

from tests.core.transactions.coordinated import TIMEOUT_MS, Coordinated
from trivium.core.faults import Fault
from trivium.core.transactions.expiry import ABORT_RETRY_MS

DAY_MS = 24 * 3_600_000


def test_transaction_that_takes_too_long_is_aborted_and_its_producer_fenced() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS - 1)
    assert world.described().state == "Ongoing"
    world.world.pass_time(1)
    assert world.described().state == "CompleteAbort"
    assert world.log().last_stable_offset == world.log().log_end_offset
    assert world.markers() == [(client.producer_id, 1)]
    assert client.send(b"late").fault is Fault.INVALID_PRODUCER_EPOCH
    assert client.end(commits=True).fault is Fault.INVALID_TXN_STATE


def test_old_producer_of_a_transaction_that_took_too_long_is_fenced() -> None:
    world = Coordinated()
    client = world.init()
    client.renews = False
    client.add(0)
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS)
    assert client.end(commits=True).fault is Fault.PRODUCER_FENCED
    assert client.add(0) == [Fault.PRODUCER_FENCED]
    assert world.committed() == []


def test_new_producer_whose_transaction_took_too_long_may_abort_and_go_on() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS)
    assert client.end(commits=False).fault is None
    assert client.send(b"w").fault is None
    assert client.end(commits=True).fault is None
    assert world.committed() == [b"w"]


def test_time_counts_from_the_first_partition_not_from_the_last() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v", 0)
    world.world.pass_time(TIMEOUT_MS - 1)
    client.send(b"v", 1)
    world.world.pass_time(1)
    assert world.described().state == "CompleteAbort"


def test_each_transaction_has_its_own_time() -> None:
    world = Coordinated()
    client = world.init()
    for _ in range(3):
        client.send(b"v")
        world.world.pass_time(TIMEOUT_MS - 1)
        assert client.end(commits=True).fault is None
    assert len(world.committed()) == 3


def test_time_goes_on_over_a_restart() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.world.pass_time(TIMEOUT_MS - 2_000)
    world.restart()
    assert world.described().state == "Ongoing"
    world.world.pass_time(1_000)
    assert world.described().state == "CompleteAbort"


def test_jump_of_the_wall_clock_aborts_nothing() -> None:
    """R10."""
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.world.clock.jump(DAY_MS)
    world.world.pass_time(TIMEOUT_MS - 1)
    assert world.described().state == "Ongoing"
    world.world.clock.jump(-2 * DAY_MS)
    world.world.pass_time(1)
    assert world.described().state == "CompleteAbort"


def test_abort_that_cannot_be_written_is_tried_again() -> None:
    world = Coordinated()
    client = world.init()
    client.send(b"v")
    world.log(0, "__transaction_state").fault = Fault.STORAGE
    world.world.pass_time(TIMEOUT_MS)
    world.log(0, "__transaction_state").fault = None
    assert world.described().state == "Ongoing"
    world.world.pass_time(ABORT_RETRY_MS)
    assert world.described().state == "CompleteAbort"


# -- ids that nobody uses ------------------------------------------------------------------------

SHORT = {
    "transactional.id.expiration.ms": str(2 * DAY_MS),
    "transaction.remove.expired.transaction.cleanup.interval.ms": str(DAY_MS),
}


def test_id_that_nobody_uses_is_forgotten_for_good() -> None:
    world = Coordinated(SHORT)
    client = world.init()
    client.send(b"v")
    client.end(commits=True)
    world.world.pass_time(2 * DAY_MS - 1)
    assert world.described().fault is None
    world.world.pass_time(DAY_MS)
    assert world.described().fault is Fault.TRANSACTIONAL_ID_NOT_FOUND
    world.restart()
    assert world.described().fault is Fault.TRANSACTIONAL_ID_NOT_FOUND
    assert client.add(0) == [Fault.INVALID_PRODUCER_ID_MAPPING]
    assert world.init().producer_id != client.producer_id


def test_id_with_an_open_transaction_is_kept() -> None:
    world = Coordinated(SHORT | {"transaction.two.phase.commit.enable": "true"})
    client = world.init(is_two_phase=True)
    client.send(b"v")
    world.world.pass_time(10 * DAY_MS)
    assert world.described().state == "Ongoing"


def test_id_that_was_just_used_is_kept_whatever_the_wall_clock_says() -> None:
    """R10."""
    world = Coordinated(SHORT)
    world.init()
    world.world.clock.jump(10 * DAY_MS)
    world.world.pass_time(DAY_MS)
    assert world.described().fault is None
