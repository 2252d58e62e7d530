"""Opening one partition's directory: after a clean stop in a blink, after a crash with proof.

What recovery does, and what it never does:

- Leftovers of an interrupted compaction or deletion are finished or swept away.
- After a crash every segment from the recovery point on is read whole and its indexes, its aborted
  transactions and its producers are made again. Bytes that nobody was promised may be torn: the log is
  cut to its last sound batch, and the report says so.
- Damage below the recovery point is no torn tail but lost property. Nothing is cut then; the log opens
  "corrupt from offset x", serves what lies before and takes no writes (promises R6, R7).
- Doing it again changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from trivium.log.aborted import ensure_proven
from trivium.log.epochs import LeaderEpochs
from trivium.log.files import Files
from trivium.log.health import Health
from trivium.log.names import LEADER_EPOCH_CHECKPOINT, TEMPORARY, OffsetFile, offset_file, parse_offset_file
from trivium.log.partition_log import PartitionLog
from trivium.log.producers import ProducerStates
from trivium.log.replay import replay, track
from trivium.log.scan import Damage
from trivium.log.segment import Segment, is_thinned
from trivium.log.settings import LogSettings
from trivium.log.stages import remove_stage
from trivium.log.swap import finish_swaps
from trivium.wire.errors import DecodeError


@dataclass(slots=True)
class Recovery:
    """What opening one log found and did; each note is a sentence for a person."""

    name: str
    notes: list[str] = field(default_factory=list)
    cut_bytes: int = 0
    scanned_bytes: int = 0

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


class Known(NamedTuple):
    """What the directory's checkpoints say about one partition before its files are looked at."""

    clean: bool
    recovery_point: int = 0
    log_start_offset: int = 0
    cleaned_offset: int = 0
    """Up to where compaction has been."""


def open_log(
    files: Files,
    directory: str,
    name: str,
    *,
    settings: LogSettings,
    health: Health,
    known: Known,
    now_ms: int,
) -> tuple[PartitionLog, Recovery]:
    """Open or create the log in an existing directory."""
    recovery = Recovery(name)
    with health.guard(f"opening {name}"):
        found = _sweep(files, directory, recovery)
        segments = _find_segments(files, directory, found, settings, now_ms, recovery)
        if not segments:
            segments = [_first_segment(files, directory, settings, known, now_ms)]
        opener = _Opener(files, directory, segments, settings, known, recovery)
        return opener.open(name, health), recovery


def _sweep(files: Files, directory: str, recovery: Recovery) -> list[OffsetFile]:
    """Finish what a crash interrupted: complete a decided swap, drop what is half-made or leaving. Returns
    what is left of segments; the directory is listed once, unless a swap has changed it.
    """
    names = files.list(directory)
    if any(name.endswith(".swap") for name in names):
        for base_offset in finish_swaps(files, directory):
            recovery.note(f"finished the compaction that had reached segment {base_offset}")
        names = files.list(directory)
    left = []
    for name in names:
        parsed = parse_offset_file(name)
        if name.endswith(TEMPORARY) or (parsed is not None and parsed.stage in (".cleaned", ".deleted")):
            files.remove(f"{directory}/{name}")
        elif parsed is not None and not parsed.stage:
            left.append(parsed)
    return left


def _find_segments(
    files: Files,
    directory: str,
    found: Sequence[OffsetFile],
    settings: LogSettings,
    now_ms: int,
    recovery: Recovery,
) -> list[Segment]:
    bases = sorted(parsed.offset for parsed in found if parsed.kind == ".log")
    for parsed in found:
        if parsed.kind not in (".log", ".snapshot") and parsed.offset not in bases:
            files.remove(f"{directory}/{offset_file(parsed.offset, parsed.kind)}")
            recovery.note(f"removed the {parsed.kind} of segment {parsed.offset}, which has no log file")
    segments = [Segment(files, directory, base, settings=settings, created_ms=now_ms) for base in bases]
    for segment, following in pairwise(segments):
        segment.offset_limit = following.base_offset
    return segments


def _first_segment(files: Files, directory: str, settings: LogSettings, known: Known, now_ms: int) -> Segment:
    segment = Segment(files, directory, known.log_start_offset, settings=settings, created_ms=now_ms)
    segment.create()
    return segment


