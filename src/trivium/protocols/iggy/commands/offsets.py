"""GET_, STORE_, DELETE_CONSUMER_OFFSET: how far a consumer or a group has read a partition.

    request   consumer | stream | topic | partition | offset u64 (STORE only)
    answer    partition u32 | last offset of the partition u64 | stored offset u64 (GET only)

Iggy stores the offset of the last message read, the core that of the next one to read.
"""

import struct
from functools import lru_cache
from typing import Final, NamedTuple

from trivium.core.commands.stream_groups import (
    Consumer,
    DeleteConsumerOffset,
    FindConsumerOffset,
    StoreConsumerOffset,
)
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body, ConsumerIdentity, Identifier
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out

_OFFSET: Final = struct.Struct("<IQQ")
_OFFSET_BYTES: Final = 8
_NUMBER_BYTES: Final = 4
_FLAGGED_BYTES: Final = 5
HEAD_BYTES_MAX: Final = 1 + 3 * (2 + 255) + _FLAGGED_BYTES
"""A consumer, a stream, a topic and a partition take no more; what follows is no part of them."""
NAMES_MAX: Final = 1_024
_UNKNOWN: Final = (
    Fault.UNKNOWN_STREAM,
    Fault.UNKNOWN_STREAM_TOPIC,
    Fault.UNKNOWN_PARTITION,
    Fault.UNKNOWN_STREAM_GROUP,
)


class Reading(NamedTuple):
    """Who reads what, as polls and offsets say it, in the core's numbers."""

    stream: int | str
    topic: int | str
    consumer: Consumer
    partition: int | None


def read_reading(body: Body, call: Call, tail_bytes: int) -> Reading:
    """Consumer, stream, topic and partition, of a body in which ``tail_bytes`` follow.

    A partition is a number in 0.5, where 0 is none, and a flag and a number since: the bytes that are left
    say which it is, and that decides how the numbers before it are counted, too.
    """
    head = body.ahead[: max(body.remaining - tail_bytes, 0)]
    who, stream, topic, names_bytes = _names(bytes(head[:HEAD_BYTES_MAX]))
    body.take(names_bytes)
    left = body.remaining - tail_bytes
    is_old = True if left == _NUMBER_BYTES else False if left == _FLAGGED_BYTES else None
    if call.client.dialect.shown_counting(is_old):
        number = body.u32()
        partition = call.number(number) if number else None
    else:
        is_given, number = body.flag(), body.u32()
        partition = number if is_given else None
    ref = call.group(who.identifier) if who.is_group else who.identifier
    return Reading(call.stream(stream), call.topic(topic), Consumer(ref, who.is_group), partition)


@lru_cache(maxsize=NAMES_MAX)
def _names(head: bytes) -> tuple[ConsumerIdentity, Identifier, Identifier, int]:
    """Consumer, stream and topic, and how many bytes they take. A client polls with the same ones again and
    again: they are read once.
    """
    body = Body(head)
    return body.consumer(), body.identifier(), body.identifier(), body.pos


def must_own(call: Call) -> bool:
    """Whether a member may only touch partitions that are its own: very old clients expect no such thing."""
    return not call.client.dialect.counts_from_one


def get_consumer_offset(body: Body, call: Call) -> Exchange:
    found = yield from ask(FindConsumerOffset(*read_reading(body, call, 0)))
    call.require_or_hide(found.fault, *_UNKNOWN)
    if not found.committed:
        # Nothing is stored; or the next to read is the first, and Iggy has no word for "nothing read yet".
        return EMPTY
    return _OFFSET.pack(call.shown(found.partition), max(found.offset_end - 1, 0), found.committed - 1)


def store_consumer_offset(body: Body, call: Call) -> Exchange:
    reading = read_reading(body, call, _OFFSET_BYTES)
    offset_last_read = body.u64()
    fault = yield from ask(StoreConsumerOffset(*reading, offset_last_read + 1, must_own(call)))
    if fault is Fault.OFFSET_OUT_OF_RANGE and offset_last_read == 0 and call.client.dialect.counts_from_one:
        # The partition is empty. In 0.5 that is no error, and cannot mean that its first message was read.
        fault = yield from ask(StoreConsumerOffset(*reading, 0, must_own(call)))
    call.require(fault)
    return EMPTY


def delete_consumer_offset(body: Body, call: Call) -> Exchange:
    reading = read_reading(body, call, 0)
    return (yield from carry_out(DeleteConsumerOffset(*reading, must_own(call)), call))
