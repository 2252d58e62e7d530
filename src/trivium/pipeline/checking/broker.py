"""What only the broker knows: whether topics are there, how many partitions they have, what we may do."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import BadSecurity, ClientError, LoginFailed
from trivium.client.query_batches import offers_batches
from trivium.messages.api.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error, warning
from trivium.pipeline.mistake import did_you_mean
from trivium.pipeline.sink import TopicSink
from trivium.pipeline.source import TopicSource

BROKER_TIMEOUT_S: Final = 2.0
"""For the whole question: a check must not take longer than its author is willing to look at it."""

_READ: Final = 1 << 3
_WRITE: Final = 1 << 4
"""Bits of Kafka's operations (KIP-430)."""

_NOT_TOLD: Final = -(1 << 31)
"""In place of the bits, by brokers without rights, and by old ones."""


def broker_findings(definition: Definition, cluster: Cluster) -> Iterator[Finding]:
    """May raise ``ClientError``: ``unreachable`` says it as a finding."""
    wanted = _topics_of(definition)
    there = {each.name or "": each for each in _describe(cluster, wanted).topics}
    names = sorted(cluster.topics())
    for source in definition.sources:
        if isinstance(source, TopicSource):
            yield from _source(source, there, names)
    writes_once = offers_batches(cluster)
    for flow in definition.flows:
        if isinstance(flow.sink, TopicSink):
            where = f"flow.{flow.name}.sink"
            yield from _sink(where, flow.sink, there, names)
            if not writes_once:
                yield warning(
                    where,
                    f"This broker does not commit batches of queries: {flow.sink.topic} is written at least "
                    "once.",
                    "After a crash some records may be there twice; on Trivium each is there once.",
                )


def unreachable(problem: ClientError) -> Finding:
    if isinstance(problem, LoginFailed | BadSecurity):
        return error("pipeline.bootstrap", str(problem), "See --user and --tls-ca.")
    sentence = f"Topics and rights are not checked: {problem}"
    return warning("pipeline.bootstrap", sentence, "Start it, or leave the question out with --offline.")


def _topics_of(definition: Definition) -> list[str]:
    names = [
        name for source in definition.sources if isinstance(source, TopicSource) for name in source.topics
    ]
    names += [flow.sink.topic for flow in definition.flows if isinstance(flow.sink, TopicSink)]
    return list(dict.fromkeys(names))


def _describe(cluster: Cluster, names: list[str]) -> MetadataResponse:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    return cluster.call(cluster.anyone, request, MetadataResponse)


def _source(
    source: TopicSource, there: Mapping[str, MetadataResponseTopic], names: list[str]
) -> Iterator[Finding]:
    where = f"source.{source.name}"
    if source.pattern is not None and not any(re.fullmatch(source.pattern, name) for name in names):
        yield warning(
            f"{where}.pattern",
            f"No topic matches '{source.pattern}' now.",
            "It will be read as soon as there is one.",
        )
    for topic in source.topics:
        found = there.get(topic)
        problem = _problem(f"{where}.topic", topic, found, _READ, "read")
        if problem is not None:
            yield problem
        elif found is None or found.error_code != ErrorCode.NONE:
            remedy = did_you_mean(topic, names) or "Create it with 'trivium topic create'."
            yield error(f"{where}.topic", f"There is no topic {topic}.", remedy)
        else:
            count = len(found.partitions)
            for each in source.start.offsets:
                if each.topic == topic and each.partition >= count:
                    sentence = f"'start' names partition {each.partition} of {topic}, which has {count}."
                    yield error(f"{where}.start", sentence, "Partitions are numbered from 0.")


def _sink(
    where: str, sink: TopicSink, there: Mapping[str, MetadataResponseTopic], names: list[str]
) -> Iterator[Finding]:
    found = there.get(sink.topic)
    problem = _problem(where, sink.topic, found, _WRITE, "write to")
    if problem is not None:
        yield problem
    elif found is None or found.error_code != ErrorCode.NONE:
        yield warning(
            where,
            f"There is no topic {sink.topic} yet.",
            f"Create it with 'trivium topic create {sink.topic}', or let the first run ask for it.",
        )


def _problem(
    where: str, topic: str, found: MetadataResponseTopic | None, right: int, verb: str
) -> Finding | None:
    """A name that cannot be, or a right that is missing."""
    if found is None or found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return None
    if found.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
        sentence = f"'{topic}' cannot be the name of a topic."
        return error(where, sentence, "Letters, digits, '.', '_' and '-', at most 249.")
    bits = found.topic_authorized_operations
    is_refused = found.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if is_refused or (bits != _NOT_TOLD and not bits & right):
        return error(where, f"You may not {verb} topic {topic}.", "Ask for the right to.")
    return None
