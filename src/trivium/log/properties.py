r"""Who a directory belongs to: ``meta.properties`` of all of it, ``partition.metadata`` of one partition.

The first is a Java properties file, the second looks like one but has a stricter form:

    #                                             version: 0
    #Sun Nov 15 22:03:03 UTC 2026                 topic_id: Mx58td6mQ-GuN_uiuFdIhg
    node.id=1
    directory.id=wKtiz_EfSuQophOuT7_uHQ
    version=1
    cluster.id=dHJpdml1bS1nb2xkZW4tMQ

Java's format: ISO 8859-1, ``#`` and ``!`` begin a comment, ``=``, ``:`` or white space ends a key, a
backslash at the end of a line continues it, ``\t \n \r \f \uXXXX`` are what they are in Java, a backslash
before anything else is dropped; of two values for a key the last wins. A ``UUID`` is written as 22
characters of URL-safe Base64.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from uuid import UUID

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.wire.errors import DecodeError
from trivium.wire.uuid_text import uuid_from_text, uuid_to_text

_META_VERSION = "1"
_PARTITION_METADATA = re.compile(rb"version: ([0-9]{1,10})\ntopic_id: ([A-Za-z0-9_-]{22})")
_INT32 = re.compile(r"0|[1-9][0-9]{0,9}")
_INT32_MAX = 2**31 - 1

_WHITE_SPACE = " \t\f"
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(u)|(.?))", re.DOTALL)
_UNESCAPED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {character: f"\\{letter}" for letter, character in _UNESCAPED.items()} | {
    character: f"\\{character}" for character in "\\=:#!"
}


class MetaProperties(NamedTuple):
    """Whose data directory this is. ``directory_id`` is missing in those of older Kafkas."""

    node_id: int
    cluster_id: str
    directory_id: UUID | None = None


class PartitionMetadata(NamedTuple):
    """Which topic a partition's directory belongs to: names come back after a deletion, ids do not."""

    topic_id: UUID


def read_meta(files: Files, path: str) -> MetaProperties:
    return decode_meta(whole_file.read(files, path), path)


def write_meta(files: Files, path: str, meta: MetaProperties) -> None:
    whole_file.replace(files, path, encode_meta(meta))


def decode_meta(data: bytes, path: str) -> MetaProperties:
    values = decode_properties(data, path)
    version = values.get("version")
    if version is None:
        raise DecodeError(f"{path} has no version: it is empty, damaged, or no file of a log directory")
    if version == "0":
        raise DecodeError(f"{path} has version 0: it is of a Kafka with ZooKeeper, migrate it to KRaft first")
    if version != _META_VERSION:
        raise DecodeError(f"{path} has version {version}: only version {_META_VERSION} is known")
    node_id, cluster_id = values.get("node.id", ""), values.get("cluster.id", "")
    if not _INT32.fullmatch(node_id) or int(node_id) > _INT32_MAX:
        raise DecodeError(f"{path} has no usable node.id")
    if not cluster_id:
        raise DecodeError(f"{path} has no cluster.id")
    directory_id = values.get("directory.id")
    return MetaProperties(
        int(node_id), cluster_id, None if directory_id is None else _uuid(directory_id, path)
    )


def encode_meta(meta: MetaProperties) -> bytes:
    values = {"node.id": str(meta.node_id)}
    if meta.directory_id is not None:
        values["directory.id"] = uuid_to_text(meta.directory_id.bytes)
    return encode_properties(values | {"version": _META_VERSION, "cluster.id": meta.cluster_id})


def read_partition_metadata(files: Files, path: str) -> PartitionMetadata:
    return decode_partition_metadata(whole_file.read(files, path), path)


def write_partition_metadata(files: Files, path: str, metadata: PartitionMetadata) -> None:
    whole_file.replace(files, path, encode_partition_metadata(metadata))


def decode_partition_metadata(data: bytes, path: str) -> PartitionMetadata:
    match = _PARTITION_METADATA.fullmatch(data)
    if match is None:
        raise DecodeError(f"{path} is damaged: it must be a version and a topic_id, each on its line")
    if match[1] != b"0":
        raise DecodeError(f"{path} has version {match[1].decode()}: only version 0 is known")
    topic_id = _uuid(match[2].decode(), path)
    if topic_id.int == 0:
        raise DecodeError(f"{path} is damaged: no topic has the id of zeros")
    return PartitionMetadata(topic_id)


def encode_partition_metadata(metadata: PartitionMetadata) -> bytes:
    return f"version: 0\ntopic_id: {uuid_to_text(metadata.topic_id.bytes)}".encode("ascii")


def decode_properties(data: bytes, path: str) -> dict[str, str]:
    """A Java properties file, as Java reads it."""
    return {key: value for _, key, value in iter_properties(data, path)}


def iter_properties(data: bytes, path: str) -> Iterator[tuple[int, str, str]]:
    """Each key and value of a Java properties file, with the number of the line where it begins."""
    for number, line in _logical_lines(re.split(r"\r\n|\r|\n", data.decode("latin-1"))):
        key, value = _split(line)
        yield number, _unescape(key, path), _unescape(value, path)


def encode_properties(values: Mapping[str, str], comments: Iterable[str] = ()) -> bytes:
    """A Java properties file, as Java writes it, in the order of ``values``."""
    lines = [f"#{comment}" for comment in comments]
    lines += [f"{_escape(key, every_space=True)}={_escape(value)}" for key, value in values.items()]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def _logical_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines without comments and blanks, continuations joined, by number. Comments are never continued."""
    pending: str | None = None
    begin = 0
    for number, line in enumerate(lines, 1):
        text = line.lstrip(_WHITE_SPACE)
        if pending is None:
            if not text or text[0] in "#!":
                continue
            pending, begin = "", number
        pending += text
        if (len(text) - len(text.rstrip("\\"))) % 2:
            pending = pending[:-1]
            continue
        yield begin, pending
        pending = None
    if pending:
        yield begin, pending


def _split(line: str) -> tuple[str, str]:
    end = 0
    while end < len(line) and line[end] not in f"=:{_WHITE_SPACE}":
        end += 2 if line[end] == "\\" else 1
    value = line[end:].lstrip(_WHITE_SPACE)
    if value[:1] in ("=", ":"):
        value = value[1:].lstrip(_WHITE_SPACE)
    return line[:end], value


def _uuid(text: str, path: str) -> UUID:
    try:
        return UUID(bytes=uuid_from_text(text))
    except DecodeError as error:
        raise DecodeError(f"{path} is damaged: {error}") from None


def _unescape(text: str, path: str) -> str:
    def character(match: re.Match[str]) -> str:
        if match[1]:
            return chr(int(match[1], 16))
        if match[2]:
            raise DecodeError(f"{path} is damaged: four hex digits must follow \\u")
        return _UNESCAPED.get(match[3], match[3])

    if "\\" not in text:
        return text
    try:
        # Java's characters are UTF-16: two \u escapes may be one character of ours.
        return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise DecodeError(f"{path} is damaged: half a surrogate pair is no character") from None


def _escape(text: str, *, every_space: bool = False) -> str:
    def character(index: int, unit: str) -> str:
        if unit == " ":
            return "\\ " if every_space or index == 0 else " "
        if unit in _ESCAPED:
            return _ESCAPED[unit]
        return unit if " " <= unit <= "~" else f"\\u{ord(unit):04X}"

    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(
        character(at // 2, chr(int.from_bytes(units[at : at + 2]))) for at in range(0, len(units), 2)
    )
