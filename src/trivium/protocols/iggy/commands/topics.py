"""GET_TOPIC, GET_TOPICS, CREATE_, DELETE_, UPDATE_, PURGE_TOPIC.

CREATE_TOPIC, behind the identifier of its stream:

    0.5          number u32, 0 for any | partitions u32 | options | name
    0.6 - 0.8    partitions u32 | options | name

    options      compression u8 | expiry u64 | size limit u64 | replication factor u8
"""

import struct
from typing import Final

from trivium.core.commands.streams import (
    CreateStreamTopic,
    DeleteStreamTopic,
    DescribeStreamTopic,
    ListStreamTopics,
    PurgeStreamTopic,
    TopicOptions,
    UpdateStreamTopic,
)
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out
from trivium.protocols.iggy.layout import topic, topic_details
from trivium.protocols.iggy.status import Rejected, Status
from trivium.wire.limits import IGGY_PAYLOAD_BYTES_MAX, IGGY_USER_HEADERS_BYTES_MAX

PARTITIONS_MAX: Final = 1_000
"""Of one request, as Iggy has it."""
BATCH_BYTES_MAX: Final = IGGY_PAYLOAD_BYTES_MAX + 4 * IGGY_USER_HEADERS_BYTES_MAX
"""Topics that were made here take every message that Iggy's servers take, as a batch by itself. In Kafka a
user header may have the bytes of its key in hexadecimal, and a name before them: less than three times its
size, which leaves enough for what a record has besides."""
_OPTIONS: Final = struct.Struct("<BQQB")
_COMPRESSIONS: Final = (1, 2)
_NAME_AT: Final = 22
"""Where the length of the name stands behind the stream, from 0.6 on; in 0.5 a number comes before all."""
_COMPRESSION_AT: Final = 4
_NUMBER_BYTES: Final = 4


def _read_place(body: Body, call: Call) -> tuple[int | str, int | str]:
    return call.stream(body.identifier()), call.topic(body.identifier())


def _checked(options: TopicOptions) -> TopicOptions:
    """To be asked when all of a body has been read, as Iggy does."""
    if options.compression not in _COMPRESSIONS:
        raise Rejected(Status.INVALID_COMMAND)
    return options


def get_topic(body: Body, call: Call) -> Exchange:
    described = yield from ask(DescribeStreamTopic(*_read_place(body, call)))
    call.require_or_hide(described.fault, Fault.UNKNOWN_STREAM, Fault.UNKNOWN_STREAM_TOPIC)
    if described.topic is None:
        return EMPTY
    return topic_details(described.topic, described.partitions, call)


def get_topics(body: Body, call: Call) -> Exchange:
    listed = yield from ask(ListStreamTopics(call.stream(body.identifier())))
    if listed.fault is Fault.UNKNOWN_STREAM and not call.client.dialect.counts_from_one:
        return EMPTY
    call.require(listed.fault)
    return b"".join(topic(each, call) for each in listed.topics)


def create_topic(body: Body, call: Call) -> Exchange:
    stream = body.identifier()
    number = body.u32() if call.client.dialect.shown_counting(_is_numbered(body.ahead)) else 0
    partitions_count = body.u32()
    options, name = TopicOptions(*body.unpack(_OPTIONS)), body.name()
    if partitions_count > PARTITIONS_MAX:
        raise Rejected(Status.TOO_MANY_PARTITIONS)
    created = yield from ask(
        CreateStreamTopic(
            call.stream(stream),
            name,
            partitions_count,
            _checked(options),
            call.number(number) if number else None,
            BATCH_BYTES_MAX,
        )
    )
    call.require(created.fault)
    return EMPTY if created.topic is None else topic_details(created.topic, created.partitions, call)


def _is_numbered(ahead: memoryview) -> bool | None:
    """Whether this is the layout of 0.5; None if it could be either, or is neither."""
    is_new = _fits(ahead, 0)
    is_old = _fits(ahead, _NUMBER_BYTES)
    return None if is_new == is_old else is_old


def _fits(ahead: memoryview, shift: int) -> bool:
    name_at = _NAME_AT + shift
    return (
        len(ahead) > name_at
        and ahead[name_at] == len(ahead) - name_at - 1
        and ahead[_COMPRESSION_AT + shift] in _COMPRESSIONS
    )


def delete_topic(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(DeleteStreamTopic(*_read_place(body, call)), call))


def update_topic(body: Body, call: Call) -> Exchange:
    stream, which = _read_place(body, call)
    options, name = TopicOptions(*body.unpack(_OPTIONS)), body.name()
    return (yield from carry_out(UpdateStreamTopic(stream, which, name, _checked(options)), call))


def purge_topic(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(PurgeStreamTopic(*_read_place(body, call)), call))
