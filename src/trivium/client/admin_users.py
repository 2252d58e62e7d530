"""The users of a node: who there is, and making, removing and changing them (an extension; ADR 13)."""

from dataclasses import dataclass
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import Refused, Unsupported
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions.alter_user import AlterUserRequest, AlterUserResponse, UserAction
from trivium.messages.extensions.describe_users import DescribeUsersRequest, DescribeUsersResponse

NO_RIGHTS: Final = -1


@dataclass(frozen=True, slots=True)
class UserDescription:
    user_id: int
    username: str
    is_active: bool
    created_at_us: int
    rights: int
    """Bits, as the message has them; ``NO_RIGHTS`` for none."""
    is_first: bool


def list_users(cluster: Cluster) -> list[UserDescription]:
    _require_users(cluster)
    answer = cluster.call(cluster.anyone, DescribeUsersRequest(), DescribeUsersResponse)
    if answer.error_code:
        raise Refused(ErrorCode.of(answer.error_code), "the users")
    return [
        UserDescription(
            each.user_id, each.username, each.is_active, each.created_at_us, each.rights, each.is_first
        )
        for each in answer.users
    ]


def create_user(cluster: Cluster, username: str, password: str, rights: int = NO_RIGHTS) -> None:
    _alter(cluster, UserAction.CREATE, username, password=password, rights=rights)


def remove_user(cluster: Cluster, username: str) -> None:
    _alter(cluster, UserAction.REMOVE, username)


def set_password(cluster: Cluster, username: str, password: str, current: str | None = None) -> None:
    """``current`` to change one's own."""
    _alter(cluster, UserAction.SET_PASSWORD, username, password=password, current=current)


def _alter(
    cluster: Cluster,
    action: UserAction,
    username: str,
    *,
    password: str | None = None,
    current: str | None = None,
    rights: int = NO_RIGHTS,
) -> None:
    _require_users(cluster)
    request = AlterUserRequest(
        action=action.value,
        username=username,
        password=password,
        current_password=current,
        rights=rights,
    )
    answer = cluster.call(cluster.anyone, request, AlterUserResponse)
    if answer.error_code:
        raise Refused(ErrorCode.of(answer.error_code), f"user {username}", answer.error_message)


def _require_users(cluster: Cluster) -> None:
    if not cluster.anyone(Deadline(cluster.timeout_s)).versions.offers(AlterUserRequest):
        raise Unsupported("The broker is none of Trivium's; give users credentials by kafka-configs instead.")
