"""A partition's log for tests: on a real directory or on a fake disk, with records one can recognise."""

from uuid import UUID

from trivium.log.directory import LogDirectory
from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.records.batch import build_batch, iter_batches, iter_records
from trivium.records.record import Record

NOW = 1_750_000_000_000
TOPIC_ID = UUID(int=7)


def open_directory(
    files: Files, path: str, settings: LogSettings | None = None, now_ms: int = NOW
) -> LogDirectory:
    return LogDirectory.open(
        files,
        path,
        node_id=1,
        cluster_id="test-cluster",
        new_id=lambda: UUID(int=1),
        settings_for=lambda _topic: settings or LogSettings(),
        now_ms=now_ms,
    )


def batch(*values: bytes | tuple[bytes, bytes | None], timestamp: int = NOW, **fields: object) -> bytearray:
    """A batch of values, or of (key, value) pairs; one millisecond between them."""
    pairs = [value if isinstance(value, tuple) else (None, value) for value in values]
    records = [Record(number, timestamp + number, key, value) for number, (key, value) in enumerate(pairs)]
    return bytearray(build_batch(records, **fields))  # type: ignore[arg-type]


def append(
    log: PartitionLog, *values: bytes | tuple[bytes, bytes | None], now_ms: int = NOW, **fields: object
) -> int:
    """Append one batch; returns its base offset."""
    timestamp = fields.pop("timestamp", now_ms)
    appended = log.append(batch(*values, timestamp=timestamp, **fields), leader_epoch=0, now_ms=now_ms)  # type: ignore[arg-type]
    log.advance_high_watermark(log.log_end_offset)
    return appended.base_offset


def contents(log: PartitionLog, offset: int | None = None) -> list[tuple[int, bytes | None]]:
    """Offset and value of every data record from ``offset`` on, read the way a client reads."""
    at = log.log_start_offset if offset is None else offset
    found: list[tuple[int, bytes | None]] = []
    while at < log.high_watermark:
        piece = log.read(at, 1 << 20)
        for run in piece.runs:
            found += _values(run, at)
        assert piece.offset_next > at
        at = piece.offset_next
    return found


def _values(run: memoryview, offset: int) -> list[tuple[int, bytes | None]]:
    values = []
    for position, header in iter_batches(run):
        if not header.is_control:
            values += [(r.offset, r.value) for r in iter_records(run, position) if r.offset >= offset]
    return values
