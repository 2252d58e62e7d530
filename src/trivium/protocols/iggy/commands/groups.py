"""GET_CONSUMER_GROUP, GET_CONSUMER_GROUPS, CREATE_, DELETE_, JOIN_, LEAVE_CONSUMER_GROUP."""

from trivium.core.commands.stream_groups import (
    CreateStreamGroup,
    DeleteStreamGroup,
    DescribeStreamGroup,
    JoinStreamGroup,
    LeaveStreamGroup,
    ListStreamGroups,
)
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out
from trivium.protocols.iggy.layout import group, group_details
from trivium.protocols.iggy.numbered_names import read_numbered_name

_UNKNOWN = (Fault.UNKNOWN_STREAM, Fault.UNKNOWN_STREAM_TOPIC, Fault.UNKNOWN_STREAM_GROUP)


def _read_group(body: Body, call: Call) -> tuple[int | str, int | str, int | str]:
    return call.stream(body.identifier()), call.topic(body.identifier()), call.group(body.identifier())


def get_group(body: Body, call: Call) -> Exchange:
    described = yield from ask(DescribeStreamGroup(*_read_group(body, call)))
    call.require_or_hide(described.fault, *_UNKNOWN)
    return EMPTY if described.group is None else group_details(described.group, call)


def get_groups(body: Body, call: Call) -> Exchange:
    stream, topic = call.stream(body.identifier()), call.topic(body.identifier())
    listed = yield from ask(ListStreamGroups(stream, topic))
    if listed.fault in _UNKNOWN and not call.client.dialect.counts_from_one:
        return EMPTY
    call.require(listed.fault)
    return b"".join(group(each, call) for each in listed.groups)


def create_group(body: Body, call: Call) -> Exchange:
    stream, topic = body.identifier(), body.identifier()
    name, number = read_numbered_name(body, call)
    created = yield from ask(CreateStreamGroup(call.stream(stream), call.topic(topic), name, number))
    call.require(created.fault)
    return EMPTY if created.group is None else group_details(created.group, call)


def delete_group(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(DeleteStreamGroup(*_read_group(body, call)), call))


def join_group(body: Body, call: Call) -> Exchange:
    return (yield from carry_out(JoinStreamGroup(*_read_group(body, call)), call))


def leave_group(body: Body, call: Call) -> Exchange:
    fault = yield from ask(LeaveStreamGroup(*_read_group(body, call)))
    if fault is Fault.UNKNOWN_MEMBER_ID and call.client.dialect.counts_from_one:
        # To a client of 0.5 it is all the same who has left before.
        return EMPTY
    call.require(fault)
    return EMPTY
