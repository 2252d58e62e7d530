"""What lies in a log directory, found out before a partition is opened.

Reads the mark of a clean stop, and takes it away before anything is written; reads the checkpoints; finishes
deletions; and tells the partitions that belong here from strays, which are left as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from trivium.log import checkpoint
from trivium.log.checkpoint import TopicPartition
from trivium.log.checkpoints import Summary
from trivium.log.files import Files
from trivium.log.health import Health
from trivium.log.names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET_CHECKPOINT,
    LOG_START_OFFSET_CHECKPOINT,
    METADATA_TOPIC,
    PARTITION_METADATA,
    RECOVERY_POINT_CHECKPOINT,
    newest_metadata_snapshot,
    parse_partition_directory,
)
from trivium.log.opening import Known, Recovery
from trivium.log.properties import PartitionMetadata, read_partition_metadata, write_partition_metadata
from trivium.wire.errors import DecodeError

TopicIdOf = Callable[[str, int], UUID | None]
"""The id of the topic that a partition belongs to; None if there is no such partition, or not here."""


@dataclass(slots=True)
class Opening:
    """What opening a directory found, partition by partition; for people and for logs."""

    clean: bool
    recoveries: list[Recovery] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    """Directories of partitions that nobody knows, by name. They are left as they are."""
    notes: list[str] = field(default_factory=list)


class Resident(NamedTuple):
    """A partition that belongs here."""

    key: TopicPartition
    topic_id: UUID | None
    known: Known


class Survey:
    """Made by looking: the directory is as it says from then on."""

    def __init__(
        self, files: Files, path: str, health: Health, opening: Opening, topic_id_of: TopicIdOf | None
    ) -> None:
        self._files = files
        self._path = path
        self._health = health
        self._opening = opening
        self._topic_id_of = topic_id_of
        self.residents: list[Resident] = []
        mark = f"{path}/{CLEAN_SHUTDOWN}"
        opening.clean = was_marked = files.exists(mark)
        self.summary = Summary(
            recovery_points=self._offsets(RECOVERY_POINT_CHECKPOINT),
            log_starts=self._offsets(LOG_START_OFFSET_CHECKPOINT),
            cleaned=self._offsets(CLEANER_OFFSET_CHECKPOINT),
        )
        """What the checkpoints say."""
        if was_marked:
            # Also when a damaged checkpoint made it worthless: left here, it would vouch for the next crash.
            with health.guard(f"opening {path}"):
                files.remove(mark)
                files.sync_directory(path)
        strays: set[TopicPartition] = set()
        for name in files.list(path):
            parsed = parse_partition_directory(name)
            if parsed is None or not files.is_directory(f"{path}/{name}"):
                continue
            if parsed.fate == "delete":
                remove_tree(files, f"{path}/{name}")
                opening.notes.append(f"finished deleting {parsed.topic}-{parsed.partition}")
            elif not parsed.fate:
                key = (parsed.topic, parsed.partition)
                if not self._admit(key, name):
                    strays.add(key)
                    opening.strays.append(name)
        self.of_strays = self.summary.of_only(strays)
        """What they say of strays."""

    def _known(self, key: TopicPartition, name: str) -> Known:
        summary = self.summary
        point = summary.recovery_points.get(key, 0)
        if key[0] == METADATA_TOPIC:
            point = self._summed_up(name)
        return Known(self._opening.clean, point, summary.log_starts.get(key, 0), summary.cleaned.get(key, 0))

    def _admit(self, key: TopicPartition, name: str) -> bool:
        """Find out the topic id of a partition's directory, and whether it is the one that is expected here.

        A directory that does not know its id, as a crash or an older Kafka may leave it, is told.
        """
        path = f"{self._path}/{name}/{PARTITION_METADATA}"
        found: UUID | None = None
        try:
            found = read_partition_metadata(self._files, path).topic_id
        except DecodeError as error:
            self._opening.notes.append(str(error))
        except FileNotFoundError:
            self._opening.notes.append(f"{name} has no {PARTITION_METADATA}: its topic id is unknown")
        if self._topic_id_of is not None:
            expected = self._topic_id_of(*key)
            if expected is None or found not in (None, expected):
                return False
            if found is None:
                with self._health.guard(f"opening {name}"):
                    write_partition_metadata(self._files, path, PartitionMetadata(expected))
                found = expected
        self.residents.append(Resident(key, found, self._known(key, name)))
        return True

    def _summed_up(self, name: str) -> int:
        """The metadata log has no checkpoint; what its newest snapshot sums up was durable before it."""
        snapshot = newest_metadata_snapshot(self._files.list(f"{self._path}/{name}"))
        return 0 if snapshot is None else snapshot.offset

    def _offsets(self, name: str) -> dict[TopicPartition, int]:
        """A checkpoint, or none if it is damaged: then nothing is known and everything is recovered."""
        try:
            return checkpoint.read_offsets(self._files, f"{self._path}/{name}")
        except DecodeError as error:
            self._opening.notes.append(f"{error}; every partition is recovered in full")
            self._opening.clean = False
            return {}


def remove_tree(files: Files, path: str) -> None:
    """Remove a partition's directory and the files in it."""
    for child in files.list(path):
        files.remove(f"{path}/{child}")
    files.remove_directory(path)
