"""Faults at work, as bytes in and bytes out of a session: no socket, and a clock that a list stands for."""

import dataclasses
import struct
from collections.abc import Callable
from typing import Any

import pytest

from tests.core.batches import batch
from tests.core.fakes import World
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.fetch import Fetching
from trivium.core.produce import Producing
from trivium.core.topics import TopicDirectory
from trivium.messages.api import ApiKey
from trivium.messages.api.api_versions import ApiVersionsRequest
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.protocols.kafka.api import Api, Endpoint
from trivium.protocols.kafka.apis import APIS
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.testing.faults import Faults
from trivium.testing.sabotage import Disconnected, sabotage
from trivium.testing.surroundings import Surroundings


class Sabotage:
    """A session on a core with the topics ``t`` and ``u``, and what has become of its faults."""

    def __init__(self) -> None:
        self.world = World()
        self.ids = {name: self.world.create_topic(name) for name in ("t", "u")}
        access, cluster = self.world.access, self.world.cluster
        for noun in (
            self.world.topics,
            TopicDirectory(cluster, self.world.settings, access, self.world.topics),
            Producing(cluster, access, self.world.timers),
            Fetching(cluster, access, self.world.timers, self.world.soon, 1 << 20),
        ):
            self.world.add(noun.routes)
        protocol = KafkaProtocol(Broker(access, [self.world.routes]))
        self.faults = Faults()
        self.late: list[tuple[float, Callable[[], None]]] = []
        self.hung_up: list[Caller] = []
        by_id = {topic_id: name for name, topic_id in self.ids.items()}
        sabotage(
            protocol,
            self.faults,
            Surroundings(
                by_id.get, lambda seconds, call: self.late.append((seconds, call)), self.hung_up.append
            ),
        )
        self.session = KafkaSession(protocol, "127.0.0.1", Endpoint("127.0.0.1", 9092), lambda: None)

    def ask(self, request: Request, version: int) -> Any:
        """The answer to a request, or None if there is none by now."""
        scratch = memoryview(bytearray(1 << 16))
        frame = encode_request(request, version, 7, "test")
        frame = struct.pack(">i", len(frame)) + frame
        self.session.space(scratch)[: len(frame)] = frame
        self.session.received(len(frame), scratch)
        self.world.turn()
        return self.answer(ApiKey(type(request).API_KEY), version)

    def answer(self, key: ApiKey, version: int) -> Any:
        data = b"".join(self.session.data_to_send())
        if not data:
            return None
        header, response = decode_response(key, version, memoryview(data)[4:])
        assert header.correlation_id == 7
        return response

    def values(self, topic: str) -> list[bytes | None]:
        return [value for _, _, value in self.world.log(topic).records()]


@pytest.fixture
def broken() -> Sabotage:
    return Sabotage()


def produce(ids: dict[str, bytes], version: int, *topics: str, acks: int = -1) -> ProduceRequest:
    by_id = version >= 13
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[
            TopicProduceData(
                **({"topic_id": ids[topic]} if by_id else {"name": topic}),
                partition_data=[PartitionProduceData(index=0, records=batch(topic.encode()))],
            )
            for topic in topics
        ],
    )


def fetch(version: int, *topics: str) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=10_000,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)],
            )
            for topic in topics
        ],
    )


def codes(response: Any, topics: str, parts: str) -> list[int]:
    return [part.error_code for topic in getattr(response, topics) for part in getattr(topic, parts)]


STRUCK = {"to_command", "shortcut"}
"""What an API does to requests: wrapped, so that a fault strikes whichever of these ways a request takes."""
UNTOUCHED = {
    *("to_response", "form", "withholding"),  # of results: an answer of a fault's is concluded without them
    *("key", "version_min", "version_last", "request", "flexible_since", "tagged_answer_since"),
}


def test_every_way_of_an_api_is_known_to_sabotage(broken: Sabotage) -> None:
    """Who adds a way reads here what to do: one that reads requests is wrapped, or faults would miss them."""
    assert {each.name for each in dataclasses.fields(Api)} == STRUCK | UNTOUCHED
    for key, api in broken.session.protocol.apis.items():
        assert all(getattr(api, name) == getattr(APIS[key], name) for name in UNTOUCHED)
        assert all(getattr(api, name) is not getattr(APIS[key], name) for name in STRUCK)


@pytest.mark.parametrize("version", [3, 9, 12, 13])
def test_error_refuses_the_request_and_writes_nothing(broken: Sabotage, version: int) -> None:
    fault = broken.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", times=1)
    request = produce(broken.ids, version, "t", "u")
    response = broken.ask(request, version)
    assert codes(response, "responses", "partition_responses") == [ErrorCode.NOT_LEADER_OR_FOLLOWER] * 2
    assert broken.values("t") == broken.values("u") == []
    response = broken.ask(request, version)
    assert codes(response, "responses", "partition_responses") == [0, 0]
    assert (broken.values("t"), fault.fired) == ([b"t"], 1)


