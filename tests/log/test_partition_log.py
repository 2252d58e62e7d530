"""One partition's log on a real directory: appending, rolling, reading, shortening."""

from pathlib import Path

import pytest

from tests.log.log_of import NOW, TOPIC_ID, append, batch, contents, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import OffsetOutOfRange
from trivium.log.files import RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.log.shortening import truncate
from trivium.records.batch import iter_batches
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.wire.errors import DecodeError

SMALL = LogSettings(segment_bytes=400, index_interval_bytes=100)


@pytest.fixture
def directory(tmp_path: Path) -> LogDirectory:
    return open_directory(RealFiles(), str(tmp_path / "data"), SMALL)


@pytest.fixture
def log(directory: LogDirectory) -> PartitionLog:
    return directory.create("orders", 0, TOPIC_ID, SMALL, NOW)


def reopen(directory: LogDirectory, settings: LogSettings = SMALL) -> PartitionLog:
    directory.close()
    return open_directory(RealFiles(), directory.path, settings).logs["orders", 0]


def test_append_assigns_consecutive_offsets_and_read_returns_them(log: PartitionLog) -> None:
    assert append(log, b"a", b"b") == 0
    assert append(log, b"c") == 2
    assert log.log_end_offset == 3
    assert contents(log) == [(0, b"a"), (1, b"b"), (2, b"c")]


def test_append_of_two_batches_in_one_buffer_numbers_both(log: PartitionLog) -> None:
    appended = log.append(batch(b"a", b"b") + batch(b"c"), leader_epoch=3, now_ms=NOW)
    log.advance_high_watermark(3)
    assert (appended.base_offset, appended.last_offset) == (0, 2)
    assert contents(log) == [(0, b"a"), (1, b"b"), (2, b"c")]
    [run] = log.read(0, 1000).runs
    assert [(header.base_offset, header.leader_epoch) for _at, header in iter_batches(run)] == [
        (0, 3),
        (2, 3),
    ]


def test_append_of_a_damaged_batch_is_refused_and_changes_nothing(log: PartitionLog) -> None:
    data = batch(b"a")
    data[-1] ^= 1
    with pytest.raises(DecodeError):
        log.append(data, leader_epoch=0, now_ms=NOW)
    assert log.log_end_offset == 0
    assert log.active.size_bytes == 0


def test_read_from_the_middle_of_a_batch_returns_the_whole_batch(log: PartitionLog) -> None:
    append(log, b"a", b"b", b"c")
    piece = log.read(1, 1000)
    assert [header.base_offset for _at, header in iter_batches(piece.join())] == [0]
    assert piece.offset_next == 3


def test_read_returns_one_batch_even_if_max_bytes_is_smaller(log: PartitionLog) -> None:
    append(log, b"a" * 300)
    append(log, b"b")
    assert log.read(0, 1).offset_next == 1


def test_read_takes_as_many_batches_as_fit(log: PartitionLog) -> None:
    size = len(batch(b"x"))
    for _ in range(5):
        append(log, b"x")
    assert log.read(0, size * 3).offset_next == 3
    assert log.read(0, size * 3 + size - 1).offset_next == 3


def test_read_at_the_end_is_empty_and_beyond_is_out_of_range(log: PartitionLog) -> None:
    append(log, b"a")
    assert log.read(1, 1000).runs == ()
    with pytest.raises(OffsetOutOfRange) as caught:
        log.read(2, 1000)
    assert (caught.value.log_start_offset, caught.value.log_end_offset) == (0, 1)


def test_read_stops_at_the_high_watermark(log: PartitionLog) -> None:
    append(log, b"a")
    log.append(batch(b"b"), leader_epoch=0, now_ms=NOW)
    assert contents(log) == [(0, b"a")]
    assert log.read(1, 1000).runs == ()
    log.advance_high_watermark(2)
    assert contents(log) == [(0, b"a"), (1, b"b")]


def test_segments_roll_by_size_and_reading_crosses_them(log: PartitionLog) -> None:
    for number in range(20):
        append(log, b"%d" % number * 20)
    assert len(log.segments) > 3
    assert [offset for offset, _value in contents(log)] == list(range(20))
    assert [segment.offset_limit for segment in log.segments][:-1] == [s.base_offset for s in log.segments][
        1:
    ]


def test_segments_roll_by_the_timestamps_of_records(log: PartitionLog) -> None:
    log.configure(LogSettings(segment_ms=1000))
    append(log, b"a", timestamp=NOW)
    append(log, b"b", timestamp=NOW + 1000)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW + 1001)
    assert [segment.base_offset for segment in log.segments] == [0, 2]


def test_segments_roll_when_the_index_is_full(log: PartitionLog) -> None:
    log.configure(LogSettings(segment_index_bytes=24, index_interval_bytes=0))
    for _ in range(6):
        append(log, b"a")
    assert [segment.base_offset for segment in log.segments] == [0, 3, 6][: len(log.segments)]
    assert len(log.segments) >= 2


def test_every_offset_is_found_after_a_clean_restart(directory: LogDirectory, log: PartitionLog) -> None:
    for number in range(50):
        append(log, b"%d" % number, b"x" * 30)
    again = reopen(directory)
    assert again.log_end_offset == 100
    for offset in range(100):
        assert contents(again, offset)[0][0] == offset
    assert append(again, b"next") == 100


