"""Where a source begins to read when its flow has no checkpoint yet."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import Final

from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.value import kind_of

OFFSET_MAX: Final = (1 << 63) - 1
PARTITION_MAX: Final = (1 << 31) - 1

_EXAMPLE: Final = 'Write earliest, latest, a time such as 2025-06-15T10:30, or offsets: {"0" = 17}.'


class StartKind(StrEnum):
    EARLIEST = "earliest"
    LATEST = "latest"
    TIME = "time"
    OFFSETS = "offsets"


@dataclass(frozen=True, slots=True, order=True)
class PartitionOffset:
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Start:
    kind: StartKind = StartKind.EARLIEST
    timestamp_ms: int | None = None
    """For ``TIME``: the first record that is not older."""

    offsets: tuple[PartitionOffset, ...] = ()
    """For ``OFFSETS``; partitions that are not named begin at their first record."""


EARLIEST = Start()
LATEST = Start(StartKind.LATEST)


def parse_start(value: object, topics: tuple[str, ...]) -> Start:
    """``topics``: those of the source, none where it has a pattern. Times without a zone are UTC."""
    if isinstance(value, Start):
        return value
    if isinstance(value, datetime):
        return _at(value)
    if isinstance(value, date):
        return _at(datetime(value.year, value.month, value.day))
    if isinstance(value, Mapping):
        return Start(StartKind.OFFSETS, offsets=tuple(sorted(_offsets(value, topics))))
    if not isinstance(value, str):
        raise Mistake("start", f"'start' cannot be {kind_of(value)}.", _EXAMPLE)
    word = value.strip().lower()
    if word in (StartKind.EARLIEST, StartKind.LATEST):
        return EARLIEST if word == StartKind.EARLIEST else LATEST
    if not any(letter.isdigit() for letter in word):
        meant = get_close_matches(word, (StartKind.EARLIEST, StartKind.LATEST), n=1)
        remedy = f"Did you mean '{meant[0]}'?" if meant else _EXAMPLE
        raise Mistake("start", f"'start' cannot be '{value}'.", remedy)
    try:
        return _at(datetime.fromisoformat(value.strip()))
    except (ValueError, OverflowError):
        raise Mistake("start", f"'{value}' is no time.", _EXAMPLE) from None


def _at(moment: datetime) -> Start:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return Start(StartKind.TIME, timestamp_ms=round(moment.timestamp() * 1000))


def _offsets(value: Mapping[object, object], topics: tuple[str, ...]) -> list[PartitionOffset]:
    if not value:
        raise Mistake("start", "'start' names no partition.", _EXAMPLE)
    found = []
    for key, rest in value.items():
        if isinstance(rest, Mapping):
            if topics and key not in topics:
                raise Mistake("start", f"The source does not read {key}.", did_you_mean(str(key), topics))
            found += [_offset(str(key), partition, offset) for partition, offset in rest.items()]
        elif len(topics) == 1:
            found.append(_offset(topics[0], key, rest))
        else:
            raise Mistake(
                "start",
                "Of a source with several topics, offsets need a topic.",
                '{orders = {"0" = 17}}, for example.',
            )
    return found


def _offset(topic: str, partition: object, offset: object) -> PartitionOffset:
    if not re.fullmatch(r"\d{1,10}", str(partition)) or int(str(partition)) > PARTITION_MAX:
        raise Mistake("start", f"'{partition}' is no partition.", "Partitions are numbered from 0.")
    if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset <= OFFSET_MAX:
        raise Mistake("start", f"{offset!r} is no offset.", "Offsets are numbers from 0 on.")
    return PartitionOffset(topic, int(str(partition)), offset)
