"""Clusters that stay connected between two uses."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client.live import make_topic
from trivium.client import idle_clusters
from trivium.client.admin_topics import add_partitions
from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import Refused, settled
from trivium.client.idle_clusters import IDLE_MAX, borrowed, close_idle
from trivium.client.producer import Producer


@pytest.fixture(autouse=True)
def _none_are_left() -> Iterator[None]:
    close_idle()
    yield
    close_idle()


def test_cluster_given_back_is_the_next_one(bootstrap: str) -> None:
    with borrowed(bootstrap) as first:
        connection = first.anyone(Deadline(30))
        with borrowed(bootstrap) as other:
            assert other is not first, "who has one has it alone"
    with borrowed(bootstrap) as again:
        assert again is first
        assert again.anyone(Deadline(30)) is connection
    with borrowed(bootstrap, client_id="somebody else") as another:
        assert another is not first


def test_cluster_is_closed_after_an_error(bootstrap: str) -> None:
    with borrowed(bootstrap) as first:
        connection = first.anyone(Deadline(30))
    with pytest.raises(Refused), borrowed(bootstrap) as again:
        again.topic("not/a/name")
    assert again is first
    assert connection.is_closed
    with borrowed(bootstrap) as next_one:
        assert next_one is not first


def test_connection_that_ended_meanwhile_is_opened_anew(bootstrap: str) -> None:
    with borrowed(bootstrap) as first:
        first.anyone(Deadline(30))._socket.shutdown(2)  # As a broker that restarts does.
    with borrowed(bootstrap) as again:
        assert again is first
        assert again.metadata([]).brokers


def test_cluster_that_was_silent_for_long_is_not_used_again(
    bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with borrowed(bootstrap) as first:
        connection = first.anyone(Deadline(30))
    monkeypatch.setattr(idle_clusters, "IDLE_S_MAX", -1.0)
    with borrowed(bootstrap) as next_one:
        assert next_one is not first
    assert connection.is_closed


def test_cluster_that_was_lent_before_a_fork_stays_with_its_process(bootstrap: str) -> None:
    with borrowed(bootstrap) as first:
        first.anyone(Deadline(30))
        child = os.fork()
    check_child_keeps_none(child)
    with borrowed(bootstrap) as again:
        assert again is first
        assert again.metadata([]).brokers


def check_child_keeps_none(child: int) -> None:
    """The child itself ends here."""
    if not child:
        os._exit(len(idle_clusters._idle))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_topics_are_looked_up_again(bootstrap: str, cluster: Cluster, name: str) -> None:
    topic = make_topic(cluster, name, 1)
    with borrowed(bootstrap) as first:
        assert len(first.topic(topic).partitions) == 1
    settled(add_partitions(cluster, {topic: 2})[topic])
    with borrowed(bootstrap) as again:
        assert again is first
        assert len(again.topic(topic).partitions) == 2


def test_few_wait_and_the_oldest_is_closed(bootstrap: str) -> None:
    connections = []
    for number in range(IDLE_MAX + 1):
        with borrowed(bootstrap, client_id=str(number)) as each:
            connections.append(each.anyone(Deadline(30)))
    assert [each.is_closed for each in connections] == [True] + [False] * IDLE_MAX


def test_threads_never_have_the_same_one(bootstrap: str) -> None:
    in_use: set[int] = set()

    def borrow_often(_: int) -> int:
        for _ in range(50):
            with borrowed(bootstrap) as each:
                assert id(each) not in in_use
                in_use.add(id(each))
                in_use.discard(id(each))
        return 50

    with ThreadPoolExecutor(IDLE_MAX) as threads:
        assert sum(threads.map(borrow_often, range(IDLE_MAX))) == 50 * IDLE_MAX


def test_forked_process_begins_without_any(bootstrap: str) -> None:
    with borrowed(bootstrap) as first:
        pass
    check_child_keeps_none(os.fork())
    with borrowed(bootstrap) as again:
        assert again is first
        assert again.metadata([]).brokers


def test_producers_of_a_cluster_use_a_connection_one_after_the_other(cluster: Cluster, topic: str) -> None:
    used = []
    for _ in range(3):
        with Producer(cluster) as producer:
            producer.send(topic, b"a", partition=0)
            producer.flush()
            (line,) = producer._shipper._lines.values()
            used.append(line.connection)
    assert used[0] is used[1] is used[2]
    used[0]._socket.shutdown(2)
    with Producer(cluster) as producer:
        producer.send(topic, b"b", partition=0)
        producer.flush()
        (line,) = producer._shipper._lines.values()
        assert line.connection is not used[0]


def test_connection_with_an_answer_due_is_not_used_again(cluster: Cluster, topic: str) -> None:
    producer = Producer(cluster, in_flight_max=1)
    producer.send(topic, b"a", partition=0)
    producer._send_all_until(1 << 30)
    producer._shipper._send_all()
    (line,) = producer._shipper._lines.values()
    producer.close()
    assert line.connection.is_closed
