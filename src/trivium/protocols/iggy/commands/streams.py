"""GET_STREAM, GET_STREAMS, CREATE_, DELETE_, UPDATE_, PURGE_STREAM."""

from trivium.core.commands.streams import (
    CreateStream,
    DeleteStream,
    DescribeStream,
    ListStreams,
    PurgeStream,
    UpdateStream,
)
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out
from trivium.protocols.iggy.layout import stream, topic
from trivium.protocols.iggy.numbered_names import read_numbered_name


def get_stream(body: Body, call: Call) -> Exchange:
    described = yield from ask(DescribeStream(call.stream(body.identifier())))
    call.require_or_hide(described.fault, Fault.UNKNOWN_STREAM)
    if described.stream is None:
        return EMPTY
    return stream(described.stream, call) + b"".join(topic(each, call) for each in described.topics)


def get_streams(_body: Body, call: Call) -> Exchange:
    listed = yield from ask(ListStreams())
    call.require(listed.fault)
    return b"".join(stream(each, call) for each in listed.streams)


def create_stream(body: Body, call: Call) -> Exchange:
    name, number = read_numbered_name(body, call)
    created = yield from ask(CreateStream(name, number))
    call.require(created.fault)
    return EMPTY if created.stream is None else stream(created.stream, call)


def delete_stream(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(DeleteStream(call.stream(body.identifier())), call))


def update_stream(body: Body, call: Call) -> Exchange:
    which = call.stream(body.identifier())
    return (yield from carry_out(UpdateStream(which, body.name()), call))


def purge_stream(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(PurgeStream(call.stream(body.identifier())), call))
