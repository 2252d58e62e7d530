"""POLL_MESSAGES: read from a partition on, by offset, time, either end, or where one has stopped.

    request   consumer | stream | topic | partition | strategy | count u32 | auto commit u8
    answer    partition u32 | last offset of the partition u64 | count u32 | messages

A poll never waits: there is an answer of 16 bytes if there is no message. Fewer messages than asked for are
no sign of the end. Only committed records are seen, and there may be gaps between their offsets.
"""

import struct
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from trivium.core.commands.command import Command
from trivium.core.commands.list_offsets import FindOffsets, OffsetQuery
from trivium.core.commands.records import Fetch, FetchedPart, FetchPart
from trivium.core.commands.stream_groups import BeginPoll, EndPoll, PollPlace, StoreConsumerOffset
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body, Strategy, StrategyKind
from trivium.protocols.iggy.client import Client
from trivium.protocols.iggy.commands.offsets import must_own, read_reading
from trivium.protocols.iggy.exchange import Answer, Call, Exchange, ask
from trivium.protocols.iggy.foresight import STRETCH_BYTES_MAX, Stretch
from trivium.protocols.iggy.status import Rejected, Status
from trivium.records.iggy import POLL_BYTES_MAX, PolledMessages, messages_from_batches, place_of
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_TAIL_BYTES: Final = 14
"""Strategy, count and auto commit."""
_HEAD: Final = struct.Struct("<IQI")
_STAMP: Final = struct.Struct("<24xQQ8xII")
"""Offset, timestamp, and the lengths of user headers and payload, in the header of a message."""
_MILLISECOND: Final = 1_000
_TIMESTAMP_MS_MAX: Final = (1 << 63) - 1

NOTHING_TO_READ: Final = _HEAD.pack(0, 0, 0)
"""For a member of a group that has no partition."""

READ_BYTES_MIN: Final = 16 << 10
READ_BYTES_MAX: Final = 4 << 20
"""Read from the log at once; a poll reads until it has what was asked for."""


def poll_messages(body: Body, call: Call) -> Exchange:
    reading = read_reading(body, call, _TAIL_BYTES)
    strategy, count, auto_commit = body.strategy(), body.u32(), body.flag()
    if count == 0 and call.client.dialect.counts_from_one:
        raise Rejected(Status.INVALID_MESSAGES_COUNT)
    goes_on = strategy.kind is StrategyKind.NEXT
    place = yield from ask(BeginPoll(*reading, must_own(call), goes_on))
    if place.fault is Fault.PARTITION_NOT_OWNED:
        return NOTHING_TO_READ
    call.require(place.fault)
    if place.partition is None:
        return NOTHING_TO_READ
    start = yield from _start(strategy, count, place, call)
    pieces: list[PolledMessages] = []
    if count and start is not None:
        pieces = yield from _ready_or_read(place, start, count, call)
        if strategy.kind is StrategyKind.TIMESTAMP:
            pieces = yield from _not_before(strategy.value, pieces, place, count, call)
    offsets = [piece.offset_last for piece in pieces if piece.count]
    if auto_commit and offsets:
        stream, topic, consumer, _ = reading
        stored = StoreConsumerOffset(
            stream, topic, consumer, place.partition, offsets[-1] + 1, must_own(call)
        )
        call.require((yield from ask(stored)))
    elif offsets and reading.consumer.is_group and must_own(call):
        stream, topic, consumer, _ = reading
        told = EndPoll(stream, topic, consumer.ref, place.partition, offsets[-1] + 1)
        fault = yield from ask(told)
        if fault is Fault.PARTITION_NOT_OWNED:
            return NOTHING_TO_READ
        call.require(fault)
    return _answer(place, pieces, call)


def _answer(place: PollPlace, pieces: list[PolledMessages], call: Call) -> Answer:
    assert place.partition is not None
    offset_last = max(place.offset_end - 1, 0)
    count = sum(piece.count for piece in pieces)
    parts: list[Buffer] = [_HEAD.pack(call.shown(place.partition), offset_last, count)]
    parts += [piece.data for piece in pieces if piece.count]
    return parts


