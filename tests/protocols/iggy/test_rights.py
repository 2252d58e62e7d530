"""Every command of Iggy's against every right by itself, and against none (S10), by Iggy's table of rights.

A command without a row here fails, and so does one without a request to try it with.
"""

import struct
from typing import Final

import pytest

from tests.core.inhabited import InhabitedWorld
from tests.protocols.iggy.conversing import Conversing
from tests.protocols.iggy.raw_client import (
    consumer,
    long_text,
    message,
    name,
    new_topic,
    optional_partition,
    poll,
    request,
    send,
    text,
    to_partition,
)
from trivium.core.commands import stream_groups, streams
from trivium.core.commands.users import CreateUser
from trivium.core.users.permissions import (
    GlobalPermissions,
    Permissions,
    StreamPermissions,
    TopicPermissions,
)
from trivium.protocols.iggy.code import Code
from trivium.protocols.iggy.commands import HANDLERS, OPEN_TO_ALL

UNAUTHORIZED: Final = 41

# -- which rights allow what: on everything (g), on the stream (s), on the topic (t) ----------------

ANYBODY = "none g s t"
SERVERS = "g.manage_servers g.read_servers"
SEE_USERS = "g.manage_users g.read_users"
MANAGE_USERS = "g.manage_users"
SEE_STREAMS = "g.manage_streams g.read_streams"
SEE_STREAM = f"{SEE_STREAMS} s.manage_stream s.read_stream"
MANAGE_STREAM = "g.manage_streams s.manage_stream"
SEE_IN_STREAM = f"{SEE_STREAM} g.manage_topics g.read_topics s.manage_topics s.read_topics"
SEE_TOPIC = f"{SEE_IN_STREAM} t.manage_topic t.read_topic"
CREATE_TOPIC = f"{MANAGE_STREAM} g.manage_topics s.manage_topics"
MANAGE_TOPIC = f"{CREATE_TOPIC} t.manage_topic"
READ = f"{SEE_TOPIC} g.poll_messages s.poll_messages t.poll_messages"
WRITE = f"{MANAGE_TOPIC} g.send_messages s.send_messages t.send_messages"

STREAM, TOPIC = name("a"), name("a") + name("t")
GROUP = TOPIC + name("g")
READING = consumer(1) + TOPIC + optional_partition(0)
OPTIONS = struct.pack("<BQQB", 1, 0, 0, 0)
NO_PERMISSIONS = b"\0"

ROWS: Final[dict[Code, tuple[str, bytes]]] = {
    Code.GET_STATS: (SERVERS, b""),
    Code.GET_SNAPSHOT_FILE: (ANYBODY, b"\1\1\4"),
    Code.GET_CLUSTER_METADATA: (ANYBODY, b""),
    Code.GET_ME: (ANYBODY, b""),
    Code.GET_CLIENT: (SERVERS, struct.pack("<I", 1)),
    Code.GET_CLIENTS: (SERVERS, b""),
    Code.GET_USER: (SEE_USERS, name("iggy")),
    Code.GET_USERS: (SEE_USERS, b""),
    Code.CREATE_USER: (MANAGE_USERS, text("newcomer") + text("secret") + b"\1" + NO_PERMISSIONS),
    Code.DELETE_USER: (MANAGE_USERS, name("bob")),
    Code.UPDATE_USER: (MANAGE_USERS, name("bob") + b"\1" + text("robert") + b"\0"),
    Code.UPDATE_PERMISSIONS: (MANAGE_USERS, name("bob") + NO_PERMISSIONS),
    Code.CHANGE_PASSWORD: (MANAGE_USERS, name("bob") + text("secret") + text("other")),
    Code.LOGOUT_USER: (ANYBODY, b""),
    Code.GET_PERSONAL_ACCESS_TOKENS: (ANYBODY, b""),
    Code.CREATE_PERSONAL_ACCESS_TOKEN: (ANYBODY, text("token") + bytes(8)),
    Code.DELETE_PERSONAL_ACCESS_TOKEN: (ANYBODY, text("token")),
    Code.POLL_MESSAGES: (READ, poll(consumer(1), "a", "t")),
    Code.SEND_MESSAGES: (WRITE, send("a", "t", to_partition(0), message(b"x"))),
    Code.FLUSH_UNSAVED_BUFFER: (WRITE, TOPIC + struct.pack("<IB", 0, 1)),
    Code.GET_CONSUMER_OFFSET: (READ, READING),
    Code.STORE_CONSUMER_OFFSET: (READ, READING + bytes(8)),
    Code.DELETE_CONSUMER_OFFSET: (READ, READING),
    Code.GET_STREAM: (SEE_STREAM, STREAM),
    Code.GET_STREAMS: (SEE_STREAMS, b""),
    Code.CREATE_STREAM: ("g.manage_streams", text("new")),
    Code.DELETE_STREAM: (MANAGE_STREAM, STREAM),
    Code.UPDATE_STREAM: (MANAGE_STREAM, STREAM + text("new")),
    Code.PURGE_STREAM: (MANAGE_STREAM, STREAM),
    Code.GET_TOPIC: (SEE_TOPIC, TOPIC),
    Code.GET_TOPICS: (SEE_IN_STREAM, STREAM),
    Code.CREATE_TOPIC: (CREATE_TOPIC, new_topic("a", "new")),
    Code.DELETE_TOPIC: (MANAGE_TOPIC, TOPIC),
    Code.UPDATE_TOPIC: (MANAGE_TOPIC, TOPIC + OPTIONS + text("new")),
    Code.PURGE_TOPIC: (MANAGE_TOPIC, TOPIC),
    Code.CREATE_PARTITIONS: (MANAGE_TOPIC, TOPIC + struct.pack("<I", 1)),
    Code.DELETE_PARTITIONS: (MANAGE_TOPIC, TOPIC + struct.pack("<I", 1)),
    Code.DELETE_SEGMENTS: (MANAGE_TOPIC, TOPIC + struct.pack("<II", 0, 1)),
    Code.GET_CONSUMER_GROUP: (SEE_TOPIC, GROUP),
    Code.GET_CONSUMER_GROUPS: (SEE_TOPIC, TOPIC),
    Code.CREATE_CONSUMER_GROUP: (SEE_TOPIC, TOPIC + text("new")),
    Code.DELETE_CONSUMER_GROUP: (SEE_TOPIC, GROUP),
    Code.JOIN_CONSUMER_GROUP: (SEE_TOPIC, GROUP),
    Code.LEAVE_CONSUMER_GROUP: (SEE_TOPIC, GROUP),
}

