"""What the broker knows about a pipeline's topics."""

from types import SimpleNamespace
from typing import Any

import pytest
from tests.client.live import make_topic
from tests.pipeline.definitions import defined

from trivium.client.cluster import Cluster
from trivium.messages.api.metadata import MetadataResponse, MetadataResponseTopic
from trivium.messages.errors import ErrorCode
from trivium.pipeline.checking import broker_findings


def complaints(cluster: Any, source: str, sink: str = "out") -> list[str]:
    shop = defined(
        f"[pipeline]\nname='shop'\n[source.s]\n{source}\n"
        f"[flow.f]\nsql='SELECT 1 FROM s'\nsink={{topic='{sink}'}}"
    )
    return [f"{each.severity}: {each.sentence} {each.remedy}" for each in broker_findings(shop, cluster)]


def test_missing_source_is_an_error_and_missing_sink_a_warning(cluster: Cluster, name: str) -> None:
    make_topic(cluster, f"{name}-orders")
    source, sink = complaints(cluster, f"topic = '{name}-ordrs'", f"{name}-out")
    assert source == f"error: There is no topic {name}-ordrs. Did you mean '{name}-orders'?"
    assert sink.startswith(f"warning: There is no topic {name}-out yet.")


def test_topics_that_are_there_are_not_mentioned(cluster: Cluster, topic: str) -> None:
    make_topic(cluster, f"{topic}-out")
    assert complaints(cluster, f"topic = '{topic}'", f"{topic}-out") == []
    assert complaints(cluster, f"pattern = '{topic}'", f"{topic}-out") == []


def test_question_makes_no_topic(cluster: Cluster, name: str) -> None:
    complaints(cluster, f"topic = '{name}'", f"{name}-out")
    assert not {name, f"{name}-out"} & cluster.topics().keys()


def test_pattern_that_matches_nothing_is_a_warning(cluster: Cluster, topic: str) -> None:
    (found,) = complaints(cluster, f"pattern = '{topic[:-1]}'", topic)
    assert found.startswith(f"warning: No topic matches '{topic[:-1]}' now.")


def test_start_in_a_partition_that_is_not_there_is_an_error(cluster: Cluster, topic: str) -> None:
    make_topic(cluster, f"{topic}-out")
    (found,) = complaints(cluster, f'topic = \'{topic}\'\nstart = {{"1" = 5, "2" = 0}}', f"{topic}-out")
    assert found.startswith(f"error: 'start' names partition 2 of {topic}, which has 2.")


def test_impossible_name_is_an_error(cluster: Cluster, topic: str) -> None:
    (found,) = complaints(cluster, f"topic = '{topic}'", "a b")
    assert found.startswith("error: 'a b' cannot be the name of a topic.")


class Answering:
    """A cluster that says the same about every topic."""

    timeout_s = 1.0

    def __init__(self, code: ErrorCode, operations: int, *, offers_batches: bool = True) -> None:
        self._code, self._operations = code, operations
        self._offers_batches = offers_batches

    def anyone(self, _deadline: object) -> Any:
        return SimpleNamespace(versions=SimpleNamespace(offers=lambda _: self._offers_batches))

    def call(self, whom: object, request: Any, answer: type[MetadataResponse]) -> MetadataResponse:
        assert request.include_topic_authorized_operations
        return answer(
            brokers=[],
            topics=[
                MetadataResponseTopic(
                    error_code=self._code,
                    name=each.name,
                    partitions=[],
                    topic_authorized_operations=self._operations,
                )
                for each in request.topics
            ],
        )

    def topics(self) -> dict[str, object]:
        return {}


@pytest.mark.parametrize(
    ("code", "operations", "expected"),
    [
        (ErrorCode.NONE, 1 << 3 | 1 << 4, []),
        (ErrorCode.NONE, -(1 << 31), []),
        (ErrorCode.NONE, 1 << 3, ["error: You may not write to topic out. Ask for the right to."]),
        (ErrorCode.NONE, 1 << 4, ["error: You may not read topic in. Ask for the right to."]),
        (
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            -(1 << 31),
            [
                "error: You may not read topic in. Ask for the right to.",
                "error: You may not write to topic out. Ask for the right to.",
            ],
        ),
    ],
)
def test_missing_rights_are_errors(code: ErrorCode, operations: int, expected: list[str]) -> None:
    assert complaints(Answering(code, operations), "topic = 'in'") == expected


def test_broker_that_cannot_tell_batches_apart_is_warned_of() -> None:
    """As Apache Kafka: what is run again after a crash is written again."""
    kafka = Answering(ErrorCode.NONE, -(1 << 31), offers_batches=False)
    (found,) = complaints(kafka, "topic = 'orders'")
    assert found.startswith(
        "warning: This broker does not commit batches of queries: out is written at least"
    )
