"""One decision function for every door (S9, S10), against an oracle that is written from Iggy's table."""

from inspect import Parameter, signature
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.inhabited import InhabitedWorld
from tests.core.test_commands import all_commands
from trivium.core.access import OPERATIONS, Access, Anonymous, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands import clients, stream_groups, streams, users
from trivium.core.commands.stream_groups import Consumer
from trivium.core.commands.users import CreateUser
from trivium.core.faults import Fault
from trivium.core.users.permissions import (
    GlobalPermissions,
    Permissions,
    StreamPermissions,
    TopicPermissions,
)
from trivium.core.users.user import User, UserStatus

ANN = Caller(protocol="iggy", user_id=1)
STREAMS = {"default": 0, "a": 1, "b": 2}
TOPICS = {"t": (0, 0), "u": (0, 1), "a.t": (1, 0), "b.t": (2, 0)}


class OneUser:
    is_only_root = False

    def __init__(self, permissions: Permissions | None, status: UserStatus = UserStatus.ACTIVE) -> None:
        self.by_id = {1: User(1, "ann", status, 0, "", permissions)}


class SomePlaces:
    def stream_id(self, name: str) -> int | None:
        return STREAMS.get(name)

    def place_of(self, topic: str) -> tuple[int | None, int | None]:
        return TOPICS.get(topic, (None, None))


def oracle(permissions: Permissions, operation: Operation, resource: Resource, name: str) -> bool:
    """Every right that allows it, spelled out: ``g`` everywhere, ``s`` in the stream, ``t`` on the topic."""
    place = (STREAMS.get(name), None) if resource is Resource.STREAM else TOPICS.get(name, (None, None))
    stream = permissions.streams.get(place[0]) if place[0] is not None else None
    topic = stream.topics.get(place[1]) if stream and place[1] is not None else None
    has = {f"g.{right}" for right, is_given in permissions.everywhere._asdict().items() if is_given}
    has |= {f"s.{right}" for right, is_given in (stream._asdict() if stream else {}).items() if is_given}
    has |= {f"t.{right}" for right, is_given in (topic._asdict() if topic else {}).items() if is_given}
    see_stream = "g.manage_streams g.read_streams s.manage_stream s.read_stream "
    see = (
        see_stream
        + "g.manage_topics g.read_topics s.manage_topics s.read_topics t.manage_topic t.read_topic "
    )
    create = "g.manage_streams g.manage_topics s.manage_stream s.manage_topics "
    manage = create + "t.manage_topic "
    poll = see + "g.poll_messages s.poll_messages t.poll_messages "
    send = manage + "g.send_messages s.send_messages t.send_messages "
    allowing = {
        Resource.TOPIC: {"READ": poll, "WRITE": send, "CREATE": create, "DESCRIBE": see + poll + send}
        | {"DELETE": manage, "ALTER": manage, "ALTER_CONFIGS": manage, "DESCRIBE_CONFIGS": see},
        Resource.STREAM: dict.fromkeys(("CREATE", "DELETE", "ALTER"), "g.manage_streams s.manage_stream")
        | {"DESCRIBE": see_stream},
        Resource.USER: dict.fromkeys(
            ("CREATE", "DELETE", "ALTER", "CREATE_TOKENS", "DESCRIBE_TOKENS"), "g.manage_users"
        )
        | {"DESCRIBE": "g.manage_users g.read_users"},
        Resource.CLUSTER: dict.fromkeys(("ALTER", "CLUSTER_ACTION", "ALTER_CONFIGS"), "g.manage_servers")
        | dict.fromkeys(("DESCRIBE", "DESCRIBE_CONFIGS"), "g.manage_servers g.read_servers")
        | {"CREATE": "g.manage_streams g.manage_topics"},
    }
    return bool(has & set(allowing[resource].get(operation.name, "").split()))


