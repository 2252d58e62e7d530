"""Who waits for a broker for long says so, once, and nobody who is interrupted waits for one that is away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.client import transactional_producer, waiting
from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError, TimedOut, Unreachable
from trivium.client.producer import Producer
from trivium.client.transactional_producer import TransactionalProducer
from trivium.testing import Broker

FOREVER_S = 3600.0
"""Longer than any test may take."""


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    monkeypatch.setattr(waiting, "SILENT_S", 0.0)
    monkeypatch.setattr("trivium.client.cluster.UNREACHABLE_PATIENCE_S", 0.05)
    with Broker(tmp_path) as started:
        started.produce("out", [b"first"])
        yield started


def test_connecting_says_what_fails_and_for_how_long_it_is_tried(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    broker.stop()
    with pytest.raises(Unreachable):
        Cluster.connect(broker.bootstrap, patience_s=0.2)
    assert caplog.messages == [
        f"Nothing listens at {broker.bootstrap}; start a broker with 'trivium serve', or name another by "
        "--broker. It is tried again for 0 seconds at most."
    ]


def test_who_gives_up_at_once_says_nothing_beside_the_error(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    with Cluster.connect(broker.bootstrap) as cluster:
        broker.stop()
        with pytest.raises(ClientError):
            cluster.metadata(None)
    assert caplog.messages == []


def test_question_says_that_it_waits_and_that_it_goes_on(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    with Cluster.connect(broker.bootstrap, patience_s=FOREVER_S) as cluster:
        broker.stop()
        broker.start()
        cluster.metadata(None)
    assert len(caplog.messages) == 2
    assert caplog.messages[0].endswith("It is tried again for 3600 seconds at most.")
    assert caplog.messages[1] == "It goes on: the broker answers again."


def test_records_that_wait_for_their_broker_say_so_once(
    broker: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    with Cluster.connect(broker.bootstrap) as cluster:
        producer = Producer(cluster, delivery_timeout_s=0.5)
        producer.send("out", b"second")
        producer.flush()
        broker.stop()
        producer.send("out", b"third")
        with pytest.raises(TimedOut):
            producer.flush()
        producer.close()
    assert len(caplog.messages) == 1
    assert caplog.messages[0].endswith("It is tried again for 0 seconds at most.")


def test_wait_that_was_given_up_is_not_the_beginning_of_the_next(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now_s = [0.0]
    monkeypatch.setattr(waiting, "monotonic", lambda: now_s[0])
    wait = waiting.Waiting(FOREVER_S)
    wait.failed(TimedOut("It is silent."))
    wait.given_up()
    now_s[0] = 2 * waiting.SILENT_S
    wait.failed(TimedOut("It is silent."))
    assert caplog.messages == []
    now_s[0] *= 2
    wait.failed(TimedOut("It is silent."))
    assert caplog.messages == ["It is silent. It is tried again for 3600 seconds at most."]


def test_interrupted_transaction_does_not_wait_for_a_broker_that_is_away(
    broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transactional_producer, "LEAVING_S", 0.05)
    cluster = Cluster.connect(broker.bootstrap, patience_s=FOREVER_S)

    def write() -> None:
        with TransactionalProducer(cluster, "tx") as producer:
            producer.send("out", b"second")
            producer.flush()
            broker.stop()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    cluster.close()
