"""Delegation tokens that are over leave the metadata log by themselves (003.8)."""

import pytest

from tests.core.users.test_delegation import Town
from trivium.core.faults import Fault, Refused
from trivium.core.users import token_expiry as module
from trivium.core.users.token_expiry import TokenExpiry

HOUR_MS = 3_600_000


@pytest.fixture
def town() -> Town:
    return Town()


def known(town: Town) -> set[str]:
    return set(town.world.image.tokens.by_id)


def test_tokens_that_are_over_are_removed_and_others_stay(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOKENS_PER_ROUND_MAX", 2)
    TokenExpiry(town.world.cluster, town.world.timers, HOUR_MS).start()
    over = {town.make(town.ann, lifetime_ms=500).token_id for _ in range(5)}
    town.world.pass_time(HOUR_MS - 100)
    assert known(town) == over
    lasting = town.make(town.ann).token_id  # which clears away what is over, too
    late = {town.make(town.ann, lifetime_ms=10).token_id for _ in range(5)}
    town.world.pass_time(99)
    assert known(town) == late | {lasting}
    town.world.pass_time(1)
    assert known(town) == {lasting}
    town.world.pass_time(HOUR_MS)
    assert known(town) == set()


def test_disk_that_takes_no_records_is_tried_again(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    TokenExpiry(town.world.cluster, town.world.timers, HOUR_MS).start()
    token = town.make(town.ann)
    commit = town.world.cluster.commit

    def refuse(*_: object) -> None:
        raise Refused(Fault.STORAGE)

    monkeypatch.setattr(town.world.cluster, "commit", refuse)
    town.world.pass_time(HOUR_MS)
    assert known(town) == {token.token_id}
    monkeypatch.setattr(town.world.cluster, "commit", commit)
    town.world.pass_time(HOUR_MS)
    assert known(town) == set()
