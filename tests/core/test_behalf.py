"""What is done later for somebody: a mistake in it is that caller's end, and nobody else's."""

import pytest

from tests.core.fakes import FakeClock
from tests.core.mistakes import Mistakes, asking, loose
from trivium.core.behalf import now, on_behalf
from trivium.core.timers import Timers


@pytest.fixture
def caller() -> Mistakes:
    return Mistakes()


def kept_for(caller: Mistakes, request: str = "Produce") -> object:
    with asking(caller, request):
        return on_behalf(loose)


def test_mistake_in_a_callback_ends_the_caller_for_whom_it_was_kept(caller: Mistakes) -> None:
    kept = kept_for(caller)
    assert callable(kept)
    kept()
    assert caller.found == [("Produce", "a bolt is loose")]


def test_mistake_that_no_connection_can_tell_is_raised(caller: Mistakes) -> None:
    kept = kept_for(caller)
    assert callable(kept)
    kept()
    with pytest.raises(RuntimeError):
        kept()
    with pytest.raises(RuntimeError):
        on_behalf(loose)()


def test_what_a_callback_leaves_for_later_is_for_the_same_caller(caller: Mistakes) -> None:
    later = []
    with asking(caller, "Fetch"):
        first = on_behalf(lambda: later.append(on_behalf(loose)))
    first()
    assert now.asked is None
    later[0]()
    assert caller.found == [("Fetch", "a bolt is loose")]


def test_caller_that_leaves_is_missed_by_everybody_whatever_one_of_them_does(caller: Mistakes) -> None:
    told: list[str] = []
    caller.presence.watch(lambda: told.append("first"))
    caller.presence.watch(loose)
    caller.presence.watch(lambda: told.append("last"))
    with pytest.raises(RuntimeError):
        caller.presence.leave()
    assert told == ["first", "last"]


def test_timers_of_one_moment_all_fire_whatever_one_of_them_does() -> None:
    clock = FakeClock()
    timers = Timers(clock)
    told: list[str] = []
    timers.after(10, lambda: told.append("first"))
    timers.after(10, loose)
    timers.after(10, lambda: told.append("last"))
    clock.advance(10)
    with pytest.raises(RuntimeError):
        timers.run_due()
    assert told == ["first", "last"]
