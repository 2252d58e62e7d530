"""Aborted transactions that can be believed.

An index of aborted transactions has no checksum, and one that lost an entry looks like one that never
had it: readers would be shown records that were taken back. So before a ``.txnindex`` from disk is
believed, its segment is walked once and the abort markers in it are held against the entries. An index
that does not stand the test is made again, in memory, from the log.
"""

import contextlib
from collections.abc import Sequence

from trivium.log.producers import ProducerStates
from trivium.log.replay import track
from trivium.log.scan import Damage
from trivium.log.segment import Segment
from trivium.log.txn_index import AbortedTransaction
from trivium.records.control import read_end_txn
from trivium.wire.errors import DecodeError


def ensure_proven(segments: Sequence[Segment], number: int, *, damaged_from: int | None) -> None:
    """Prove the index of ``segments[number]``, or make it again. Done once for a segment.

    ``Damage`` that is not known yet is the caller's to hear; what lies behind ``damaged_from`` nobody reads.
    """
    segment = segments[number]
    if segment.aborted_proven:
        return
    try:
        proven = _agrees_with_markers(segments, number)
    except DecodeError:
        proven = False
    except Damage:
        if damaged_from is None:
            raise
        proven = False
    if not proven:
        # In memory: whether the file is written again is for whoever closes a sound log to decide.
        segment.aborted.file.reset()
        for transaction in _replayed(segments[: number + 1]):
            segment.aborted.append(transaction)
    segment.aborted_proven = True


def _agrees_with_markers(segments: Sequence[Segment], number: int) -> bool:
    segment = segments[number]
    entries = {entry.last_offset: entry for entry in segment.aborted}
    begun: dict[int, int] = {}
    for found in segment.batches():
        header = found.header
        if not header.is_transactional:
            continue
        if not header.is_control:
            begun.setdefault(header.producer_id, header.base_offset)
            continue
        begun_at = begun.pop(header.producer_id, None)
        marker = read_end_txn(found.data)
        entry = entries.pop(header.last_offset, None)
        if marker is None or marker.committed:
            if entry is not None:
                return False
        elif entry is None:
            # Compaction drops the entry with the last record and leaves the marker for a while.
            if begun_at is not None or not header.has_delete_horizon:
                return False
        elif entry.producer_id != header.producer_id or not (
            entry.first_offset == begun_at or _begins_before(segments[: number + 1], entry, begun_at)
        ):
            return False
    return not entries


def _begins_before(segments: Sequence[Segment], entry: AbortedTransaction, begun_at: int | None) -> bool:
    """Whether a transaction may begin at its entry's first offset though the first of its records in its last
    segment lies elsewhere: it began in an earlier one, or compaction took what it began with.
    """
    if begun_at is not None and entry.first_offset > begun_at:
        return False
    for segment in segments:
        if segment.offset_limit is not None and segment.offset_limit <= entry.first_offset:
            continue
        for found in segment.batches_from(max(entry.first_offset, segment.base_offset)):
            header = found.header
            if header.base_offset >= entry.last_offset:
                return True
            ours = header.producer_id == entry.producer_id and header.is_transactional
            if header.base_offset <= entry.first_offset and not (
                ours and header.base_offset == entry.first_offset
            ):
                return False
            if ours and header.is_control:
                return False
    return True


def _replayed(segments: Sequence[Segment]) -> list[AbortedTransaction]:
    """The aborted transactions of the last of these segments, from all that the log still has before it,
    and up to its damage if it has any: behind that nobody reads.
    """
    producers = ProducerStates()
    aborted: list[AbortedTransaction] = []
    for segment in segments:
        aborted = []
        with contextlib.suppress(Damage):
            for found in segment.batches():
                completed = track(producers, found.header, found.data)
                if completed is not None and completed.aborted:
                    aborted.append(completed.entry)
    return aborted
