"""What a reader may see of fetched bytes: whole batches, no control records, nothing of aborted transactions.

The bytes may end within a batch, because brokers cut at a size and not at a batch: the rest is fetched next
time. Which batches are hidden is known in ``records.visibility``.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trivium.records.batch import (
    HEADER_BYTES,
    LOG_OVERHEAD_BYTES,
    MAGIC,
    BatchHeader,
    read_header,
    walk_batches,
)
from trivium.records.visibility import AbortedTransaction, Visibility
from trivium.wire.buffer import Buffer
from trivium.wire.cursor import INT32
from trivium.wire.errors import DecodeError

_BATCH_LENGTH_AT = 8
_MAGIC_AT = 16


class FoundBatch(NamedTuple):
    position: int
    header: BatchHeader
    is_visible: bool


def whole_batches(data: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each batch that is there whole. Checksums are left to who reads the records."""
    found, end = walk_batches(data)
    yield from found
    if len(data) - end <= _MAGIC_AT:
        return
    if data[end + _MAGIC_AT] < MAGIC:
        raise DecodeError("records in a format from before Kafka 0.11")
    length: int = INT32.unpack_from(data, end + _BATCH_LENGTH_AT)[0]
    if len(data) - end >= max(length + LOG_OVERHEAD_BYTES, HEADER_BYTES):
        read_header(data, end)  # Says what is wrong with it.


def find_batches(data: Buffer, aborted: Sequence[AbortedTransaction]) -> Iterator[FoundBatch]:
    """Each whole batch, and whether its records are for the reader.

    ``aborted`` is empty for a reader that also wants what is not committed.
    """
    visibility = Visibility(aborted)
    for position, header in whole_batches(data):
        yield FoundBatch(position, header, visibility.sees(data, position, header))
