"""Our own requests about users: their bytes, and what they do."""

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.protocols.kafka.conversation import Conversation
from trivium.core.access import Anonymous
from trivium.messages.codec import decode, encode
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions.alter_user import AlterUserRequest, AlterUserResponse, UserAction
from trivium.messages.extensions.describe_users import (
    DescribeUsersRequest,
    DescribeUsersResponse,
    UserData,
)
from trivium.messages.schema import Message
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.wire.errors import DecodeError

ANN = UserData(user_id=1, username="ann", is_active=True, created_at_us=9, rights=-1, is_first=False)
SHOWN: list[tuple[Message, str]] = [
    (
        AlterUserRequest(action=0, username="ann", password="pw", current_password=None, rights=3),
        "00 04616e6e 037077 00 00000003 00",
    ),
    (
        AlterUserResponse(throttle_time_ms=0, error_code=92, error_message="no"),
        "00000000 005c 036e6f 00",
    ),
    (DescribeUsersRequest(), "00"),
    (
        DescribeUsersResponse(throttle_time_ms=0, error_code=0, users=[ANN]),
        "00000000 0000 02 00000001 04616e6e 01 0000000000000009 ffffffff 00 00 00",
    ),
]


@pytest.mark.parametrize(("message", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_message_has_its_form_and_comes_back(message: Message, shown: str) -> None:
    data = bytes.fromhex(shown)
    assert encode(message, 0) == data
    assert decode(type(message), 0, data) == (message, len(data))


@pytest.mark.parametrize(("message", "shown"), SHOWN, ids=lambda each: type(each).__name__)
def test_message_that_is_cut_anywhere_cannot_be_read(message: Message, shown: str) -> None:
    """S1."""
    data = bytes.fromhex(shown)
    for end in range(len(data)):
        with pytest.raises(DecodeError):
            decode(type(message), 0, data[:end])


def alter(
    peer: Conversation, action: int, username: str, password: str | None, current: str | None = None
) -> int:
    request = AlterUserRequest(
        action=action, username=username, password=password, current_password=current, rights=-1
    )
    return peer.ask(request, 0, AlterUserResponse).error_code


def test_users_come_and_go_over_kafkas_protocol() -> None:
    world = InhabitedWorld()
    root = world.found()
    peer = Conversation(KafkaProtocol(world.broker))
    peer.session.caller = root
    assert alter(peer, UserAction.CREATE, "ann", "secret") == ErrorCode.NONE
    assert alter(peer, UserAction.CREATE, "ann", "secret") == ErrorCode.DUPLICATE_RESOURCE
    assert alter(peer, UserAction.SET_PASSWORD, "ann", "other") == ErrorCode.NONE
    assert world.log_in("ann", "other").user_id == 1
    answer = peer.ask(DescribeUsersRequest(), 0, DescribeUsersResponse)
    assert [(user.username, user.is_first) for user in answer.users] == [("iggy", True), ("ann", False)]
    assert alter(peer, UserAction.REMOVE, "ann", None) == ErrorCode.NONE
    assert alter(peer, UserAction.REMOVE, "ann", None) == ErrorCode.RESOURCE_NOT_FOUND
    assert alter(peer, 9, "ann", "x") == ErrorCode.INVALID_REQUEST


def test_own_password_takes_the_current_one_and_nobody_robs_the_first_user() -> None:
    world = InhabitedWorld()
    root = world.found()
    peer = Conversation(KafkaProtocol(world.broker))
    peer.session.caller = root
    assert alter(peer, UserAction.SET_PASSWORD, "iggy", "other") == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert (
        alter(peer, UserAction.SET_PASSWORD, "iggy", "other", "wrong") == ErrorCode.SASL_AUTHENTICATION_FAILED
    )
    assert alter(peer, UserAction.SET_PASSWORD, "iggy", "other", "iggy") == ErrorCode.NONE
    from trivium.core.commands.users import CreateUser
    from trivium.core.users.permissions import EVERYTHING

    world.ask(CreateUser("warden", "secret", permissions=EVERYTHING), root)
    peer.session.caller = world.log_in("warden", "secret")
    assert alter(peer, UserAction.SET_PASSWORD, "iggy", "mine") == ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def test_stranger_learns_and_changes_nothing() -> None:
    """S10, S11."""
    world = InhabitedWorld(Anonymous.DENY)
    world.found()
    peer = Conversation(KafkaProtocol(world.broker))
    for action in UserAction:
        assert alter(peer, action, "iggy", "other") == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    answer = peer.ask(DescribeUsersRequest(), 0, DescribeUsersResponse)
    assert (answer.error_code, answer.users) == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, [])
