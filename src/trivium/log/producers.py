"""The producers of a partition: their last batches, their open transactions, and what is stable.

Fed with every batch of the log in order, by ``update`` (data) and ``end_transaction`` (markers), at append
as at replay: the state is a function of the log. It states facts and judges nothing; whether a gap in the
sequences is an error, and which, is the core's business. After a truncation the newest snapshot that the
log still reaches is loaded, and what follows it is replayed.

A transaction is unstable while it is open, and then until its marker lies below what the asker relies on:
the high watermark for readers, what is durable for compaction. Whoever acted on a decision must find the
transaction decided after every crash.
"""

from collections import deque
from collections.abc import Collection, Iterable
from typing import NamedTuple

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.log.names import offset_file, parse_offset_file
from trivium.log.producer_snapshot import decode_snapshot, encode_snapshot
from trivium.log.producer_state import ProducedBatch, ProducerState, last_sequence
from trivium.log.txn_index import AbortedTransaction
from trivium.records.batch import BatchHeader
from trivium.wire.errors import DecodeError


class OpenTransaction(NamedTuple):
    """A transaction that has records and no marker yet."""

    producer_id: int
    first_offset: int
    last_timestamp: int


class CompletedTransaction(NamedTuple):
    """A transaction and its marker, at ``last_offset``."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    """Where the log was stable once the marker lay in it."""
    aborted: bool

    @property
    def entry(self) -> AbortedTransaction:
        """What the index of aborted transactions keeps of it."""
        return AbortedTransaction(
            self.producer_id, self.first_offset, self.last_offset, self.last_stable_offset
        )


class ProducerStates:
    """All producers that one partition remembers."""

    __slots__ = ("_decided", "_open", "_states")

    def __init__(self, states: Iterable[ProducerState] = ()) -> None:
        self._states = {state.producer_id: state for state in states}
        # First offset -> producer. Transactions begin at ever larger offsets, so the first is the oldest.
        self._open = dict(
            sorted(
                (state.txn_first_offset, state.producer_id)
                for state in self._states.values()
                if state.txn_first_offset is not None
            )
        )
        self._decided: deque[CompletedTransaction] = deque()

    @classmethod
    def load_newest(cls, files: Files, directory: str, offset_end: int) -> "tuple[ProducerStates, int]":
        """From the newest sound snapshot of a log that ends before ``offset_end``, and its offset.

        Snapshots that are damaged go, and so do those of offsets that the log does not reach: they speak of
        records that were cut, and would be believed once the log has grown past them.
        """
        snapshots = [parsed for name in files.list(directory) if (parsed := parse_offset_file(name))]
        offsets = sorted(file.offset for file in snapshots if file.kind == ".snapshot" and not file.stage)
        found, removed = (cls(), 0), False
        while offsets:
            offset = offsets.pop()
            path = f"{directory}/{offset_file(offset, '.snapshot')}"
            if offset <= offset_end:
                try:
                    found = cls(decode_snapshot(whole_file.read(files, path), path)), offset
                    break
                except DecodeError:
                    pass
            files.remove(path)
            removed = True
        if removed:
            files.sync_directory(directory)
        return found

    def write_snapshot(self, files: Files, directory: str, offset: int, *, durably: bool = True) -> None:
        """Write the state as of ``offset``. One that a crash has torn shows when it is read."""
        path = f"{directory}/{offset_file(offset, '.snapshot')}"
        whole_file.replace(files, path, encode_snapshot(self.states), durably=durably)

    @property
    def states(self) -> Collection[ProducerState]:
        return self._states.values()

    def get(self, producer_id: int) -> ProducerState | None:
        return self._states.get(producer_id)

    def duplicate_of(self, header: BatchHeader) -> ProducedBatch | None:
        """Where this very batch already lies, if it is one of its producer's last five."""
        state = self._states.get(header.producer_id)
        return None if state is None else state.duplicate_of(header)

    def update(self, header: BatchHeader) -> None:
        """A data batch was appended. One without a producer id says nothing."""
        if header.producer_id < 0:
            return
        state = self._state(header.producer_id)
        state.begin_epoch(header.producer_epoch)
        state.batches.append(
            ProducedBatch(
                last_sequence(header), header.last_offset, header.last_offset_delta, header.max_timestamp
            )
        )
        state.last_timestamp = header.max_timestamp
        if header.is_transactional and state.txn_first_offset is None:
            state.txn_first_offset = header.base_offset
            self._open[header.base_offset] = header.producer_id

    def end_transaction(
        self, header: BatchHeader, *, coordinator_epoch: int, aborted: bool
    ) -> CompletedTransaction | None:
        """A marker was appended. None if its producer had no open transaction here."""
        state = self._state(header.producer_id)
        first_offset, state.txn_first_offset = state.txn_first_offset, None
        state.begin_epoch(header.producer_epoch)
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = header.max_timestamp
        if first_offset is None:
            return None
        self._open.pop(first_offset, None)
        marker_offset = header.base_offset
        completed = CompletedTransaction(
            producer_id=header.producer_id,
            first_offset=first_offset,
            last_offset=marker_offset,
            last_stable_offset=next(iter(self._open), marker_offset + 1),
            aborted=aborted,
        )
        self._decided.append(completed)
        return completed

    def first_unstable_offset(self, offset_end: int) -> int | None:
        """Where the oldest transaction begins that is undecided for somebody who knows the log up to
        ``offset_end``: it is open, or its marker lies there or later.
        """
        if not self._open and not self._decided:
            return None
        first = next(iter(self._open), None)
        for completed in reversed(self._decided):
            if completed.last_offset < offset_end:
                break
            if first is None or completed.first_offset < first:
                first = completed.first_offset
        return first

    def forget_decided(self, offset_end: int) -> None:
        """Nobody will ask again for an earlier ``offset_end`` than this."""
        while self._decided and self._decided[0].last_offset < offset_end:
            self._decided.popleft()

    @property
    def open_transactions(self) -> list[OpenTransaction]:
        """Oldest first."""
        return [
            OpenTransaction(producer_id, first_offset, self._states[producer_id].last_timestamp)
            for first_offset, producer_id in self._open.items()
        ]

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Forget producers that were silent for so long and have no open transaction. Returns how many."""
        silent = [
            state.producer_id
            for state in self._states.values()
            if state.txn_first_offset is None and now_ms - state.last_timestamp >= expiration_ms
        ]
        for producer_id in silent:
            del self._states[producer_id]
        return len(silent)

    def _state(self, producer_id: int) -> ProducerState:
        state = self._states.get(producer_id)
        if state is None:
            state = self._states[producer_id] = ProducerState(producer_id)
        return state
