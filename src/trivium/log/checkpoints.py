"""The checkpoints of a directory, which speak for all of its partitions: gathered here, written elsewhere.

Gathering looks at logs and belongs to the thread that appends. Writing touches files only and may be slow, so
it may run in another thread. Numbers that have become old meanwhile promise less than is true, which harms
nobody; but a newer summary must not be overtaken by an older one, so each has a number, and the writers take
turns::

    pending = checkpoints.begin(Summary.of(logs))       on the loop
    pending.run()                                       anywhere
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from trivium.log import checkpoint
from trivium.log.checkpoint import TopicPartition
from trivium.log.files import Files
from trivium.log.names import (
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    METADATA_TOPIC,
    RECOVERY_POINT_CHECKPOINT,
    REPLICATION_OFFSET_CHECKPOINT,
)
from trivium.log.partition_log import PartitionLog


@dataclass(frozen=True, slots=True)
class Summary:
    recovery_points: Mapping[TopicPartition, int] = field(default_factory=dict)
    high_watermarks: Mapping[TopicPartition, int] = field(default_factory=dict)
    log_starts: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Only of logs that begin later than their first segment."""
    cleaned: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Up to where compaction has been."""

    @classmethod
    def of(cls, logs: Mapping[TopicPartition, PartitionLog]) -> "Summary":
        """As the logs are now. The metadata log is not a part of it: Kafka keeps it out."""
        logs = {key: log for key, log in logs.items() if key[0] != METADATA_TOPIC}
        return cls(
            recovery_points={key: log.recovery_point for key, log in logs.items()},
            high_watermarks={key: log.high_watermark for key, log in logs.items()},
            log_starts={
                # A log that ends before its start after a crash would look like one that lost records.
                key: min(log.log_start_offset, log.recovery_point)
                for key, log in logs.items()
                if min(log.log_start_offset, log.recovery_point) > log.segments[0].base_offset
            },
            cleaned={key: log.cleaned_offset for key, log in logs.items() if log.cleaned_offset},
        )

    @property
    def partitions(self) -> set[TopicPartition]:
        return {*self.recovery_points, *self.log_starts, *self.cleaned}

    def of_only(self, keys: set[TopicPartition]) -> "Summary":
        """What it says about these partitions."""
        return Summary(
            *(
                {key: offset for key, offset in offsets.items() if key in keys}
                for offsets in (self.recovery_points, self.high_watermarks, self.log_starts, self.cleaned)
            )
        )

    def with_others(self, others: "Summary") -> "Summary":
        """This one, and what ``others`` says about partitions that this one does not know."""
        return Summary(
            {**others.recovery_points, **self.recovery_points},
            {**others.high_watermarks, **self.high_watermarks},
            {**others.log_starts, **self.log_starts},
            {**others.cleaned, **self.cleaned},
        )

    def write(self, files: Files, path: str) -> None:
        """Into the directory ``path``, durably. What readers may not see comes before what they may."""
        _write(files, f"{path}/{LOG_START_OFFSET_CHECKPOINT}", self.log_starts)
        _write(files, f"{path}/{RECOVERY_POINT_CHECKPOINT}", self.recovery_points)
        _write(files, f"{path}/{REPLICATION_OFFSET_CHECKPOINT}", self.high_watermarks)
        if self.cleaned or files.exists(f"{path}/{CLEANER_OFFSET_CHECKPOINT}"):
            _write(files, f"{path}/{CLEANER_OFFSET_CHECKPOINT}", self.cleaned)


class Checkpoints:
    """The checkpoint files of one directory."""

    def __init__(self, files: Files, path: str) -> None:
        self._files = files
        self._path = path
        self._turn = Lock()
        self._begun = self._written = 0

    def begin(self, summary: Summary) -> "PendingCheckpoints":
        self._begun += 1
        return PendingCheckpoints(self, self._begun, summary)

    def write(self, number: int, summary: Summary) -> None:
        with self._turn:
            if number > self._written:
                summary.write(self._files, self._path)
                self._written = number


class PendingCheckpoints:
    """A summary that is to be written. ``run`` touches files and nothing else."""

    __slots__ = ("_checkpoints", "_number", "summary")

    def __init__(self, checkpoints: Checkpoints, number: int, summary: Summary) -> None:
        self._checkpoints = checkpoints
        self._number = number
        self.summary = summary

    def run(self) -> None:
        """Blocks until it is durable, unless a newer one already is."""
        self._checkpoints.write(self._number, self.summary)


def _write(files: Files, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    checkpoint.write_offsets(files, path, offsets)