topic_rights = st.builds(TopicPermissions._make, st.tuples(*[st.booleans()] * 4))
stream_rights = st.builds(
    lambda rights, topics: StreamPermissions._make([*rights, topics]),
    st.tuples(*[st.booleans()] * 6),
    st.dictionaries(st.integers(0, 1), topic_rights, max_size=2),
)
trees = st.builds(
    Permissions,
    st.builds(
        GlobalPermissions._make, st.lists(st.sampled_from([False] * 5 + [True]), min_size=10, max_size=10)
    ),
    st.dictionaries(st.integers(0, 2), stream_rights, max_size=2),
)
QUESTIONS = [
    (operation, resource, name)
    for resource, names in (
        (Resource.TOPIC, [*TOPICS, "nowhere"]),
        (Resource.STREAM, [*STREAMS, "nowhere", ""]),
        (Resource.USER, ["ann", ""]),
        (Resource.CLUSTER, ["kafka-cluster"]),
    )
    for operation in sorted(OPERATIONS[resource] - {Operation.IDEMPOTENT_WRITE}, key=lambda each: each.value)
    for name in names
]
questions = st.sampled_from(QUESTIONS)
SINGLE_RIGHTS = [
    *(Permissions(GlobalPermissions(**{right: True})) for right in GlobalPermissions._fields),
    *(
        Permissions(streams={1: StreamPermissions._make([*(each == right for each in rights), {}])})
        for rights in (StreamPermissions._fields[:-1],)
        for right in rights
    ),
    *(
        Permissions(streams={1: StreamPermissions(topics={0: TopicPermissions(**{right: True})})})
        for right in TopicPermissions._fields
    ),
]


@pytest.mark.parametrize("tree", SINGLE_RIGHTS)
def test_each_right_alone_allows_what_the_oracle_says(tree: Permissions) -> None:
    """S9."""
    access = Access(OneUser(tree), SomePlaces())
    wrong = [question for question in QUESTIONS if access.allows(ANN, *question) != oracle(tree, *question)]
    assert wrong == []


@given(trees, st.lists(questions, min_size=1, max_size=20))
def test_access_decides_as_the_oracle_does(
    tree: Permissions, asked: list[tuple[Operation, Resource, str]]
) -> None:
    """S9."""
    access = Access(OneUser(tree), SomePlaces())
    for operation, resource, name in asked:
        expected = oracle(tree, operation, resource, name)
        assert access.allows(ANN, operation, resource, name) == expected, (operation, resource, name)


def test_access_without_rights_or_activity_is_refused_everything() -> None:
    everything = Permissions(GlobalPermissions(*[True] * 10))
    for users_of in (OneUser(None), OneUser(everything, UserStatus.INACTIVE)):
        access = Access(users_of, SomePlaces())
        assert all(not access.operations(ANN, resource, "t") for resource in Resource)


def test_group_may_be_used_by_whoever_may_read_anything() -> None:
    reads = Permissions(streams={1: StreamPermissions(topics={0: TopicPermissions(poll_messages=True)})})
    sends = Permissions(streams={1: StreamPermissions(send_messages=True)})
    for tree, expected in ((reads, True), (sends, False)):
        access = Access(OneUser(tree), SomePlaces())
        assert access.allows(ANN, Operation.READ, Resource.GROUP, "g") is expected
        assert (
            access.allows(ANN, Operation.IDEMPOTENT_WRITE, Resource.CLUSTER, "kafka-cluster") is not expected
        )
        assert access.allows(ANN, Operation.WRITE, Resource.TRANSACTIONAL_ID, "x") is not expected
        assert not access.allows(ANN, Operation.DELETE, Resource.GROUP, "g")


@pytest.mark.parametrize(
    ("anonymous", "alone", "in_company"),
    [(Anonymous.AUTO, True, False), (Anonymous.ALLOW, True, True), (Anonymous.DENY, False, False)],
)
def test_anonymous_caller_is_served_as_configured(
    anonymous: Anonymous, alone: bool, in_company: bool
) -> None:
    world = InhabitedWorld(anonymous)
    root = world.found()
    kafka = Caller(protocol="kafka")
    assert world.access.allows(kafka, Operation.WRITE, Resource.TOPIC, "t") is alone
    world.ask(CreateUser("ann", "secret"), root)
    assert world.access.allows(kafka, Operation.WRITE, Resource.TOPIC, "t") is in_company


