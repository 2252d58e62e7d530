"""A log directory read without a broker: what clients of the broker read, and not a byte changed."""

from pathlib import Path

import pytest

from tests.golden.recording import Recording, contents, unpack
from tests.spark.connector.reads import batch, rows, values
from trivium.spark.connector.errors import BadOption, ConnectorError, DataLost
from trivium.spark.connector.ranges import OffsetRange
from trivium.testing import Broker

COLUMNS = ("key", "value", "partition", "offset")


@pytest.fixture(scope="module", params=["clean", "killed"])
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """What a real Kafka left behind."""
    return unpack(request.param, tmp_path_factory.mktemp(request.param))


def options(directory: Path, topic: str, **more: object) -> dict[str, object]:
    return {"directory": directory, "subscribe": topic, **more}


def test_directory_of_kafka_has_the_rows_that_its_clients_read(recording: Recording) -> None:
    before = contents(recording.data)
    compared = 0
    for (topic, partition), seen in recording.partitions():
        if "records" not in seen:
            continue
        only = {"directory": recording.data, "assign": f'{{"{topic}": [{partition}]}}'}
        found = [row["offset"] for row in rows(batch(only, *COLUMNS))]
        assert found == [record["offset"] for record in seen["records"]], topic
        hidden = set(seen["not_in_read_committed"])
        committed = batch({**only, "kafka.isolation.level": "read_committed"}, *COLUMNS)
        assert [row["offset"] for row in rows(committed)] == [at for at in found if at not in hidden], topic
        compared += len(found)
    assert compared > 1000
    assert contents(recording.data) == before


def test_directory_of_a_running_broker_is_read_beside_it(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 2)
        broker.produce("t", ["a", "b"], partition=0)
        broker.produce("t", ["c"], partition=1)
        assert values(batch(options(tmp_path, "t"))) == [b"a", b"b", b"c"]
    assert values(batch(options(tmp_path, "t"))) == [b"a", b"b", b"c"]


def test_directory_is_read_in_parts_that_meet_within_a_batch(tmp_path: Path) -> None:
    written = [f"{number:04}" for number in range(500)]
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 1)
        broker.produce("t", written)
    reader = batch(options(tmp_path, "t", minPartitions=6))
    assert len(reader.partitions()) == 6
    assert values(reader) == [text.encode() for text in written]


def test_times_bound_a_read_of_a_directory(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 1)
        for hour, text in enumerate("abc"):
            broker.produce("t", [text], timestamp_ms=1_700_000_000_000 + hour)
    bounded = options(tmp_path, "t", startingTimestamp=1_700_000_000_001, endingTimestamp=1_700_000_000_002)
    assert values(batch(bounded)) == [b"b"]


def test_pattern_finds_no_internal_topics_of_a_directory(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 1)
        broker.produce("t", ["a"])
    assert values(batch({"directory": tmp_path, "subscribePattern": ".*"})) == [b"a"]


def test_range_that_a_directory_does_not_have_is_named(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 1)
        broker.produce("t", ["a"])
    with pytest.raises(DataLost, match="Topic t, partition 0 ends at offset 1, but was read up to 5 before"):
        rows(batch(options(tmp_path, "t")), [OffsetRange("t", 0, 5, 9)])


def test_damaged_directory_gives_what_is_sound_and_then_a_sentence(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        broker.create_topic("t", 1)
        broker.produce("t", ["a" * 100])
        broker.produce("t", ["b" * 100])
    reader = batch(options(tmp_path, "t"))
    (partition,) = reader.partitions()
    log = tmp_path / "t-0" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[-20] ^= 1
    log.write_bytes(data)
    parts = iter(reader.read(partition))
    assert next(parts).column("value").to_pylist() == [b"a" * 100]
    with pytest.raises(ConnectorError, match="t-0 is corrupt from offset 1"):
        next(parts)


def test_directory_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=r"has no meta\.properties on the machine that reads it"):
        batch(options(tmp_path, "t")).partitions()


def test_topic_that_a_directory_does_not_hold_is_a_sentence(tmp_path: Path) -> None:
    with Broker(data=tmp_path):
        pass
    with pytest.raises(BadOption, match="holds no partition of topic t"):
        batch(options(tmp_path, "t")).partitions()
