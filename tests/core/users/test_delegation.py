"""Delegation tokens: who makes, renews and ends them, and who logs in by them (mission 003.8, 003.20)."""

from base64 import b64encode
from dataclasses import replace

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.core.users.scram_client import ScramClient
from trivium.core.caller import Caller
from trivium.core.commands.delegation import (
    CreatedDelegation,
    CreateDelegationToken,
    DelegatedToken,
    DescribeDelegationTokens,
    ExpireDelegationToken,
    RenewDelegationToken,
)
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import CreateUser
from trivium.core.faults import Fault
from trivium.core.users.delegation import Delegation

NEW = Caller()
FAILED = SaslStep(Fault.INVALID_CREDENTIALS)


class Town:
    """The first user, and two who may do nothing."""

    def __init__(self) -> None:
        self.world = InhabitedWorld()
        self.root = self.world.found()
        for name in ("ann", "bob"):
            self.world.ask(CreateUser(name, "secret"), self.root)
        self.ann, self.bob = (self.world.log_in(name, "secret") for name in ("ann", "bob"))

    def make(self, caller: Caller, *renewers: str, lifetime_ms: int = -1) -> DelegatedToken:
        made = self.world.ask(CreateDelegationToken(None, renewers, lifetime_ms), caller)
        assert made.fault is None
        assert made.token is not None
        return made.token

    def log_in(self, token: DelegatedToken, *, extensions: str = ",tokenauth=true") -> SaslStep:
        password = b64encode(token.hmac).decode()
        client = ScramClient("sha256", token.token_id, password, extensions=extensions)
        first = self.world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
        last = Authenticate("SCRAM-SHA-256", client.final(first.answer), first.exchange)
        return self.world.ask(last, NEW)


@pytest.fixture
def town() -> Town:
    return Town()


def test_token_lets_its_bearer_in_as_its_owner_until_it_expires(town: Town) -> None:
    token = town.make(town.ann)
    assert (token.owner, token.requester) == ("User:ann", "User:ann")
    step = town.log_in(token)
    assert step.logged_in is not None
    assert step.lifetime_ms == 1_000
    caller = step.logged_in.become(NEW)
    assert (caller.principal, caller.user_id, caller.is_by_token) == ("User:ann", 1, True)
    town.world.clock.advance(1_000)
    assert town.log_in(token) == FAILED


def test_token_survives_a_restart_and_its_secret_is_in_no_log(town: Town) -> None:
    token = town.make(town.ann)
    town.world.restart()
    assert town.log_in(token).fault is None
    assert token.hmac.hex() not in repr(token)


@pytest.mark.parametrize("change", ["id", "secret", "no extension"])
def test_what_is_no_token_lets_nobody_in(town: Town, change: str) -> None:
    token = town.make(town.ann)
    if change == "id":
        assert town.log_in(token._replace(token_id="other")) == FAILED
    elif change == "secret":
        assert town.log_in(token._replace(hmac=bytes(64))) == FAILED
    else:
        assert town.log_in(token, extensions="") == FAILED


def test_token_is_renewed_up_to_its_end(town: Town) -> None:
    token = town.make(town.ann, "User:bob")
    now_ms = town.world.clock.wall_ms()
    assert town.world.ask(RenewDelegationToken(token.hmac, 5_000), town.bob).expires_at_ms == now_ms + 5_000
    assert (
        town.world.ask(RenewDelegationToken(token.hmac, 99_000), town.ann).expires_at_ms == token.ends_at_ms
    )
    assert town.world.ask(RenewDelegationToken(token.hmac, -1), town.ann).expires_at_ms == now_ms + 1_000


def test_token_ends_when_it_is_told_to(town: Town) -> None:
    token = town.make(town.ann)
    assert town.world.ask(ExpireDelegationToken(token.hmac, -1), town.ann).fault is None
    assert town.log_in(token) == FAILED
    assert town.world.ask(RenewDelegationToken(token.hmac, -1), town.ann).fault is Fault.UNKNOWN_TOKEN


def test_others_may_neither_renew_nor_end_nor_see_it(town: Town) -> None:
    token = town.make(town.ann)
    for command in (RenewDelegationToken(token.hmac, -1), ExpireDelegationToken(token.hmac, -1)):
        assert town.world.ask(command, town.bob).fault is Fault.TOKEN_OF_ANOTHER
    assert town.world.ask(DescribeDelegationTokens(), town.bob).tokens == []
    assert town.world.ask(DescribeDelegationTokens(), town.ann).tokens == [token]
    assert town.world.ask(DescribeDelegationTokens(["User:ann"]), town.root).tokens == [token]
    assert town.world.ask(DescribeDelegationTokens(["User:bob"]), town.root).tokens == []


def test_token_for_another_takes_a_right(town: Town) -> None:
    assert (
        town.world.ask(CreateDelegationToken("User:bob", (), -1), town.ann).fault
        is Fault.NOT_AUTHORIZED_TOKEN
    )
    made = town.world.ask(CreateDelegationToken("User:bob", (), -1), town.root)
    assert made.token is not None
    assert (made.token.owner, made.token.requester) == ("User:bob", "User:iggy")
    assert (
        town.world.ask(CreateDelegationToken(None, ["Group:x"], -1), town.ann).fault
        is Fault.INVALID_PRINCIPAL
    )


def test_stranger_hears_that_it_may_not_ask_before_that_there_are_no_tokens(town: Town) -> None:
    world = town.world
    delegation = Delegation(
        world.cluster, world.access, lambda: "id", key=None, lifetime_ms_max=1, expiry_ms=1
    )
    create = delegation.routes[CreateDelegationToken]
    told: list[CreatedDelegation] = []
    for caller in (NEW, town.ann):
        create(CreateDelegationToken(None, (), -1), caller, told.append)
    assert [each.fault for each in told] == [Fault.TOKEN_REQUEST_NOT_ALLOWED, Fault.TOKENS_DISABLED]


def test_strangers_and_bearers_of_tokens_make_none(town: Town) -> None:
    for caller in (NEW, replace(town.ann, is_by_token=True)):
        created = town.world.ask(CreateDelegationToken(None, (), -1), caller)
        described = town.world.ask(DescribeDelegationTokens(), caller)
        assert created.fault is described.fault is Fault.TOKEN_REQUEST_NOT_ALLOWED


def test_lifetime_is_bounded_and_expired_tokens_are_removed(town: Town) -> None:
    short = town.make(town.ann, lifetime_ms=500)
    assert short.expires_at_ms == short.ends_at_ms == short.issued_at_ms + 500
    assert town.make(town.ann, lifetime_ms=1 << 60).ends_at_ms == short.issued_at_ms + 10_000
    town.world.clock.advance(600)
    town.make(town.ann)
    assert short.token_id not in town.world.image.tokens.by_id
