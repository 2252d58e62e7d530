"""Decompression bombs on every path that unpacks (S4, rule 5): producing, recompression, compaction, search
by time, the other doors, the command line, Spark.

A few thousand bytes that unfold to more than a batch may. Where the bound is missing, the record comes out at
the other end: that, too, fails here. What a refusal costs in memory is ``tests/records/test_compression``'s.
"""

import ast
import json
from pathlib import Path
from typing import Final

import pytest

import trivium
from tests.abuse.city import City, IggyDoor, RustLogDoor
from tests.cli.commands import run
from tests.log.log_of import NOW, TOPIC_ID, append, open_directory
from tests.log.test_cleaner import SETTINGS, clean
from tests.protocols.iggy.raw_client import consumer, poll
from trivium.log.files import RealFiles
from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode
from trivium.protocols.iggy.code import Code
from trivium.records.batch import build_batch, iter_records, read_section
from trivium.records.compression import Compression
from trivium.records.record import Record
from trivium.wire.errors import DecodeError
from trivium.wire.limits import DECOMPRESSED_BYTES_MAX

TIME_MS: Final = 1_750_000_000_000
PACKING: Final = {
    "zlib",
    "lz4",
    "zstandard",
    "cramjam",
    "gzip",
    "bz2",
    "lzma",
    "zipfile",
    "tarfile",
    "snappy",
}
WHERE: Final = {
    "records/compression.py": "the one place",
    "records/crc.py": "for its checksum",
    "log/segment.py": "for its checksum",
    "records/kernel_sources.py": "for its checksum",
    "protocols/iggy/zip_archive.py": "which only packs",
}


@pytest.fixture(scope="module")
def bomb() -> bytes:
    record = Record(0, TIME_MS, b"key", bytes(DECOMPRESSED_BYTES_MAX + 1))
    made = build_batch([record], compression=Compression.ZSTD)
    assert len(made) < 10_000
    return made


def test_nobody_unpacks_anything_but_by_the_function_that_has_a_bound() -> None:
    source = Path(trivium.__file__).parent
    found = set()
    for path in source.rglob("*.py"):
        text = path.read_text()
        if not any(word in text for word in PACKING):
            continue
        for node in ast.walk(ast.parse(text)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] in PACKING for name in names):
                found.add(path.relative_to(source).as_posix())
    assert found == WHERE.keys()


def produced(city: City, topic: str, records: bytes) -> set[int]:
    data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    answered = city.kafka.say(ApiKey.PRODUCE, 8, {"acks": -1, "timeout_ms": 60_000, "topic_data": data})
    return {code for _, code in answered.errors}


@pytest.mark.parametrize(
    ("name", "value"),
    [("cleanup.policy", "compact"), ("compression.type", "gzip"), ("message.timestamp.before.max.ms", "1")],
)
def test_bomb_is_refused_where_producing_looks_into_it(
    city: City, bomb: bytes, name: str, value: str
) -> None:
    topic = f"of.{name}"
    configs = [{"name": name, "value": value}]
    topics = [{"name": topic, "num_partitions": 1, "replication_factor": 1, "configs": configs}]
    assert not city.kafka.say(ApiKey.CREATE_TOPICS, 4, {"topics": topics, "timeout_ms": 60_000}).errors
    assert produced(city, topic, bomb) == {ErrorCode.INVALID_RECORD}


def test_bomb_that_lies_in_a_topic_hurts_nobody_who_asks_for_it(city: City, bomb: bytes) -> None:
    """To a plain topic a batch is opaque. Its clients unpack it, and the doors that unpack for theirs."""
    assert produced(city, "a.t", bomb) == set()
    asked = [{"partition_index": 0, "timestamp": TIME_MS - 1}]
    topics = [{"name": "a.t", "partitions": asked}]
    answered = city.kafka.say(ApiKey.LIST_OFFSETS, 5, {"replica_id": -1, "topics": topics})
    assert [each.offset for topic in answered.message.topics for each in topic.partitions] == [-1]
    fetch = {"Fetch": {"topic": "a.t", "partition": 0, "offset": 0, "max_bytes": 100}}
    assert b"cannot be read" in RustLogDoor(city, "root").say(json.dumps(fetch).encode())
    iggy = IggyDoor(city, "root")
    assert iggy.status(Code.POLL_MESSAGES, poll(consumer(1), "a", "t")) != 0
    assert iggy.status(Code.PING, b"") == 0, "and the next request is served"


def test_compaction_leaves_a_bomb_where_it_is(tmp_path: Path, bomb: bytes) -> None:
    directory = open_directory(RealFiles(), str(tmp_path / "data"), SETTINGS)
    log = directory.create("state", 0, TOPIC_ID, SETTINGS, NOW)
    log.append(bytearray(bomb), leader_epoch=0, now_ms=NOW)
    for number in range(20):
        append(log, (b"k", b"%d" % number))
    clean(log)
    sizes = [found.header.size_bytes for found in log.batches(0)]
    assert len(bomb) in sizes
    assert len(sizes) < 21, "and cleans the rest"


def test_person_who_looks_at_a_bomb_reads_a_sentence(tmp_path: Path, bomb: bytes) -> None:
    city = City(None, tmp_path / "data")
    assert produced(city, "a.t", bomb) == set()
    city.close()
    result = run("inspect", str(tmp_path / "data"), "--partition", "a.t-0", "--records", "5")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert "unfold" in result.output + result.stderr


def test_readers_of_ours_refuse_a_bomb(bomb: bytes) -> None:
    """What the client, the command line and Spark read by."""
    for read in (lambda: list(iter_records(bomb)), lambda: read_section(bomb)):
        with pytest.raises(DecodeError, match="unfold"):
            read()
