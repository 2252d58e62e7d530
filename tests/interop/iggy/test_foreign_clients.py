"""Iggy's Java, Go and Rust clients: every command that they offer, with its answer (002.5-002.14, R1)."""

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.interop.brokers import Restartable
from tests.interop.iggy.puppets import FLAGS, PUPPETS
from tests.interop.kafka import Unavailable
from tests.interop.puppets import Kind, Puppet, Refused, Unable

pytestmark = pytest.mark.interop

NAMES = itertools.count(1)

RESOURCE_NOT_FOUND = 20
UNAUTHORIZED = 41
INVALID_CREDENTIALS = 42
INVALID_USERNAME = 43
USER_ALREADY_EXISTS = 46
USER_INACTIVE = 47
TOKEN_ALREADY_EXISTS = 51
STREAM_NOT_FOUND = 1009
STREAM_ALREADY_EXISTS = 1012
TOPIC_NOT_FOUND = 2010
TOPIC_ALREADY_EXISTS = 2013
PARTITION_NOT_FOUND = 3007
GROUP_ALREADY_EXISTS = 5004
GROUP_MEMBER_NOT_FOUND = 5006


@pytest.fixture(scope="module", params=PUPPETS.values(), ids=list(PUPPETS))
def kind(request: pytest.FixtureRequest) -> Kind:
    kind: Kind = request.param
    try:
        kind.prepare()
    except Unavailable as reason:
        pytest.skip(str(reason))
    return kind


