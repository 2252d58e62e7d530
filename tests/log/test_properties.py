"""Who a directory belongs to: Kafka's own files read and written again (R11), damage refused (R6, R7)."""

import contextlib
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.log import properties
from trivium.log.files import RealFiles
from trivium.log.properties import MetaProperties, PartitionMetadata
from trivium.wire.errors import DecodeError

GOLDEN = Path(__file__).parents[1] / "golden" / "kafka-files"
META = (GOLDEN / "meta.properties").read_bytes()
PARTITION = (GOLDEN / "txn-0" / "partition.metadata").read_bytes()

# A Java string is UTF-16 and may hold half a pair; ours may not.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_meta_of_kafka_reads_as_written() -> None:
    assert properties.decode_meta(META, "m") == MetaProperties(
        node_id=1,
        cluster_id="dHJpdml1bS1nb2xkZW4tMQ",
        directory_id=UUID("c0ab62cf-f11f-4ae4-28a6-13ae4fbfee1d"),
    )


def test_properties_of_kafka_encode_byte_for_byte() -> None:
    values = properties.decode_properties(META, "m")
    assert properties.encode_properties(values, ["", "Sun Nov 15 22:03:03 UTC 2026"]) == META


def test_partition_metadata_of_kafka_encodes_byte_for_byte() -> None:
    metadata = properties.decode_partition_metadata(PARTITION, "p")
    assert metadata == PartitionMetadata(UUID("331e7cb5-dea6-43e1-ae37-fba2b8574886"))
    assert properties.encode_partition_metadata(metadata) == PARTITION


def test_meta_written_to_a_file_reads_back(tmp_path: Path) -> None:
    path = str(tmp_path / "meta.properties")
    for meta in (MetaProperties(7, "a cluster"), MetaProperties(1, "c", UUID(int=5))):
        properties.write_meta(RealFiles(), path, meta)
        assert properties.read_meta(RealFiles(), path) == meta


def test_partition_metadata_written_to_a_file_reads_back(tmp_path: Path) -> None:
    path = str(tmp_path / "partition.metadata")
    metadata = PartitionMetadata(UUID(int=2**127 + 3))
    properties.write_partition_metadata(RealFiles(), path, metadata)
    assert properties.read_partition_metadata(RealFiles(), path) == metadata


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "m has no version: it is empty, damaged, or no file of a log directory"),
        (b"version=2\n", "m has version 2: only version 1 is known"),
        (b"version=0\nbroker.id=1\n", "m has version 0: .*ZooKeeper"),
        (b"version=1\ncluster.id=c\n", "m has no usable node.id"),
        (b"version=1\ncluster.id=c\nnode.id=-1\n", "m has no usable node.id"),
        (b"version=1\ncluster.id=c\nnode.id=2147483648\n", "m has no usable node.id"),
        (b"version=1\nnode.id=1\n", "m has no cluster.id"),
        (b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=short\n", "m is damaged: a UUID is 22 char"),
    ],
)
def test_meta_that_cannot_be_used_is_refused_in_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(DecodeError, match=sentence) as refusal:
        properties.decode_meta(data, "m")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "values"),
    [
        (rb"a=1", {"a": "1"}),
        (b"a:1\rb 2\r\nc\t=\t3", {"a": "1", "b": "2", "c": "3"}),
        (b"  a = b = c  ", {"a": "b = c  "}),
        (b"# no\n! no\n \t\n#no\\\na=1", {"a": "1"}),
        (b"a=1,\\\n   2,\\\n   3", {"a": "1,2,3"}),
        (b"a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        (rb"a\ b\:c\=d=\t\n\r\f\q\\", {"a b:c=d": "\t\n\r\fq\\"}),
        (rb"a=\u00e4\ud83d\ude00", {"a": "ä😀"}),
        (b"a=\xe4", {"a": "ä"}),
        (b"a", {"a": ""}),
        (b"=1", {"": "1"}),
        (b"a=1\na=2", {"a": "2"}),
        (b"a=\\", {"a": ""}),
        (b"a=b\\\n# not a comment", {"a": "b# not a comment"}),
    ],
)
def test_properties_read_as_java_reads_them(data: bytes, values: dict[str, str]) -> None:
    assert properties.decode_properties(data, "p") == values


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("a b", " c d", rb"a\ b=\ c d"),
        ("a=b:c", "#!\\", rb"a\=b\:c=\#\!\\"),
        ("k", "\t\n\r\f", rb"k=\t\n\r\f"),
        ("ä", "😀\x7f", rb"\u00E4=\uD83D\uDE00\u007F"),
    ],
)
def test_properties_are_written_as_java_writes_them(key: str, value: str, line: bytes) -> None:
    assert properties.encode_properties({key: value}) == line + b"\n"


@pytest.mark.parametrize("data", [rb"a=\u12", rb"a=\uzzzz", rb"a=\ud83d", rb"a=\ude00\ud83d", rb"\u=1"])
def test_properties_with_a_broken_escape_are_refused(data: bytes) -> None:
    with pytest.raises(DecodeError):
        properties.decode_properties(data, "p")


@given(st.dictionaries(texts, texts, max_size=5))
def test_properties_of_any_text_round_trip(values: dict[str, str]) -> None:
    assert properties.decode_properties(properties.encode_properties(values), "p") == values


@given(st.binary(max_size=60))
def test_any_bytes_decode_or_raise_decode_error(data: bytes) -> None:
    for decode in (
        properties.decode_properties,
        properties.decode_meta,
        properties.decode_partition_metadata,
    ):
        with contextlib.suppress(DecodeError):
            decode(data, "p")


def test_partition_metadata_cut_or_longer_is_refused() -> None:
    for size_bytes in range(len(PARTITION)):
        with pytest.raises(DecodeError):
            properties.decode_partition_metadata(PARTITION[:size_bytes], "p")
    for tail in (b"\n", b"\0", b"A", b"\0" * 469):
        with pytest.raises(DecodeError):
            properties.decode_partition_metadata(PARTITION + tail, "p")


def test_partition_metadata_with_any_bit_flipped_is_refused_or_another_id() -> None:
    """R6: an id that reads at all reads as a different one, which the metadata log contradicts."""
    topic_id = properties.decode_partition_metadata(PARTITION, "p").topic_id
    for bit in range(len(PARTITION) * 8):
        damaged = bytearray(PARTITION)
        damaged[bit // 8] ^= 1 << bit % 8
        with contextlib.suppress(DecodeError):
            assert properties.decode_partition_metadata(bytes(damaged), "p").topic_id != topic_id


@pytest.mark.parametrize("version", [b"1", b"00", b"99", b"4294967296"])
def test_partition_metadata_of_an_unknown_version_is_refused(version: bytes) -> None:
    with pytest.raises(DecodeError, match="only version 0 is known"):
        properties.decode_partition_metadata(PARTITION.replace(b"0", version, 1), "p")


def test_partition_metadata_with_the_id_of_zeros_is_refused() -> None:
    with pytest.raises(DecodeError, match="zeros"):
        properties.decode_partition_metadata(b"version: 0\ntopic_id: " + b"A" * 22, "p")