def _start(
    strategy: Strategy, count: int, place: PollPlace, call: Call
) -> Generator[Command[Any], Any, int | None]:
    """The offset to read from; None if nothing is there."""
    kind, value = strategy
    start: int | None = place.log_start_offset
    if kind is StrategyKind.OFFSET:
        start = max(value, place.log_start_offset)
    elif kind is StrategyKind.LAST:
        start = max(place.offset_end - count, place.log_start_offset)
    elif kind is StrategyKind.NEXT and place.committed is not None:
        start = max(place.committed, place.log_start_offset)
    elif kind is StrategyKind.TIMESTAMP:
        start = yield from _found(value // _MILLISECOND, place, call)
    return start if start is not None and start < place.offset_end else None


def _found(timestamp_ms: int, place: PollPlace, call: Call) -> Generator[Command[Any], Any, int | None]:
    assert place.partition is not None
    query = OffsetQuery(place.topic, place.partition, min(timestamp_ms, _TIMESTAMP_MS_MAX))
    found = (yield from ask(FindOffsets([query], committed=True)))[0]
    call.require(found.fault)
    return None if found.offset < 0 else found.offset


def _stretch(place: PollPlace, start: int, count: int, client: Client) -> Stretch:
    assert place.partition is not None
    return Stretch(
        place.topic,
        place.partition,
        place.life,
        start,
        count,
        client.dialect.header_bytes,
        place.topic_id,
    )


def _ready_or_read(
    place: PollPlace, start: int, count: int, call: Call
) -> Generator[Command[Any], Any, list[PolledMessages]]:
    stretch, foresight = _stretch(place, start, count, call.client), call.client.foresight
    if place.is_compacted:
        foresight.forget()
        return (yield from _read(stretch, place.offset_end, call))
    ready = foresight.take(stretch, place.offset_end)
    pieces = (yield from _read(stretch, place.offset_end, call)) if ready is None else [ready]
    foresight.has_read(stretch, pieces, place.offset_end)
    return pieces


def read_ahead(client: Client) -> None:
    """Make ready what the client is going to poll, if that is known."""
    stretch, client.foresight.wanted = client.foresight.wanted, None
    if stretch is not None:
        done = partial(_make_ready, client, stretch)
        client.protocol.engine.execute(_fetch(stretch, client), client.caller, done)


def _make_ready(client: Client, stretch: Stretch, parts: list[FetchedPart]) -> None:
    """What is wrong is for the poll to meet; which may have come before what the disk had to give."""
    if parts[0].fault is None and client.foresight.expects(stretch):
        with suppress(DecodeError):
            client.foresight.put(stretch, _messages(parts[0], stretch, STRETCH_BYTES_MAX))


def _read(
    stretch: Stretch, offset_end: int, call: Call
) -> Generator[Command[Any], Any, list[PolledMessages]]:
    """The messages of a stretch, in as many pieces as they were read in."""
    client = call.client
    pieces: list[PolledMessages] = []
    size_bytes = 0
    while stretch.messages_count and stretch.offset < offset_end and size_bytes < POLL_BYTES_MAX:
        fetched = (yield from ask(_fetch(stretch, client)))[0]
        if fetched.fault is Fault.OFFSET_OUT_OF_RANGE:
            break  # Retention has passed by; the next poll begins where the log does now.
        call.require(fetched.fault)
        piece = _messages(fetched, stretch, POLL_BYTES_MAX - size_bytes)
        if piece.count:
            pieces.append(piece)
            size_bytes += len(piece.data)
            client.message_bytes = len(piece.data) // piece.count + 1
        if piece.count == stretch.messages_count or piece.offset_next <= stretch.offset:
            break
        stretch = stretch.rest(piece.offset_next, piece.count)
    return pieces


def _fetch(stretch: Stretch, client: Client) -> Fetch:
    wanted_bytes = min(max(stretch.messages_count * client.message_bytes, READ_BYTES_MIN), READ_BYTES_MAX)
    part = FetchPart(stretch.topic, stretch.partition, stretch.offset, wanted_bytes)
    return Fetch([part], 0, 0, wanted_bytes, committed=True)


def _messages(fetched: FetchedPart, stretch: Stretch, bytes_max: int) -> PolledMessages:
    return messages_from_batches(
        fetched.runs,
        aborted=fetched.aborted or (),
        offset_first=stretch.offset,
        count_max=stretch.messages_count,
        header_bytes=stretch.header_bytes,
        place=place_of(stretch.topic_id, stretch.partition),
        bytes_max=bytes_max,
    )


def _not_before(
    timestamp_us: int, pieces: list[PolledMessages], place: PollPlace, count: int, call: Call
) -> Generator[Command[Any], Any, list[PolledMessages]]:
    """The log is searched by milliseconds: messages of the same one that are older by microseconds go."""
    header_bytes = call.client.dialect.header_bytes
    while pieces and _is_too_old(_STAMP.unpack_from(pieces[0].data)[1], timestamp_us):
        start = next(
            (
                offset
                for piece in pieces
                for offset, timestamp in _stamps(piece, header_bytes)
                if not _is_too_old(timestamp, timestamp_us)
            ),
            pieces[-1].offset_next,
        )
        again = _stretch(place, start, count, call.client)
        pieces = yield from _read(again, place.offset_end, call)
    return pieces


def _is_too_old(timestamp_us: int, wanted_us: int) -> bool:
    return timestamp_us < wanted_us and timestamp_us // _MILLISECOND == wanted_us // _MILLISECOND


def _stamps(piece: PolledMessages, header_bytes: int) -> Iterator[tuple[int, int]]:
    """Offset and timestamp of every message."""
    at = 0
    while at < len(piece.data):
        offset, timestamp, headers_bytes, payload_bytes = _STAMP.unpack_from(piece.data, at)
        yield offset, timestamp
        at += header_bytes + headers_bytes + payload_bytes
