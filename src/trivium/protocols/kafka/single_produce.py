"""The request that is sent more often than any other, read in one go: Produce of one batch to one partition.

Versions 9-13, without a transactional id and without tagged fields. Anything else, and anything that is not
as it should be, is left to the general decoder, which knows what to say about it. Tests hold the two against
each other.

    transactional id 00 | acks int16 | timeout int32 | one topic 02
    | its name, compact (13: its id) | one partition 02 | its index int32 | records, compact | 00 00 00
"""

from struct import Struct
from struct import error as struct_error
from typing import Final, NamedTuple

from trivium.core.commands.command import TopicRef
from trivium.wire.errors import DecodeError
from trivium.wire.varint import read_uvarint

VERSION_MIN: Final = 9
_BY_ID_SINCE: Final = 13
_HEAD: Final = Struct(">BhiB")
_NO_TRANSACTION: Final = 0
_ONE: Final = 2
"""The length of an array of one, plus one."""
_NAME_LENGTH_MAX: Final = 127
"""Of a name whose length, plus one, takes one byte."""
_PARTITION: Final = Struct(">Bi")
_NO_TAGS: Final = b"\x00\x00\x00"
_ID_BYTES: Final = 16


class SingleProduce(NamedTuple):
    topic: TopicRef
    partition: int
    records: memoryview
    acks: int
    timeout_ms: int


def read_single_produce(frame: memoryview, at: int, version: int) -> SingleProduce | None:
    """The request at ``at``, behind the header; None if it is not of this form."""
    try:
        transaction, acks, timeout_ms, topics = _HEAD.unpack_from(frame, at)
        if transaction != _NO_TRANSACTION or topics != _ONE:
            return None
        at += _HEAD.size
        topic: TopicRef
        if version >= _BY_ID_SINCE:
            end = at + _ID_BYTES
            topic = bytes(frame[at:end])
        else:
            length = frame[at]
            if not 0 < length <= _NAME_LENGTH_MAX:
                return None
            end = at + length
            topic = str(frame[at + 1 : end], "utf-8")
        partitions, index = _PARTITION.unpack_from(frame, end)
        length, at = read_uvarint(frame, end + _PARTITION.size)
    except (IndexError, struct_error, UnicodeDecodeError, DecodeError):
        return None
    end = at + length - 1
    if partitions != _ONE or not length or bytes(frame[end : end + 3]) != _NO_TAGS:
        return None
    return SingleProduce(topic, index, frame[at:end], acks, timeout_ms)
