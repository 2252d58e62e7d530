"""Batches of a real Kafka broker and of real clients: mission 003.15-003.17, 003.31; promise R11."""

import json
from typing import Any

import pytest

from tests.records.golden import (
    EXPECTED,
    PARTITIONS,
    PRODUCED,
    RECORDINGS,
    expected_records,
    read_partition,
)
from trivium.records.batch import (
    TimestampType,
    build_batch,
    check_batch,
    iter_batches,
    iter_records,
    retain,
    validate_records,
)
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn, read_end_txn

pytestmark = pytest.mark.usefixtures("kernel")

_TYPE_NAMES = {TimestampType.CREATE_TIME: "CreateTime", TimestampType.LOG_APPEND_TIME: "LogAppendTime"}


@pytest.mark.parametrize("name", PARTITIONS)
def test_records_of_a_kafka_partition_are_what_its_clients_read(name: str) -> None:
    data = read_partition(name)
    batches = [(position, header) for position, header in iter_batches(data) if not header.is_control]
    found = [record for position, _ in batches for record in iter_records(data, position)]
    assert found == expected_records(name)
    types = [_TYPE_NAMES[header.timestamp_type] for _, header in batches for _ in range(header.records_count)]
    assert types == [row[2] for row in EXPECTED[name]]


@pytest.mark.parametrize("name", PARTITIONS)
def test_uncompressed_kafka_batches_built_again_are_equal_byte_for_byte(name: str) -> None:
    """Compressed ones are not: no two compressors choose alike."""
    data = read_partition(name)
    for position, header in iter_batches(data):
        if header.compression is not Compression.NONE or header.records_count != header.last_offset_delta + 1:
            continue
        rebuilt = build_batch(
            list(iter_records(data, position)),
            base_offset=header.base_offset,
            leader_epoch=header.leader_epoch,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
            timestamp_type=header.timestamp_type,
            transactional=header.is_transactional,
            control=header.is_control,
            delete_horizon_ms=header.base_timestamp if header.has_delete_horizon else None,
        )
        if header.timestamp_type is TimestampType.CREATE_TIME:
            assert rebuilt == data[position : position + header.size_bytes]
        else:
            # The producer's own times survive in the deltas that nobody reads.
            assert len(rebuilt) <= header.size_bytes


def test_markers_of_kafka_are_built_equal_byte_for_byte() -> None:
    data = read_partition("txn-0")
    markers = []
    for position, header in iter_batches(data):
        if not header.is_control:
            continue
        marker = read_end_txn(data, position)
        assert marker is not None
        markers.append(marker)
        rebuilt = build_end_txn(
            marker,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            timestamp=header.max_timestamp,
            base_offset=header.base_offset,
            leader_epoch=header.leader_epoch,
        )
        assert rebuilt == data[position : position + header.size_bytes]
    assert set(markers) == {EndTxnMarker(True, 0), EndTxnMarker(False, 0)}


@pytest.mark.parametrize(
    "produced", PRODUCED, ids=lambda produced: f"{produced['client']}-{produced['codec']}"
)
def test_batch_of_a_real_producer_passes_every_check(produced: dict[str, str]) -> None:
    batch = bytes.fromhex(produced["hex"])
    header = check_batch(batch)
    assert header.compression.name.lower() == produced["codec"]
    assert validate_records(batch) == header.max_timestamp


@pytest.mark.parametrize("name", PARTITIONS)
def test_kafka_batch_after_retain_still_holds_its_records(name: str) -> None:
    data = read_partition(name)
    for position, header in iter_batches(data):
        if header.records_count < 2:
            continue
        keep = bytes(index % 2 for index in range(header.records_count))
        kept = retain(data, keep, position=position)
        assert check_batch(kept).compression is header.compression
        assert list(iter_records(kept)) == list(iter_records(data, position))[1::2]


@pytest.mark.skipif(not RECORDINGS.exists(), reason="the whole recording is not beside the repository")
@pytest.mark.parametrize("life", ["clean", "killed"])
def test_every_recorded_partition_reads_as_its_manifest_says(life: str, kernel: Any) -> None:
    manifest = json.loads((RECORDINGS / life / "manifest.json").read_text())
    compared = 0
    for topic, described in manifest["topics"].items():
        for number, partition in described["partitions"].items():
            found = {}
            for segment in sorted((RECORDINGS / life / "data" / f"{topic}-{number}").glob("*.log")):
                data = segment.read_bytes()
                for position, header in iter_batches(data):
                    if not header.is_control:
                        found.update({record.offset: record for record in iter_records(data, position)})
            for row in partition.get("records", ()):
                record = found[row["offset"]]
                key = None if record.key is None else record.key.hex()
                assert (record.timestamp, key) == (row["timestamp"], row["key"])
                compared += 1
    assert compared > 1_000
