"""Logs that Trivium writes for Kafka to read: every codec, transactions, compaction, segments, epochs.

A ``Writer`` appends to a log and remembers by itself what it wrote, so that what Kafka reads is held
against the intention and not against our own reading.
"""

from collections.abc import Sequence
from typing import NamedTuple

from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.records.batch import build_batch, stamp_append_time
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.record import Header, Record

NOW = 1_750_000_000_000
HOUR_MS = 3_600_000

SETTINGS = {
    "codecs": LogSettings(),
    "append-time": LogSettings(),
    "transactions": LogSettings(),
    "segments": LogSettings(segment_bytes=2_000, index_interval_bytes=200),
    "compacted": LogSettings(compact=True, delete=False, segment_ms=HOUR_MS, min_cleanable_dirty_ratio=0.0),
}
"""The topics, and what their logs are set to."""


class Written(NamedTuple):
    """One record as it went in."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    is_committed: bool = True


class Writer:
    def __init__(self, log: PartitionLog, leader_epoch: int) -> None:
        self.log = log
        self.leader_epoch = leader_epoch
        self.written: list[Written] = []

    def batch(
        self,
        *pairs: tuple[bytes | None, bytes | None],
        timestamp: int = NOW,
        headers: tuple[Header, ...] = (),
        compression: Compression = Compression.NONE,
        producer: tuple[int, int, int] = (-1, -1, -1),
        transactional: bool = False,
        is_committed: bool = True,
    ) -> None:
        """One batch of keys and values, a millisecond apart. ``producer``: id, epoch, base sequence."""
        records = [
            Record(number, timestamp + number, key, value, headers)
            for number, (key, value) in enumerate(pairs)
        ]
        producer_id, producer_epoch, base_sequence = producer
        data = build_batch(
            records,
            compression=compression,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            transactional=transactional,
        )
        base_offset = self._append(bytearray(data), timestamp)
        self.written += [
            Written(base_offset + record.offset, *record[1:], is_committed=is_committed) for record in records
        ]

    def append_time_batch(self, *pairs: tuple[bytes | None, bytes | None], now_ms: int) -> None:
        """A batch in which the broker's clock counts."""
        data = bytearray(build_batch([Record(n, NOW, key, value) for n, (key, value) in enumerate(pairs)]))
        stamp_append_time(data, 0, now_ms)
        base_offset = self._append(data, now_ms)
        self.written += [Written(base_offset + n, now_ms, *pair) for n, pair in enumerate(pairs)]

    def end_transaction(self, producer_id: int, producer_epoch: int, *, committed: bool) -> None:
        marker = EndTxnMarker(committed, coordinator_epoch=3)
        data = build_end_txn(marker, producer_id=producer_id, producer_epoch=producer_epoch, timestamp=NOW)
        self._append(bytearray(data), NOW)

    def _append(self, data: bytearray, now_ms: int) -> int:
        appended = self.log.append(data, leader_epoch=self.leader_epoch, now_ms=now_ms)
        self.log.advance_high_watermark(self.log.log_end_offset)
        return appended.base_offset


def write(topic: str, log: PartitionLog, leader_epoch: int) -> Sequence[Written]:
    """Fill a log of one of the topics in ``SETTINGS``; what went in, in order."""
    writer = Writer(log, leader_epoch)
    _WRITERS[topic](writer)
    return writer.written


def _write_codecs(writer: Writer) -> None:
    odd: list[tuple[bytes | None, bytes | None]] = [
        (b"key", b"value"),
        (None, b"no key"),
        (b"tombstone", None),
        (b"", b""),
        ("ключ".encode(), "ångström".encode()),
    ]
    headers: tuple[Header, ...] = (("trace", b"1"), ("empty", b""), ("null", None))
    for number, compression in enumerate(Compression):
        writer.batch(*odd, timestamp=NOW + 100 * number, headers=headers, compression=compression)
        many = [(b"%d" % n, compression.name.encode() * 20) for n in range(200)]
        writer.batch(*many, timestamp=NOW + 1000 + 100 * number, compression=compression)
        # A new leader: the epoch checkpoint and the batches have to agree on where it began.
        writer.leader_epoch += number % 2


def _write_append_time(writer: Writer) -> None:
    for number in range(3):
        writer.append_time_batch((b"a", b"1"), (b"b", b"2"), now_ms=NOW + 1000 * number)


def _write_transactions(writer: Writer) -> None:
    """Two transactional producers in turn, one committing and one aborting, and an idempotent one beside."""
    for turn in range(6):
        for producer_id, commits in ((4000, turn % 3 != 0), (4001, turn % 2 == 0)):
            pairs = [(b"t%d" % producer_id, b"turn %d record %d" % (turn, n)) for n in range(3)]
            producer = (producer_id, turn, 0)
            writer.batch(*pairs, producer=producer, transactional=True, is_committed=commits)
        writer.batch((b"idempotent", b"%d" % turn), producer=(4002, 0, turn))
        writer.end_transaction(4000, turn, committed=turn % 3 != 0)
        writer.end_transaction(4001, turn, committed=turn % 2 == 0)
        if turn == 3:
            # Aborted transactions in two segments, and producers in a snapshot between them.
            writer.log.roll(NOW)


def _write_segments(writer: Writer) -> None:
    for number in range(120):
        pairs = [(b"k%d" % (number % 7), b"%06d " % number * 8) for _ in range(2)]
        writer.batch(*pairs, timestamp=NOW + 1000 * number, producer=(4003, 0, 2 * number))
    assert len(writer.log.segments) > 5


def _write_compacted(writer: Writer) -> None:
    for turn in range(4):
        for number in range(10):
            key = b"k%d" % number
            value = None if number == turn else b"turn %d" % turn
            compression = Compression.ZSTD if turn % 2 else Compression.NONE
            writer.batch((key, value), timestamp=NOW + 2 * HOUR_MS * turn + number, compression=compression)


_WRITERS = {
    "codecs": _write_codecs,
    "append-time": _write_append_time,
    "transactions": _write_transactions,
    "segments": _write_segments,
    "compacted": _write_compacted,
}


def survivors(written: Sequence[Written], offset_end: int) -> list[Written]:
    """What compaction below ``offset_end`` leaves: of each key the last record there, and all the rest."""
    last = {each.key: each.offset for each in written if each.offset < offset_end}
    return [each for each in written if each.offset >= offset_end or last[each.key] == each.offset]