STREAM_RIGHTS: Final = StreamPermissions._fields[:-1]
RIGHTS: Final[dict[str, Permissions | None]] = {
    "none": None,
    **{f"g.{right}": Permissions(GlobalPermissions(**{right: True})) for right in GlobalPermissions._fields},
    **{
        f"s.{right}": Permissions(
            streams={1: StreamPermissions._make([*(each == right for each in STREAM_RIGHTS), {}])}
        )
        for right in STREAM_RIGHTS
    },
    **{
        f"t.{right}": Permissions(
            streams={1: StreamPermissions(topics={0: TopicPermissions(**{right: True})})}
        )
        for right in TopicPermissions._fields
    },
}
EVERY_TOPIC_RIGHT: Final = TopicPermissions(True, True, True, True)
ELSEWHERE: Final = Permissions(
    streams={
        0: StreamPermissions(True, True, True, True, True, True, {0: EVERY_TOPIC_RIGHT}),
        1: StreamPermissions(topics={1: EVERY_TOPIC_RIGHT}),
    }
)
"""Everything, on another stream and on another topic of the same one."""


class Town:
    """Stream 1 is ``a`` with the topics ``t`` (0), which has a group, and ``u`` (1). Ann has some rights."""

    def __init__(self, permissions: Permissions | None) -> None:
        self.world = world = InhabitedWorld()
        root = world.found()
        world.ask(streams.CreateStream("a"), root)
        for topic in ("t", "u"):
            world.ask(streams.CreateStreamTopic("a", topic, 2), root)
        world.ask(stream_groups.CreateStreamGroup("a", "t", "g"), root)
        world.ask(CreateUser("ann", "secret", permissions=permissions), root)
        world.ask(CreateUser("bob", "secret"), root)
        self.session = Conversing(world)
        login = text("ann") + text("secret") + long_text("0.10.0") + long_text("")
        assert self.session.statuses(request(Code.LOGIN_USER, login)) == [0]

    def written(self) -> list[int]:
        """How far everything has come that can change."""
        names = ("__trivium", "__cluster_metadata", "a.t", "a.u")
        return [self.world.log(each).log_end_offset for each in names]


@pytest.fixture(scope="module")
def towns() -> dict[str, Town]:
    """By right, those in which nothing has been allowed yet: what is refused changes nothing."""
    return {}


def allowing(row: str) -> set[str]:
    """The rights that a row names; ``g`` alone is all of them."""
    words = row.split()
    return {right for right in RIGHTS if right in words or right.partition(".")[0] in words}


@pytest.mark.parametrize("code", sorted(set(HANDLERS) - OPEN_TO_ALL), ids=lambda code: Code(code).name)
def test_command_is_allowed_by_the_rights_of_its_row_and_by_no_other(
    code: int, towns: dict[str, Town]
) -> None:
    row, body = ROWS[Code(code)]
    allowed = set()
    for right, permissions in RIGHTS.items():
        town = towns.pop(right, None) or Town(permissions)
        before = town.written()
        [status] = town.session.statuses(request(code, body))
        if status != UNAUTHORIZED:
            allowed.add(right)
        else:
            assert town.written() == before
            towns[right] = town
    assert allowed == allowing(row)


@pytest.mark.parametrize(
    "code", sorted(code for code, (row, _) in ROWS.items() if " s." in f" {row}"), ids=lambda code: code.name
)
def test_command_is_refused_to_who_may_do_everything_elsewhere(code: Code) -> None:
    town = Town(ELSEWHERE)
    before = town.written()
    assert town.session.statuses(request(code, ROWS[code][1])) == [UNAUTHORIZED]
    assert town.written() == before