def test_clean_restart_reads_no_segment_but_the_last(directory: LogDirectory, log: PartitionLog) -> None:
    for number in range(50):
        append(log, b"%d" % number)
    directory.close()
    opened = open_directory(RealFiles(), directory.path, SMALL)
    assert opened.opening.clean
    assert [recovery.scanned_bytes for recovery in opened.opening.recoveries] == [0]


def test_truncate_forgets_records_and_their_producers(directory: LogDirectory, log: PartitionLog) -> None:
    for number in range(30):
        append(log, b"x" * 50, producer_id=5, producer_epoch=0, base_sequence=number)
    truncate(log, 11)
    assert log.log_end_offset == 11
    assert [offset for offset, _ in contents(log)] == list(range(11))
    state = log.producers.get(5)
    assert state is not None
    assert (state.last_sequence, state.last_offset) == (10, 10)
    assert append(log, b"new") == 11
    assert [offset for offset, _ in contents(reopen(directory))] == list(range(12))


def test_truncate_inside_a_batch_drops_the_batch(log: PartitionLog) -> None:
    append(log, b"a", b"b")
    append(log, b"c", b"d", b"e")
    truncate(log, 4)
    assert log.log_end_offset == 2


def test_log_start_hides_records_and_survives_a_restart(directory: LogDirectory, log: PartitionLog) -> None:
    append(log, b"a", b"b", b"c")
    log.advance_log_start(2)
    directory.write_checkpoints()
    with pytest.raises(OffsetOutOfRange):
        log.read(1, 1000)
    assert contents(log) == [(2, b"c")]
    assert contents(reopen(directory)) == [(2, b"c")]


def test_log_start_cannot_pass_the_high_watermark(log: PartitionLog) -> None:
    append(log, b"a")
    with pytest.raises(OffsetOutOfRange):
        log.advance_log_start(2)


def test_flush_settings_ask_for_a_sync_by_count_and_by_time(log: PartitionLog) -> None:
    log.configure(LogSettings(flush_messages=3, flush_ms=1000))
    assert not log.wants_sync(NOW + 10_000)
    append(log, b"a", b"b", now_ms=NOW)
    assert not log.wants_sync(NOW + 999)
    assert log.wants_sync(NOW + 1000)
    append(log, b"c", now_ms=NOW + 500)
    assert log.wants_sync(NOW + 500)
    log.sync()
    assert not log.wants_sync(NOW + 10_000)
    append(log, b"d", now_ms=NOW + 20_000)
    assert not log.wants_sync(NOW + 20_999)


def test_silent_producers_are_forgotten_unless_a_transaction_is_open(log: PartitionLog) -> None:
    log.configure(LogSettings(producer_id_expiration_ms=1000))
    append(log, b"a", producer_id=1, producer_epoch=0, base_sequence=0)
    append(log, b"b", producer_id=2, producer_epoch=0, base_sequence=0, transactional=True)
    assert log.expire_producers(NOW + 999) == 0
    assert log.expire_producers(NOW + 1000) == 1
    assert [state.producer_id for state in log.producers.states] == [2]


def test_last_stable_offset_waits_for_the_oldest_open_transaction(log: PartitionLog) -> None:
    append(log, b"plain")
    append(log, b"t", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    append(log, b"plain")
    assert log.last_stable_offset == 1
    end_transaction(log, 1, committed=True)
    assert log.last_stable_offset == log.high_watermark == 4
    assert log.aborted_transactions(0, 4) == []


def test_transaction_is_decided_for_good_only_when_its_marker_is_durable(log: PartitionLog) -> None:
    append(log, b"t", producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
    pending = log.begin_sync()
    assert pending is not None
    end_transaction(log, 1, committed=True)
    pending.run()
    log.finish_sync(pending)
    assert (log.recovery_point, log.last_stable_offset) == (1, 2)
    assert log.durable_stable_offset == 0
    log.sync()
    assert log.durable_stable_offset == 2


def test_aborted_transactions_are_listed_for_readers_and_survive_restarts(
    directory: LogDirectory, log: PartitionLog
) -> None:
    for number in range(8):
        append(log, b"x" * 60, producer_id=1, producer_epoch=0, base_sequence=number, transactional=True)
    end_transaction(log, 1, committed=False)
    append(log, b"after")
    assert [(t.producer_id, t.first_offset, t.last_offset) for t in log.aborted_transactions(2, 3)] == [
        (1, 0, 8)
    ]
    assert log.aborted_transactions(9, 10) == []
    again = reopen(directory)
    assert [(t.producer_id, t.first_offset, t.last_offset) for t in again.aborted_transactions(2, 3)] == [
        (1, 0, 8)
    ]


def end_transaction(log: PartitionLog, producer_id: int, *, committed: bool) -> None:
    marker = build_end_txn(
        EndTxnMarker(committed, 0), producer_id=producer_id, producer_epoch=0, timestamp=NOW
    )
    log.append(bytearray(marker), leader_epoch=0, now_ms=NOW)
    log.advance_high_watermark(log.log_end_offset)


def test_leader_epoch_never_falls(log: PartitionLog) -> None:
    """A reader would take the batch for damage."""
    log.append(batch(b"a"), leader_epoch=3, now_ms=NOW)
    with pytest.raises(ValueError, match="leader epoch 2 cannot follow 3"):
        log.append(batch(b"b"), leader_epoch=2, now_ms=NOW)
    assert log.log_end_offset == 1
