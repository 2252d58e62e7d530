"""A copy of a partition's log that grows in another directory, until it takes the original's place.

At first the copy is log files alone, byte for byte. Then it is opened, which makes its indexes, producers
and epochs from them, and takes over batch by batch what was written meanwhile. ``next_stretch`` and
``switch`` belong to the thread that appends; ``copy`` may run elsewhere: what it reads is pinned, and nobody
else knows what it writes.

``switch`` waits for no disk: the rest of the records and the live name become durable with the copy's next
sync. Until then the original has to stay. A crash finds both, and the one with more records has all that
anybody was promised (``log.store``).
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from trivium.log.checkpoint import TopicPartition
from trivium.log.directory import LogDirectory
from trivium.log.files import Files
from trivium.log.names import PARTITION_METADATA, doomed_directory, offset_file
from trivium.log.opening import Known, open_log
from trivium.log.partition_log import PartitionLog
from trivium.log.properties import PartitionMetadata, write_partition_metadata
from trivium.log.segment import Segment

COPY_BYTES = 1 << 20
"""Read and written at once."""


class Part(NamedTuple):
    """Bytes of one segment, and the offset that they begin at."""

    segment: Segment
    position: int
    end: int
    offset: int


class Stretch(NamedTuple):
    """What is to be copied next. ``release`` it when that is done."""

    parts: Sequence[Part]
    offset_end: int

    def release(self) -> None:
        for part in self.parts:
            part.segment.unpin()


class FutureLog:
    def __init__(
        self,
        files: Files,
        source: PartitionLog,
        target: LogDirectory,
        key: TopicPartition,
        topic_id: UUID,
        unique_id: UUID,
    ) -> None:
        self._files = files
        self._source = source
        self._target = target
        self._key = key
        self._topic_id = topic_id
        self._name = doomed_directory(*key, "future", unique_id.hex)
        self._directory = f"{target.path}/{self._name}"
        self._taken: dict[int, int] = {}
        """How many bytes of each of the original's segments have been taken over, by base offset."""
        self._log: PartitionLog | None = None
        self.offset_end = source.segments[0].base_offset

    @property
    def size_bytes(self) -> int:
        return sum(self._taken.values())

    @property
    def missing_bytes(self) -> int:
        return sum(part.end - part.position for part in self._missing())

    def _missing(self) -> list[Part]:
        parts = []
        for segment in self._source.segments:
            position = self._taken.get(segment.base_offset, 0)
            if position < segment.size_bytes or segment.base_offset not in self._taken:
                offset = max(segment.base_offset, self.offset_end)
                parts.append(Part(segment, position, segment.size_bytes, offset))
        return parts

    def next_stretch(self) -> Stretch:
        """What the original has and the copy has not."""
        self._source.health.check()
        self._target.health.check()
        if self._source.corruption is not None:
            raise self._source.corruption
        parts = self._missing()
        for part in parts:
            with self._source.reading():
                # Opened here: the name may be gone when the copying thread comes to it.
                _ = part.segment.file
            part.segment.pin()
        return Stretch(parts, self._source.log_end_offset)

    def copy(self, stretch: Stretch, now_ms: int) -> None:
        """Take it over, durably. ``LogError`` if one of the two disks fails."""
        if self._log is None:
            with self._target.health.guard(f"copying to {self._name}"):
                self._files.make_directory(self._directory)
                metadata = f"{self._directory}/{PARTITION_METADATA}"
                write_partition_metadata(self._files, metadata, PartitionMetadata(self._topic_id))
            for part in stretch.parts:
                self._copy_file(part)
            self._log = self._open(now_ms)
            self.offset_end = stretch.offset_end
        else:
            self._take_over(self._log, stretch, now_ms)
        self._log.sync()

    def _take_over(self, log: PartitionLog, stretch: Stretch, now_ms: int) -> None:
        for part in stretch.parts:
            self._append(log, part, now_ms)
        self.offset_end = stretch.offset_end

    def _copy_file(self, part: Part) -> None:
        path = f"{self._directory}/{offset_file(part.segment.base_offset, '.log')}"
        with self._target.health.guard(f"copying to {self._name}"):
            file = self._files.open(path, create=True)
        try:
            position = 0
            while position < part.end:
                with self._source.reading():
                    data = part.segment.file.read(min(COPY_BYTES, part.end - position), position)
                with self._target.health.guard(f"copying to {self._name}"):
                    file.write(data, position)
                position += len(data)
        finally:
            file.close()
        self._taken[part.segment.base_offset] = part.end

    def _open(self, now_ms: int) -> PartitionLog:
        """Everything in it is read and checked on the way."""
        source = self._source
        known = Known(clean=False, cleaned_offset=source.cleaned_offset)
        log, _ = open_log(
            self._files,
            self._directory,
            source.name,
            settings=source.settings,
            health=self._target.health,
            known=known,
            now_ms=now_ms,
        )
        if log.corruption is not None:
            raise log.corruption
        return log

    def _append(self, log: PartitionLog, part: Part, now_ms: int) -> None:
        with self._source.reading():
            for found in part.segment.batches(part.position, offset_start=part.offset):
                if found.position >= part.end:
                    break
                log.append(bytearray(found.data), leader_epoch=found.header.leader_epoch, now_ms=now_ms)
        self._taken[part.segment.base_offset] = part.end

    def switch(self, now_ms: int) -> PartitionLog:
        """Take over the rest, after a ``copy``, and put the copy in place. The original is the caller's to
        remove, once the copy has been synced.
        """
        log, source = self._log, self._source
        assert log is not None
        stretch = self.next_stretch()
        try:
            self._take_over(log, stretch, now_ms)
        finally:
            stretch.release()
        log.configure(source.settings)
        log.high_watermark = source.high_watermark
        log.advance_log_start(source.log_start_offset)
        self._target.install_future(self._key, self._name, self._topic_id, log)
        return log

    def discard(self) -> None:
        """The move is given up."""
        if self._log is not None:
            self._log.abandon()
        self._target.discard_future(self._name)
