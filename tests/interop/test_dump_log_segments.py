"""Kafka's DumpLogSegments accepts every file that we write, and prints what we wrote (R11)."""

import re
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from tests.interop.kafka import Kafka
from tests.interop.our_logs import HOUR_MS, NOW, SETTINGS, Written, survivors, write

from trivium.log.cleaner import compact
from trivium.log.compaction_plan import plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.files import RealFiles
from trivium.log.offset_index import OffsetIndex
from trivium.log.producer_snapshot import decode_snapshot
from trivium.log.time_index import TimeIndex
from trivium.log.txn_index import TxnIndex
from trivium.records.batch import BatchHeader

pytestmark = pytest.mark.interop


@dataclass(frozen=True)
class OurDirectory:
    path: Path
    written: dict[str, list[Written]]
    headers: dict[str, list[BatchHeader]]

    def files(self, topic: str, kind: str) -> list[Path]:
        """The files of a kind in a topic's partition, or in every partition (``*``)."""
        return sorted(self.path.glob(f"{topic}-0/*{kind}"))


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> OurDirectory:
    """A directory that only our log has ever written to, closed."""
    path = tmp_path_factory.mktemp("ours")
    directory = LogDirectory.open(
        RealFiles(),
        str(path),
        node_id=1,
        cluster_id="dHJpdml1bS1pbnRlcm9wMQ",
        new_id=lambda: UUID(int=1),
        settings_for=SETTINGS.__getitem__,
        now_ms=NOW,
    )
    written, headers = {}, {}
    for number, (topic, settings) in enumerate(SETTINGS.items()):
        log = directory.create(topic, 0, UUID(int=100 + number), settings, NOW)
        written[topic] = list(write(topic, log, leader_epoch=5))
        log.sync()
        plan = plan_compaction(log, NOW + 100 * HOUR_MS)
        if plan is not None:
            directory.install(compact(RealFiles(), plan, NOW + 100 * HOUR_MS))
            written[topic] = survivors(written[topic], plan.offset_end)
        headers[topic] = [found.header for found in log.batches(0)]
    assert len(written["compacted"]) < 40
    directory.close()
    return OurDirectory(path, written, headers)


def fields(line: str) -> dict[str, str]:
    """``name: value`` pairs of a line that Kafka printed."""
    return dict(re.findall(r"(\w+): (\S+)", line))


def as_text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


@pytest.mark.parametrize("topic", SETTINGS)
def test_log_file_when_dumped_gives_every_record_that_was_written(
    kafka: Kafka, ours: OurDirectory, topic: str
) -> None:
    dump = kafka.dump("--deep-iteration", "--print-data-log", files=ours.files(topic, ".log"))
    records = []
    for line in dump.splitlines():
        match = re.fullmatch(
            r"\| offset: (\d+) \w+: (\d+) keySize: (-?\d+) valueSize: (-?\d+) "
            r"(?:sequence: -?\d+ )?headerKeys: \[(.*?)\](?: key: (.*?))?(?: payload: (.*))?",
            line,
        )
        if match and "endTxnMarker" not in line:
            offset, timestamp, key_size, value_size, headers, key, value = match.groups()
            key, value = key or "", value or ""
            assert len(key.encode()) == max(0, int(key_size))
            assert len(value.encode()) == max(0, int(value_size))
            records.append(
                (
                    int(offset),
                    int(timestamp),
                    None if key_size == "-1" else key,
                    None if value_size == "-1" else value,
                    headers,
                )
            )
    assert records == [
        (
            each.offset,
            each.timestamp,
            as_text(each.key),
            as_text(each.value),
            ",".join(n for n, _ in each.headers),
        )
        for each in ours.written[topic]
    ]


