"""Names in a data directory: made, read back, and never outside it (promise S14)."""

import os.path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log import names
from trivium.log.names import MetadataSnapshot, OffsetFile, PartitionDirectory
from trivium.wire.errors import EncodeError

HEX = "24f8cc266d6c413ea2294e594b989752"

topics = st.text(alphabet="abcXYZ019._-", min_size=1, max_size=names.TOPIC_CHARACTERS_MAX).filter(
    lambda name: name not in (".", "..")
)
partitions = st.integers(0, 99_999)


def test_offset_text_of_an_offset_has_twenty_digits() -> None:
    assert names.offset_text(0) == "0" * 20
    assert names.offset_text(2**63 - 1) == "09223372036854775807"


@pytest.mark.parametrize("offset", [-1, 2**63])
def test_offset_text_outside_int64_is_refused(offset: int) -> None:
    with pytest.raises(EncodeError):
        names.offset_text(offset)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("00000000000000000042.log", OffsetFile(42, ".log")),
        ("00000000000000000042.timeindex.deleted", OffsetFile(42, ".timeindex", ".deleted")),
        ("00000000000000000042.txnindex.cleaned", OffsetFile(42, ".txnindex", ".cleaned")),
        ("00000000000000000042.index.swap", OffsetFile(42, ".index", ".swap")),
        ("00000000000000000259.snapshot", OffsetFile(259, ".snapshot")),
    ],
)
def test_offset_file_as_kafka_names_it_reads_back(name: str, expected: OffsetFile) -> None:
    assert names.parse_offset_file(name) == expected
    assert names.offset_file(*expected) == name


@pytest.mark.parametrize(
    "name",
    [
        "42.log",
        "00000000000000000042.log.tmp",
        "00000000000000000042.log\n",
        "99999999999999999999.log",
        "0000000000000000004٢.log",
        "00000000000000000042.LOG",
        "leader-epoch-checkpoint",
        "",
    ],
)
def test_offset_file_of_a_foreign_name_is_none(name: str) -> None:
    assert names.parse_offset_file(name) is None


def test_metadata_snapshot_as_kafka_names_it_reads_back() -> None:
    name = "00000000000000000101-0000000001.checkpoint"
    assert names.parse_metadata_snapshot(name) == MetadataSnapshot(101, 1)
    assert names.metadata_snapshot(101, 1) == name
    assert names.parse_metadata_snapshot("00000000000000000101-9999999999.checkpoint") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("name.with.dots_and-dashes-0", PartitionDirectory("name.with.dots_and-dashes", 0)),
        ("a-0-1", PartitionDirectory("a-0", 1)),
        (f"deleted-topic-1.{HEX}-delete", PartitionDirectory("deleted-topic", 1, "delete", HEX)),
        (f"t-7.{HEX}-future", PartitionDirectory("t", 7, "future", HEX)),
        (f"t-7.{HEX}-stray", PartitionDirectory("t", 7, "stray", HEX)),
        # A topic may be named like a doomed directory; its own directory is still a live one.
        (f"t-7.{HEX}-delete-0", PartitionDirectory(f"t-7.{HEX}-delete", 0)),
    ],
)
def test_partition_directory_as_kafka_names_it_reads_back(name: str, expected: PartitionDirectory) -> None:
    assert names.parse_partition_directory(name) == expected
    if expected.fate:
        assert names.doomed_directory(*expected) == name
    else:
        assert names.partition_directory(expected.topic, expected.partition) == name


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "a-",
        "-0",
        "a-00",
        "a-01",
        "a--1x",
        "a-2147483648",
        "a-٣",
        "a/b-0",
        "..-0",
        ".-0",
        "a b-0",
        "a-0\n",
        "a-0-delete",
        f"a-0.{HEX}-gone",
        f"a-0.{HEX.upper()}-delete",
        f"a-0.{HEX[1:]}-delete",
        "x" * 300 + "-0",
    ],
)
def test_partition_directory_of_a_foreign_name_is_none(name: str) -> None:
    assert names.parse_partition_directory(name) is None


@pytest.mark.parametrize(
    "topic",
    [
        "",
        ".",
        "..",
        "a/b",
        "../a",
        "a\0b",
        "a b",
        "ä",
        "a\n",
        "x" * 250,
        "a\x1b[31m",
        "<b>",
        "=1+1",
        "\ud800",
    ],
)
def test_topic_that_cannot_be_a_name_gets_one_sentence(topic: str) -> None:
    fault = names.topic_fault(topic)
    assert fault is not None
    assert fault.endswith(".")
    assert "\n" not in fault
    assert fault.isascii()
    with pytest.raises(EncodeError):
        names.partition_directory(topic, 0)
    with pytest.raises(EncodeError):
        names.doomed_directory(topic, 0, "delete", HEX)


def test_doomed_directory_of_a_long_topic_fits_a_file_system() -> None:
    name = names.doomed_directory("x" * 249, 12, "delete", HEX)
    assert len(name) == 255
    parsed = names.parse_partition_directory(name)
    assert parsed is not None
    assert (parsed.partition, parsed.fate, parsed.unique_id) == (12, "delete", HEX)


def test_partition_directory_longer_than_a_file_name_is_refused() -> None:
    assert len(names.partition_directory("x" * 249, 99_999)) == 255
    with pytest.raises(EncodeError):
        names.partition_directory("x" * 249, 100_000)


@given(topics, partitions)
def test_partition_directory_of_any_topic_reads_back(topic: str, partition: int) -> None:
    name = names.partition_directory(topic, partition)
    assert names.parse_partition_directory(name) == PartitionDirectory(topic, partition)


@given(st.text(max_size=300), st.integers(-5, 2**33))
def test_partition_directory_of_any_text_stays_inside_its_parent(topic: str, partition: int) -> None:
    """S14: whatever the name, the result is one component of a path, or a refusal."""
    try:
        name = names.partition_directory(topic, partition)
    except EncodeError:
        return
    assert os.path.dirname(os.path.normpath(os.path.join("/data", name))) == "/data"


@given(st.text(alphabet="ab-.0123456789defltuy", max_size=60))
def test_partition_directory_read_from_any_text_is_made_again_exactly(name: str) -> None:
    """S14: no two names mean one partition."""
    parsed = names.parse_partition_directory(name)
    if parsed is not None:
        made = names.doomed_directory(*parsed) if parsed.fate else names.partition_directory(*parsed[:2])
        assert made == name
