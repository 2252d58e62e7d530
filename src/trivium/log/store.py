"""All log directories of a broker: where a partition lives, and which directories still serve.

A directory that cannot be opened, or fails later, is offline: its partitions answer ``DirectoryOffline``
and the rest go on. Only when none is left is there nothing to open.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory, SettingsFor
from trivium.log.faults import DirectoryOffline, DirectoryRefused, LogError
from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose directories these are. ``cluster_id`` None accepts what they say themselves."""

    node_id: int
    cluster_id: str | None


class LogStore:
    def __init__(
        self, directories: Sequence[LogDirectory], offline: dict[str, str], new_id: Callable[[], UUID]
    ) -> None:
        self.directories = list(directories)
        self.failed_to_open = offline
        """Path and reason of each directory that could not be opened at all."""
        self._new_id = new_id
        self._homes: dict[TopicPartition, LogDirectory] = {
            key: directory for directory in directories for key in directory.logs
        }

    @classmethod
    def open(
        cls,
        files: Files,
        paths: Sequence[str],
        identity: Identity,
        *,
        new_id: Callable[[], UUID],
        settings_for: SettingsFor,
        now_ms: int,
    ) -> "LogStore":
        """Open every directory; refuse if one is another cluster's, or if all of them fail."""
        opened: list[LogDirectory] = []
        offline: dict[str, str] = {}
        cluster_id = identity.cluster_id
        for path in paths:
            try:
                directory = LogDirectory.open(
                    files,
                    path,
                    node_id=identity.node_id,
                    cluster_id=cluster_id,
                    new_id=new_id,
                    settings_for=settings_for,
                    now_ms=now_ms,
                )
            except DirectoryRefused:
                _close_all(opened)
                raise
            except (OSError, LogError) as error:
                offline[path] = str(error)
                continue
            opened.append(directory)
            cluster_id = directory.meta.cluster_id
        if not opened:
            reasons = "; ".join(offline.values())
            raise DirectoryRefused(f"no log directory can be opened: {reasons}")
        _refuse_twins(opened)
        return cls(opened, offline, new_id)

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def get(self, topic: str, partition: int) -> PartitionLog | None:
        home = self._homes.get((topic, partition))
        return None if home is None else home.logs[topic, partition]

    def home(self, topic: str, partition: int) -> LogDirectory:
        """The directory that a partition lives in: its group commit, its topic id, its health."""
        return self._homes[topic, partition]

    def create(
        self, topic: str, partition: int, topic_id: UUID, settings: LogSettings, now_ms: int
    ) -> PartitionLog:
        """Make a partition in the living directory that has the fewest."""
        alive = [directory for directory in self.directories if not directory.is_offline]
        if not alive:
            first = self.directories[0]
            raise DirectoryOffline(first.path, first.health.reason or "no directory is left")
        home = min(alive, key=lambda directory: len(directory.logs))
        log = home.create(topic, partition, topic_id, settings, now_ms)
        self._homes[topic, partition] = home
        return log

    def delete(self, topic: str, partition: int) -> None:
        home = self._homes.pop((topic, partition))
        home.delete(topic, partition, self._new_id())

    def write_checkpoints(self) -> None:
        for directory in self.directories:
            if not directory.is_offline:
                directory.write_checkpoints()

    def close(self) -> None:
        _close_all(self.directories)


def _close_all(directories: Sequence[LogDirectory]) -> None:
    """Close every one of them, whatever happens to the others; the first fault is raised in the end."""
    first: LogError | None = None
    for directory in directories:
        try:
            directory.close()
        except LogError as fault:
            first = first or fault
    if first is not None:
        raise first


def _refuse_twins(directories: Sequence[LogDirectory]) -> None:
    seen: dict[TopicPartition, str] = {}
    for directory in directories:
        for key in directory.logs:
            if key in seen:
                _close_all(directories)
                raise DirectoryRefused(
                    f"{key[0]}-{key[1]} is in {seen[key]} and in {directory.path}; move one of them away"
                )
            seen[key] = directory.path
