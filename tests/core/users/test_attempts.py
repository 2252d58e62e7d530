"""Logins that fail: an address is refused after too many of them, and each is told late (S17)."""

import pytest

from tests.core.fakes import FakeClock
from tests.core.inhabited import InhabitedWorld
from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import LoggedIn, LogIn, LogInWithToken
from trivium.core.faults import Fault
from trivium.core.users import attempts as module
from trivium.core.users.attempts import Attempts

HERE = Caller(host="192.0.2.1")
ELSEWHERE = Caller(host="192.0.2.2")
WRONG = LogIn("iggy", "wrong")
RIGHT = LogIn("iggy", "iggy")


@pytest.fixture
def world() -> InhabitedWorld:
    world = InhabitedWorld()
    world.failing_per_minute_max = 6
    world.start()
    world.found()
    return world


def use_up(world: InhabitedWorld) -> None:
    for _ in range(6):
        assert world.ask(WRONG, HERE).fault is Fault.INVALID_CREDENTIALS


def test_address_that_failed_too_often_is_refused_unseen_and_others_are_not(world: InhabitedWorld) -> None:
    use_up(world)
    checked = len(world.passwords.verified)
    for each in (WRONG, RIGHT, LogIn("nobody", "wrong")):
        assert world.ask(each, HERE).fault is Fault.THROTTLED
    assert len(world.passwords.verified) == checked
    assert world.ask(RIGHT, ELSEWHERE).fault is None


def test_allowance_fills_up_within_a_minute(world: InhabitedWorld) -> None:
    use_up(world)
    world.clock.advance(9_999)
    assert world.ask(RIGHT, HERE).fault is Fault.THROTTLED
    world.clock.advance(1)
    assert world.ask(RIGHT, HERE).fault is None
    assert world.ask(WRONG, HERE).fault is Fault.INVALID_CREDENTIALS
    assert world.ask(WRONG, HERE).fault is Fault.THROTTLED
    world.clock.advance(3_600_000)
    use_up(world)
    assert world.ask(WRONG, HERE).fault is Fault.THROTTLED


def test_logins_that_succeed_use_nothing_up(world: InhabitedWorld) -> None:
    for _ in range(20):
        assert world.ask(RIGHT, HERE).fault is None
    use_up(world)


def test_who_was_let_in_before_comes_in_from_an_address_that_is_refused(world: InhabitedWorld) -> None:
    """A neighbour with a wrong password, or a stranger behind the same gateway, locks nobody out."""
    world.passwords.remembered.add(("hash of iggy", "iggy"))
    use_up(world)
    assert world.ask(RIGHT, HERE).username == "iggy"
    assert world.ask(WRONG, HERE).fault is Fault.THROTTLED


def test_plain_of_a_refused_address_is_refused_and_scram_is_looked_at(world: InhabitedWorld) -> None:
    use_up(world)
    assert world.ask(Authenticate("PLAIN", b"\0iggy\0iggy", None), HERE).fault is Fault.THROTTLED
    assert world.ask(Authenticate("SCRAM-SHA-256", b"n,,n=iggy,r=abc", None), HERE).fault is None


def test_token_of_a_refused_address_is_refused_before_it_is_salted(world: InhabitedWorld) -> None:
    first = Authenticate("SCRAM-SHA-256", b"n,,n=id,r=abc,tokenauth=true", None)
    for _ in range(6):
        step = world.ask(first, HERE)
        proof = b"c=biws,r=" + step.exchange.nonce.encode() + b",p=" + b"A" * 43 + b"="
        assert world.ask(Authenticate("SCRAM-SHA-256", proof, step.exchange), HERE).fault is not None
    assert world.ask(first, HERE).fault is Fault.THROTTLED
    assert world.ask(first, ELSEWHERE).fault is None


def test_no_room_to_check_is_told_as_that_and_is_no_failure(world: InhabitedWorld) -> None:
    world.passwords.is_full = True
    for _ in range(20):
        assert world.ask(RIGHT, HERE).fault is Fault.THROTTLED
    token = Authenticate("SCRAM-SHA-256", b"n,,n=id,r=abc,tokenauth=true", None)
    assert world.ask(token, HERE).fault is Fault.THROTTLED
    world.passwords.is_full = False
    assert world.ask(RIGHT, HERE).fault is None


def test_without_a_limit_nobody_is_refused() -> None:
    world = InhabitedWorld()
    world.found()
    for _ in range(100):
        assert world.ask(WRONG, HERE).fault is Fault.INVALID_CREDENTIALS


def test_memory_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ADDRESSES_MAX", 2)
    attempts = Attempts(FakeClock(), per_minute_max=1)
    for address in ("a", "b", "a", "c"):
        attempts.failed(address)
    assert [attempts.are_used_up(address) for address in "abc"] == [True, False, True]


@pytest.mark.parametrize(
    ("failing", "succeeding"),
    [
        (WRONG, RIGHT),
        (LogInWithToken("none"), RIGHT),
        (Authenticate("PLAIN", b"\0iggy\0wrong", None), Authenticate("PLAIN", b"\0iggy\0iggy", None)),
        (
            Authenticate("SCRAM-SHA-256", b"nonsense", None),
            Authenticate("SCRAM-SHA-256", b"n,,n=iggy,r=abc", None),
        ),
    ],
    ids=["password", "token", "plain", "scram"],
)
def test_failure_is_told_late_and_success_at_once(
    failing: Command[LoggedIn | SaslStep], succeeding: Command[LoggedIn | SaslStep]
) -> None:
    """Kafka's ``connection.failed.authentication.delay.ms``, at every door."""
    world = InhabitedWorld()
    world.failing_delay_ms = 100
    world.start()
    world.found()
    replies: list[LoggedIn | SaslStep] = []
    world.broker.execute(succeeding, HERE, replies.append)
    assert [each.fault for each in replies] == [None]
    replies.clear()
    world.broker.execute(failing, HERE, replies.append)
    world.clock.advance(99)
    world.timers.run_due()
    assert replies == []
    world.clock.advance(1)
    world.timers.run_due()
    assert [each.fault is None for each in replies] == [False]
