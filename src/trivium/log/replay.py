"""Producers and aborted transactions, followed from batch to batch.

The same few steps run when a batch is appended, when a segment is recovered after a crash, and when
producers are made again from a snapshot and what came after it, so that all three agree.
"""

import contextlib
from collections.abc import Sequence

from trivium.log.files import Files
from trivium.log.producers import CompletedTransaction, ProducerStates
from trivium.log.scan import Damage
from trivium.log.segment import Segment
from trivium.records.batch import BatchHeader
from trivium.records.control import EndTxnMarker, read_end_txn
from trivium.wire.errors import DecodeError


def track(producers: ProducerStates, header: BatchHeader, data: memoryview) -> CompletedTransaction | None:
    """Let one batch change the producers. A marker that ends a transaction gives the transaction."""
    if header.producer_id < 0:
        return None
    if not header.is_control:
        producers.update(header)
        return None
    marker = read_marker(data)
    if marker is None:
        return None
    return producers.end_transaction(
        header, coordinator_epoch=marker.coordinator_epoch, aborted=marker.aborted
    )


def read_marker(data: memoryview) -> EndTxnMarker | None:
    """The marker in a control batch. None for other kinds, and for one that nobody could have written: the
    transaction that it pretends to end stays undecided, hence unread.
    """
    try:
        return read_end_txn(data)
    except DecodeError:
        return None


def replay(files: Files, directory: str, segments: Sequence[Segment], offset_end: int) -> ProducerStates:
    """Producers as of ``offset_end``: from the newest sound snapshot, and the batches after it.

    ``Damage`` before ``offset_end`` is the caller's; what lies behind it does not matter here.
    """
    producers, offset = ProducerStates.load_newest(files, directory, offset_end)
    try:
        for segment in segments:
            if segment.base_offset >= offset_end:
                break
            if segment.offset_limit is None or segment.offset_limit > offset:
                _replay_segment(producers, segment, offset, offset_end)
    except Damage as damage:
        if damage.offset < offset_end:
            raise
    return producers


def replay_from_start(segments: Sequence[Segment], offset_end: int) -> ProducerStates:
    """Producers as of ``offset_end``, by what the batches themselves say, as far as they are sound."""
    producers = ProducerStates()
    with contextlib.suppress(Damage):
        for segment in segments:
            _replay_segment(producers, segment, segment.base_offset, offset_end)
    return producers


def _replay_segment(producers: ProducerStates, segment: Segment, offset: int, offset_end: int) -> None:
    for found in segment.batches_from(max(offset, segment.base_offset)):
        if found.header.base_offset >= offset_end:
            break
        if found.header.base_offset >= offset:
            track(producers, found.header, found.data)
