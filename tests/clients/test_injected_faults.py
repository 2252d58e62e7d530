"""Faults of ``broker.faults`` seen by real clients: they retry through each, and lose or double nothing."""

import pytest

from tests.clients.clients import AioKafka, Client, ConfluentKafka, KafkaPython, Sending, Sent
from trivium.testing import Broker
from trivium.testing.faults import Fault

RECORDS = [Sent(b"%d" % number) for number in range(50)]
VALUES = [record.value for record in RECORDS]


PASSING = {
    "Produce": "NOT_LEADER_OR_FOLLOWER",
    "Fetch": "NOT_LEADER_OR_FOLLOWER",
    "ListOffsets": "NOT_LEADER_OR_FOLLOWER",
    "Metadata": "LEADER_NOT_AVAILABLE",
    "InitProducerId": "COORDINATOR_LOAD_IN_PROGRESS",
    "FindCoordinator": "COORDINATOR_NOT_AVAILABLE",
    "JoinGroup": "COORDINATOR_LOAD_IN_PROGRESS",
    "OffsetFetch": "COORDINATOR_LOAD_IN_PROGRESS",
    "OffsetCommit": "COORDINATOR_LOAD_IN_PROGRESS",
}
"""An error of each API that clients are to try again after."""


def inject(broker: Broker, api: str, kind: str, topic: str | None = None, times: int = 1) -> Fault:
    faults = broker.faults
    if kind == "error":
        return faults.error(api, PASSING[api], topic=topic, times=times)
    if kind == "delay":
        return faults.delay(api, seconds=0.2, topic=topic, times=times)
    return faults.disconnect(api, when=kind, topic=topic, times=times)


@pytest.mark.parametrize("kind", ["error", "delay", "before", "after"])
@pytest.mark.parametrize("api", ["Produce", "Metadata"])
def test_idempotent_producer_gets_through(client: Client, api: str, kind: str) -> None:
    """R13: an answer that was lost is asked for again, and the broker knows the batch."""
    with Broker() as broker:
        broker.create_topic("t")
        fault = inject(broker, api, kind, topic="t", times=2)
        client.produce(broker.bootstrap, "t", RECORDS, Sending(idempotent=True))
        assert fault.fired >= 1
        broker.faults.clear()
        assert [record.value for record in broker.records("t")] == VALUES


@pytest.mark.parametrize("kind", ["error", "before", "after"])
def test_idempotent_producer_gets_its_id_in_the_end(client: Client, kind: str) -> None:
    with Broker() as broker:
        broker.create_topic("t")
        fault = inject(broker, "InitProducerId", kind)
        client.produce(broker.bootstrap, "t", RECORDS, Sending(idempotent=True))
        assert fault.fired == 1
        assert [record.value for record in broker.records("t")] == VALUES


@pytest.mark.parametrize("kind", ["error", "delay", "before", "after"])
@pytest.mark.parametrize("api", ["Fetch", "ListOffsets"])
def test_reader_gets_through(client: Client, api: str, kind: str) -> None:
    with Broker() as broker:
        broker.produce("t", [value or b"" for value in VALUES])
        fault = inject(broker, api, kind, topic="t")
        seen = client.consume(broker.bootstrap, "t", len(VALUES))
        assert fault.fired == 1
        assert [record.value for record in seen] == VALUES


@pytest.mark.parametrize(
    ("api", "kind"),
    [
        ("FindCoordinator", "error"),
        ("FindCoordinator", "before"),
        ("JoinGroup", "error"),
        # After it, Kafka would wait a session for the member that does not know its id (KIP-394).
        ("JoinGroup", "before"),
        ("OffsetFetch", "error"),
        ("OffsetFetch", "after"),
        ("OffsetCommit", "error"),
        ("OffsetCommit", "before"),
        ("OffsetCommit", "after"),
    ],
)
def test_member_of_a_group_gets_through_and_its_offsets_count(client: Client, api: str, kind: str) -> None:
    if client.name == "confluent-kafka" and api == "OffsetCommit" and kind == "before":
        pytest.skip("librdkafka 2.16 retries on the connection that it is giving up, until its session ends")
    with Broker() as broker:
        broker.produce("t", [value or b"" for value in VALUES])
        fault = inject(broker, api, kind)
        first = client.consume(broker.bootstrap, "t", 30, "group")
        assert fault.fired == 1
        rest = client.consume(broker.bootstrap, "t", 20, "group")
        assert [record.value for record in first + rest] == VALUES


def test_lost_answer_without_idempotence_doubles_what_was_sent() -> None:
    """What idempotence is for, and that ``after`` means what it says: the batch was written."""
    with Broker() as broker:
        broker.create_topic("t")
        fault = broker.faults.disconnect("Produce", when="after", topic="t", times=1)
        ConfluentKafka().produce(broker.bootstrap, "t", [Sent(b"once?")], Sending(idempotent=False))
        assert fault.fired == 1
        assert [record.value for record in broker.records("t")] == [b"once?", b"once?"]


@pytest.mark.parametrize("make", [ConfluentKafka, KafkaPython, AioKafka])
def test_error_that_is_final_reaches_the_application(make: type[Client]) -> None:
    with Broker() as broker:
        broker.create_topic("t")
        broker.faults.error("Produce", "TOPIC_AUTHORIZATION_FAILED", topic="t")
        with pytest.raises(Exception, match=r"(?i)TOPIC_?AUTHORIZATION_?FAILED"):
            make().produce(broker.bootstrap, "t", [Sent(b"refused")])
        assert broker.records("t") == []


def test_error_of_one_topic_leaves_a_producer_of_another_alone(client: Client) -> None:
    with Broker() as broker:
        broker.create_topic("struck")
        fault = broker.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", topic="struck")
        client.produce(broker.bootstrap, "spared", RECORDS)
        assert fault.fired == 0
        assert len(broker.records("spared")) == len(RECORDS)
