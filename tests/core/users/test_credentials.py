"""SCRAM credentials by Kafka's tools (mission 003.8, 003.20)."""

from hashlib import pbkdf2_hmac

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.core.users.scram_client import ScramClient
from trivium.core.caller import Caller
from trivium.core.commands.sasl import (
    AlteredScram,
    AlterScramCredentials,
    Authenticate,
    DescribeScramCredentials,
    ScramDeletion,
    ScramFacts,
    ScramUpsertion,
)
from trivium.core.commands.users import CreateUser, LoggedIn
from trivium.core.faults import Fault
from trivium.core.users.permissions import GlobalPermissions, Permissions

SHA_256 = 1


def upsertion(
    username: str, password: str = "pw", iterations: int = 4096, mechanism: int = SHA_256
) -> ScramUpsertion:
    salted = pbkdf2_hmac("sha256", password.encode(), b"salt", 4096)
    return ScramUpsertion(username, mechanism, iterations, b"salt", salted)


def alter(
    world: InhabitedWorld, caller: Caller, *changes: ScramUpsertion | ScramDeletion
) -> list[AlteredScram]:
    deletions = [each for each in changes if isinstance(each, ScramDeletion)]
    upsertions = [each for each in changes if isinstance(each, ScramUpsertion)]
    return world.ask(AlterScramCredentials(deletions, upsertions), caller)


def logs_in(world: InhabitedWorld, username: str, password: str) -> LoggedIn | None:
    client = ScramClient("sha256", username, password)
    first = world.ask(Authenticate("SCRAM-SHA-256", client.first()), Caller())
    return world.ask(
        Authenticate("SCRAM-SHA-256", client.final(first.answer), first.exchange), Caller()
    ).logged_in


@pytest.fixture
def world() -> InhabitedWorld:
    made = InhabitedWorld()
    made.root = made.found()  # type: ignore[attr-defined]
    return made


def test_name_with_credentials_logs_in_without_being_a_user(world: InhabitedWorld) -> None:
    root = world.root  # type: ignore[attr-defined]
    assert alter(world, root, upsertion("kafka,=user")) == [AlteredScram("kafka,=user", None)]
    logged_in = logs_in(world, "kafka,=user", "pw")
    assert logged_in == LoggedIn(None, -1, "kafka,=user")
    assert logged_in is not None
    caller = logged_in.become(Caller())
    assert (caller.principal, caller.user_id) == ("User:kafka,=user", None)
    assert alter(world, root, ScramDeletion("kafka,=user", SHA_256)) == [AlteredScram("kafka,=user", None)]
    assert logs_in(world, "kafka,=user", "pw") is None


def test_credentials_are_described_without_secrets(world: InhabitedWorld) -> None:
    root = world.root  # type: ignore[attr-defined]
    alter(world, root, upsertion("app"))
    everybody = world.ask(DescribeScramCredentials(), root)
    assert [each.username for each in everybody] == ["app", "iggy"]
    assert everybody[0].credentials == [ScramFacts(SHA_256, 4096)]
    found, twice, missing = world.ask(DescribeScramCredentials(["app", "iggy", "iggy", "x"]), root)
    assert found.fault is None
    assert (twice.fault, missing.fault) == (Fault.NAMED_TWICE, Fault.RESOURCE_NOT_FOUND)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ([upsertion("app", iterations=4095)], Fault.INVALID_PASSWORD),
        ([upsertion("app", iterations=16_385)], Fault.INVALID_PASSWORD),
        ([upsertion("app", mechanism=0)], Fault.UNKNOWN_MECHANISM),
        ([upsertion("app")._replace(salt=b"")], Fault.INVALID_PASSWORD),
        ([ScramDeletion("app", SHA_256)], Fault.RESOURCE_NOT_FOUND),
        ([upsertion("app"), upsertion("app")], Fault.NAMED_TWICE),
        ([upsertion("app"), ScramDeletion("app", 2)], Fault.RESOURCE_NOT_FOUND),
        ([upsertion("")], Fault.INVALID_USERNAME),
    ],
)
def test_wrong_change_changes_nothing_for_that_user_and_others_get_theirs(
    world: InhabitedWorld, changes: list[ScramUpsertion | ScramDeletion], fault: Fault
) -> None:
    root = world.root  # type: ignore[attr-defined]
    wrong, right = alter(world, root, *changes, upsertion("other"))
    if wrong.username == "other":
        wrong, right = right, wrong
    assert (wrong.fault, right.fault) == (fault, None)
    assert "app" not in world.image.scram.by_user
    assert logs_in(world, "other", "pw") is not None


def test_who_looks_after_the_cluster_does_not_become_another_user(world: InhabitedWorld) -> None:
    """S10: a way around the passwords of others."""
    root = world.root  # type: ignore[attr-defined]
    rights = Permissions(GlobalPermissions(manage_servers=True))
    world.ask(CreateUser("keeper", "secret", permissions=rights), root)
    world.ask(
        CreateUser("warden", "secret", permissions=Permissions(GlobalPermissions(True, manage_users=True))),
        root,
    )
    keeper, warden = world.log_in("keeper", "secret"), world.log_in("warden", "secret")
    assert alter(world, keeper, upsertion("app"))[0].fault is None
    for name in ("iggy", "warden"):
        assert alter(world, keeper, upsertion(name))[0].fault is Fault.NOT_AUTHORIZED_USER
    assert alter(world, warden, upsertion("iggy"))[0].fault is Fault.NOT_AUTHORIZED_USER
    assert alter(world, warden, upsertion("keeper"))[0].fault is None
    assert alter(world, keeper, upsertion("keeper", "mine"))[0].fault is None
    assert logs_in(world, "keeper", "mine") is not None
