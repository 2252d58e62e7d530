"""Compaction: for every key only its last record stays, and order and offsets stay as they are.

A pass has three steps, so that the slow one may run beside a busy log::

    plan = plan_compaction(log, now_ms)                         what is worth cleaning, and up to where
    compaction = compact(files, plan, now_ms)                   reads sealed segments, writes new ones beside
    directory.install(compaction)                               swaps them in, in one decided step

What goes: records that a later record of the same key replaces; tombstones (null values) and transaction
markers without records once their delete horizon has passed, which the first pass that could drop them
sets; the records of aborted transactions; records without a key. What never goes: the offsets, the last
batch of a producer (its sequence is needed) and of the pass, if need be without records, and anything that
is not decided and durable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.replay import read_marker
from trivium.log.scan import CHUNK_BYTES, Damage, Found
from trivium.log.segment import Segment
from trivium.log.settings import LogSettings
from trivium.log.swap import complete_swap, remove_stage, rename_stage
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, read_header, retain, scan_keys
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

KEYS_BYTES_MAX = 128 << 20
"""Memory for the keys of one pass (Kafka's ``log.cleaner.dedupe.buffer.size``). When it is full the pass
ends there and the next one goes on."""

_KEY_OVERHEAD_BYTES = 120
"""What a key costs in a dictionary besides its bytes: object, hash slot and the offset."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Clean these segments; records from ``offset_end`` on stay as they are."""

    log: PartitionLog
    segments: Sequence[Segment]
    first_dirty_offset: int
    offset_end: int
    settings: LogSettings


@dataclass(frozen=True, slots=True)
class Cleaned:
    """One group of segments and the base offset of the one that is to replace them."""

    replaced: Sequence[Segment]
    base_offset: int


@dataclass(slots=True)
class Compaction:
    """What one pass did."""

    log: PartitionLog
    offset_end: int
    groups: list[Cleaned] = field(default_factory=list)
    records_kept: int = 0
    records_dropped: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def plan_compaction(log: PartitionLog, now_ms: int) -> Plan | None:
    """What is to be cleaned now; None while it is not worth it."""
    if not log.settings.compact or log.corruption is not None:
        return None
    start = max(log.cleaned_offset, log.log_start_offset)
    with log.reading():
        cleanable = _cleanable(log, now_ms)
    dirty = [
        segment for segment in cleanable if segment.offset_limit is not None and segment.offset_limit > start
    ]
    if not dirty:
        return None
    dirty_bytes = sum(segment.size_bytes for segment in dirty)
    total_bytes = sum(segment.size_bytes for segment in cleanable)
    with log.reading():
        overdue = now_ms - dirty[0].first_timestamp > log.settings.max_compaction_lag_ms
    if not overdue and dirty_bytes < total_bytes * log.settings.min_cleanable_dirty_ratio:
        return None
    offset_end = cleanable[-1].offset_limit
    assert offset_end is not None
    return Plan(log, cleanable, start, offset_end, log.settings)


def _cleanable(log: PartitionLog, now_ms: int) -> list[Segment]:
    """Sealed segments that are stable, durable and old enough, from the beginning on without a gap.

    Durable, because what a record is dropped for, a newer one or an abort marker, must not be lost after it.
    """
    stable = log.durable_stable_offset
    found = []
    for segment in log.segments[:-1]:
        limit = segment.offset_limit
        if limit is None or limit > stable:
            break
        lag_ms = log.settings.min_compaction_lag_ms
        if lag_ms > 0 and now_ms - segment.max_timestamp.timestamp < lag_ms:
            break
        found.append(segment)
    return found


# -- the last offset of every key --------------------------------------------------------------------


@dataclass(slots=True)
class _LastOffsets:
    """The last record of each key in the dirty part, up to ``offset_end`` or until memory is full."""

    offset_end: int
    of_key: dict[bytes, int] = field(default_factory=dict)
    _bytes: int = 0

    def note(self, key: bytes, offset: int) -> None:
        if key not in self.of_key:
            self._bytes += len(key) + _KEY_OVERHEAD_BYTES
        self.of_key[key] = offset

    @property
    def is_full(self) -> bool:
        return self._bytes >= KEYS_BYTES_MAX

    def is_superseded(self, key: bytes, offset: int) -> bool:
        return offset < self.of_key.get(key, -1)


def _last_offsets(plan: Plan) -> _LastOffsets:
    last = _LastOffsets(plan.offset_end)
    aborted = _Transactions(_aborted_in(plan))
    for found in _batches(plan.segments):
        header = found.header
        discard = aborted.see(found)
        if header.last_offset < plan.first_dirty_offset or header.is_control or discard:
            continue
        if last.is_full:
            last.offset_end = header.base_offset
            break
        for offset, key, _has_value in _keys(found):
            if key is not None and offset >= plan.first_dirty_offset:
                last.note(key, offset)
    return last


def _keys(found: Found) -> Sequence[tuple[int, bytes | None, bool]]:
    """The keys of a batch; of one that nobody can read, none: it replaces nothing, and is not replaced."""
    try:
        return list(scan_keys(found.data))
    except DecodeError:
        return ()


def _batches(segments: Sequence[Segment]) -> Iterator[Found]:
    for segment in segments:
        yield from segment.batches()


def _aborted_in(plan: Plan) -> list[AbortedTransaction]:
    """Asked of the whole log: a transaction may end, and be listed, in a segment after those of the plan."""
    return plan.log.aborted_transactions(plan.segments[0].base_offset, plan.offset_end)


class _Transactions:
    """Follows transactions through the batches of a pass: whose records count, whose marker is empty."""

    def __init__(self, aborted: Sequence[AbortedTransaction]) -> None:
        self._coming = sorted(aborted, key=lambda transaction: transaction.first_offset, reverse=True)
        self._aborted: dict[int, AbortedTransaction] = {}
        self._with_records: set[int] = set()
        self.kept_aborted: list[AbortedTransaction] = []
        """Aborted transactions whose marker must stay in the index, since records of theirs were seen."""

    def see(self, found: Found) -> bool:
        """Take the next batch in. For data: whether it belongs to an aborted transaction. For a marker:
        whether nothing of its transaction is left, so that it may go once its horizon has passed.
        """
        header = found.header
        while self._coming and self._coming[-1].first_offset <= header.last_offset:
            transaction = self._coming.pop()
            self._aborted[transaction.producer_id] = transaction
        if header.is_control:
            return self._see_marker(found)
        if not header.is_transactional:
            return False
        self._with_records.add(header.producer_id)
        return header.producer_id in self._aborted

    def _see_marker(self, found: Found) -> bool:
        if read_marker(found.data) is None:
            return False
        producer_id = found.header.producer_id
        transaction = self._aborted.get(producer_id)
        had_records = producer_id in self._with_records
        self._with_records.discard(producer_id)
        if transaction is not None and transaction.last_offset == found.header.last_offset:
            del self._aborted[producer_id]
            if had_records:
                self.kept_aborted.append(transaction)
        return not had_records


# -- writing the survivors -----------------------------------------------------------------------------


def compact(files: Files, plan: Plan, now_ms: int) -> Compaction:
    """Write the cleaned segments beside the old ones. Touches nothing that a reader sees."""
    with plan.log.reading():
        last = _last_offsets(plan)
        compaction = Compaction(plan.log, last.offset_end)
        judge = _Judge(plan, last, now_ms)
        groups = list(_groups(plan, last.offset_end))
        try:
            for group in groups:
                compaction.groups.append(_GroupWriter(files, plan, group, judge).write(compaction))
        except (OSError, Damage):
            # On a full disk, of all places, nothing half-made may stay.
            for group in groups:
                remove_stage(files, plan.log.directory, group[0].base_offset, ".cleaned")
            raise
    return compaction


def _groups(plan: Plan, offset_end: int) -> Iterator[list[Segment]]:
    """Neighbours that fit into one segment again, judged by their size before cleaning."""
    group: list[Segment] = []
    size_bytes = 0
    for segment in plan.segments:
        if segment.base_offset >= offset_end:
            break
        limit = segment.offset_limit or segment.base_offset
        fits = size_bytes + segment.size_bytes <= plan.settings.segment_bytes
        if group and not (fits and limit - group[0].base_offset <= 0x7FFFFFFF):
            yield group
            group, size_bytes = [], 0
        group.append(segment)
        size_bytes += segment.size_bytes
    if group:
        yield group


class _GroupWriter:
    """Writes the survivors of one group of segments to one new segment."""

    def __init__(self, files: Files, plan: Plan, group: Sequence[Segment], judge: "_Judge") -> None:
        self._files = files
        self._directory = plan.log.directory
        self._settings = plan.settings
        self._group = group
        self._judge = judge
        self._pending = bytearray()
        self._batches: list[tuple[int, BatchHeader]] = []

    def write(self, compaction: Compaction) -> Cleaned:
        base_offset = self._group[0].base_offset
        remove_stage(self._files, self._directory, base_offset, ".cleaned")
        segment = Segment(
            self._files, self._directory, base_offset, settings=self._settings, suffix=".cleaned"
        )
        try:
            self._write_survivors(segment, compaction)
        finally:
            segment.retire()
        compaction.bytes_before += sum(old.size_bytes for old in self._group)
        compaction.bytes_after += segment.size_bytes
        return Cleaned(self._group, base_offset)

    def _write_survivors(self, segment: Segment, compaction: Compaction) -> None:
        segment.create()
        for found in _batches(self._group):
            survivor = self._judge.survivor(found, compaction)
            if survivor is not None:
                self._batches.append((len(self._pending), read_header(survivor)))
                self._pending += survivor
                if len(self._pending) >= CHUNK_BYTES:
                    self._flush(segment)
        self._flush(segment)
        for transaction in self._judge.take_kept_aborted():
            segment.aborted.append(transaction)
        segment.seal()
        segment.sync()
        segment.sync_indexes()

    def _flush(self, segment: Segment) -> None:
        segment.append(self._pending, self._batches)
        self._pending, self._batches = bytearray(), []


class _Judge:
    """Decides batch by batch what survives."""

    def __init__(self, plan: Plan, last: _LastOffsets, now_ms: int) -> None:
        self._last = last
        self._now_ms = now_ms
        self._horizon_ms = now_ms + plan.settings.delete_retention_ms
        self._transactions = _Transactions(_aborted_in(plan))
        self._producers = plan.log.producers

    def take_kept_aborted(self) -> list[AbortedTransaction]:
        kept, self._transactions.kept_aborted = self._transactions.kept_aborted, []
        return kept

    def survivor(self, found: Found, compaction: Compaction) -> Buffer | None:
        """The batch, what is left of it, or None."""
        header = found.header
        discard = self._transactions.see(found)
        if header.base_offset >= self._last.offset_end:
            return found.data
        if header.is_control:
            return self._marker(found) if discard else found.data
        try:
            keep, tombstones = self._choose(found, discard)
        except DecodeError:
            # Its checksum is right, so this is what a client sent; nobody can say what its keys are.
            return found.data
        kept = keep.count(1)
        compaction.records_kept += kept
        compaction.records_dropped += len(keep) - kept
        needs_horizon = tombstones and not header.has_delete_horizon
        if not kept and not self._is_needed_empty(header):
            return None
        if kept == len(keep) and not needs_horizon:
            return found.data
        horizon_ms = self._horizon_ms if needs_horizon else None
        return retain(found.data, bytes(keep), delete_horizon_ms=horizon_ms)

    def _choose(self, found: Found, discard: bool) -> tuple[bytearray, bool]:
        """Which records stay, and whether a tombstone is among them."""
        expired = self._is_past_horizon(found.header)
        keep, tombstones = bytearray(), False
        for offset, key, has_value in scan_keys(found.data):
            stays = (
                not discard
                and key is not None
                and not self._last.is_superseded(key, offset)
                and (has_value or not expired)
            )
            tombstones = tombstones or (stays and not has_value)
            keep.append(stays)
        return keep, tombstones

    def _marker(self, found: Found) -> Buffer | None:
        """A marker whose transaction has no records left: it goes a while after the last of them went, so
        that a reader who is in the middle of the transaction still meets it.
        """
        header = found.header
        if not header.has_delete_horizon:
            keep = b"\1" * header.records_count
            return retain(found.data, keep, delete_horizon_ms=self._horizon_ms)
        if self._is_past_horizon(header) and not self._is_needed_empty(header):
            return None
        return found.data

    def _is_past_horizon(self, header: BatchHeader) -> bool:
        return header.has_delete_horizon and self._now_ms >= header.base_timestamp

    def _is_needed_empty(self, header: BatchHeader) -> bool:
        """Whether a batch stays without any of its records. The last of the pass does, as in Kafka: a reader
        who stands before it, and finds nothing up to the end of the log, must still get past it.
        """
        return header.offset_end == self._last.offset_end or self._is_last_of_producer(header)

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        """Whether this batch is all that tells a producer's last sequence, or its epoch."""
        state = self._producers.get(header.producer_id)
        if state is None:
            return False
        if state.last_offset >= 0:
            return header.last_offset == state.last_offset
        return header.is_control and header.producer_epoch == state.epoch


# -- taking their place ----------------------------------------------------------------------------------


def install(files: Files, compaction: Compaction) -> None:
    """Put the cleaned segments in the place of the old ones, group by group.

    The decision falls when the cleaned log file is called ``.swap`` and the directory is synced: from then
    on a crash finishes it, before that a crash forgets it.
    """
    log = compaction.log
    for cleaned in compaction.groups:
        if not log.holds(cleaned.replaced):
            # Retention or a truncation was faster; what was cleaned is no longer there.
            remove_stage(files, log.directory, cleaned.base_offset, ".cleaned")
            continue
        rename_stage(files, log.directory, cleaned.base_offset, ".cleaned", ".swap")
        replaced = [segment.base_offset for segment in cleaned.replaced]
        complete_swap(files, log.directory, cleaned.base_offset, replaced)
        log.replace(cleaned.replaced, cleaned.base_offset)
    log.cleaned_offset = max(log.cleaned_offset, compaction.offset_end)
