"""The metadata log of this node: read at the start, and kept short while it grows.

Now and then everything is summed up in a snapshot (``log.metadata_snapshots``): when enough has been written
since the last one, or after a while. The log then begins a new segment, and snapshots and segments that are
no longer needed go. In order, each step durable before the next:

1. the log up to the snapshot's offset, by group commit
2. the snapshot, in a thread: a picture of the image is told as records there
3. the oldest snapshots, then the segments that end before the oldest one that is left

A crash after any step leaves a log that starts.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from trivium.core.faults import Fault
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_snapshot import snapshot_records, still
from trivium.core.ports import Clock
from trivium.log.faults import Corrupt, DirectoryRefused, LogError
from trivium.log.files import Files
from trivium.log.metadata_log import METADATA_DIRECTORY, has_metadata_log, read_metadata_log
from trivium.log.metadata_snapshots import (
    list_snapshots,
    quorum_records,
    remove_snapshots,
    snapshot_bytes,
    write_snapshot,
)
from trivium.log.names import MetadataSnapshot
from trivium.log.shortening import drop_oldest
from trivium.log.staged import Staged
from trivium.messages.stored.metadata_log import decode_metadata_record, encode_metadata_record
from trivium.records.record import Record
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.stored_log import StoredLog
from trivium.server.worker import Worker
from trivium.wire.errors import DecodeError

LOOK_MS = 10_000
"""How often ``look`` is to be called."""


class Loaded(NamedTuple):
    """What the metadata log says, and the control records of Raft that a snapshot has to repeat."""

    image: MetadataImage
    quorum: list[Record]


def load(files: Files, paths: Iterable[str], now_ms: int) -> Loaded:
    """From the first of these directories that has a metadata log; empty if none has.

    ``Corrupt`` if anything in it is damaged: a broker that went on with half of it would forget topics.
    """
    image = MetadataImage()
    controls: list[Record] = []
    path = next((path for path in paths if has_metadata_log(files, path)), None)
    if path is not None:
        try:
            for place, value in read_metadata_log(files, path, now_ms=now_ms, controls=controls):
                _replay(image, place, value)
        except OSError as error:
            raise DirectoryRefused(f"{path}/{METADATA_DIRECTORY} cannot be read: {error.strerror}") from error
    return Loaded(image, quorum_records(controls))


def _replay(image: MetadataImage, place: str, value: bytes) -> None:
    try:
        image.replay(decode_metadata_record(value)[2])
    except DecodeError as error:
        raise Corrupt(METADATA_DIRECTORY, 0, f"at {place}: {error}") from error


class SnapshotRules(NamedTuple):
    """When to sum up and what to keep; next to each, the setting that says so."""

    bytes_between: int
    """metadata.log.max.record.bytes.between.snapshots"""
    interval_ms: int
    """metadata.log.max.snapshot.interval.ms; 0 is never"""
    retention_bytes: int
    """metadata.max.retention.bytes: of log and snapshots together; below 0 no limit"""
    retention_ms: int
    """metadata.max.retention.ms: a snapshot that has been replaced for so long goes; below 0 never"""


class MetadataStore:
    def __init__(
        self,
        files: Files,
        stored: StoredLog,
        loaded: Loaded,
        rules: SnapshotRules,
        worker: Worker,
        clock: Clock,
    ) -> None:
        self._files = files
        self._stored = stored
        self._image = loaded.image
        self._quorum = loaded.quorum
        self._rules = rules
        self._worker = worker
        self._clock = clock
        snapshots = list_snapshots(files, stored.log.directory)
        self._summed_up = snapshots[-1].offset if snapshots else 0
        self._last_ms = clock.monotonic_ms()
        self._replaced_ms: dict[MetadataSnapshot, int] = {}
        """When each old snapshot was first seen to be old, on the monotonic clock (R10)."""
        self._is_writing = False

    def look(self) -> None:
        """Sum up if it is time."""
        log = self._stored.log
        if self._is_writing or log.log_end_offset <= self._summed_up or self._image.is_in_transaction:
            return
        waited_ms = self._clock.monotonic_ms() - self._last_ms
        is_overdue = 0 < self._rules.interval_ms <= waited_ms
        if is_overdue or self._bytes_since() >= self._rules.bytes_between:
            self.sum_up()

    def _bytes_since(self) -> int:
        """Whole segments count: a snapshot of ours always ends one."""
        return sum(
            segment.size_bytes
            for segment in self._stored.log.segments
            if segment.offset_limit is None or segment.offset_limit > self._summed_up
        )

    def sum_up(self) -> None:
        """Write a snapshot of what is true now."""
        self._is_writing = True
        errand = Errand(self._broken_off)
        errand.hold(self._rest)
        errand.go(self._begin, errand)

    def _begin(self, errand: Errand) -> None:
        log = self._stored
        snapshot = MetadataSnapshot(log.log_end_offset, max(0, log.epoch_at(log.log_end_offset - 1)))
        picture = still(self._image)
        log.when_durable(lambda fault: self._write(errand, snapshot, picture, fault))

    def _write(
        self, errand: Errand, snapshot: MetadataSnapshot, picture: MetadataImage, fault: Fault | None
    ) -> None:
        if fault is not None:
            errand.end()
            return
        now_ms = self._clock.wall_ms()
        self._worker.run(
            lambda: self._written(snapshot, picture, now_ms),
            lambda error: self._finish(errand, snapshot, error),
        )

    def _written(self, snapshot: MetadataSnapshot, picture: MetadataImage, now_ms: int) -> LogError | None:
        """In a thread."""
        log = self._stored.log
        values = (encode_metadata_record(record, version) for record, version in snapshot_records(picture))
        try:
            with log.health.guard(f"snapshot of {log.name}"):
                write_snapshot(
                    self._files, log.directory, snapshot, values, quorum=self._quorum, now_ms=now_ms
                )
        except LogError as error:
            return error
        return None

    def _finish(self, errand: Errand, snapshot: MetadataSnapshot, error: LogError | None) -> None:
        self._last_ms = self._clock.monotonic_ms()
        if error is not None:
            self._finished(errand, error)
        else:
            self._summed_up = snapshot.offset
            self._stored.housekeeping.carry_out(self._tidying_up(), partial(self._finished, errand))

    def _finished(self, errand: Errand, error: LogError | None) -> None:
        errand.end()
        if error is not None:
            events.warning("metadata not summed up", reason=str(error))

    def _rest(self) -> None:
        self._is_writing = False

    def _broken_off(self, error: Exception) -> None:
        report("a snapshot of the metadata", error, f"within {LOOK_MS // 1000} s, if it is still due")

    def _tidying_up(self) -> Staged[None]:
        """Let go of what the snapshots make superfluous."""
        log, now_ms = self._stored.log, self._clock.wall_ms()
        log.roll(now_ms)
        with log.health.guard(f"snapshots of {log.name}"):
            snapshots = list_snapshots(self._files, log.directory)
            gone = self._expendable(snapshots)
            yield partial(remove_snapshots, self._files, log.directory, gone)
        kept_from = snapshots[len(gone)].offset
        while (limit := log.segments[0].offset_limit) is not None and limit <= kept_from:
            dropped = yield from drop_oldest(log, now_ms)
            if dropped is not None:
                self._stored.housekeeping.remove_segments(log, [dropped.base_offset])

    def _expendable(self, snapshots: list[MetadataSnapshot]) -> list[MetadataSnapshot]:
        """The oldest, as long as they are too old or there is too much; never the newest."""
        directory, now_ms = self._stored.log.directory, self._clock.monotonic_ms()
        old = snapshots[:-1]
        self._replaced_ms = {each: self._replaced_ms.get(each, now_ms) for each in old}
        sizes = {each: snapshot_bytes(self._files, directory, each) for each in snapshots}
        total_bytes = self._stored.size_bytes + sum(sizes.values())
        gone: list[MetadataSnapshot] = []
        for number, each in enumerate(old):
            is_old = 0 <= self._rules.retention_ms <= now_ms - self._replaced_ms[each]
            if not is_old and not 0 <= self._rules.retention_bytes < total_bytes:
                break
            gone.append(each)
            total_bytes -= sizes[each] + self._segments_between(each.offset, snapshots[number + 1].offset)
        return gone

    def _segments_between(self, start: int, end: int) -> int:
        """Bytes of the segments that go when the log begins at ``end`` instead of ``start``."""
        return sum(
            segment.size_bytes
            for segment in self._stored.log.segments
            if segment.offset_limit is not None and start < segment.offset_limit <= end
        )