@pytest.fixture(scope="module")
def broker(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{sock.getsockname()[1]}"
    flags = FLAGS.get(kind.name, ())
    with Restartable(tmp_path_factory.mktemp("broker"), "--iggy", address, *flags) as served:
        assert isinstance(served, Restartable)
        yield served


@pytest.fixture(scope="module")
def root(kind: Kind, broker: Restartable, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Puppet]:
    with Puppet(kind, broker.ready["iggy"], tmp_path_factory.mktemp("root")) as client:
        client.ask("login", "iggy", "iggy")
        yield client


@pytest.fixture
def guest(kind: Kind, broker: Restartable, tmp_path: Path) -> Iterator[Puppet]:
    """A second client of the same kind, connected and not logged in."""
    with Puppet(kind, broker.ready["iggy"], tmp_path) as client:
        yield client


@pytest.fixture
def stream(root: Puppet) -> str:
    name = _new_name("stream")
    root.ask("create-stream", name)
    return name


@pytest.fixture
def topic(root: Puppet, stream: str) -> str:
    """Of three partitions."""
    root.ask("create-topic", stream, "events", 3)
    return "events"


# -- the node ----------------------------------------------------------------------------------------


def test_node_after_login_counts_what_it_has(root: Puppet, stream: str, topic: str) -> None:
    root.ask("ping")
    streams, topics, partitions, _ = root.ask("stats")
    assert streams >= 1
    assert topics >= 1
    assert partitions >= 3


def test_node_after_login_names_its_clients(root: Puppet) -> None:
    mine = _ask_if_able(root, "me")
    assert mine[2].lower() == "tcp"
    assert mine[0] in root.ask("clients")
    assert root.ask("client", mine[0]) == mine


def test_node_asked_for_its_cluster_names_the_address_that_was_dialled(
    root: Puppet, broker: Restartable
) -> None:
    assert _ask_if_able(root, "cluster") == [broker.ready["iggy"]]


def test_node_asked_for_a_snapshot_sends_an_archive(root: Puppet) -> None:
    assert bytes(_ask_if_able(root, "snapshot")) == b"PK"


# -- streams, topics, partitions ---------------------------------------------------------------------


def test_stream_made_and_renamed_is_found_by_its_new_name(root: Puppet) -> None:
    old, new = _new_name("old"), _new_name("new")
    root.ask("create-stream", old)
    assert root.ask("stream", old) == [old, 0, 0]
    assert _refusal(root, "create-stream", old) == STREAM_ALREADY_EXISTS
    root.ask("rename-stream", old, new)
    assert root.ask("stream", old) is None
    assert new in root.ask("streams")
    root.ask("delete-stream", new)
    assert new not in root.ask("streams")


def test_topic_made_and_renamed_keeps_its_messages(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:1", 0, 5)
    assert _refusal(root, "create-topic", stream, topic, 1) == TOPIC_ALREADY_EXISTS
    root.ask("rename-topic", stream, topic, "renamed")
    assert root.ask("topics", stream) == ["renamed"]
    assert root.ask("topic", stream, "renamed") == ["renamed", 3, 5, [0, 5, 0]]
    assert root.ask("stream", stream) == [stream, 1, 5]
    root.ask("delete-topic", stream, "renamed")
    assert root.ask("topic", stream, "renamed") is None
    assert root.ask("topics", stream) == []


def test_partitions_added_and_removed_are_counted(root: Puppet, stream: str, topic: str) -> None:
    root.ask("add-partitions", stream, topic, 2)
    assert root.ask("topic", stream, topic)[1] == 5
    root.ask("remove-partitions", stream, topic, 4)
    assert root.ask("topic", stream, topic)[1] == 1


def test_topic_purged_begins_again_at_zero(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 5)
    _ask_if_able(root, "purge-topic", stream, topic)
    assert root.ask("topic", stream, topic)[2] == 0
    root.ask("send", stream, topic, "partition:0", 5, 1)
    assert [message[0] for message in _polled(root, stream, topic, "first")] == [0]
    root.ask("purge-stream", stream)
    assert root.ask("stream", stream) == [stream, 1, 0]


# -- messages ----------------------------------------------------------------------------------------


def test_messages_sent_come_back_with_ids_and_payloads(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 100)
    polled = _polled(root, stream, topic, "first")
    assert [message[0] for message in polled] == list(range(100))
    assert [message[2] for message in polled] == list(range(1, 101))
    assert [message[3] for message in polled] == [f"message {number}" for number in range(100)]


def test_messages_with_user_headers_come_back_with_them(root: Puppet, stream: str, topic: str) -> None:
    _ask_if_able(root, "send-headed", stream, topic, "partition:0", 0, 3)
    polled = _polled(root, stream, topic, "first")
    assert [message[4] for message in polled] == [{"n": "0"}, {"n": "1"}, {"n": "2"}]


def test_poll_by_each_strategy_begins_where_it_says(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 5)
    root.ask("send", stream, topic, "partition:0", 5, 5)
    times = [message[1] for message in _polled(root, stream, topic, "first")]
    assert times[0] < times[5]
    for strategy, count, expected in [
        ("first", 2, [0, 1]),
        ("last", 2, [8, 9]),
        ("offset:4", 3, [4, 5, 6]),
        ("offset:10", 3, []),
        (f"timestamp:{times[5]}", 2, [5, 6]),
        ("next", 2, [0, 1]),
    ]:
        assert [message[0] for message in _polled(root, stream, topic, strategy, count)] == expected, strategy


def test_balanced_messages_reach_every_partition(root: Puppet, stream: str, topic: str) -> None:
    for number in range(6):
        root.ask("send", stream, topic, "balanced", number, 1)
    assert root.ask("topic", stream, topic)[3] == [2, 2, 2]


def test_messages_of_one_key_meet_in_one_partition(root: Puppet, stream: str, topic: str) -> None:
    for number in range(6):
        root.ask("send", stream, topic, "key:customer-7", number, 1)
    assert sorted(root.ask("topic", stream, topic)[3]) == [0, 0, 6]


def test_messages_flushed_and_sealed_segments_deleted_stay_countable(
    root: Puppet, stream: str, topic: str
) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 5)
    _ask_if_able(root, "flush", stream, topic, 0)
    root.ask("delete-segments", stream, topic, 0, 1)
    root.ask("send", stream, topic, "partition:0", 5, 1)
    assert [message[0] for message in _polled(root, stream, topic, "last", 1)] == [5]


def test_records_of_a_kafka_client_are_polled(kind: Kind, tmp_path: Path) -> None:
    """On a broker of its own: the others' has users, and Kafka's door is not open to all where users are."""
    errors: list[object] = []
    with (
        Restartable(tmp_path, "--iggy", "127.0.0.1:0", *FLAGS.get(kind.name, ())) as broker,
        Puppet(kind, broker.ready["iggy"], tmp_path) as client,
    ):
        client.ask("login", "iggy", "iggy")
        client.ask("create-stream", "shop")
        client.ask("create-topic", "shop", "orders", 1)
        producer = Producer({"bootstrap.servers": broker.bootstrap})
        for number in range(3):
            # Without a key, which would become a user header: Java's 0.6 cannot read them.
            producer.produce(
                "shop.orders", value=f"order {number}", on_delivery=lambda error, _: errors.append(error)
            )
        producer.flush(30)
        assert errors == [None, None, None]
        polled = _polled(client, "shop", "orders", "first")
        assert [message[3] for message in polled] == ["order 0", "order 1", "order 2"]


# -- offsets and groups ------------------------------------------------------------------------------


def test_offset_stored_and_committed_moves_next(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 10)
    assert root.ask("offset", stream, topic, 0, "consumer:7") is None
    assert len(_polled(root, stream, topic, "next", 4, "consumer:7", "commit")) == 4
    assert root.ask("offset", stream, topic, 0, "consumer:7") == [0, 9, 3]
    root.ask("store-offset", stream, topic, 0, "consumer:7", 7)
    assert [message[0] for message in _polled(root, stream, topic, "next", 10, "consumer:7")] == [8, 9]


def test_offset_deleted_is_gone(root: Puppet, stream: str, topic: str) -> None:
    root.ask("send", stream, topic, "partition:0", 0, 3)
    root.ask("store-offset", stream, topic, 0, "consumer:7", 1)
    _ask_if_able(root, "delete-offset", stream, topic, 0, "consumer:7")
    assert root.ask("offset", stream, topic, 0, "consumer:7") is None


def test_group_of_two_clients_shares_the_partitions(
    root: Puppet, guest: Puppet, stream: str, topic: str
) -> None:
    guest.ask("login", "iggy", "iggy")
    root.ask("create-group", stream, topic, "readers")
    assert _refusal(root, "create-group", stream, topic, "readers") == GROUP_ALREADY_EXISTS
    assert root.ask("groups", stream, topic) == ["readers"]
    root.ask("join-group", stream, topic, "readers")
    assert root.ask("group", stream, topic, "readers") == ["readers", 3, [[0, 1, 2]]]
    guest.ask("join-group", stream, topic, "readers")
    members = root.ask("group", stream, topic, "readers")[2]
    assert sorted(itertools.chain.from_iterable(members)) == [0, 1, 2]
    assert sorted(map(len, members)) == [1, 2]
    guest.ask("leave-group", stream, topic, "readers")
    assert root.ask("group", stream, topic, "readers") == ["readers", 3, [[0, 1, 2]]]
    root.ask("leave-group", stream, topic, "readers")
    root.ask("delete-group", stream, topic, "readers")
    assert root.ask("group", stream, topic, "readers") is None


def test_group_polls_every_partition_once(root: Puppet, stream: str, topic: str) -> None:
    for partition in range(3):
        root.ask("send", stream, topic, f"partition:{partition}", partition * 10, 2)
    root.ask("create-group", stream, topic, "readers")
    root.ask("join-group", stream, topic, "readers")
    read = []
    for _ in range(6):
        partition, _, messages = root.ask("poll", stream, topic, "-", "group:readers", "next", 10, "commit")
        read += [(partition, message[3]) for message in messages]
    assert sorted(read) == [
        (partition, f"message {partition * 10 + number}") for partition in range(3) for number in range(2)
    ]


# -- users and tokens --------------------------------------------------------------------------------


def test_user_may_do_what_was_permitted_and_no_more(
    root: Puppet, guest: Puppet, stream: str, topic: str
) -> None:
    name = _new_name("user")
    root.ask("send", stream, topic, "partition:0", 0, 2)
    root.ask("create-user", name, "secret", "poll")
    assert root.ask("user", name) == [name, "Active", [True, False]]
    assert _refusal(root, "create-user", name, "secret", "none") == USER_ALREADY_EXISTS
    guest.ask("login", name, "secret")
    assert len(_polled(guest, stream, topic, "first")) == 2
    assert _refusal(guest, "send", stream, topic, "partition:0", 0, 1) == UNAUTHORIZED
    assert _refusal(guest, "delete-stream", stream) == UNAUTHORIZED
    root.ask("permit-user", name, "all")
    assert root.ask("user", name) == [name, "Active", [True, True]]
    guest.ask("send", stream, topic, "partition:0", 2, 1)
    assert root.ask("topic", stream, topic)[2] == 3


def test_user_changed_logs_in_as_it_is_now(root: Puppet, guest: Puppet) -> None:
    old, new = _new_name("user"), _new_name("user")
    root.ask("create-user", old, "secret", "none")
    root.ask("change-password", old, "secret", "other")
    assert _refusal(guest, "login", old, "secret") == INVALID_CREDENTIALS
    root.ask("rename-user", old, new)
    guest.ask("login", new, "other")
    guest.ask("logout")
    assert new in root.ask("users")
    root.ask("disable-user", new)
    assert root.ask("user", new)[1] == "Inactive"
    assert _refusal(guest, "login", new, "other") == USER_INACTIVE
    root.ask("delete-user", new)
    assert root.ask("user", new) is None


def test_token_made_logs_in_until_it_is_deleted(root: Puppet, guest: Puppet) -> None:
    name = _new_name("token")
    token = root.ask("create-token", name)
    assert _refusal(root, "create-token", name) == TOKEN_ALREADY_EXISTS
    assert name in root.ask("tokens")
    assert guest.ask("login-token", token) == 0
    assert "iggy" in guest.ask("users")
    guest.ask("logout")
    root.ask("delete-token", name)
    assert name not in root.ask("tokens")
    assert _refusal(guest, "login-token", token) == RESOURCE_NOT_FOUND


# -- mistakes ----------------------------------------------------------------------------------------


def test_mistakes_get_their_codes_and_the_connection_goes_on(root: Puppet, stream: str, topic: str) -> None:
    for code, command in [
        (STREAM_NOT_FOUND, ("delete-stream", "nowhere")),
        (STREAM_NOT_FOUND, ("create-topic", "nowhere", "events", 1)),
        (TOPIC_NOT_FOUND, ("delete-topic", stream, "nothing")),
        (PARTITION_NOT_FOUND, ("send", stream, topic, "partition:9", 0, 1)),
        (INVALID_USERNAME, ("create-user", "ab", "secret", "none")),
    ]:
        assert _refusal(root, *command) == code, command
    root.ask("send", stream, topic, "partition:0", 0, 1)
    assert len(_polled(root, stream, topic, "first")) == 1


def test_command_before_login_is_refused(guest: Puppet) -> None:
    """By the server or, in some releases, by the client itself."""
    assert _refusal(guest, "login", "iggy", "wrong") == INVALID_CREDENTIALS
    assert _refusal(guest, "streams") is not None
    guest.ask("login", "iggy", "iggy")
    assert "default" in guest.ask("streams")


# -- over a restart ----------------------------------------------------------------------------------


def test_everything_is_there_after_the_broker_was_killed(
    kind: Kind, root: Puppet, broker: Restartable, stream: str, topic: str, tmp_path: Path
) -> None:
    """The last test of the module: it is the broker of the others."""
    root.ask("send", stream, topic, "partition:0", 0, 5)
    root.ask("create-group", stream, topic, "readers")
    assert _refusal(root, "store-offset", stream, topic, 0, "group:readers", 2) == GROUP_MEMBER_NOT_FOUND
    root.ask("join-group", stream, topic, "readers")
    root.ask("store-offset", stream, topic, 0, "group:readers", 2)
    name = _new_name("user")
    root.ask("create-user", name, "secret", "all")
    token = root.ask("create-token", _new_name("token"))
    broker.restart(killed=True)
    with Puppet(kind, broker.ready["iggy"], tmp_path) as client:
        client.ask("login", name, "secret")
        assert len(_polled(client, stream, topic, "first")) == 5
        client.ask("join-group", stream, topic, "readers")
        assert client.ask("offset", stream, topic, 0, "group:readers") == [0, 4, 2]
        client.ask("logout")
        assert client.ask("login-token", token) == 0


def _polled(
    client: Puppet,
    stream: str,
    topic: str,
    strategy: str,
    count: int = 1_000,
    consumer: str = "consumer:1",
    commit: str = "keep",
) -> list[Any]:
    """Messages of partition 0, each as offset, time, id, payload and user headers."""
    partition, _, messages = client.ask("poll", stream, topic, 0, consumer, strategy, count, commit)
    assert partition == 0
    assert isinstance(messages, list)
    return messages


def _ask_if_able(client: Puppet, *words: object) -> Any:
    try:
        return client.ask(*map(str, words))
    except Unable as lack:
        pytest.skip(str(lack))


def _refusal(client: Puppet, *words: object) -> Any:
    """The code that the server gave, or what the client itself complained about."""
    with pytest.raises(Refused) as refused:
        client.ask(*map(str, words))
    return refused.value.args[0]


def _new_name(noun: str) -> str:
    return f"{noun}-{next(NAMES)}"
