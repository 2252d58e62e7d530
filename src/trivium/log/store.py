"""All log directories of a broker: where a partition lives, and which directories still serve.

A directory that cannot be opened, or fails later, is offline: its partitions answer ``DirectoryOffline``
and the rest go on. Only when none is left is there nothing to open.

A partition in two directories has been on its way from one to the other when the broker died (see
``moving``): both copies are whole then, the longer one stays, the other is set aside.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory, SettingsFor
from trivium.log.faults import DirectoryOffline, DirectoryRefused, LogError
from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.survey import TopicIdOf


class Identity(NamedTuple):
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
        topic_id_of: TopicIdOf | None = None,
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
                    topic_id_of=topic_id_of,
                )
            except DirectoryRefused:
                _close_all(opened)
                raise
            except (OSError, LogError) as error:
                offline[path] = _reason(path, error)
                continue
            opened.append(directory)
            cluster_id = directory.meta.cluster_id
        if not opened:
            reasons = "; ".join(offline.values())
            raise DirectoryRefused(
                f"no log directory can be opened: {reasons}; choose one that can be written to"
            )
        if topic_id_of is None:
            _refuse_twins(opened)
        else:
            _retire_twins(opened, new_id)
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
        self,
        topic: str,
        partition: int,
        topic_id: UUID,
        settings: LogSettings,
        now_ms: int,
        *,
        among: Sequence[str] | None = None,
        lazily: bool = False,
    ) -> PartitionLog:
        """Make a partition in the living directory with the fewest: of all, or of those in ``among``."""
        homes = [each for each in self.directories if among is None or each.path in among]
        alive = [each for each in homes if not each.is_offline]
        if not alive:
            raise DirectoryOffline(homes[0].path, homes[0].health.reason or "no directory is left")
        home = min(alive, key=lambda directory: len(directory.logs))
        log = home.create(
            topic, partition, topic_id, settings, now_ms, lazily=lazily, set_aside_as=self._new_id()
        )
        self._homes[topic, partition] = home
        return log

    def delete(self, topic: str, partition: int) -> None:
        home, doomed = self.doom(topic, partition)
        home.remove_doomed(doomed)

    def doom(self, topic: str, partition: int) -> tuple[LogDirectory, str]:
        """The quick half of ``delete``; ``LogDirectory.remove_doomed`` is the slow one."""
        home = self._homes.pop((topic, partition))
        return home, home.doom(topic, partition, self._new_id())

    def rehome(self, topic: str, partition: int, home: LogDirectory) -> None:
        """The partition lives in another directory from now on."""
        self._homes[topic, partition] = home

    def write_checkpoints(self) -> None:
        for directory in self.directories:
            if not directory.is_offline:
                directory.write_checkpoints()

    def close(self) -> None:
        _close_all(self.directories)


def _reason(path: str, error: OSError | LogError) -> str:
    """Why a directory is offline, in words: the operating system's, without its number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or path}: {error.strerror}"
    return str(error)


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


def _retire_twins(directories: Sequence[LogDirectory], new_id: Callable[[], UUID]) -> None:
    longest: dict[TopicPartition, LogDirectory] = {}
    for directory in directories:
        for key in list(directory.logs):
            other = longest.setdefault(key, directory)
            if other is directory:
                continue
            if directory.logs[key].log_end_offset > other.logs[key].log_end_offset:
                longest[key], loser = directory, other
            else:
                loser = directory
            loser.retire(*key, new_id())
            loser.opening.notes.append(
                f"{key[0]}-{key[1]} is in {longest[key].path} too, with no fewer records: set aside here"
            )
