"""OAUTHBEARER messages, and claims that count here and now (promise S8)."""

from typing import Any

import pytest

from trivium.core.users.bearer import Bearer, BearerRules, judge, read_message

NOW_MS = 1_000_000
RULES = BearerRules("provider", frozenset({"trivium"}))
GOOD: dict[str, Any] = {"sub": "ann", "exp": 1_060, "iss": "provider", "aud": ["other", "trivium"]}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (b"n,,\x01auth=Bearer a.b.c\x01\x01", ("a.b.c", "")),
        (b"n,a=ann,\x01host=h\x01port=9092\x01auth=Bearer a.b.c\x01\x01", ("a.b.c", "ann")),
        (b"n,,\x01auth=Bearer a.b.c\x01traceId=1\x01\x01", ("a.b.c", "")),
        (b"", None),
        (b"\x01", None),
        (b"p=x,,\x01auth=Bearer a\x01\x01", None),
        (b"n,,\x01auth=Basic a\x01\x01", None),
        (b"n,,\x01auth=Bearer a\x01", None),
        (b"n,,\x01auth=Bearer \xff\x01\x01", None),
        (b"n,,\x01auth=Bearer " + b"a" * 40_000 + b"\x01\x01", None),
    ],
)
def test_message_is_read_or_is_none(message: bytes, found: tuple[str, str] | None) -> None:
    assert read_message(message) == found


def test_claims_that_count_say_who_and_for_how_long() -> None:
    assert judge(GOOD, "", RULES, NOW_MS) == Bearer("ann", 60_000)
    assert judge(GOOD, "ann", RULES, NOW_MS) == Bearer("ann", 60_000)
    assert judge({"name": "bob", "exp": 1_001.5}, "", BearerRules(name_claim="name"), NOW_MS) == Bearer(
        "bob", 1_500
    )


@pytest.mark.parametrize(
    "change",
    [
        {"sub": ""},
        {"sub": 7},
        {"exp": None},
        {"exp": "1060"},
        {"exp": True},
        {"exp": float("inf")},
        {"exp": 970},
        {"nbf": 1_031},
        {"iss": "other"},
        {"aud": "other"},
        {"aud": []},
    ],
)
def test_other_claims_do_not(change: dict[str, Any]) -> None:
    assert judge(GOOD | change, "", RULES, NOW_MS) is None


def test_token_of_another_identity_than_the_one_claimed_is_refused() -> None:
    assert judge(GOOD, "bob", RULES, NOW_MS) is None
