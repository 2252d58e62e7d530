"""Who carries out which request, and its name in metrics."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from trivium.protocols.rustlog import messages as m
from trivium.protocols.rustlog.call import Call
from trivium.protocols.rustlog.fetch import fetch
from trivium.protocols.rustlog.login import log_in
from trivium.protocols.rustlog.offsets import commit_offset, fetch_offset
from trivium.protocols.rustlog.produce import produce
from trivium.protocols.rustlog.topics import (
    create_topic,
    describe_partition,
    describe_topic,
    list_topics,
)


def _tell_metrics(request: m.MetricsRequest, call: Call) -> None:
    call.answer(m.MetricsResponse(call.protocol.counters.as_text()))


def _pong(request: m.PingRequest, call: Call) -> None:
    call.answer(m.PingResponse())


CarryOut = Callable[[Any, Call], None]

CARRY_OUT: Final[Mapping[type[Any], tuple[str, CarryOut]]] = {
    m.ProduceRequest: ("Produce", produce),
    m.FetchRequest: ("Fetch", fetch),
    m.OffsetCommitRequest: ("OffsetCommit", commit_offset),
    m.OffsetFetchRequest: ("OffsetFetch", fetch_offset),
    m.CreateTopicRequest: ("CreateTopic", create_topic),
    m.ListTopicsRequest: ("ListTopics", list_topics),
    m.DescribeTopicRequest: ("DescribeTopic", describe_topic),
    m.DescribePartitionRequest: ("DescribePartition", describe_partition),
    m.MetricsRequest: ("Metrics", _tell_metrics),
    m.PingRequest: ("Ping", _pong),
    m.LoginRequest: ("Login", log_in),
}
