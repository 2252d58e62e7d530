"""Reading partitions from given offsets on, without a group.

``positions`` is where each partition goes on: behind the last record that was handed out, and behind what the
reader may not see. While records are handed out the next answer is already under way.
"""

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, NamedTuple

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline, pause_s
from trivium.client.errors import Damaged, Refused, settled
from trivium.client.fetching import Fetched, Fetcher, FetchSettings
from trivium.client.offsets import EARLIEST, LATEST, Isolation, list_offsets
from trivium.client.topology import TopicPartition
from trivium.client.visibility import find_batches, whole_batches
from trivium.messages.errors import ErrorCode
from trivium.records.batch import TimestampType, iter_records
from trivium.records.record import Record
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

POLL_RECORDS: Final = 10_000
"""Handed out at once, unless the caller wants fewer."""

IDLE_S: Final = 0.05
"""Between looks at leaders while there is nobody to ask."""


class Chunk(NamedTuple):
    """Consecutive records of one partition that were written together."""

    key: TopicPartition
    records: list[Record]
    timestamp_type: TimestampType
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk on its way out, and the position behind it. It is empty where records are hidden."""

    chunk: Chunk
    offset_end: int


@dataclass(frozen=True, slots=True)
class _Pause:
    """A partition that is asked for again, but not for ever."""

    attempts: int
    until: Deadline
    patience: Deadline


class Reader:
    def __init__(
        self,
        cluster: Cluster,
        positions: Mapping[TopicPartition, int],
        *,
        settings: FetchSettings | None = None,
        reset_to: int | None = None,
    ) -> None:
        """``reset_to``: ``EARLIEST`` or ``LATEST``, for positions that a partition does not have."""
        assert reset_to in (None, EARLIEST, LATEST)
        self._cluster = cluster
        self._settings = settings or FetchSettings()
        self._reset_to = reset_to
        self._fetcher = Fetcher(cluster, self._settings)
        self._queue: deque[Iterator[_Piece]] = deque()
        self._rest: _Piece | None = None
        self._pauses: dict[TopicPartition, _Pause] = {}
        self.positions: dict[TopicPartition, int] = {}
        self._fetch_offsets: dict[TopicPartition, int] = {}
        self.high_watermarks: dict[TopicPartition, int] = {}
        self.assign(positions)

    def __enter__(self) -> "Reader":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._fetcher.close()

    def assign(self, positions: Mapping[TopicPartition, int]) -> None:
        """Read these partitions from these positions on, and no others."""
        self.positions = dict(positions)
        self._fetch_offsets = dict(positions)
        self._queue.clear()
        self._rest = None
        self._pauses.clear()

    def poll(self, timeout_s: float, records_max: int = POLL_RECORDS) -> list[Chunk]:
        """Up to ``records_max`` records, as soon as there are any; nothing after ``timeout_s``."""
        deadline = Deadline(timeout_s)
        while True:
            chunks = list(self._hand_out(records_max))
            if chunks:
                return chunks
            self._fetcher.ask(self._wanted())
            wait_s = deadline.remaining_s if self._fetcher.is_waiting else 0.0
            fetched = self._fetcher.receive(wait_s)
            for each in fetched:
                self._take(each)
            if fetched:
                self._fetcher.ask(self._wanted())
            elif deadline.has_passed:
                return []
            elif not self._fetcher.is_waiting:
                deadline.within(IDLE_S).sleep()

    # -- in ----------------------------------------------------------------------------------------

    def _wanted(self) -> dict[int, dict[TopicPartition, int]]:
        """What to ask whom."""
        wanted: dict[int, dict[TopicPartition, int]] = {}
        for key, offset in self._fetch_offsets.items():
            if key in self._pauses and not self._pauses[key].until.has_passed:
                continue
            try:
                wanted.setdefault(self._cluster.leader(key), {})[key] = offset
            except Refused as refusal:
                if refusal.code is not ErrorCode.LEADER_NOT_AVAILABLE:
                    raise
                self._pause(key, refusal)
        return wanted

    def _take(self, fetched: Fetched) -> None:
        key = fetched.key
        if self._fetch_offsets.get(key) != fetched.asked_offset:
            return  # Asked for before the assignment changed.
        if fetched.code is ErrorCode.OFFSET_OUT_OF_RANGE and self._reset_to is not None:
            self._reset(key)
        elif fetched.code.is_retriable:
            self._pause(key, Refused(fetched.code, f"partition {key}"))
        elif fetched.code is not ErrorCode.NONE:
            raise Refused(fetched.code, f"partition {key}")
        else:
            self._pauses.pop(key, None)
            self.high_watermarks[key] = fetched.high_watermark
            self._queue.append(self._unpack(fetched))
            self._fetch_offsets[key] = _offset_behind(fetched)

    def _pause(self, key: TopicPartition, refusal: Refused) -> None:
        """Something is wrong that may pass: look for the leader again, a little later each time."""
        before = self._pauses.get(key)
        if before is not None and before.patience.has_passed:
            raise refusal
        attempts = before.attempts + 1 if before else 1
        patience = before.patience if before else Deadline(self._cluster.timeout_s)
        self._pauses[key] = _Pause(attempts, Deadline(pause_s(attempts)), patience)
        self._cluster.forget_leaders([key.topic])

    def _reset(self, key: TopicPartition) -> None:
        assert self._reset_to is not None
        found = list_offsets(self._cluster, {key: self._reset_to}, isolation=self._settings.isolation)
        self.positions[key] = self._fetch_offsets[key] = settled(found[key]).offset

    # -- out ---------------------------------------------------------------------------------------

    def _hand_out(self, records_max: int) -> Iterator[Chunk]:
        left = records_max
        while left > 0 and (piece := self._next_piece()) is not None:
            chunk = piece.chunk
            if len(chunk.records) > left:
                rest = chunk._replace(records=chunk.records[left:])
                self._rest = _Piece(rest, piece.offset_end)
                chunk = chunk._replace(records=chunk.records[:left])
                self.positions[chunk.key] = chunk.records[-1].offset + 1
            else:
                self.positions[chunk.key] = piece.offset_end
            if chunk.records:
                left -= len(chunk.records)
                yield chunk

    def _next_piece(self) -> _Piece | None:
        if self._rest is not None:
            piece, self._rest = self._rest, None
            return piece
        while self._queue:
            for piece in self._queue[0]:
                return piece
            self._queue.popleft()
        return None

    def _unpack(self, fetched: Fetched) -> Iterator[_Piece]:
        key, data, offset = fetched.key, fetched.data, fetched.asked_offset
        is_committed_only = self._settings.isolation is Isolation.READ_COMMITTED
        try:
            for found in find_batches(data, fetched.aborted if is_committed_only else ()):
                header = found.header
                records = _records(data, found.position, offset) if found.is_visible else []
                yield _Piece(
                    Chunk(key, records, header.timestamp_type, header.leader_epoch), header.offset_end
                )
                offset = header.offset_end
        except DecodeError as error:
            raise Damaged(f"Partition {key} is damaged behind offset {offset}: {error}.") from error


def _records(data: Buffer, position: int, offset: int) -> list[Record]:
    """The records of a batch from ``offset`` on: a batch may begin before the offset that was asked for."""
    records = list(iter_records(data, position))
    if records and records[0].offset < offset:
        return [record for record in records if record.offset >= offset]
    return records


def _offset_behind(fetched: Fetched) -> int:
    """Where to go on, by headers alone: the next request leaves before the records of this one are read."""
    offset = fetched.asked_offset
    with contextlib.suppress(DecodeError):  # It is said when the records are read, after those before it.
        for _, header in whole_batches(fetched.data):
            offset = max(offset, header.offset_end)
    return offset
