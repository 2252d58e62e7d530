"""Transactions of Kafka's Java client in five generations, and Kafka's tools for them (003.33, R11, R14).

The newest knows ``transaction.version`` 2: its epoch is renewed with every transaction, and its writes join
one by themselves. The oldest announce every partition, and never hear of a new epoch.
"""

import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka, Unavailable
from tests.interop.puppets import JAVA_CLIENTS, PUPPETS, Puppet, Refused

pytestmark = pytest.mark.interop

TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
FEATURES = "org.apache.kafka.tools.FeatureCommand"
TIMEOUT_MS = 60_000
SECONDS_MAX = 60


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restartable]:
    broker = Restartable(tmp_path_factory.mktemp("broker"))
    with broker:
        yield broker


@pytest.fixture(scope="module", params=[f"java-{version}" for version in JAVA_CLIENTS])
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
    """A topic of two partitions that nobody else uses; also the name of a transactional id and a group."""
    name = f"tx-{puppet.name}-{next(_numbers)}"
    puppet.ask("create-topic", name, 2)
    return name


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        time.sleep(0.1)


def test_java_reader_sees_what_is_committed_and_nothing_else(puppet: Puppet, topic: str) -> None:
    puppet.ask("tx-init", "p", topic, TIMEOUT_MS)
    for number, ending in enumerate(("tx-commit", "tx-abort", "tx-commit")):
        puppet.ask("tx-begin", "p")
        for partition in (0, 1):
            puppet.ask("tx-send", "p", topic, partition, f"{number}")
        puppet.ask("tx-offset", "p", topic, topic, 0, number + 10)
        puppet.ask(ending, "p")
    assert [puppet.ask("read-committed", topic, partition) for partition in (0, 1)] == [["0", "2"]] * 2
    assert puppet.ask("committed", topic, topic) == {"0": 12}


def test_java_producer_is_fenced_by_its_successor(puppet: Puppet, topic: str) -> None:
    puppet.ask("tx-init", "zombie", topic, TIMEOUT_MS)
    puppet.ask("tx-begin", "zombie")
    puppet.ask("tx-send", "zombie", topic, 0, "zombie")
    puppet.ask("tx-init", "successor", topic, TIMEOUT_MS)
    with pytest.raises(Refused, match=r"Fenced|InvalidProducerEpoch|InvalidTxnState"):
        puppet.ask("tx-commit", "zombie")
    puppet.ask("tx-begin", "successor")
    puppet.ask("tx-send", "successor", topic, 0, "successor")
    puppet.ask("tx-commit", "successor")
    assert puppet.ask("read-committed", topic, 0) == ["successor"]


def test_java_transaction_that_takes_too_long_is_aborted(puppet: Puppet, topic: str) -> None:
    puppet.ask("tx-init", "slow", topic, 1_000)
    puppet.ask("tx-begin", "slow")
    puppet.ask("tx-send", "slow", topic, 0, "slow")
    puppet.ask("produce", topic, 0, "none", 0, 1, 1)
    until(lambda: puppet.ask("read-committed", topic, 0) == ["0:"])
    with pytest.raises(Refused):
        puppet.ask("tx-commit", "slow")


def test_java_transaction_goes_on_after_a_restart(puppet: Puppet, topic: str, broker: Restartable) -> None:
    puppet.ask("tx-init", "p", topic, TIMEOUT_MS)
    puppet.ask("tx-begin", "p")
    puppet.ask("tx-send", "p", topic, 0, "before")
    broker.restart(killed=False)
    puppet.ask("tx-send", "p", topic, 1, "after")
    puppet.ask("tx-commit", "p")
    assert puppet.ask("read-committed", topic, 0) == ["before"]
    assert puppet.ask("read-committed", topic, 1) == ["after"]
    puppet.ask("tx-begin", "p")
    puppet.ask("tx-send", "p", topic, 0, "next")
    puppet.ask("tx-commit", "p")
    assert puppet.ask("read-committed", topic, 0) == ["before", "next"]


@pytest.mark.parametrize("ending", ["tx-commit", "tx-abort"])
def test_java_transaction_goes_on_over_a_kill_after_each_of_its_steps(
    puppet: Puppet, topic: str, broker: Restartable, ending: str
) -> None:
    """Issue 6: kill -9 between each step; by the oldest and the newest way of a transaction."""
    if puppet.name not in (f"java-{JAVA_CLIENTS[0]}", f"java-{JAVA_CLIENTS[-1]}"):
        pytest.skip("twice is enough")
    steps: tuple[tuple[str, *tuple[str | int, ...]], ...] = (
        ("tx-init", "p", topic, TIMEOUT_MS),
        ("tx-begin", "p"),
        ("tx-send", "p", topic, 0, "one"),
        ("tx-offset", "p", topic, topic, 0, 7),
        ("tx-send", "p", topic, 1, "two"),
        (ending, "p"),
    )
    for step in steps:
        puppet.ask(*step)
        broker.restart(killed=True)
    is_committed = ending == "tx-commit"
    assert [puppet.ask("read-committed", topic, partition) for partition in (0, 1)] == (
        [["one"], ["two"]] if is_committed else [[], []]
    )
    assert puppet.ask("committed", topic, topic) == ({"0": 7} if is_committed else {})
    puppet.ask("tx-begin", "p")
    puppet.ask("tx-send", "p", topic, 0, "next")
    puppet.ask("tx-commit", "p")
    assert puppet.ask("read-committed", topic, 0) == (["one", "next"] if is_committed else ["next"])


# -- Kafka's tools -------------------------------------------------------------------------------


def test_kafka_transactions_lists_describes_and_aborts(
    kafka: Kafka, broker: Restartable, puppet: Puppet, topic: str
) -> None:
    """With the newest client only: the tool is the same for all of them."""
    if puppet.name != f"java-{JAVA_CLIENTS[-1]}":
        pytest.skip("once is enough")

    def tool(*arguments: str) -> str:
        return kafka.run(TRANSACTIONS, "--bootstrap-server", broker.bootstrap, *arguments)

    puppet.ask("tx-init", "hangs", topic, TIMEOUT_MS)
    puppet.ask("tx-begin", "hangs")
    puppet.ask("tx-send", "hangs", topic, 0, "hangs")
    listed = [line.split() for line in tool("list").splitlines()]
    [row] = [row for row in listed if row and row[0] == topic]
    assert row[3] == "Ongoing"
    described = tool("describe", "--transactional-id", topic)
    assert "Ongoing" in described
    assert f"{topic}-0" in described
    producers = tool("describe-producers", "--topic", topic, "--partition", "0")
    assert row[2] in producers
    tool("abort", "--topic", topic, "--partition", "0", "--start-offset", "0")
    puppet.ask("produce", topic, 0, "none", 0, 1, 1)
    assert puppet.ask("read-committed", topic, 0) == ["0:"]


def test_kafka_features_describes_and_changes_levels(kafka: Kafka, broker: Restartable) -> None:
    def tool(*arguments: str) -> str:
        return kafka.run(FEATURES, "--bootstrap-server", broker.bootstrap, *arguments)

    described = [line.split() for line in tool("describe").splitlines()]
    levels = {row[1]: (row[3], row[5], row[7]) for row in described if row[:1] == ["Feature:"]}
    assert levels["transaction.version"] == ("0", "2", "2")
    tool("downgrade", "--feature", "transaction.version=1")
    assert "FinalizedVersionLevel: 1" in next(
        line for line in tool("describe").splitlines() if "transaction.version" in line
    )
    tool("upgrade", "--feature", "transaction.version=2")
