"""Where a read begins and ends: a word, a moment, or a number for each partition, made into offsets.

Kafka asks for offsets by time, with two times that mean the ends of a partition; so does everything here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from trivium.client.offsets import EARLIEST, LATEST
from trivium.client.topology import TopicPartition
from trivium.spark.connector.errors import BadOption, DataLost, FellBack
from trivium.spark.connector.offsets_json import parse_numbers
from trivium.spark.connector.origin import Origin


class NoMatch(Enum):
    """What to do where no record is as young as a starting time."""

    ERROR = "error"
    LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same in all partitions: ``EARLIEST``, ``LATEST``, or a time in milliseconds."""

    timestamp: int


@dataclass(frozen=True, slots=True)
class AtTimes:
    timestamps: Mapping[TopicPartition, int]


@dataclass(frozen=True, slots=True)
class AtOffsets:
    """``EARLIEST`` and ``LATEST`` stand for the ends of a partition."""

    offsets: Mapping[TopicPartition, int]


Bound: TypeAlias = Everywhere | AtTimes | AtOffsets

FROM_EARLIEST: Final = Everywhere(EARLIEST)
TO_LATEST: Final = Everywhere(LATEST)

_WORDS: Final = {"earliest": FROM_EARLIEST, "latest": TO_LATEST}


def parse_bound(side: str, options: Mapping[str, str], default: Bound) -> Bound:
    """``side`` is ``starting`` or ``ending``; the most specific option for it wins, as in Spark."""
    moment, by_time, by_offset = f"{side}Timestamp", f"{side}OffsetsByTimestamp", f"{side}Offsets"
    if moment.lower() in options:
        text = options[moment.lower()]
        if not text.strip().isdecimal():
            raise BadOption(f"{moment} wants milliseconds since 1970, not {text!r}.")
        return Everywhere(int(text))
    if by_time.lower() in options:
        times = parse_numbers(by_time, options[by_time.lower()])
        if min(times.values()) < 0:
            raise BadOption(f"{by_time} wants milliseconds since 1970, not {min(times.values())}.")
        return AtTimes(times)
    if by_offset.lower() not in options:
        return default
    text = options[by_offset.lower()].strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if not text.startswith("{"):
        raise BadOption(f"{by_offset} is earliest, latest or JSON with offsets, not {text!r}.")
    offsets = parse_numbers(by_offset, text)
    if min(offsets.values()) < EARLIEST:
        raise BadOption(f"{by_offset} knows -2 (earliest) and -1 (latest), but no {min(offsets.values())}.")
    return AtOffsets(offsets)


def names_latest(bound: Bound) -> bool:
    return bound == TO_LATEST or (isinstance(bound, AtOffsets) and LATEST in bound.offsets.values())


def names_earliest(bound: Bound) -> bool:
    return bound == FROM_EARLIEST or (isinstance(bound, AtOffsets) and EARLIEST in bound.offsets.values())


def resolve_start(
    origin: Origin,
    bound: Bound,
    keys: Sequence[TopicPartition],
    *,
    no_match: NoMatch,
    fail_on_data_loss: bool,
) -> dict[TopicPartition, int]:
    """The first offset to read of each partition."""
    found, unmatched = _resolve(origin, bound, keys, "starting")
    if unmatched and no_match is NoMatch.ERROR:
        key, timestamp = min(unmatched.items())
        raise BadOption(
            f"Topic {key.topic}, partition {key.partition} has no record at or after {timestamp}; choose an "
            "earlier time, or set startingOffsetsByTimestampStrategy to latest to wait for the next."
        )
    found |= _ends(origin, unmatched)
    if isinstance(bound, AtOffsets):
        begins = origin.find_offsets(dict.fromkeys(keys, EARLIEST))
        for key, offset in found.items():
            if offset < begins[key] and fail_on_data_loss:
                raise removed(key, offset, begins[key])
        found = {key: max(offset, begins[key]) for key, offset in found.items()}
    return found


def resolve_end(
    origin: Origin, bound: Bound, keys: Sequence[TopicPartition], *, fail_on_data_loss: bool
) -> dict[TopicPartition, int]:
    """The offset behind the last one to read of each partition; where nothing is that young, its end."""
    found, unmatched = _resolve(origin, bound, keys, "ending")
    found |= _ends(origin, unmatched)
    if isinstance(bound, AtOffsets):
        ends = _ends(origin, found)
        for key, offset in found.items():
            if offset > ends[key] and fail_on_data_loss:
                raise BadOption(
                    f"endingOffsets asks for topic {key.topic}, partition {key.partition} up to offset "
                    f"{offset}, but it ends at {ends[key]}; choose that or less, or latest."
                )
        found = {key: min(offset, ends[key]) for key, offset in found.items()}
    return found


def removed(key: TopicPartition, offset: int, log_start_offset: int) -> DataLost:
    return DataLost(
        f"Topic {key.topic}, partition {key.partition}: the records from offset {offset} to "
        f"{log_start_offset - 1} were removed before they were read; it begins at {log_start_offset} now."
    )


def fell_back(key: TopicPartition, position: int, log_end_offset: int) -> FellBack:
    return FellBack(
        f"Topic {key.topic}, partition {key.partition} ends at offset {log_end_offset}, but was read up to "
        f"{position} before: it was made anew, or its broker lost records."
    )


def _resolve(
    origin: Origin, bound: Bound, keys: Sequence[TopicPartition], side: str
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """Offsets, and the partitions without a record as young as was asked for, with the time."""
    offsets: dict[TopicPartition, int] = {}
    if isinstance(bound, Everywhere):
        timestamps = dict.fromkeys(keys, bound.timestamp)
    elif isinstance(bound, AtTimes):
        _check_complete(bound.timestamps, keys, f"{side}OffsetsByTimestamp")
        timestamps = dict(bound.timestamps)
    else:
        _check_complete(bound.offsets, keys, f"{side}Offsets")
        offsets = {key: offset for key, offset in bound.offsets.items() if offset >= 0}
        timestamps = {key: word for key, word in bound.offsets.items() if word < 0}
    found = origin.find_offsets(timestamps)
    unmatched = {key: timestamps[key] for key, offset in found.items() if offset < 0}
    return offsets | {key: offset for key, offset in found.items() if offset >= 0}, unmatched


def _ends(origin: Origin, keys: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
    return origin.find_offsets(dict.fromkeys(keys, LATEST))


def _check_complete(named: Mapping[TopicPartition, int], keys: Sequence[TopicPartition], option: str) -> None:
    """As Spark has it: whoever says something for one partition says it for all."""
    missing, unknown = sorted(set(keys) - set(named)), sorted(set(named) - set(keys))
    if missing:
        raise BadOption(
            f"{option} says nothing for partition {missing[0]}; name every partition that is read."
        )
    if unknown:
        raise BadOption(f"{option} names {unknown[0]}, which is not read; leave it out.")
