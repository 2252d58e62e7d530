"""Which names topics may have (promise S14)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.faults import Fault, Refused
from trivium.core.topic_names import NAME_CHARACTERS_MAX, TakenNames, check_topic_name


@pytest.mark.parametrize("name", ["a", "a.b", "a_b", "a-0", "x" * NAME_CHARACTERS_MAX, "...", "__trivium"])
def test_name_of_legal_characters_is_taken(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "x" * (NAME_CHARACTERS_MAX + 1), "a/b", "a b", "a\x00", "a\n", "\u00e4", "a\\b"]
)
def test_name_that_no_directory_may_have_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        check_topic_name(name)
    assert refused.value.fault is Fault.INVALID_TOPIC_NAME


@given(st.text(max_size=300))
def test_name_that_is_taken_cannot_leave_its_directory(name: str) -> None:
    try:
        check_topic_name(name)
    except Refused:
        return
    assert name not in (".", "..")
    assert name.isascii()
    assert not set(name) & set("/\\\0")


def test_names_that_differ_in_dots_and_underscores_collide() -> None:
    taken = TakenNames(["a.b_c"])
    for twin in ("a_b.c", "a.b.c", "a_b_c"):
        with pytest.raises(Refused) as refused:
            taken.check(twin)
        assert refused.value.fault is Fault.INVALID_TOPIC_NAME
        assert refused.value.message == f"Topic '{twin}' collides with existing topic: a.b_c"
    taken.check("a-b-c")


def test_name_that_exists_is_called_existing_and_not_colliding() -> None:
    with pytest.raises(Refused) as refused:
        TakenNames(["a.b"]).check("a.b")
    assert refused.value.fault is Fault.TOPIC_EXISTS
