"""The tree of rights on the wire. No counts: after each entry a byte says whether another one follows.

    permissions   10 rights everywhere | has streams | stream entries
    stream        id u32 | 6 rights | has topics | topic entries | has next stream
    topic         id u32 | 4 rights | has next topic

A right is one byte, 0 or 1. A tree without entries says that it has none: the decoders of clients cannot read
a list that is announced and empty.
"""

import struct
from collections.abc import Mapping
from typing import Final

from trivium.core.users.permissions import GlobalPermissions, Permissions, StreamPermissions, TopicPermissions
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import Call
from trivium.protocols.iggy.status import Rejected, Status

_EVERYWHERE: Final = struct.Struct("<10?")
_STREAM: Final = struct.Struct("<I6?")
_TOPIC: Final = struct.Struct("<I4?")
_NUMBER_MAX: Final = (1 << 32) - 1
_PRESENT: Final = 1
_MORE: Final = b"\x01"
_NO_MORE: Final = b"\x00"


def read_permissions(body: Body, call: Call) -> Permissions | None:
    """``has permissions``, then their length and the tree itself, which takes that much and no less."""
    if body.uint8() != _PRESENT:
        return None
    size_bytes = body.u32()
    start = body.pos
    permissions = _read_tree(body, call)
    if body.pos - start != size_bytes:
        raise Rejected(Status.INVALID_FORMAT)
    return permissions


def _read_tree(tree: Body, call: Call) -> Permissions:
    everywhere = GlobalPermissions(*tree.unpack(_EVERYWHERE))
    streams: dict[int, StreamPermissions] = {}
    more = tree.flag()
    while more:
        stream_id, *rights = tree.unpack(_STREAM)
        streams[_number(stream_id, call)] = StreamPermissions(*rights)._replace(
            topics=_read_topics(tree, call)
        )
        more = tree.flag()
    return Permissions(everywhere, streams)


def _read_topics(tree: Body, call: Call) -> dict[int, TopicPermissions]:
    topics: dict[int, TopicPermissions] = {}
    more = tree.flag()
    while more:
        topic_id, *rights = tree.unpack(_TOPIC)
        topics[_number(topic_id, call)] = TopicPermissions(*rights)
        more = tree.flag()
    return topics


def _number(shown: int, call: Call) -> int:
    number = call.number(shown)
    if number < 0:
        # Nothing will ever have it, and it cannot be kept.
        raise Rejected(Status.INVALID_IDENTIFIER)
    return number


def _shown(number: int, call: Call) -> int:
    """Rights may be on a number that nothing has, and that a client which counts from 1 has no word for."""
    return min(call.shown(number), _NUMBER_MAX)


def write_permissions(permissions: Permissions, call: Call) -> bytes:
    streams = sorted(permissions.streams.items())
    parts = [_EVERYWHERE.pack(*permissions.everywhere), _MORE if streams else _NO_MORE]
    for at, (stream_id, stream) in enumerate(streams, 1):
        *rights, topics = stream
        parts.append(_STREAM.pack(_shown(stream_id, call), *rights))
        parts.append(_write_topics(topics, call))
        parts.append(_MORE if at < len(streams) else _NO_MORE)
    return b"".join(parts)


def _write_topics(by_id: Mapping[int, TopicPermissions], call: Call) -> bytes:
    topics = sorted(by_id.items())
    parts = [_MORE if topics else _NO_MORE]
    for at, (topic_id, rights) in enumerate(topics, 1):
        parts.append(_TOPIC.pack(_shown(topic_id, call), *rights))
        parts.append(_MORE if at < len(topics) else _NO_MORE)
    return b"".join(parts)
