"""Who comes in, by password and by token (002.6, 002.7, 002.21, 002.30)."""

import pytest

from tests.core.inhabited import InhabitedWorld
from trivium.core.caller import Caller
from trivium.core.commands.clients import DescribeMe
from trivium.core.commands.streams import ListStreams
from trivium.core.commands.users import (
    ChangePassword,
    CreateToken,
    CreateUser,
    DeleteToken,
    DeleteUser,
    ListTokens,
    LoggedIn,
    LogIn,
    LogInWithToken,
    LogOut,
    TokenFacts,
    UpdateUser,
)
from trivium.core.faults import Fault
from trivium.core.users.user import TOKENS_PER_USER_MAX, UserStatus

NEW = Caller(protocol="iggy")


def test_login_with_the_right_password_gives_the_number_of_the_user() -> None:
    world = InhabitedWorld()
    world.found()
    assert world.ask(LogIn("iggy", "iggy"), NEW) == LoggedIn(None, 0, "iggy")


def test_login_with_a_wrong_name_and_with_a_wrong_password_look_alike() -> None:
    """S8, S11: both are checked against a hash, and both are one answer."""
    world = InhabitedWorld()
    world.found()
    world.passwords.verified.clear()
    wrong_password = world.ask(LogIn("iggy", "wrong"), NEW)
    wrong_name = world.ask(LogIn("nobody", "iggy"), NEW)
    assert wrong_password == wrong_name == LoggedIn(Fault.INVALID_CREDENTIALS)
    assert world.passwords.verified == ["hash of iggy", None]


def test_login_of_an_inactive_user_is_refused_after_its_password_was_right() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret", UserStatus.INACTIVE), root)
    assert world.ask(LogIn("ann", "secret"), NEW).fault is Fault.USER_INACTIVE
    assert world.ask(LogIn("ann", "wrong"), NEW).fault is Fault.INVALID_CREDENTIALS


def test_login_whose_user_is_deleted_while_the_password_is_checked_fails() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    world.passwords.holds = True
    replies = world.ask_later(LogIn("ann", "secret"), NEW)
    assert replies == []
    world.ask(DeleteUser("ann"), root)
    world.passwords.release()
    assert replies == [LoggedIn(Fault.INVALID_CREDENTIALS)]


def test_session_of_a_deleted_user_can_do_nothing_but_log_in_again() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    ann = world.log_in("ann", "secret")
    world.ask(DeleteUser("ann"), root)
    assert world.ask(ListStreams(), ann).fault is Fault.USER_REMOVED
    assert world.ask(CreateToken("name"), ann).fault is Fault.USER_REMOVED
    assert world.ask(LogIn("iggy", "iggy"), ann).fault is None


def test_user_made_inactive_loses_its_rights_at_once() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret", permissions=None), root)
    world.ask(UpdateUser("ann", status=UserStatus.INACTIVE), root)
    ann = Caller(protocol="iggy", user_id=1)
    assert world.ask(ListStreams(), ann).fault is Fault.NOT_AUTHORIZED_STREAM


def test_client_shows_who_has_logged_in_and_out() -> None:
    world = InhabitedWorld()
    root = world.found()
    me = world.ask(DescribeMe(), root).client
    assert me is not None
    assert me.user_id == 0
    assert world.ask(LogOut(), root) is None
    me = world.ask(DescribeMe(), root).client
    assert me is not None
    assert me.user_id is None
    assert world.ask(LogOut(), NEW) is Fault.NOT_AUTHENTICATED


# -- passwords -------------------------------------------------------------------------------------


def test_changed_password_counts_and_the_old_one_does_not() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(ChangePassword("iggy", "iggy", "new secret"), root) is None
    assert world.ask(LogIn("iggy", "iggy"), NEW).fault is Fault.INVALID_CREDENTIALS
    world.restart()
    assert world.ask(LogIn("iggy", "new secret"), NEW).fault is None


def test_password_is_not_changed_without_the_old_one() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(ChangePassword(0, "wrong", "new secret"), root) is Fault.INVALID_CREDENTIALS
    assert world.ask(LogIn("iggy", "iggy"), NEW).fault is None


