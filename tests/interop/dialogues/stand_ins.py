"""What only a broker can tell (ids), what must be new in every play (names), and what stands for it.

| in a step | on the wire |
|---|---|
| ``§`` in a text | a prefix that no other play has: topics, groups and users of plays are strangers |
| ``<member 2>`` | the second member id that this broker made up |
| ``id_of("t")`` | the id of the topic of that name, asked for when it is needed |
| ``NEXT_EPOCH`` | of a share session: what the member's last answer leads to |
| ``producer(2)``, ``session(2)`` | the second producer id or fetch session that it gave out |

In answers it goes the other way round, so that both brokers' answers say the same. What stands for something
that was never told is sent as it is: nobody knows it.
"""

import re
from collections.abc import Callable
from typing import Any

from tests.interop.dialogues.batches import Recipe

from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Struct
from trivium.wire.uuid_text import ZERO_UUID

MARK = "§"
PRODUCER_FIELDS = frozenset(("producer_id", "v3_and_below_producer_id", "ongoing_txn_producer_id"))
PRODUCER_LISTS = frozenset(("producer_id_filters",))
SESSION_FIELD = "session_id"

SHARE_EPOCH_FIELD = "share_session_epoch"
NEXT_EPOCH = 1_000_000_000
_NO_SESSION = 0

_FIRST_PRODUCER = 1_000_000_000_000
_FIRST_SESSION = 1_000_000_000
_SESSION_LOST = (ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.SHARE_SESSION_LIMIT_REACHED)
_ID_MARK = b"id of "
_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![\w-])[\w-]{22}(?![\w-])")
_MEMBER = re.compile(r"<member \d+>")


def id_of(name: str) -> bytes:
    return (_ID_MARK + name.encode()).ljust(len(ZERO_UUID), b".")


def producer(number: int) -> int:
    return _FIRST_PRODUCER + number


def session(number: int) -> int:
    return _FIRST_SESSION + number


class StandIns:
    """Those of one side in one play."""

    def __init__(self, prefix: str, find_topic_id: Callable[[str], bytes | None]) -> None:
        self._prefix = prefix
        self._find_topic_id = find_topic_id
        self._members: dict[str, str] = {}
        self._producers: dict[int, int] = {}
        self._sessions: dict[int, int] = {}
        self._topic_ids: dict[bytes, bytes] = {}
        self._share_epochs: dict[tuple[Any, Any], int] = {}

    # -- into a request ----------------------------------------------------------------------------

    def sent(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Struct):
            sent = {each.name: self.sent(getattr(value, each.name), each.name) for each in type(value).fields}
            if sent.get(SHARE_EPOCH_FIELD) == NEXT_EPOCH:
                sent[SHARE_EPOCH_FIELD] = self._share_epochs.get(_member_of(value), _NO_SESSION)
            return type(value)(**sent)
        if isinstance(value, list):
            return [self.sent(each, name) for each in value]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Recipe):
            return value.built(_key_of(self._producers, value.producer_id))
        if isinstance(value, bytes) and value.startswith(_ID_MARK):
            return self._topic_id(value)
        if name in PRODUCER_FIELDS | PRODUCER_LISTS:
            return _key_of(self._producers, value)
        if name == SESSION_FIELD:
            return _key_of(self._sessions, value)
        return value

    def _text(self, text: str) -> str:
        real = {stand_in: told for told, stand_in in self._members.items()}
        return _MEMBER.sub(lambda found: real.get(found[0], found[0]), text).replace(MARK, self._prefix)

    def _topic_id(self, stand_in: bytes) -> bytes:
        name = stand_in.removeprefix(_ID_MARK).rstrip(b".").decode()
        found = self._find_topic_id(self._text(name))
        if found is None:
            found = next((told for told, known in self._topic_ids.items() if known == stand_in), stand_in)
        self._topic_ids[found] = stand_in
        return found

    # -- out of an answer --------------------------------------------------------------------------

    def text(self, text: str) -> str:
        text = text.replace(self._prefix, MARK)
        return _MADE_UP.sub(
            lambda found: self._members.setdefault(found[0], f"<member {len(self._members) + 1}>"), text
        )

    def uuid(self, value: bytes) -> str:
        if value == ZERO_UUID:
            return "none"
        if value in self._topic_ids:
            return self._topic_ids[value].decode()
        return "some id"

    def producer(self, told: int) -> int:
        return self._producers.setdefault(told, producer(len(self._producers) + 1)) if told >= 0 else told

    def note_share_session(self, request: Any, answer: Any) -> None:
        """What the next request of a member has to say, after this answer to one of its requests."""
        epoch = getattr(request, SHARE_EPOCH_FIELD, None)
        if epoch is None:
            return
        member = _member_of(request)
        if answer.error_code in _SESSION_LOST:
            self._share_epochs[member] = _NO_SESSION
        elif not answer.error_code:
            said = self._share_epochs.get(member, _NO_SESSION) if epoch == NEXT_EPOCH else epoch
            self._share_epochs[member] = said + 1

    def session(self, told: int) -> int:
        return self._sessions.setdefault(told, session(len(self._sessions) + 1)) if told > 0 else told

    def is_foreign(self, text: str) -> bool:
        """Whether a name belongs to another play, or is made up by the broker for itself."""
        return text.startswith("__") or (text[:1] == "z" and text[1:10].isdigit())


def _member_of(request: Any) -> tuple[Any, Any]:
    return request.group_id, request.member_id


def _key_of(known: dict[int, int], stand_in: int) -> int:
    return next((told for told, each in known.items() if each == stand_in), stand_in)
