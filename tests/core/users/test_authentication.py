"""SASL exchanges with the core: who gets in, and that nobody else does (promises S8, S11, S15)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.inhabited import InhabitedWorld
from tests.core.users.scram_client import ScramClient
from trivium.core.caller import Caller
from trivium.core.commands.sasl import Authenticate, SaslStep
from trivium.core.commands.users import ChangePassword, CreateUser, DeleteUser, LoggedIn, UpdateUser
from trivium.core.faults import Fault
from trivium.core.users.user import UserStatus

NEW = Caller()
FAILED = SaslStep(Fault.INVALID_CREDENTIALS)
HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


@pytest.fixture(scope="module")
def world() -> InhabitedWorld:
    made = InhabitedWorld()
    made.found()
    return made


def by_scram(world: InhabitedWorld, mechanism: str, username: str, password: str) -> SaslStep:
    client = ScramClient(HASHES[mechanism], username, password)
    first = world.ask(Authenticate(mechanism, client.first()), NEW)
    assert first.fault is None
    assert first.logged_in is None
    last = world.ask(Authenticate(mechanism, client.final(first.answer), first.exchange), NEW)
    if last.fault is None:
        assert last.answer == client.signature, "the client knows that the server knows the password"
    return last


def by_plain(world: InhabitedWorld, username: str, password: str) -> SaslStep:
    return world.ask(Authenticate("PLAIN", f"\0{username}\0{password}".encode()), NEW)


@pytest.mark.parametrize("mechanism", HASHES)
def test_scram_with_the_right_password_is_let_in(world: InhabitedWorld, mechanism: str) -> None:
    assert by_scram(world, mechanism, "iggy", "iggy").logged_in == LoggedIn(None, 0, "iggy")


@pytest.mark.parametrize("mechanism", HASHES)
def test_scram_with_a_wrong_name_and_with_a_wrong_password_look_alike(
    world: InhabitedWorld, mechanism: str
) -> None:
    assert (
        by_scram(world, mechanism, "iggy", "wrong") == by_scram(world, mechanism, "nobody", "iggy") == FAILED
    )
    first, again, other = (
        world.ask(Authenticate(mechanism, ScramClient(HASHES[mechanism], name, "x").first()), NEW).answer
        for name in ("nobody", "nobody", "nobody2")
    )
    salts = [answer.decode().split(",")[1] for answer in (first, again, other)]
    assert salts[0] == salts[1] != salts[2], "a salt that changes would tell that there is nobody"


@pytest.mark.parametrize(
    "message",
    [b"\0iggy\0iggy", b"iggy\0iggy\0iggy"],
)
def test_plain_with_the_right_password_is_let_in(world: InhabitedWorld, message: bytes) -> None:
    assert world.ask(Authenticate("PLAIN", message), NEW).logged_in == LoggedIn(None, 0, "iggy")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"iggy",
        b"\0iggy",
        b"\0iggy\0wrong",
        b"\0nobody\0iggy",
        b"root\0iggy\0iggy",
        b"\0iggy\0iggy\0",
        b"\0\xff\0iggy",
        b"\0iggy\0" + b"x" * 5000,
    ],
)
def test_plain_with_anything_else_is_not(world: InhabitedWorld, message: bytes) -> None:
    assert world.ask(Authenticate("PLAIN", message), NEW) == FAILED


def test_mechanism_that_is_not_known_is_refused(world: InhabitedWorld) -> None:
    assert world.ask(Authenticate("NONE", b""), NEW).fault is Fault.UNKNOWN_MECHANISM


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n",
        b"n,,",
        b"n,,n=iggy",
        b"n,,r=abc,n=iggy",
        b"n,,n=,r=abc",
        b"n,,n=iggy,r=",
        b"n,,n=iggy,r=a b",
        b"n,,n=iggy,r=" + b"a" * 600,
        b"p=tls-unique,,n=iggy,r=abc",
        b"x,,n=iggy,r=abc",
        b"n,a=root,n=iggy,r=abc",
        b"n,,m=ext,n=iggy,r=abc",
        b"n,,n=ig=gy,r=abc",
        b"n,,n=ig\0gy,r=abc",
        b"n,,n=\xff,r=abc",
        b"n,,n=iggy,r=abc," + b"x=y," * 2000,
    ],
)
def test_first_message_that_is_none_is_refused(world: InhabitedWorld, message: bytes) -> None:
    """S8: no channel binding, no other identity, no extension that must be understood."""
    assert world.ask(Authenticate("SCRAM-SHA-256", message), NEW) == FAILED


@pytest.fixture(scope="module")
def begun(world: InhabitedWorld) -> tuple[SaslStep, bytes]:
    """An exchange, and the message that would end it well."""
    client = ScramClient("sha256", "iggy", "iggy")
    first = world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
    return first, client.final(first.answer)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_changed_final_message_is_never_accepted(
    world: InhabitedWorld, begun: tuple[SaslStep, bytes], data: st.DataObject
) -> None:
    """S8: one byte changed, left out or added anywhere; the proof alone has one spelling."""
    first, right = begun
    at = data.draw(st.integers(0, len(right) - 1))
    byte = data.draw(st.integers(0, 255))
    change = data.draw(st.sampled_from(("replace", "insert", "delete")))
    wrong = {
        "replace": right[:at] + bytes([byte]) + right[at + 1 :],
        "insert": right[:at] + bytes([byte]) + right[at:],
        "delete": right[:at] + right[at + 1 :],
    }[change]
    if wrong != right:
        assert world.ask(Authenticate("SCRAM-SHA-256", wrong, first.exchange), NEW) == FAILED


def test_proof_of_another_exchange_is_worth_nothing(world: InhabitedWorld) -> None:
    """S8: replayed, by the same client with the same nonce of its own."""
    client = ScramClient("sha256", "iggy", "iggy")
    first = world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
    proof = client.final(first.answer)
    assert world.ask(Authenticate("SCRAM-SHA-256", proof, first.exchange), NEW).logged_in is not None
    second = world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
    assert world.ask(Authenticate("SCRAM-SHA-256", proof, second.exchange), NEW) == FAILED


def test_secrets_are_in_nothing_that_can_be_shown(world: InhabitedWorld) -> None:
    """S15."""
    client = ScramClient("sha256", "iggy", "iggy")
    first = world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
    command = Authenticate("PLAIN", b"\0iggy\0canary", first.exchange)
    assert "canary" not in repr(command)
    assert "canary" not in repr(first)
    credential = world.image.scram.by_user["iggy"]
    for each in credential.values():
        assert str(each.stored_key) not in repr(credential) + repr(first.exchange)


# -- credentials follow the user -----------------------------------------------------------------------


def test_new_user_has_every_mechanism_and_a_deleted_one_none() -> None:
    world = InhabitedWorld()
    root = world.found()
    created = world.ask(CreateUser("ann", "secret"), root)
    assert created.user is not None
    for mechanism in HASHES:
        assert by_scram(world, mechanism, "ann", "secret").logged_in == LoggedIn(None, 1, "ann")
    assert by_plain(world, "ann", "secret").logged_in == LoggedIn(None, 1, "ann")
    world.restart()
    assert by_scram(world, "SCRAM-SHA-256", "ann", "secret").fault is None
    assert world.ask(DeleteUser("ann"), root) is None
    assert "ann" not in world.image.scram.by_user
    assert by_scram(world, "SCRAM-SHA-256", "ann", "secret") == FAILED


def test_changed_password_counts_for_every_mechanism() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(ChangePassword(0, "iggy", "other"), root) is None
    for mechanism in HASHES:
        assert by_scram(world, mechanism, "iggy", "other").fault is None
        assert by_scram(world, mechanism, "iggy", "iggy") == FAILED


def test_renamed_user_keeps_its_password() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    assert world.ask(UpdateUser("ann", "anna"), root) is None
    assert by_scram(world, "SCRAM-SHA-512", "anna", "secret").logged_in == LoggedIn(None, 1, "anna")
    assert by_scram(world, "SCRAM-SHA-512", "ann", "secret") == FAILED


def test_inactive_user_hears_it_only_with_the_right_password() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret", UserStatus.INACTIVE), root)
    assert by_scram(world, "SCRAM-SHA-256", "ann", "secret").fault is Fault.USER_INACTIVE
    assert by_scram(world, "SCRAM-SHA-256", "ann", "wrong") == FAILED


def test_password_that_changes_during_an_exchange_ends_it() -> None:
    world = InhabitedWorld()
    root = world.found()
    client = ScramClient("sha256", "iggy", "iggy")
    first = world.ask(Authenticate("SCRAM-SHA-256", client.first()), NEW)
    assert world.ask(ChangePassword(0, "iggy", "other"), root) is None
    assert world.ask(Authenticate("SCRAM-SHA-256", client.final(first.answer), first.exchange), NEW) == FAILED
