"""One script, played by every foreign client: Kafka's Java client of five generations, KafkaJS, franz-go.

Each client is one process for the whole file: what it keeps (connections, producer ids, sequence numbers,
group members) is carried from test to test and over a restart of the broker (003.18, 003.31-34; R1, R13).
"""

import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from tests.interop.brokers import Restartable
from tests.interop.kafka import Unavailable
from tests.interop.puppets import PUPPETS, Puppet, Refused, Unable

pytestmark = pytest.mark.interop

FIRST_TIMESTAMP = 1_700_000_000_000
SETTLE_SECONDS_MAX = 60
"""Five generations of clients find each other, lose each other and come back on two busy cores."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    broker = Restartable(tmp_path_factory.mktemp("broker"))
    with broker:
        yield broker


@pytest.fixture(scope="module", params=PUPPETS)
def puppet(
    request: pytest.FixtureRequest, broker: Restartable, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Puppet]:
    try:
        puppet = Puppet(PUPPETS[request.param], broker.bootstrap, tmp_path_factory.mktemp(request.param))
    except Unavailable as reason:
        pytest.skip(str(reason))
    with puppet:
        yield puppet


_numbers = itertools.count()


@pytest.fixture
def topic(puppet: Puppet) -> str:
    """A topic of four partitions that nobody else uses."""
    name = f"{puppet.name}-{next(_numbers)}"
    puppet.ask("create-topic", name, 4)
    return name


def until(condition: Callable[[], bool], puppet: Puppet) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, f"it never came about: {puppet.complaints[-2000:]}"
        time.sleep(0.05)


def expected(number: int, offset: int, size: int) -> list[object]:
    """Record ``number`` as every puppet makes it, and as every puppet must read it."""
    return [
        offset,
        FIRST_TIMESTAMP + number,
        f"k{number}",
        f"{number}:".ljust(size, "."),
        [["n", str(number)], ["empty", ""]],
    ]


# -- records -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_records_of_each_codec_come_back_as_they_were_sent(puppet: Puppet, topic: str, codec: str) -> None:
    try:
        offsets = puppet.ask("produce", topic, 2, codec, 0, 200, 100)
    except Unable as reason:
        pytest.skip(str(reason))
    assert offsets == list(range(200))
    assert puppet.ask("consume", topic, 2, 0, 200) == [expected(number, number, 100) for number in range(200)]
    assert puppet.ask("ends", topic, 2) == [0, 200]


def test_record_without_key_and_value_comes_back_as_such(puppet: Puppet, topic: str) -> None:
    assert puppet.ask("produce-null", topic, 1) == 0
    [[offset, _, key, value, headers]] = puppet.ask("consume", topic, 1, 0, 1)
    assert (offset, key, value, headers) == (0, None, None, [])


def test_record_near_the_limit_is_taken_and_one_beyond_is_refused(puppet: Puppet, topic: str) -> None:
    """003.30: 1 MB by default."""
    assert puppet.ask("produce", topic, 0, "none", 7, 1, 1_000_000) == [0]
    assert puppet.ask("consume", topic, 0, 0, 1) == [expected(7, 0, 1_000_000)]
    with pytest.raises(Refused, match=r"(?i)too.?large|larger"):
        puppet.ask("produce", topic, 0, "none", 8, 1, 1_100_000)
    assert puppet.ask("produce", topic, 0, "none", 9, 1, 10) == [1]


def test_offset_is_found_by_time(puppet: Puppet, topic: str) -> None:
    puppet.ask("produce", topic, 0, "gzip", 0, 100, 50)
    assert puppet.ask("offset-at", topic, 0, FIRST_TIMESTAMP + 42) == 42
    assert puppet.ask("offset-at", topic, 0, FIRST_TIMESTAMP - 5) == 0


def test_deleted_records_are_gone_and_the_rest_is_there(puppet: Puppet, topic: str) -> None:
    puppet.ask("produce", topic, 3, "none", 0, 10, 20)
    puppet.ask("delete-records", topic, 3, 6)
    assert puppet.ask("ends", topic, 3) == [6, 10]
    assert puppet.ask("consume", topic, 3, 6, 4) == [expected(number, number, 20) for number in range(6, 10)]


# -- topics ------------------------------------------------------------------------------------------


def test_topic_is_created_configured_extended_and_deleted(puppet: Puppet) -> None:
    name = f"{puppet.name}-life"
    puppet.ask("create-topic", name, 1, "retention.ms=123456")
    assert name in puppet.ask("topics")
    assert puppet.ask("get-config", name, "retention.ms") == "123456"
    puppet.ask("set-config", name, "max.message.bytes", "2000000")
    assert puppet.ask("get-config", name, "max.message.bytes") == "2000000"
    assert puppet.ask("get-config", name, "retention.ms") == "123456"
    puppet.ask("add-partitions", name, 3)
    until(lambda: _can_write_to(puppet, name, 2), puppet)
    puppet.ask("delete-topic", name)
    until(lambda: name not in puppet.ask("topics"), puppet)


def _can_write_to(puppet: Puppet, topic: str, partition: int) -> bool:
    """A client learns of a new partition when it asks for metadata again."""
    try:
        return bool(puppet.ask("produce", topic, partition, "none", 0, 1, 10))
    except Refused:
        return False


def test_topic_that_exists_is_not_created_again(puppet: Puppet, topic: str) -> None:
    with pytest.raises(Refused, match=r"(?i)exists"):
        puppet.ask("create-topic", topic, 1)


# -- groups ------------------------------------------------------------------------------------------


def test_group_shares_partitions_among_two_members_and_back(puppet: Puppet, topic: str) -> None:
    """R15: never twice, never none; committed offsets are taken over."""
    group = f"group-of-{topic}"
    everything = {(partition, offset) for partition in range(4) for offset in range(25)}
    for partition in range(4):
        puppet.ask("produce", topic, partition, "none", 0, 25, 20)
    puppet.ask("join", "one", group, topic)
    until(lambda: puppet.ask("assignment", "one") == [0, 1, 2, 3], puppet)
    until(lambda: seen(puppet, "one") >= everything, puppet)
    puppet.ask("join", "two", group, topic)
    until(lambda: len(puppet.ask("assignment", "one")) == len(puppet.ask("assignment", "two")) == 2, puppet)
    assert {*puppet.ask("assignment", "one"), *puppet.ask("assignment", "two")} == {0, 1, 2, 3}
    assert puppet.ask("members", group) == 2
    puppet.ask("leave", "one")
    until(lambda: puppet.ask("assignment", "two") == [0, 1, 2, 3], puppet)
    for partition in range(4):
        puppet.ask("produce", topic, partition, "none", 25, 5, 20)
    more = {(partition, offset) for partition in range(4) for offset in range(25, 30)}
    until(lambda: seen(puppet, "two") >= more, puppet)
    assert seen(puppet, "two") == more, "what member one had committed was read again"
    puppet.ask("leave", "two")
    assert puppet.ask("committed", group, topic) == {str(partition): 30 for partition in range(4)}
    assert group in puppet.ask("groups")
    puppet.ask("delete-group", group)
    assert group not in puppet.ask("groups")


def seen(puppet: Puppet, member: str) -> set[tuple[int, int]]:
    return {(partition, offset) for partition, offset in puppet.ask("seen", member)}


# -- restarts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_broker_restarted_under_a_producer_and_a_group_loses_nothing(
    puppet: Puppet, topic: str, broker: Restartable, ending: str
) -> None:
    """R1, R13: the same producer goes on with its sequence numbers, the same member with its offsets."""
    group = f"group-of-{topic}"
    assert puppet.ask("produce", topic, 0, "none", 0, 50, 30) == list(range(50))
    puppet.ask("join", "faithful", group, topic)
    until(lambda: len(seen(puppet, "faithful")) == 50, puppet)
    until(lambda: puppet.ask("committed", group, topic).get("0") == 50, puppet)
    broker.restart(killed=ending == "killed")
    assert puppet.ask("produce", topic, 0, "none", 50, 50, 30) == list(range(50, 100))
    until(lambda: len(seen(puppet, "faithful")) == 100, puppet)
    assert puppet.ask("consume", topic, 0, 0, 100) == [expected(number, number, 30) for number in range(100)]
    found = puppet.ask("seen", "faithful")
    assert sorted(offset for _, offset in found) == list(range(100)), "a record was read twice"
    puppet.ask("leave", "faithful")
