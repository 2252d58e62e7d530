"""CREATE_PARTITIONS, DELETE_PARTITIONS, DELETE_SEGMENTS."""

from trivium.core.commands.streams import AddPartitions, DeleteSegments, DropPartitions
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.commands.topics import PARTITIONS_MAX
from trivium.protocols.iggy.exchange import Call, Exchange, carry_out
from trivium.protocols.iggy.status import Rejected, Status


def create_partitions(body: Body, call: Call) -> Exchange:
    stream, topic = call.stream(body.identifier()), call.topic(body.identifier())
    count = body.u32()
    if not 1 <= count <= PARTITIONS_MAX:
        raise Rejected(Status.TOO_MANY_PARTITIONS)
    return (yield from carry_out(AddPartitions(stream, topic, count), call))


def delete_partitions(body: Body, call: Call) -> Exchange:
    stream, topic = call.stream(body.identifier()), call.topic(body.identifier())
    count = body.u32()
    if not count:
        raise Rejected(Status.TOO_MANY_PARTITIONS)
    return (yield from carry_out(DropPartitions(stream, topic, count), call))


def delete_segments(body: Body, call: Call) -> Exchange:
    stream, topic = call.stream(body.identifier()), call.topic(body.identifier())
    partition, count = call.number(body.u32()), body.u32()
    return (yield from carry_out(DeleteSegments(stream, topic, partition, count), call))
