"""Checkpoints: small text files with a number for each partition, or for each leader epoch.

::

    0                   version
    2                   count of the lines that follow
    compacted 0 100     topic partition offset          or, in leader-epoch-checkpoint:  epoch offset
    plain 2 70

Kafka gives them no checksum, so reading is strict: what this module would not have written it does not
read, and every number has one spelling. A digit that turned into another digit still reads; the log
that the number speaks of has to contradict it. A file of no bytes is how Kafka creates one: no entries.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from trivium.log import whole_file
from trivium.log.files import Files
from trivium.log.names import topic_fault
from trivium.wire.errors import DecodeError

TopicPartition = tuple[str, int]

_VERSION = 0
_FIRST_ENTRY_LINE = 3
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1

Entry = TypeVar("Entry")


class EpochStart(NamedTuple):
    """A leader epoch and the first offset that was written in it."""

    epoch: int
    start_offset: int


def read_offsets(files: Files, path: str) -> dict[TopicPartition, int]:
    """The offsets in a checkpoint, in the file's order; none if there is no file."""
    return decode_offsets(whole_file.read(files, path), path) if files.exists(path) else {}


def write_offsets(files: Files, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    whole_file.replace(files, path, encode_offsets(offsets))


def decode_offsets(data: bytes, path: str) -> dict[TopicPartition, int]:
    offsets: dict[TopicPartition, int] = {}
    for number, (partition, offset) in enumerate(_decode(data, path, _offset_line), _FIRST_ENTRY_LINE):
        if partition in offsets:
            raise _damage(path, number, f"names partition {partition[0]}-{partition[1]} again")
        offsets[partition] = offset
    return offsets


def encode_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    return _encode(f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items())


def read_epochs(files: Files, path: str) -> list[EpochStart]:
    """The leader epochs in a checkpoint, oldest first; none if there is no file."""
    return decode_epochs(whole_file.read(files, path), path) if files.exists(path) else []


def write_epochs(files: Files, path: str, epochs: Sequence[EpochStart]) -> None:
    whole_file.replace(files, path, encode_epochs(epochs))


def decode_epochs(data: bytes, path: str) -> list[EpochStart]:
    epochs: list[EpochStart] = []
    for number, entry in enumerate(_decode(data, path, _epoch_line), _FIRST_ENTRY_LINE):
        if epochs and not (entry.epoch > epochs[-1].epoch and entry.start_offset > epochs[-1].start_offset):
            raise _damage(path, number, "does not come after the line before it")
        epochs.append(entry)
    return epochs


def encode_epochs(epochs: Iterable[EpochStart]) -> bytes:
    return _encode(f"{epoch} {start_offset}" for epoch, start_offset in epochs)


def _encode(entries: Iterable[str]) -> bytes:
    lines = list(entries)
    return "".join(f"{line}\n" for line in (_VERSION, len(lines), *lines)).encode("ascii")


def _decode(data: bytes, path: str, parse: Callable[[str], Entry | None]) -> list[Entry]:
    if not data:
        return []
    # Split on the newline alone: str.splitlines knows a dozen more, which Kafka does not write.
    *lines, rest = data.decode("latin-1").split("\n")
    if rest:
        raise _damage(path, len(lines) + 1, "breaks off without a newline")
    if lines[0] != str(_VERSION):
        raise _damage(path, 1, f"must be the version {_VERSION}")
    count = _number(lines[1], _INT32_MAX) if len(lines) > 1 else None
    if count is None:
        raise _damage(path, 2, "must be the number of entries")
    if count != len(lines) - 2:
        raise _damage(path, 2, f"promises {count} entries, {len(lines) - 2} follow")
    entries = []
    for number, line in enumerate(lines[2:], _FIRST_ENTRY_LINE):
        entry = parse(line)
        if entry is None:
            raise _damage(path, number, "is not an entry")
        entries.append(entry)
    return entries


def _offset_line(line: str) -> tuple[TopicPartition, int] | None:
    fields = line.split(" ")
    if len(fields) != 3 or topic_fault(fields[0]) is not None:
        return None
    partition, offset = _number(fields[1], _INT32_MAX), _number(fields[2], _INT64_MAX)
    return None if partition is None or offset is None else ((fields[0], partition), offset)


def _epoch_line(line: str) -> EpochStart | None:
    fields = line.split(" ")
    if len(fields) != 2:
        return None
    epoch, start_offset = _number(fields[0], _INT32_MAX), _number(fields[1], _INT64_MAX)
    return None if epoch is None or start_offset is None else EpochStart(epoch, start_offset)


def _number(text: str, maximum: int) -> int | None:
    """A number in its one spelling: no sign, no leading zero, no foreign digits, never too large."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(maximum)):
        return None
    number = int(text)
    return number if str(number) == text and number <= maximum else None


def _damage(path: str, line: int, what: str) -> DecodeError:
    return DecodeError(f"{path} is damaged: line {line} {what}")
