"""All users and their tokens, as ``__trivium`` has them. Changes are records, made here and replayed here."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trivium.core.faults import Fault, Refused
from trivium.core.trivium_log import Change
from trivium.core.users.permissions import (
    GlobalPermissions,
    Permissions,
    StreamPermissions,
    TopicPermissions,
)
from trivium.core.users.user import ROOT_USER_ID, Token, User, UserStatus
from trivium.messages.schema import Message
from trivium.messages.stored.trivium_log import (
    COUNTS_USERS,
    CounterKey,
    CounterValue,
    StoredStreamPermissions,
    StoredTopicPermissions,
    TokenKey,
    TokenValue,
    UserKey,
    UserValue,
)

_STREAM_RIGHTS = len(StreamPermissions._fields) - 1
"""The last field is the topics."""


class UserDirectory:
    """A table of the log (``trivium_log.Table``)."""

    def __init__(self) -> None:
        self.by_id: dict[int, User] = {}
        self._by_name: dict[str, User] = {}
        self._tokens: dict[tuple[int, str], Token] = {}
        self._by_hash: dict[bytes, Token] = {}
        self.next_id = ROOT_USER_ID
        self.is_only_root = True
        """Whether nobody has been added to the user that every node has."""

    # -- looking up ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.by_id)

    def __iter__(self) -> Iterator[User]:
        return iter(sorted(self.by_id.values(), key=lambda user: user.user_id))

    def find(self, ref: int | str) -> User | None:
        return self.by_id.get(ref) if isinstance(ref, int) else self._by_name.get(ref)

    def get(self, ref: int | str) -> User:
        user = self.find(ref)
        if user is None:
            raise Refused(Fault.UNKNOWN_USER)
        return user

    def token_with(self, token_hash: bytes) -> Token | None:
        return self._by_hash.get(token_hash)

    def token(self, user_id: int, name: str) -> Token | None:
        return self._tokens.get((user_id, name))

    def tokens_of(self, user_id: int) -> list[Token]:
        return sorted(token for token in self._tokens.values() if token.user_id == user_id)

    # -- changes ---------------------------------------------------------------------------------

    def added(self, user: User) -> list[Change]:
        next_id = max(self.next_id, user.user_id + 1)
        return [(CounterKey(counts=COUNTS_USERS), CounterValue(next_id=next_id)), changed(user)]

    def removed(self, user: User) -> list[Change]:
        return [
            *((token_key(token), None) for token in self.tokens_of(user.user_id)),
            (UserKey(user_id=user.user_id), None),
        ]

    # -- replaying -------------------------------------------------------------------------------

    def clear(self) -> None:
        self.by_id.clear()
        self._by_name.clear()
        self._tokens.clear()
        self._by_hash.clear()
        self.next_id = ROOT_USER_ID
        self.is_only_root = True

    def suspect(self) -> None:
        """``__trivium`` cannot be read: there may be anybody, and better nobody comes in than everybody."""
        self.is_only_root = False

    def replay(self, key: Message, value: Message | None) -> None:
        if isinstance(key, UserKey):
            self._replay_user(key.user_id, value)
        elif isinstance(key, TokenKey):
            self._replay_token(key, value)
        elif isinstance(key, CounterKey) and key.counts == COUNTS_USERS and isinstance(value, CounterValue):
            self.next_id = value.next_id

    def _replay_user(self, user_id: int, value: Message | None) -> None:
        before = self.by_id.pop(user_id, None)
        if before is not None:
            del self._by_name[before.username]
        if isinstance(value, UserValue):
            user = _user(user_id, value)
            self.by_id[user_id] = self._by_name[user.username] = user
        self.is_only_root = self.by_id.keys() <= {ROOT_USER_ID}

    def _replay_token(self, key: TokenKey, value: Message | None) -> None:
        before = self._tokens.pop((key.user_id, key.name), None)
        if before is not None:
            del self._by_hash[before.token_hash]
        if isinstance(value, TokenValue):
            token = Token(key.user_id, key.name, value.token_hash, value.expires_at_us)
            self._tokens[key.user_id, key.name] = self._by_hash[token.token_hash] = token


# -- users and tokens as records -------------------------------------------------------------------


def changed(user: User, **fields: object) -> Change:
    """The user with some fields changed, as a record."""
    user = replace(user, **fields)  # type: ignore[arg-type]
    permissions = user.permissions or Permissions()
    return UserKey(user_id=user.user_id), UserValue(
        username=user.username,
        is_active=user.status is UserStatus.ACTIVE,
        created_at_us=user.created_at_us,
        password_hash=user.password_hash,
        has_permissions=user.permissions is not None,
        rights=_bits(permissions.everywhere),
        streams=[
            StoredStreamPermissions(
                stream_id=stream_id,
                rights=_bits(stream[:_STREAM_RIGHTS]),
                topics=[
                    StoredTopicPermissions(topic_id=topic_id, rights=_bits(topic))
                    for topic_id, topic in sorted(stream.topics.items())
                ],
            )
            for stream_id, stream in sorted(permissions.streams.items())
        ],
    )


def _user(user_id: int, value: UserValue) -> User:
    return User(
        user_id,
        value.username,
        UserStatus.ACTIVE if value.is_active else UserStatus.INACTIVE,
        value.created_at_us,
        value.password_hash,
        _permissions(value) if value.has_permissions else None,
    )


def _permissions(value: UserValue) -> Permissions:
    return Permissions(
        GlobalPermissions(*_bools(value.rights, len(GlobalPermissions._fields))),
        {
            stream.stream_id: StreamPermissions._make(
                [*_bools(stream.rights, _STREAM_RIGHTS), _topic_permissions(stream)]
            )
            for stream in value.streams
        },
    )


def _topic_permissions(stream: StoredStreamPermissions) -> dict[int, TopicPermissions]:
    count = len(TopicPermissions._fields)
    return {topic.topic_id: TopicPermissions._make(_bools(topic.rights, count)) for topic in stream.topics}


def _bits(rights: Iterable[object]) -> int:
    return sum(1 << number for number, right in enumerate(rights) if right)


def _bools(bits: int, count: int) -> Iterator[bool]:
    return (bool(bits >> number & 1) for number in range(count))


def token_key(token: Token) -> TokenKey:
    return TokenKey(user_id=token.user_id, name=token.name)


def token_change(token: Token) -> Change:
    return token_key(token), TokenValue(token_hash=token.token_hash, expires_at_us=token.expires_at_us)
