"""Fetch sessions (KIP-227): a client that reads many partitions names only those that have changed.

    id 0, epoch -1      no session: everything is in the request, nothing is kept
    id 0, epoch 0       a new session with the partitions of this request
    id n, epoch e       the next request of session n: changed and forgotten partitions only
    id n, epoch -1      close session n, and read this request without one
    id n, epoch 0       close session n, and begin a new one

Sessions belong to the node and not to a connection. Their ids are drawn at random, so that a client that
outlived a restart does not meet the session of somebody else. When there is no room a new session takes the
place of one that was not used for long, or of an old one that is smaller; if there is none, the client gets
no session and names all its partitions each time.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from secrets import randbelow
from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.records import FetchedPart, FetchPart

SESSIONS_MAX: Final = 1000
"""Kafka's ``max.incremental.fetch.session.cache.slots``."""
SETTLED_MS: Final = 120_000
"""A session that was not used for so long, or is so old and small, may be replaced; Kafka has the same."""
EPOCH_CLOSE: Final = -1
EPOCH_NEW: Final = 0
_EPOCH_LAST: Final = 2**31 - 1
_ID_LAST: Final = 2**31 - 1

PartKey = tuple[TopicRef, int]


@dataclass(slots=True)
class FetchSession:
    session_id: int
    by_id: bool
    """Whether the client names topics by id. A session never changes its mind about that."""
    opened_ms: int
    used_ms: int
    epoch: int = 1
    """What the next request must say."""
    parts: dict[PartKey, FetchPart] = field(default_factory=dict)
    sent: dict[PartKey, tuple[int, int, int]] = field(default_factory=dict)
    """What the client was last told: high watermark, last stable offset, log start offset."""

    def update(self, changed: Iterable[FetchPart], forgotten: Iterable[PartKey]) -> None:
        for part in changed:
            self.parts[part.topic, part.partition] = part
        for key in forgotten:
            self.parts.pop(key, None)
            self.sent.pop(key, None)

    def advance(self) -> None:
        self.epoch = 1 if self.epoch == _EPOCH_LAST else self.epoch + 1

    def news(self, results: Iterable[FetchedPart]) -> list[FetchedPart]:
        """Those parts that the client does not know yet. One that had records comes last next time, so that
        a full answer does not always serve the same partitions.
        """
        news = []
        sent, parts = self.sent, self.parts
        for result in results:
            topic, partition, fault, high_watermark, stable_offset, start_offset, runs, *_ = result
            key = (topic, partition)
            facts = (high_watermark, stable_offset, start_offset)
            if fault is not None:
                # It is said again with every answer, until it is no longer true.
                sent.pop(key, None)
            elif runs or result.diverging is not None or sent.get(key) != facts:
                sent[key] = facts
            else:
                continue
            if runs and key in parts:
                parts[key] = parts.pop(key)
            news.append(result)
        return news


def random_id() -> int:
    return 1 + randbelow(_ID_LAST)


class FetchSessions:
    def __init__(
        self,
        now_ms: Callable[[], int],
        sessions_max: int = SESSIONS_MAX,
        new_id: Callable[[], int] = random_id,
    ) -> None:
        self._now_ms = now_ms
        self._sessions_max = sessions_max
        self._new_id = new_id
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()
        """The one that was not used for longest comes first."""

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, parts: list[FetchPart], *, by_id: bool) -> FetchSession | None:
        """A session with these partitions; None if there is no room for it."""
        now_ms = self._now_ms()
        if len(self._sessions) >= self._sessions_max and not self._make_room(len(parts), now_ms):
            return None
        session_id = self._new_id()
        while session_id in self._sessions:
            session_id = self._new_id()
        session = FetchSession(session_id, by_id, now_ms, now_ms)
        session.update(parts, ())
        self._sessions[session_id] = session
        return session

    def _make_room(self, parts_count: int, now_ms: int) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now_ms - oldest.used_ms > SETTLED_MS:
            self.close(oldest.session_id)
            return True
        settled = [each for each in self._sessions.values() if now_ms - each.opened_ms > SETTLED_MS]
        smallest = min(settled, key=lambda each: len(each.parts), default=None)
        if smallest is None or len(smallest.parts) >= parts_count:
            return False
        self.close(smallest.session_id)
        return True

    def get(self, session_id: int) -> FetchSession | None:
        session = self._sessions.get(session_id)
        if session is not None:
            session.used_ms = self._now_ms()
            self._sessions.move_to_end(session_id)
        return session

    def close(self, session_id: int) -> None:
        self._sessions.pop(session_id, None)