def test_anonymous_caller_is_never_served_where_a_login_is_the_rule() -> None:
    """S7."""
    access = Access(None, None, Anonymous.ALLOW)
    assert not access.allows(Caller(protocol="iggy"), Operation.DESCRIBE, Resource.CLUSTER, "kafka-cluster")


def test_anonymous_caller_is_refused_when_users_cannot_be_read() -> None:
    world = InhabitedWorld()
    world.users.suspect()
    assert not world.access.allows(Caller(), Operation.READ, Resource.TOPIC, "t")


# -- the matrix: every command of users, streams and groups (S7, S10) ------------------------------

VALUES: dict[str, Any] = {
    "stream": "a",
    "topic": "t",
    "group": "g",
    "name": "new-name",
    "user": "iggy",
    "username": "newcomer",
    "password": "secret",
    "current": "iggy",
    "new": "secret",
    "permissions": None,
    "token": "none",
    "client_id": 1,
    "count": 1,
    "partition": 0,
    "partitions_count": 1,
    "offset": 0,
    "consumer": Consumer(1),
    "address": "127.0.0.1:1",
}
ANOTHER: dict[type[Any], dict[str, Any]] = {users.ResetPassword: {"user": "ann"}}
"""Nobody does that to itself."""
GATED = [
    command
    for command in all_commands()
    if command.__module__ in {module.__name__ for module in (users, streams, stream_groups, clients)}
    and command.ROW.free is None
]


def gated_world() -> tuple[InhabitedWorld, Caller]:
    world = InhabitedWorld()
    root = world.found()
    world.ask(streams.CreateStream("a"), root)
    world.ask(streams.CreateStreamTopic("a", "t", 2), root)
    world.ask(stream_groups.CreateStreamGroup("a", "t", "g"), root)
    world.ask(stream_groups.JoinStreamGroup("a", "t", "g"), root)
    world.ask(CreateUser("ann", "secret"), root)
    return world, root


def command_of(kind: type[Any]) -> Any:
    required = [
        name for name, parameter in signature(kind).parameters.items() if parameter.default is Parameter.empty
    ]
    values = VALUES | ANOTHER.get(kind, {})
    return kind(**{name: values[name] for name in required})


@pytest.mark.parametrize("kind", GATED, ids=lambda kind: kind.__name__)
def test_command_without_its_right_is_refused_and_changes_nothing(kind: type[Any]) -> None:
    """S7 and S10: not logged in, and logged in without any right."""
    world, _ = gated_world()
    before = (world.log("__trivium").log_end_offset, world.log("__cluster_metadata").log_end_offset)
    for caller in (Caller(protocol="iggy"), world.log_in("ann", "secret")):
        result = world.ask(command_of(kind), caller)
        assert getattr(result, "fault", result) in (
            Fault.NOT_AUTHORIZED_USER,
            Fault.NOT_AUTHORIZED_STREAM,
            Fault.NOT_AUTHORIZED_TOPIC,
            Fault.NOT_AUTHORIZED_CLUSTER,
        )
    after = (world.log("__trivium").log_end_offset, world.log("__cluster_metadata").log_end_offset)
    assert after == before


@pytest.mark.parametrize("kind", GATED, ids=lambda kind: kind.__name__)
def test_command_with_every_right_is_carried_out(kind: type[Any]) -> None:
    """The same commands, so that the refusals above are no mistakes of the test."""
    world, root = gated_world()
    result = world.ask(command_of(kind), root)
    assert getattr(result, "fault", result) in (
        None,
        Fault.ROOT_CANNOT_BE_DELETED,
        Fault.ROOT_PERMISSIONS_FIXED,
        Fault.NO_COMMITTED_OFFSET,
    )
