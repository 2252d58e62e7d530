"""What compaction leaves of a log, record by record and batch by batch.

What goes: records that a later record of the same key replaces; tombstones (null values) and transaction
markers without records once their delete horizon has passed, which the first pass that could drop them
sets; the records of aborted transactions; records without a key. What never goes: the offsets, the last
batch of a producer (its sequence is needed) and of the pass, if need be without records, and anything that
is not decided and durable.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trivium.log.compaction_plan import IsStopped, Plan
from trivium.log.replay import read_marker
from trivium.log.scan import Found
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader, retain, scan_keys
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

KEYS_BYTES_MAX = 128 << 20
"""Memory for the keys of one pass (Kafka's ``log.cleaner.dedupe.buffer.size``). When it is full the pass
ends there and the next one goes on."""

_KEY_OVERHEAD_BYTES = 120
"""What a key costs in a dictionary besides its bytes: object, hash slot and the offset."""


class Tally(Protocol):
    """Where the records of a pass are counted."""

    records_kept: int
    records_dropped: int


@dataclass(slots=True)
class LastOffsets:
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


def last_offsets(plan: Plan, is_stopped: IsStopped) -> LastOffsets:
    last = LastOffsets(plan.offset_end)
    aborted = _Transactions(plan.aborted())
    for found in plan.batches(is_stopped):
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


class Judge:
    """Decides batch by batch what survives."""

    def __init__(self, plan: Plan, last: LastOffsets, now_ms: int) -> None:
        self._last = last
        self._now_ms = now_ms
        self._horizon_ms = now_ms + plan.settings.delete_retention_ms
        self._transactions = _Transactions(plan.aborted())
        self._producers = plan.log.producers

    def take_kept_aborted(self) -> list[AbortedTransaction]:
        kept, self._transactions.kept_aborted = self._transactions.kept_aborted, []
        return kept

    def survivor(self, found: Found, tally: Tally) -> Buffer | None:
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
        tally.records_kept += kept
        tally.records_dropped += len(keep) - kept
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
