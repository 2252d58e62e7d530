"""What clients of Kafka read from its directories, we read from them (R11): every record, every offset."""

import pytest
from tests.golden.reading import as_manifest, read_committed, read_uncommitted
from tests.golden.recording import Recording, names

from trivium.log.directory import LogDirectory
from trivium.log.names import METADATA_TOPIC
from trivium.log.timestamps import latest


def test_directory_of_kafka_when_opened_has_every_partition(
    recording: Recording, directory: LogDirectory
) -> None:
    expected = {key for key, _ in recording.partitions()}
    assert set(directory.logs) - {(METADATA_TOPIC, 0)} == expected


def test_log_when_read_gives_every_record_that_kafka_gave(
    recording: Recording, directory: LogDirectory
) -> None:
    compared = 0
    for log, seen in recording.logs(directory):
        if "records" in seen:
            assert [as_manifest(each) for each in read_uncommitted(log)] == seen["records"], log.name
            compared += len(seen["records"])
    assert compared > 1000


def test_log_when_read_committed_leaves_out_what_was_aborted_or_is_open(
    recording: Recording, directory: LogDirectory
) -> None:
    for log, seen in recording.logs(directory):
        if "records" in seen:
            hidden = set(seen["not_in_read_committed"])
            expected = [record["offset"] for record in seen["records"] if record["offset"] not in hidden]
            assert [each.record.offset for each in read_committed(log)] == expected, log.name


def test_log_offsets_are_those_that_kafka_answered(recording: Recording, directory: LogDirectory) -> None:
    for log, seen in recording.logs(directory):
        offsets = (log.log_start_offset, log.high_watermark, log.last_stable_offset)
        expected = (seen["log_start_offset"], seen["high_watermark"], seen["last_stable_offset"])
        assert offsets == expected, log.name


def test_latest_timestamp_is_the_one_that_kafka_answered(
    recording: Recording, directory: LogDirectory
) -> None:
    for log, seen in recording.logs(directory):
        found = latest(log)
        answer = (-1, -1) if found is None else (found.offset, found.timestamp)
        assert answer == (seen["max_timestamp"]["offset"], seen["max_timestamp"]["timestamp"]), log.name


@pytest.mark.parametrize("recording", names("killed"), indirect=True)
def test_records_that_kafka_acknowledged_before_the_kill_are_there(
    recording: Recording, directory: LogDirectory
) -> None:
    for name, acked in recording.manifest["acked"].items():
        log = next(log for log in directory.logs.values() if log.name == name)
        values = {each.record.offset: each.record.value for each in read_uncommitted(log)}
        for offset, value in acked:
            assert values[offset] == bytes.fromhex(value), f"{name} at {offset}"
