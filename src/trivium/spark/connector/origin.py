"""Where records come from: the port that a broker and a directory both offer to the connector."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from trivium.client.topology import TopicPartition
from trivium.client.visibility import whole_batches
from trivium.records.header import BatchHeader
from trivium.records.visibility import AbortedTransaction
from trivium.spark.connector.errors import ConnectorError
from trivium.spark.connector.ranges import OffsetRange
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError


class Piece(NamedTuple):
    """Batches of one partition, by position and header; what lies behind the last is part of another.

    Records before ``offset_start`` are not for the reader, though their batch is here: it may have read
    them already, or they were removed. ``aborted`` are the transactions whose records the reader must not
    see, if it wants committed ones only.
    """

    data: Buffer
    batches: Sequence[tuple[int, BatchHeader]]
    offset_start: int
    aborted: Sequence[AbortedTransaction]

    @property
    def offset_end(self) -> int:
        """Where to go on."""
        return self.batches[-1][1].offset_end if self.batches else self.offset_start


def make_piece(
    wanted: OffsetRange, data: Buffer, offset_start: int, aborted: Sequence[AbortedTransaction]
) -> Piece:
    """A piece of these bytes. Headers are read and nothing else, so that the next can be asked for soon."""
    try:
        return Piece(data, list(whole_batches(data)), offset_start, aborted)
    except DecodeError as error:
        raise damaged(wanted, offset_start, error) from error


def damaged(wanted: OffsetRange, offset_start: int, error: DecodeError) -> ConnectorError:
    return ConnectorError(
        f"Topic {wanted.topic}, partition {wanted.partition} is damaged between offsets {offset_start} and "
        f"{wanted.offset_end}: {error}."
    )


class Origin(Protocol):
    def topic_names(self) -> list[str]:
        """The topics of clients, in order."""

    def partitions(self, topic: str) -> list[TopicPartition]:
        """All partitions of a topic, as they are now; an error with a sentence if there is no such topic."""

    def find_offsets(self, timestamps: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """For each partition the first offset not older than its time, -1 if there is none; or, for
        ``EARLIEST`` and ``LATEST``, where it begins and ends."""

    def pieces(self, wanted: OffsetRange) -> Iterator[Piece]:
        """The bytes that hold a range, as long as the caller takes them."""
