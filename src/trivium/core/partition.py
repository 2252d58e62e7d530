"""A partition at work: its log, the rules of its topic, and the readers that wait for its next records."""

from typing import Final, NamedTuple, Protocol

from trivium.core.faults import Fault, Refused
from trivium.core.ports import Log

NO_EPOCH: Final = -1


class Rules(NamedTuple):
    """What a topic's settings mean for a write; see ``settings`` for where they come from."""

    max_message_bytes: int
    append_time: bool
    """``message.timestamp.type=LogAppendTime``: the broker's clock counts."""
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    compression: str
    """``producer`` leaves batches as they came."""
    compacted: bool
    min_insync_replicas: int
    durable: bool
    """Whether ``acks=all`` waits for a sync (``durability = "fsync"``)."""
    sync_each: bool = False
    """``flush.messages=1``: every ack waits for a sync, whatever the client has asked for."""
    segment_bytes: int = 2**31 - 1
    """No append is larger: it would not fit into any segment."""
    compression_level: int | None = None
    """How hard the codec tries; None for one without levels."""


class Waiting(Protocol):
    """A reader that waits for records."""

    def arrived(self, partition: "LivePartition", size_bytes: int) -> None: ...


class LivePartition:
    """Made when a partition is first used; forgotten when its topic is deleted."""

    __slots__ = ("index", "leader_epoch", "life", "log", "rules", "topic", "waiting")

    def __init__(
        self, topic: str, index: int, log: Log, leader_epoch: int, rules: Rules, life: int = 0
    ) -> None:
        """``life`` tells it from those that had its name before, and whose records were others."""
        self.topic = topic
        self.index = index
        self.log = log
        self.leader_epoch = leader_epoch
        self.rules = rules
        self.life = life
        self.waiting: dict[Waiting, None] = {}

    def announce(self, size_bytes: int) -> None:
        """Records have become readable; or, without any, something else about the partition has changed."""
        if self.waiting:
            for reader in list(self.waiting):
                reader.arrived(self, size_bytes)

    def check_epoch(self, current_leader_epoch: int) -> None:
        """Whether client and broker mean the same reign of a leader (KIP-320); -1 says nothing."""
        if current_leader_epoch == NO_EPOCH or current_leader_epoch == self.leader_epoch:
            return
        if current_leader_epoch < self.leader_epoch:
            raise Refused(Fault.FENCED_LEADER_EPOCH)
        raise Refused(Fault.UNKNOWN_LEADER_EPOCH)

    def epoch_end(self, leader_epoch: int) -> tuple[int, int]:
        """The largest epoch not above this one, and the offset where it ends; (-1, -1) if nobody knows.

        The log hears of an epoch when its first record is written. Until then it ends, like the log, where
        that record will be, and so does every epoch between the log's last and this one.
        """
        log = self.log
        if leader_epoch == self.leader_epoch:
            return leader_epoch, log.log_end_offset
        epoch, offset_end = log.epoch_end(leader_epoch)
        if epoch >= 0 or not 0 <= leader_epoch < self.leader_epoch:
            return epoch, offset_end
        latest = log.epoch_at(log.log_end_offset)
        return latest if latest >= 0 else leader_epoch, log.log_end_offset