@pytest.mark.parametrize("version", [3, 13])
def test_error_of_a_topic_leaves_the_other_topics_alone(broken: Sabotage, version: int) -> None:
    fault = broken.faults.error("Produce", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", topic="t", times=1)
    response = broken.ask(produce(broken.ids, version, "u"), version)
    assert codes(response, "responses", "partition_responses") == [0]
    assert fault.fired == 0
    response = broken.ask(produce(broken.ids, version, "u", "t"), version)
    outcomes = {
        topic.topic_id if version >= 13 else topic.name: topic.partition_responses[0].error_code
        for topic in response.responses
    }
    t, u = ("t", "u") if version < 13 else (broken.ids["t"], broken.ids["u"])
    assert outcomes == {t: ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, u: 0}
    assert (broken.values("t"), broken.values("u"), fault.fired) == ([], [b"u", b"u"], 1)


def test_error_without_acks_hangs_up_as_kafka_does(broken: Sabotage) -> None:
    broken.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER")
    with pytest.raises(Exception, match="wants no answer"):
        broken.ask(produce(broken.ids, 9, "t", acks=0), 9)


def test_error_of_one_topic_in_a_fetch_does_not_wait_for_records_of_the_others(broken: Sabotage) -> None:
    broken.faults.error("Fetch", "KAFKA_STORAGE_ERROR", topic="t", times=1)
    response = broken.ask(fetch(4, "t", "u"), 4)
    assert codes(response, "responses", "partitions") == [ErrorCode.KAFKA_STORAGE_ERROR, 0]
    assert broken.ask(fetch(4, "t", "u"), 4) is None, "nothing is there, and nothing is wrong: it waits"


@pytest.mark.parametrize("version", [0, 1, 12, 13])
def test_error_of_a_topic_in_metadata_still_tells_the_brokers(broken: Sabotage, version: int) -> None:
    broken.faults.error("Metadata", "LEADER_NOT_AVAILABLE", topic="t")
    names = [MetadataRequestTopic(name=name) for name in ("t", "u")]
    response = broken.ask(MetadataRequest(topics=names), version)
    assert [broker.port for broker in response.brokers] == [9092]
    assert {topic.name: topic.error_code for topic in response.topics} == {
        "t": ErrorCode.LEADER_NOT_AVAILABLE,
        "u": 0,
    }


@pytest.mark.parametrize("version", [0, 3, 4])
def test_error_of_a_request_that_needs_no_command_is_told_too(broken: Sabotage, version: int) -> None:
    broken.faults.error("ApiVersions", "UNSUPPORTED_VERSION", times=1)
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    assert broken.ask(request, version).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert broken.ask(request, version).error_code == 0


def test_error_of_create_topics_creates_nothing(broken: Sabotage) -> None:
    broken.faults.error("CreateTopics", "THROTTLING_QUOTA_EXCEEDED", times=1)
    topic = CreatableTopic(name="new", num_partitions=1, replication_factor=1, assignments=[], configs=[])
    request = CreateTopicsRequest(topics=[topic], timeout_ms=1000)
    assert broken.ask(request, 5).topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert "new" not in broken.world.image.topics.by_name
    assert broken.ask(request, 5).topics[0].error_code == 0


def test_delay_carries_out_at_once_and_answers_later(broken: Sabotage) -> None:
    broken.faults.delay("Produce", seconds=2.5, times=1)
    assert broken.ask(produce(broken.ids, 9, "t"), 9) is None
    assert broken.values("t") == [b"t"]
    ((seconds, answer),) = broken.late
    assert seconds == 2.5
    answer()
    response = broken.answer(ApiKey.PRODUCE, 9)
    assert codes(response, "responses", "partition_responses") == [0]


def test_delay_of_a_request_that_needs_no_command_answers_later(broken: Sabotage) -> None:
    broken.faults.delay("ApiVersions", seconds=1)
    request = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    assert broken.ask(request, 4) is None
    broken.late[0][1]()
    assert broken.answer(ApiKey.API_VERSIONS, 4).error_code == 0


def test_disconnect_before_ends_the_connection_and_writes_nothing(broken: Sabotage) -> None:
    broken.faults.disconnect("Produce", when="before", times=1)
    with pytest.raises(Disconnected):
        broken.ask(produce(broken.ids, 9, "t"), 9)
    assert broken.values("t") == []


def test_disconnect_after_writes_and_ends_the_connection_unanswered(broken: Sabotage) -> None:
    broken.faults.disconnect("Produce", when="after", topic="t", times=1)
    assert broken.ask(produce(broken.ids, 9, "t"), 9) is None
    assert broken.values("t") == [b"t"]
    assert broken.hung_up == [broken.session.caller]


def test_oldest_fault_strikes_first_and_then_the_next(broken: Sabotage) -> None:
    broken.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER", times=1)
    broken.faults.error("Produce", "REQUEST_TIMED_OUT", times=1)
    seen = [
        codes(broken.ask(produce(broken.ids, 9, "t"), 9), "responses", "partition_responses")[0]
        for _ in range(3)
    ]
    assert seen == [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.REQUEST_TIMED_OUT, 0]


def test_cleared_faults_strike_nobody(broken: Sabotage) -> None:
    broken.faults.error("Produce", "NOT_LEADER_OR_FOLLOWER")
    broken.faults.clear()
    response = broken.ask(produce(broken.ids, 9, "t"), 9)
    assert codes(response, "responses", "partition_responses") == [0]