class _Opener:
    """The state of one opening: segments and producers on their way to a log."""

    def __init__(
        self,
        files: Files,
        directory: str,
        segments: list[Segment],
        settings: LogSettings,
        known: Known,
        recovery: Recovery,
    ) -> None:
        self.files = files
        self.directory = directory
        self.segments = segments
        self.settings = settings
        self.known = known
        self.recovery = recovery
        self.damage: Damage | None = None
        self.epochs, self.epochs_lost = self._load_epochs()
        self.producers = ProducerStates()
        self.end = segments[0].base_offset
        self.recovered: list[Segment] = []

    def open(self, name: str, health: Health) -> PartitionLog:
        if self.known.clean and not self.epochs_lost:
            self._trust()
        else:
            self._recover(0 if self.epochs_lost else self.known.recovery_point)
        log_start = max(self.known.log_start_offset, self.segments[0].base_offset)
        self._check_promises(log_start)
        self.epochs.truncate_from_end(self.end)
        self.epochs.truncate_from_start(log_start)
        self.epochs.flush()
        log = PartitionLog(
            self.files,
            self.directory,
            name,
            settings=self.settings,
            health=health,
            segments=self.segments,
            epochs=self.epochs,
            producers=self.producers,
            log_start_offset=min(log_start, self.end),
            log_end_offset=self.end,
            recovery_point=min(self.known.recovery_point, self.end),
            cleaned_offset=min(self.known.cleaned_offset, self.end),
            sealed_unsynced=self.recovered[:-1],
        )
        if self.damage is not None:
            log.mark_corrupt(self.damage.offset, self.damage.reason)
            self.recovery.note(f"corrupt from offset {self.damage.offset}: {self.damage.reason}")
        return log

    def _load_epochs(self) -> tuple[LeaderEpochs, bool]:
        path = f"{self.directory}/{LEADER_EPOCH_CHECKPOINT}"
        try:
            return LeaderEpochs.load(self.files, path), False
        except DecodeError as error:
            self.recovery.note(f"made the leader epochs again from the batches ({error})")
            return LeaderEpochs(self.files, path), True

    def _trust(self) -> None:
        """After a clean stop only the tail of the last segment is walked."""
        try:
            self.end = self.segments[-1].find_end()
        except Damage as damage:
            self.damage = damage
            self.end = damage.offset
        try:
            self._check_aborted()
            self.producers = replay(self.files, self.directory, self.segments, self.end)
        except Damage as damage:
            self.damage = damage
        if self.damage is not None:
            self.end = max(self.damage.offset, self.known.recovery_point)

    def _check_aborted(self) -> None:
        """The segment that is written to needs its aborted transactions now, not when somebody reads."""
        try:
            len(self.segments[-1].aborted)
        except DecodeError as error:
            ensure_proven(self.segments, len(self.segments) - 1, damaged_from=None)
            self.recovery.note(f"made the aborted transactions again from the batches ({error})")

    def _recover(self, recovery_point: int) -> None:
        """Read everything from the recovery point's segment on, and keep what is sound."""
        number = max(0, sum(segment.base_offset <= recovery_point for segment in self.segments) - 1)
        try:
            start = self.segments[number].base_offset
            self.epochs.truncate_from_end(start)
            self.producers = replay(self.files, self.directory, self.segments[:number], start)
        except Damage as damage:
            self.damage = damage
        while number < len(self.segments) and self.damage is None:
            segment = self.segments[number]
            try:
                self._recover_segment(segment)
            except Damage as damage:
                if damage.precious or damage.offset < self.known.recovery_point:
                    self.damage = damage
                else:
                    self._cut(number, damage)
            number += 1
        if self.damage is not None:
            self.end = max(self.known.recovery_point, self.damage.offset)

    def _recover_segment(self, segment: Segment) -> None:
        self.end = segment.base_offset
        self.recovered.append(segment)
        self.recovery.scanned_bytes += segment.size_bytes
        segment.reset_indexes()
        segment.aborted.file.reset()
        segment.aborted_proven = True
        was_compacted = False
        for found in segment.batches():
            header = found.header
            was_compacted = was_compacted or is_thinned(header, self.end)
            segment.note(found.position, header)
            if header.leader_epoch >= 0:
                self.epochs.assign(header.leader_epoch, header.base_offset)
            completed = track(self.producers, header, found.data)
            if completed is not None and completed.aborted:
                segment.aborted.append(completed.entry)
            self.end = header.offset_end
        segment.note_end()
        limit = segment.offset_limit
        if limit is not None and self.end < limit and not self._compaction_explains_hole(was_compacted):
            raise Damage(segment.size_bytes, self.end, f"the records up to {limit - 1} are missing")

    def _compaction_explains_hole(self, was_compacted: bool) -> bool:
        """Whether a segment may end before the next one begins: compaction drops last records, too.

        It cleans durable records only, and the recovery point is written before its result is put in
        place. Kafka is not as careful, and settings change, so the traces in the segment count as well.
        """
        cleaned_end = max(self.known.recovery_point, self.known.cleaned_offset)
        return was_compacted or (self.settings.compact and self.end < cleaned_end)

    def _cut(self, number: int, damage: Damage) -> None:
        """Nobody was promised what lies behind the damage: drop it, and whatever came later."""
        segment = self.segments[number]
        cut_bytes = segment.size_bytes - damage.position
        for later in self.segments[number + 1 :]:
            cut_bytes += later.size_bytes
            later.retire()
            remove_stage(self.files, self.directory, later.base_offset, "")
        del self.segments[number + 1 :]
        segment.offset_limit = None
        segment.cut(damage.position, damage.offset)
        # Now, not with the next commit: what was cut must not come back between newer records.
        segment.sync()
        self.files.sync_directory(self.directory)
        self.recovery.cut_bytes += cut_bytes
        self.recovery.note(f"cut {cut_bytes} bytes after offset {damage.offset - 1}: {damage.reason}")

    def _check_promises(self, log_start: int) -> None:
        """What checkpoints say is there must be there; an offset is never given out twice."""
        promised = max(self.known.recovery_point, log_start)
        if self.damage is None and self.end < promised:
            missing = f"the records up to {promised - 1} are missing"
            self.damage = Damage(self.segments[-1].size_bytes, self.end, missing)
            self.end = promised