def test_two_changes_of_one_password_at_once_are_one_change() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.passwords.holds = True
    first = world.ask_later(ChangePassword(0, "iggy", "first"), root)
    second = world.ask_later(ChangePassword(0, "iggy", "second"), root)
    world.passwords.release()
    world.passwords.release()
    assert (first, second) == ([None], [Fault.INVALID_CREDENTIALS])


# -- tokens ----------------------------------------------------------------------------------------


def test_token_logs_in_and_survives_a_restart() -> None:
    world = InhabitedWorld()
    root = world.found()
    token = world.ask(CreateToken("laptop"), root).token
    world.restart()
    assert world.ask(LogInWithToken(token), NEW) == LoggedIn(None, 0, "iggy")
    assert world.ask(ListTokens(), root).tokens == [TokenFacts("laptop", 0)]


def test_token_itself_is_not_stored() -> None:
    """S15."""
    world = InhabitedWorld()
    root = world.found()
    token = world.ask(CreateToken("laptop"), root).token
    stored = world.log("__trivium").records()
    assert not any(token.encode() in (value or b"") for _, _, value in stored)


def test_token_past_its_expiry_is_refused_and_its_name_is_free_again() -> None:
    world = InhabitedWorld()
    root = world.found()
    token = world.ask(CreateToken("laptop", lifetime_us=5_000_000), root).token
    world.clock.advance(4_999)
    assert world.ask(LogInWithToken(token), NEW).fault is None
    world.clock.advance(1)
    assert world.ask(LogInWithToken(token), NEW).fault is Fault.TOKEN_EXPIRED
    assert world.ask(CreateToken("laptop"), root).fault is None
    assert world.ask(LogInWithToken(token), NEW).fault is Fault.UNKNOWN_TOKEN


def test_token_that_would_expire_after_all_times_never_does() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateToken("laptop", lifetime_us=(1 << 64) - 1), root)
    assert world.ask(ListTokens(), root).tokens == [TokenFacts("laptop", 0)]


def test_deleted_token_is_unknown() -> None:
    world = InhabitedWorld()
    root = world.found()
    token = world.ask(CreateToken("laptop"), root).token
    assert world.ask(DeleteToken("laptop"), root) is None
    assert world.ask(DeleteToken("laptop"), root) is Fault.UNKNOWN_TOKEN
    assert world.ask(LogInWithToken(token), NEW).fault is Fault.UNKNOWN_TOKEN


def test_tokens_of_a_user_have_names_of_their_own_and_a_limit() -> None:
    world = InhabitedWorld()
    root = world.found()
    assert world.ask(CreateToken("no"), root).fault is Fault.INVALID_TOKEN_NAME
    assert world.ask(CreateToken("x" * 31), root).fault is Fault.INVALID_TOKEN_NAME
    for number in range(TOKENS_PER_USER_MAX):
        assert world.ask(CreateToken(f"token {number}"), root).fault is None
    assert world.ask(CreateToken("token 0"), root).fault is Fault.TOKEN_EXISTS
    assert world.ask(CreateToken("one more"), root).fault is Fault.TOKENS_LIMIT_REACHED


def test_tokens_go_with_their_user() -> None:
    world = InhabitedWorld()
    root = world.found()
    world.ask(CreateUser("ann", "secret"), root)
    token = world.ask(CreateToken("laptop"), world.log_in("ann", "secret")).token
    world.ask(DeleteUser("ann"), root)
    world.restart()
    assert world.ask(LogInWithToken(token), NEW).fault is Fault.UNKNOWN_TOKEN


@pytest.mark.parametrize("command", [CreateToken("name"), ListTokens(), DeleteToken("name")])
def test_tokens_are_for_those_who_have_logged_in(command: CreateToken) -> None:
    """S7."""
    world = InhabitedWorld()
    world.found()
    result = world.ask(command, NEW)
    assert getattr(result, "fault", result) is Fault.NOT_AUTHENTICATED


def test_secrets_are_not_shown_by_what_carries_them() -> None:
    """S15."""
    world = InhabitedWorld()
    root = world.found()
    created = world.ask(CreateToken("laptop"), root)
    shown = repr(
        [
            LogIn("ann", "canary"),
            LogInWithToken("canary"),
            CreateUser("ann", "canary"),
            ChangePassword("ann", "canary", "canary"),
            world.users.get(0),
        ]
    )
    assert "canary" not in shown
    assert "hash of" not in shown
    assert created.token not in repr(created)
