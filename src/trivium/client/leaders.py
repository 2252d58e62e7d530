"""Questions that only the leader of a partition answers: split by leader, asked, put together again.

Partitions whose leader has moved are asked about again, at the new one, until the deadline.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline, attempts
from trivium.client.errors import ConnectionLost, Refused, Unreachable
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Request, Response

T = TypeVar("T")
V = TypeVar("V")
R = TypeVar("R", bound=Response)

ByTopic: TypeAlias = dict[str, list[tuple[int, T]]]
"""What is asked of partitions, as requests want it: partition and question, under the name of their topic."""


def ask_leaders(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, T],
    make: Callable[[ByTopic[T]], Request],
    answer: type[R],
    read: Callable[[R], Iterable[tuple[TopicPartition, int, V]]],
) -> dict[TopicPartition, V | Refused]:
    """For each partition what its leader says, or its refusal.

    ``make`` builds the request for one leader, ``read`` takes key, error code and value from its answer.
    """
    deadline = Deadline(cluster.timeout_s)
    settled: dict[TopicPartition, V | Refused] = {}
    open_keys = dict(wanted)
    for _ in attempts(deadline):
        leaders, leaderless = _find_leaders(cluster, open_keys, deadline)
        settled.update(leaderless)
        for node_id, keys in leaders.items():
            request = make(_by_topic({key: open_keys[key] for key in keys}))
            try:
                said = cluster.node(node_id, deadline).call(request, answer, deadline)
            except (ConnectionLost, Unreachable) as error:
                settled.update({key: _unanswered(key, error) for key in keys})
                continue
            for key, code, value in read(said):
                known = ErrorCode.of(code)
                settled[key] = value if known is ErrorCode.NONE else Refused(known, f"partition {key}")
        open_keys = {key: open_keys[key] for key in open_keys if _may_pass(settled[key], key in leaderless)}
        if not open_keys:
            break
        cluster.forget_leaders({key.topic for key in open_keys})
    return settled


def group_by_topic(keys: Iterable[TopicPartition]) -> dict[str, list[int]]:
    grouped: dict[str, list[int]] = defaultdict(list)
    for key in keys:
        grouped[key.topic].append(key.partition)
    return grouped


def _find_leaders(
    cluster: Cluster, keys: Iterable[TopicPartition], deadline: Deadline
) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, Refused]]:
    leaders: dict[int, list[TopicPartition]] = defaultdict(list)
    leaderless: dict[TopicPartition, Refused] = {}
    for key in keys:
        try:
            leaders[cluster.leader(key, deadline)].append(key)
        except Refused as refusal:
            leaderless[key] = refusal
    return leaders, leaderless


def _by_topic(wanted: Mapping[TopicPartition, T]) -> ByTopic[T]:
    grouped: ByTopic[T] = defaultdict(list)
    for key, question in wanted.items():
        grouped[key.topic].append((key.partition, question))
    return grouped


def _unanswered(key: TopicPartition, error: Exception) -> Refused:
    return Refused(ErrorCode.NETWORK_EXCEPTION, f"partition {key}", str(error))


def _may_pass(outcome: object, is_leaderless: bool) -> bool:
    if not isinstance(outcome, Refused):
        return False
    # A topic that the cluster does not have will not come; one that only its leader does not know yet may.
    return outcome.code is ErrorCode.LEADER_NOT_AVAILABLE if is_leaderless else outcome.is_retriable
