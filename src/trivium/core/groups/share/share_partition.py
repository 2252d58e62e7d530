"""One partition as a share group reads it: the records in flight, and how much of that is stored."""

from collections.abc import Callable
from typing import NamedTuple

from trivium.core.groups.share.flight import Flight
from trivium.core.timers import Timer
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_from_text, uuid_to_text


class ShareKey(NamedTuple):
    group_id: str
    topic_id: bytes
    partition: int

    @property
    def text(self) -> str:
        """What decides where the state lies, and what FindCoordinator is asked for."""
        return f"{self.group_id}:{uuid_to_text(self.topic_id)}:{self.partition}"


def is_share_key(text: str) -> bool:
    """Whether it is the text of a key. A group's name may have colons."""
    group_id, _, rest = text.partition(":")
    topic_id, _, number = rest.rpartition(":")
    topic_id = topic_id.rpartition(":")[2]
    try:
        uuid_from_text(topic_id)
    except DecodeError:
        return False
    return bool(group_id) and number.isdecimal()


class SharePartition:
    """Known from the day on which a member subscribes to its topic."""

    __slots__ = (
        "created_ms",
        "flight",
        "is_dead",
        "key",
        "lock_timer",
        "snapshot_epoch",
        "snapshot_offset",
        "state_epoch",
        "updates_count",
        "waiting",
    )

    def __init__(self, key: ShareKey, state_epoch: int, created_ms: int) -> None:
        self.key = key
        self.state_epoch = state_epoch
        """The group's epoch when it began here: whoever holds an older one knows another beginning."""
        self.created_ms = created_ms
        self.flight: Flight | None = None
        """None until somebody has read: only then it is decided where the group begins."""
        self.snapshot_epoch = 0
        self.snapshot_offset = -1
        """Where the last snapshot lies: a start needs nothing that was stored before."""
        self.updates_count = 0
        """Since that snapshot."""
        self.lock_timer: Timer | None = None
        self.waiting: dict[Callable[[], None], None] = {}
        """Who wants to hear when records may be had again, or when there is nothing to be had here."""
        self.is_dead = False

    def wake(self) -> None:
        for call in list(self.waiting):
            call()

    def die(self) -> None:
        """Nobody may use this any more."""
        self.is_dead = True
        if self.lock_timer is not None:
            self.lock_timer.cancel()
        self.wake()
