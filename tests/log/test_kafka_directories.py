"""Every small file in two recorded Kafka directories says what Kafka's own tool says, and is written again
byte for byte (R11). The recordings are large and live beside the repository: without them this is skipped.
"""

from pathlib import Path

import pytest

from trivium.log import checkpoint, properties
from trivium.log.files import RealFiles
from trivium.log.names import (
    metadata_snapshot,
    offset_file,
    parse_metadata_snapshot,
    parse_offset_file,
    parse_partition_directory,
)
from trivium.log.offset_index import OffsetIndex
from trivium.log.producer_snapshot import decode_snapshot, encode_snapshot
from trivium.log.producer_state import ProducerState
from trivium.log.time_index import TimeIndex
from trivium.log.txn_index import TxnIndex

RECORDINGS = Path(__file__).parents[3] / "shared" / "golden" / "kafka-4.3.1"

pytestmark = pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the recordings are not here")


@pytest.fixture(params=["clean", "killed"])
def recording(request: pytest.FixtureRequest) -> Path:
    return RECORDINGS / str(request.param)


def dumped(recording: Path, kind: str) -> list[tuple[Path, list[str]]]:
    """Each file of a kind with the lines that Kafka's tool printed for it, those about itself left out."""
    found = []
    for dump in sorted((recording / "dumps").glob("*-rest.txt")):
        for section in dump.read_text().split("Dumping ")[1:]:
            name, *lines = section.splitlines()
            if name.endswith(kind):
                fields = ("offset:", "timestamp:", "version:", "producerId:")
                found.append((recording / "data" / name, [ln for ln in lines if ln.startswith(fields)]))
    assert found, f"the recording has no {kind}"
    return found


def base_offset(path: Path) -> int:
    parsed = parse_offset_file(path.name)
    assert parsed is not None
    return parsed.offset


def test_offset_indexes_say_what_kafka_says(recording: Path, tmp_path: Path) -> None:
    for path, lines in dumped(recording, ".index"):
        index = OffsetIndex(RealFiles(), str(path), base_offset(path))
        index.check(path.with_suffix(".log").stat().st_size)
        # The tool shows the padding of an empty index as an entry at position 0.
        expected = [line for line in lines if not line.endswith("position: 0")]
        assert [f"offset: {offset} position: {position}" for offset, position in index] == expected
        again = OffsetIndex(RealFiles(), str(tmp_path / path.parent.name), base_offset(path))
        for entry in index:
            again.append(*entry)
        again.file.flush()
        written = tmp_path / path.parent.name
        assert (written.read_bytes() if written.exists() else b"") == path.read_bytes()
        written.unlink(missing_ok=True)


def test_time_indexes_say_what_kafka_says(recording: Path, tmp_path: Path) -> None:
    for path, lines in dumped(recording, ".timeindex"):
        index = TimeIndex(RealFiles(), str(path), base_offset(path))
        expected = [line for line in lines if not line.startswith("timestamp: 0 ")]
        assert [f"timestamp: {timestamp} offset: {offset}" for timestamp, offset in index] == expected
        again = TimeIndex(RealFiles(), str(tmp_path / path.parent.name), base_offset(path))
        for entry in index:
            again.append(*entry)
        again.file.flush()
        written = tmp_path / path.parent.name
        assert (written.read_bytes() if written.exists() else b"") == path.read_bytes()
        written.unlink(missing_ok=True)


def test_aborted_transactions_say_what_kafka_says(recording: Path, tmp_path: Path) -> None:
    for path, lines in dumped(recording, ".txnindex"):
        index = TxnIndex(RealFiles(), str(path), base_offset(path))
        assert [
            f"version: 0 producerId: {producer} "
            f"firstOffset: {first} lastOffset: {last} lastStableOffset: {stable}"
            for producer, first, last, stable in index
        ] == lines
        again = TxnIndex(RealFiles(), str(tmp_path / path.parent.name), base_offset(path))
        for entry in index:
            again.append(entry)
        again.file.flush()
        written = tmp_path / path.parent.name
        assert (written.read_bytes() if written.exists() else b"") == path.read_bytes()
        written.unlink(missing_ok=True)


def as_kafka_prints(state: ProducerState) -> str:
    open_txn = (
        "OptionalLong.empty" if state.txn_first_offset is None else f"OptionalLong[{state.txn_first_offset}]"
    )
    text = (
        f"producerId: {state.producer_id} producerEpoch: {state.epoch} "
        f"coordinatorEpoch: {state.coordinator_epoch} currentTxnFirstOffset: {open_txn} "
        f"lastTimestamp: {state.last_timestamp} "
    )
    for batch in state.batches:
        text += (
            f"firstSequence: {batch.first_sequence} lastSequence: {batch.last_sequence} "
            f"lastOffset: {batch.last_offset} offsetDelta: {batch.offset_delta} timestamp: {batch.timestamp}"
        )
    return text


def test_producer_snapshots_say_what_kafka_says(recording: Path) -> None:
    for path, lines in dumped(recording, ".snapshot"):
        states = decode_snapshot(path.read_bytes(), str(path))
        assert [as_kafka_prints(state) for state in states] == lines
        assert encode_snapshot(states) == path.read_bytes()


def test_checkpoints_are_written_again_byte_for_byte(recording: Path) -> None:
    data = recording / "data"
    for path in data.glob("*-offset-checkpoint"):
        assert (
            checkpoint.encode_offsets(checkpoint.decode_offsets(path.read_bytes(), str(path)))
            == path.read_bytes()
        )
    for path in data.glob("*/leader-epoch-checkpoint"):
        assert (
            checkpoint.encode_epochs(checkpoint.decode_epochs(path.read_bytes(), str(path)))
            == path.read_bytes()
        )


def test_directories_know_whose_they_are(recording: Path) -> None:
    assert properties.read_meta(RealFiles(), str(recording / "data" / "meta.properties")).node_id == 1
    directories = [path for path in (recording / "data").iterdir() if path.is_dir()]
    assert len(directories) > 40
    for directory in directories:
        assert parse_partition_directory(directory.name) is not None
        written = (directory / "partition.metadata").read_bytes()
        metadata = properties.decode_partition_metadata(written, str(directory))
        assert properties.encode_partition_metadata(metadata) == written
        for path in directory.glob("0*"):
            file, snapshot = parse_offset_file(path.name), parse_metadata_snapshot(path.name)
            assert (file and offset_file(*file)) == path.name or (
                snapshot and metadata_snapshot(*snapshot)
            ) == path.name
