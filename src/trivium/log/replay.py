"""Producers and aborted transactions, followed from batch to batch.

The same few steps run when a batch is appended, when a segment is recovered after a crash, and when
producers are made again from a snapshot and what came after it, so that all three agree.
"""

from collections.abc import Sequence

from trivium.log.files import Files
from trivium.log.producers import CompletedTransaction, ProducerStates
from trivium.log.segment import Segment
from trivium.records.batch import BatchHeader
from trivium.records.control import read_end_txn
from trivium.wire.errors import DecodeError


def track(producers: ProducerStates, header: BatchHeader, data: memoryview) -> CompletedTransaction | None:
    """Let one batch change the producers. A marker that ends a transaction gives the transaction."""
    if header.producer_id < 0:
        return None
    if not header.is_control:
        producers.update(header)
        return None
    try:
        marker = read_end_txn(data)
    except DecodeError:
        # Not a marker that anybody could have written; its transaction stays undecided, hence unread.
        return None
    if marker is None:
        return None
    return producers.end_transaction(
        header, coordinator_epoch=marker.coordinator_epoch, aborted=marker.aborted
    )


def replay(files: Files, directory: str, segments: Sequence[Segment], offset_end: int) -> ProducerStates:
    """Producers as of ``offset_end``: from the newest sound snapshot, and the batches after it."""
    producers, offset = ProducerStates.load_newest(files, directory, offset_end)
    for segment in segments:
        if segment.offset_limit is not None and segment.offset_limit <= offset:
            continue
        if offset >= offset_end:
            break
        for found in segment.batches_from(max(offset, segment.base_offset)):
            if found.header.base_offset >= offset_end:
                return producers
            if found.header.base_offset >= offset:
                track(producers, found.header, found.data)
    return producers
