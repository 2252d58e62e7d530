"""Users are made, changed, removed and kept (002.6)."""

import pytest

from tests.core.inhabited import InhabitedWorld
from trivium.core.caller import Caller
from trivium.core.commands.records import Fetch, FetchPart
from trivium.core.commands.users import (
    ChangePassword,
    CreateUser,
    DeleteUser,
    DescribeUser,
    ListUsers,
    UpdatePermissions,
    UpdateUser,
    UserFacts,
)
from trivium.core.faults import Fault
from trivium.core.users.permissions import (
    EVERYTHING,
    GlobalPermissions,
    Permissions,
    StreamPermissions,
    TopicPermissions,
)
from trivium.core.users.user import UserStatus

SOME = Permissions(
    GlobalPermissions(read_servers=True, send_messages=True),
    {
        0: StreamPermissions(
            read_stream=True, topics={3: TopicPermissions(poll_messages=True), 4: TopicPermissions()}
        ),
        7: StreamPermissions(send_messages=True),
    },
)


def test_hashes_of_passwords_are_read_by_nobody() -> None:
    """S10: not over Kafka either, where the topic that has them can be seen."""
    world = InhabitedWorld()
    everything = Fetch([FetchPart("__trivium", 0, 0, 1 << 20)], 0, 0, 1 << 20)
    for caller in (world.found(), Caller()):
        [part] = world.ask(everything, caller)
        assert part.fault is Fault.NOT_AUTHORIZED_TOPIC
        assert not part.runs


def test_first_user_has_number_0_and_every_right() -> None:
    world = InhabitedWorld()
    root = world.found()
    user = world.ask(DescribeUser(0), root).user
    assert user is not None
    assert (user.username, user.permissions) == ("iggy", EVERYTHING)


def test_user_comes_back_after_a_restart_with_all_that_it_had() -> None:
    world = InhabitedWorld()
    root = world.found()
    made = world.ask(CreateUser("ann", "secret", UserStatus.INACTIVE, SOME), root).user
    assert made == UserFacts(1, "ann", UserStatus.INACTIVE, world.clock.wall_ms() * 1000, SOME)
    world.restart()
    assert world.ask(DescribeUser("ann"), root).user == made
    assert world.ask(ListUsers(), root).users[1] == made


def test_number_of_a_deleted_user_is_never_given_again() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    world.ask(DeleteUser("ann"), root)
    world.restart()
    user = world.ask(CreateUser("bob", "secret"), root).user
    assert user is not None
    assert user.user_id == 2


@pytest.mark.parametrize(
    ("username", "password", "fault"),
    [
        ("no", "secret", Fault.INVALID_USERNAME),
        ("x" * 51, "secret", Fault.INVALID_USERNAME),
        ("é" * 26, "secret", Fault.INVALID_USERNAME),
        ("ann", "no", Fault.INVALID_PASSWORD),
        ("ann", "x" * 101, Fault.INVALID_PASSWORD),
        ("iggy", "secret", Fault.USER_EXISTS),
    ],
)
def test_user_that_cannot_be_is_refused_and_not_made(username: str, password: str, fault: Fault) -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(CreateUser(username, password), root).fault is fault
    assert len(world.users) == 1


def test_longest_names_are_taken() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(CreateUser("x" * 50, "y" * 100), root).fault is None
    assert world.ask(CreateUser("abc", "abc"), root).fault is None


def test_two_users_of_one_name_made_at_once_are_one() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.passwords.holds = True
    first = world.ask_later(CreateUser("ann", "secret"), root)
    second = world.ask_later(CreateUser("ann", "secret"), root)
    world.passwords.release()
    assert (first[0].fault, second[0].fault) == (None, Fault.USER_EXISTS)


def test_user_gets_another_name_and_its_session_stays() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret", permissions=SOME), root)
    ann = world.log_in("ann", "secret")
    assert world.ask(UpdateUser("ann", username="iggy"), root) is Fault.USER_EXISTS
    assert world.ask(UpdateUser("ann", username="no"), root) is Fault.INVALID_USERNAME
    assert world.ask(UpdateUser("ann", username="eve"), root) is None
    assert world.ask(DescribeUser("ann"), root).fault is Fault.UNKNOWN_USER
    assert world.ask(DescribeUser("eve"), ann).user is not None
    assert world.ask(UpdatePermissions("eve", None), root) is None
    user = world.ask(DescribeUser("eve"), root).user
    assert user is not None
    assert user.permissions is None


def test_first_user_cannot_be_removed_or_shorn_of_its_rights() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(DeleteUser(0), root) is Fault.ROOT_CANNOT_BE_DELETED
    assert world.ask(UpdatePermissions("iggy", None), root) is Fault.ROOT_PERMISSIONS_FIXED
    assert world.ask(UpdateUser(0, status=UserStatus.INACTIVE), root) is Fault.ROOT_PERMISSIONS_FIXED


def test_user_without_rights_may_look_at_itself_and_change_its_password_and_no_more() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    ann = world.log_in("ann", "secret")
    assert world.ask(DescribeUser("ann"), ann).user is not None
    assert world.ask(ChangePassword("ann", "secret", "changed"), ann) is None
    assert world.ask(DescribeUser("iggy"), ann).fault is Fault.NOT_AUTHORIZED_USER
    assert world.ask(ChangePassword("iggy", "iggy", "changed"), ann) is Fault.NOT_AUTHORIZED_USER


def test_user_that_is_missing_looks_like_one_that_is_forbidden() -> None:
    """S11."""
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    ann = world.log_in("ann", "secret")
    assert world.ask(DescribeUser("nobody"), ann) == world.ask(DescribeUser("iggy"), ann)


def test_change_that_cannot_be_written_has_not_happened() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.log("__trivium").fault = Fault.STORAGE
    assert world.ask(CreateUser("ann", "secret"), root).fault is Fault.STORAGE
    assert world.ask(DescribeUser("ann"), root).fault is Fault.UNKNOWN_USER
    world.log("__trivium").fault = None
    assert world.ask(CreateUser("ann", "secret"), root).fault is None


def test_answer_waits_until_the_change_is_durable() -> None:
    """R1, R2."""
    world = InhabitedWorld()
    root = world.found()
    world.storage.holds_syncs = True
    replies = world.ask_later(CreateUser("ann", "secret"), root)
    assert replies == []
    world.storage.sync()
    assert replies == [], "the user is there for good, and what it proves itself by is not"
    world.storage.sync()
    assert len(replies) == 1
    assert replies[0].fault is None


def test_tables_are_read_anew_after_a_sync_that_failed() -> None:
    """R4: what was never durable may not be there."""
    world = InhabitedWorld()
    root = world.found()
    world.storage.holds_syncs = True
    replies = world.ask_later(CreateUser("ann", "secret"), root)
    world.storage.sync(Fault.STORAGE)
    assert replies[0].fault is Fault.STORAGE
    world.storage.holds_syncs = False
    reads = world.log("__trivium").reads
    assert world.ask(CreateUser("bob", "secret"), root).fault is None
    assert world.log("__trivium").reads > reads


def test_caller_without_login_reaches_no_user() -> None:
    """S7."""
    world = InhabitedWorld()
    world.found()
    assert world.ask(ListUsers(), Caller(protocol="iggy")).fault is Fault.NOT_AUTHORIZED_USER
    assert world.ask(CreateUser("ann", "secret"), Caller(protocol="iggy")).fault is Fault.NOT_AUTHORIZED_USER