@pytest.mark.parametrize("topic", SETTINGS)
def test_log_file_when_dumped_has_the_batches_that_we_see_and_all_are_valid(
    kafka: Kafka, ours: OurDirectory, topic: str
) -> None:
    dump = kafka.dump("--print-data-log", files=ours.files(topic, ".log"))
    batches = [fields(line) for line in dump.splitlines() if line.startswith("baseOffset:")]
    assert {batch["isvalid"] for batch in batches} == {"true"}
    shown = [
        (
            int(batch["baseOffset"]),
            int(batch["lastOffset"]),
            int(batch["count"]),
            int(batch["producerId"]),
            int(batch["producerEpoch"]),
            int(batch["baseSequence"]),
            int(batch["partitionLeaderEpoch"]),
            batch["isTransactional"] == "true",
            batch["isControl"] == "true",
            int(batch["size"]),
            int(batch["crc"]),
            batch["compresscodec"],
        )
        for batch in batches
    ]
    assert shown == [
        (
            header.base_offset,
            header.last_offset,
            header.records_count,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            header.leader_epoch,
            header.is_transactional,
            header.is_control,
            header.size_bytes,
            header.crc,
            header.compression.name.lower(),
        )
        for header in ours.headers[topic]
    ]


def test_indexes_when_checked_by_kafka_pass(kafka: Kafka, ours: OurDirectory) -> None:
    files = ours.files("*", ".index") + ours.files("*", ".timeindex")
    checked = kafka.dump("--index-sanity-check", files=files).splitlines()
    assert sum(line.endswith(("passed sanity check.", "is empty.")) for line in checked) == len(files)
    assert "mismatch" not in kafka.dump("--verify-index-only", files=files).lower()


def test_indexes_when_dumped_have_our_entries(kafka: Kafka, ours: OurDirectory) -> None:
    files = ours.files("*", ".index")
    expected = []
    for file in files:
        index = OffsetIndex(RealFiles(), str(file), int(file.stem))
        expected += [f"offset: {offset} position: {position}" for offset, position in index]
    assert len(expected) > 20
    dump = kafka.dump(files=files)
    assert [line for line in dump.splitlines() if line.startswith("offset: ")] == expected


def test_time_indexes_when_dumped_have_our_entries(kafka: Kafka, ours: OurDirectory) -> None:
    files = ours.files("*", ".timeindex")
    expected = []
    for file in files:
        index = TimeIndex(RealFiles(), str(file), int(file.stem))
        expected += [f"timestamp: {timestamp} offset: {offset}" for timestamp, offset in index]
    assert len(expected) > 20
    dump = kafka.dump(files=files)
    assert [line for line in dump.splitlines() if line.startswith("timestamp: ")] == expected


def test_aborted_transactions_when_dumped_are_those_that_were_aborted(
    kafka: Kafka, ours: OurDirectory
) -> None:
    files = ours.files("transactions", ".txnindex")
    expected = []
    for file in files:
        expected += [tuple(entry) for entry in TxnIndex(RealFiles(), str(file), int(file.stem))]
    assert len(expected) == 5
    found = []
    for line in kafka.dump(files=files).splitlines():
        if line.startswith("version: "):
            shown = fields(line)
            names = ("producerId", "firstOffset", "lastOffset", "lastStableOffset")
            found.append(tuple(int(shown[name]) for name in names))
    assert found == expected
    hidden = {each.offset for each in ours.written["transactions"] if not each.is_committed}
    assert {offset for _, first, last, _ in found for offset in range(first, last + 1)} >= hidden


def test_producer_snapshots_when_dumped_are_our_producers(kafka: Kafka, ours: OurDirectory) -> None:
    files = ours.files("transactions", ".snapshot") + ours.files("segments", ".snapshot")
    expected = []
    for file in files:
        expected += [
            (state.producer_id, state.epoch, state.coordinator_epoch, state.last_timestamp)
            for state in decode_snapshot(file.read_bytes(), str(file))
        ]
    assert {producer_id for producer_id, *_ in expected} == {4000, 4001, 4002, 4003}
    found = []
    for line in kafka.dump(files=files).splitlines():
        if line.startswith("producerId: "):
            shown = fields(line)
            names = ("producerId", "producerEpoch", "coordinatorEpoch", "lastTimestamp")
            found.append(tuple(int(shown[name]) for name in names))
    assert found == expected
