"""A cluster to talk to: one connection per broker for questions, what is known of its topics, and patience.

``call`` asks a question and asks again while the answer is an error that may pass (mission 003.34), until its
deadline. Whom to ask is one of the methods that give a connection: ``anyone``, ``controller``, ``node``,
``coordinator``. Whoever keeps requests under way (producers, readers) has connections of its own from
``new_connection``: answers come in order, and a question must not wait behind a long poll. Given back by
``give_back``, one serves the next who asks, and dialling is saved.

Not for several threads at once.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Final, TypeAlias, TypeVar

from trivium.client.address import Address, parse_addresses
from trivium.client.connection import Connection, open_connection
from trivium.client.deadline import Deadline, attempts
from trivium.client.errors import ClientError, ConnectionLost, Refused, TimedOut, Unreachable
from trivium.client.security import PLAINTEXT, Security
from trivium.client.topology import Node, Topic, TopicPartition, Topology, topic_of
from trivium.client.waiting import Waiting
from trivium.messages.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from trivium.messages.api.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.schema import Request, Response

R = TypeVar("R", bound=Response)
Whom: TypeAlias = Callable[[Deadline], Connection]

TIMEOUT_S: Final = 30.0
"""For a question with all its attempts, unless the caller says otherwise: Kafka's ``request.timeout.ms``."""

NEW_TOPIC_PATIENCE_S: Final = 1.0
"""A topic just created takes a moment to be known everywhere. One that is unknown for longer is not there."""

UNREACHABLE_PATIENCE_S: Final = 5.0
"""A broker that restarts is back by then. An address that is still dead is more likely wrong."""

_MISSING: Final = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)
"""To Kafka these may pass, for the sake of topics just created; ``topic`` alone has patience with them."""

_GROUP_KEY: Final = 0
_TRANSACTION_KEY: Final = 1
_WORDS: Final = {_GROUP_KEY: "group", _TRANSACTION_KEY: "transactional id"}


class Cluster:
    def __init__(
        self,
        bootstrap: Sequence[Address],
        *,
        client_id: str = "trivium",
        timeout_s: float = TIMEOUT_S,
        security: Security = PLAINTEXT,
    ) -> None:
        self.timeout_s = timeout_s
        self.patience_s = 0.0
        """How long a broker that is away is waited for, if that is longer than calls wait by themselves."""
        self.topology = Topology()
        self._bootstrap = tuple(bootstrap)
        self._client_id = client_id
        self._security = security
        self._connections: dict[Address, Connection] = {}
        self._spare: dict[Address, Connection] = {}
        self._coordinators: dict[tuple[int, str], int] = {}
        self._roles_are_stale = True

    @classmethod
    def connect(
        cls,
        bootstrap: str,
        *,
        client_id: str = "trivium",
        timeout_s: float = TIMEOUT_S,
        security: Security = PLAINTEXT,
        patience_s: float = 0.0,
    ) -> "Cluster":
        """The cluster behind ``HOST:PORT[,HOST:PORT…]``, reached: nobody there is an error at once.

        With ``patience_s`` a broker that is away is waited for so long, here and in all calls.
        """
        addresses = parse_addresses(bootstrap)
        cluster = cls(addresses, client_id=client_id, timeout_s=timeout_s, security=security)
        cluster.patience_s = patience_s
        failure: ClientError | None = None
        waiting = Waiting(patience_s)
        for _ in attempts(Deadline(patience_s)):
            try:
                cluster.anyone(Deadline(timeout_s))
            except (Unreachable, ConnectionLost, TimedOut) as error:
                failure = error
                waiting.failed(error)
            else:
                waiting.succeeded()
                return cluster
        assert failure is not None
        raise failure

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for connection in (*self._connections.values(), *self._spare.values()):
            connection.close()
        self._connections.clear()
        self._spare.clear()

    # -- questions ---------------------------------------------------------------------------------

    def call(
        self,
        whom: Whom,
        request: Request,
        answer: type[R],
        *,
        codes: Callable[[R], Iterable[int]] | None = None,
        deadline: Deadline | None = None,
    ) -> R:
        """The answer to ``request``, once none of its error ``codes`` may pass by waiting.

        When the deadline comes first it is the last answer, errors and all, if there was one.
        """
        deadline = deadline or Deadline(max(self.timeout_s, self.patience_s))
        patience = deadline.within(max(UNREACHABLE_PATIENCE_S, self.patience_s))
        last: R | None = None
        failure: ClientError | None = None
        waiting = Waiting(self.patience_s)
        for _ in attempts(deadline):
            try:
                last = whom(deadline).call(request, answer, deadline)
            except Unreachable as error:
                failure = error
                if patience.has_passed:
                    break
                waiting.failed(error)
            except (ConnectionLost, TimedOut) as error:
                failure = error
                waiting.failed(error)
            else:
                waiting.succeeded()
                if codes is None or not any(map(_may_pass, codes(last))):
                    return last
            self._forget_roles()
        if last is not None:
            return last
        assert failure is not None
        raise failure

    # -- whom to ask -------------------------------------------------------------------------------

    def anyone(self, deadline: Deadline) -> Connection:
        """Any broker: one that is connected, else one that is known, else one of those named at the start."""
        for connection in self._connections.values():
            if not connection.is_closed:
                return connection
        known = [node.address for node in self.topology.nodes.values()]
        failures: list[ClientError] = []
        for address in dict.fromkeys([*known, *self._bootstrap]):
            try:
                connection = open_connection(address, self._client_id, deadline, self._security)
            except ClientError as failure:
                failures.append(failure)
            else:
                self._connections[address] = connection
                return connection
        for each in failures:
            if len(failures) == 1 or not isinstance(each, Unreachable | ConnectionLost | TimedOut):
                raise each  # Who was not let in need not wait for the others.
        raise Unreachable(" ".join(map(str, failures)))

    def controller(self, deadline: Deadline) -> Connection:
        """The broker that takes changes. Today any does and passes them on; old clusters name one."""
        if self._roles_are_stale:
            self.metadata([], deadline=deadline)
        if self.topology.controller_id in self.topology.nodes:
            return self.node(self.topology.controller_id, deadline)
        return self.anyone(deadline)

    def node(self, node_id: int, deadline: Deadline) -> Connection:
        address = self._node(node_id, deadline).address
        connection = self._connections.get(address)
        if connection is None or connection.is_closed:
            connection = self._connections[address] = self.new_connection(node_id, deadline)
        return connection

    def node_of(self, node_id: int) -> Whom:
        return partial(self.node, node_id)

    def coordinator(self, group_id: str) -> Whom:
        """Who coordinates a group, looked up when it is not known."""
        return lambda deadline: self.node(self.coordinator_id(group_id, deadline), deadline)

    def coordinator_id(self, group_id: str, deadline: Deadline | None = None) -> int:
        return self._coordinator_id(_GROUP_KEY, group_id, deadline or Deadline(self.timeout_s))

    def transaction_coordinator(self, transactional_id: str) -> Whom:
        """The same for the transactions of an id."""
        return lambda deadline: self.node(
            self._coordinator_id(_TRANSACTION_KEY, transactional_id, deadline), deadline
        )

    def new_connection(self, node_id: int, deadline: Deadline) -> Connection:
        """A connection that nobody else uses."""
        address = self._node(node_id, deadline).address
        spare = self._spare.pop(address, None)
        if spare is not None:
            if not spare.is_closed and not spare.wait(0):  # What arrives unasked is the end of it.
                return spare
            spare.close()
        try:
            return open_connection(address, self._client_id, deadline, self._security)
        except Unreachable as error:
            if address in self._bootstrap:
                raise
            raise Unreachable(
                f"Broker {node_id} sends its clients to {address} (its advertised.listeners). {error}"
            ) from error

    def give_back(self, connection: Connection) -> None:
        """Its owner is done with it: one of each broker is kept, if no answer is due on it."""
        if connection.is_closed or connection.in_flight or connection.address in self._spare:
            connection.close()
        else:
            self._spare[connection.address] = connection

    # -- topics ------------------------------------------------------------------------------------

    def metadata(
        self, topics: Iterable[str] | None, *, create: bool = False, deadline: Deadline | None = None
    ) -> MetadataResponse:
        """What the cluster says about these topics, or about all; errors of single topics are in the answer.

        ``create`` lets a broker that is set up to do so create those that are missing.
        """
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=create)
        answer = self.call(self.anyone, request, MetadataResponse, deadline=deadline)
        self.topology.learn(answer)
        self._roles_are_stale = False
        return answer

    def topics(self) -> dict[str, Topic]:
        """All topics, as they are now, by name."""
        answer = self.metadata(None)
        found = (topic_of(each) for each in answer.topics if each.error_code == ErrorCode.NONE)
        return {topic.name: topic for topic in sorted(found, key=lambda topic: topic.name)}

    def topic(self, name: str, *, create: bool = False, deadline: Deadline | None = None) -> Topic:
        """A topic as it was last seen; one not seen yet is asked for, until it is there or surely not."""
        known = self.topology.topics.get(name)
        if known is not None:
            return known
        deadline = deadline or Deadline(self.timeout_s)
        patience = deadline.within(NEW_TOPIC_PATIENCE_S)
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for _ in attempts(deadline):
            answer = self.metadata([name], create=create, deadline=deadline)
            if name in self.topology.topics:
                return self.topology.topics[name]
            code = next((ErrorCode.of(each.error_code) for each in answer.topics), code)
            if not code.is_retriable or (code in _MISSING and patience.has_passed):
                break
        raise Refused(code, f"topic {name}")

    def leader(self, key: TopicPartition, deadline: Deadline | None = None) -> int:
        """The node that leads a partition; an error that may pass while it has none."""
        topic = self.topic(key.topic, deadline=deadline)
        if not 0 <= key.partition < len(topic.partitions):
            raise ClientError(
                f"There is no partition {key.partition} in topic {topic.name}: "
                f"it has {len(topic.partitions)}, numbered from 0."
            )
        leader_id = topic.partitions[key.partition].leader_id
        if leader_id not in self.topology.nodes:
            raise Refused(ErrorCode.LEADER_NOT_AVAILABLE, f"partition {key}")
        return leader_id

    def forget_leaders(self, topics: Iterable[str]) -> None:
        """These topics have changed: the next look at them asks again."""
        self.topology.forget(topics)

    # -- inside ------------------------------------------------------------------------------------

    def _node(self, node_id: int, deadline: Deadline) -> Node:
        if self._roles_are_stale or node_id not in self.topology.nodes:
            self.metadata([], deadline=deadline)
        try:
            return self.topology.nodes[node_id]
        except KeyError as error:
            raise Unreachable(
                f"The cluster has no broker {node_id} at the moment; see whether it is up."
            ) from error

    def _coordinator_id(self, kind: int, key: str, deadline: Deadline) -> int:
        if (kind, key) not in self._coordinators:
            self._coordinators[kind, key] = self._find_coordinator(kind, key, deadline)
        return self._coordinators[kind, key]

    def _find_coordinator(self, kind: int, key: str, deadline: Deadline) -> int:
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        answer = self.call(
            self.anyone,
            request,
            FindCoordinatorResponse,
            codes=lambda response: [each.error_code for each in response.coordinators],
            deadline=deadline,
        )
        (found,) = answer.coordinators
        code = ErrorCode.of(found.error_code)
        if code is not ErrorCode.NONE:
            raise Refused(code, f"{_WORDS[kind]} {key}", found.error_message)
        return found.node_id

    def _forget_roles(self) -> None:
        """Who coordinates or controls may have changed; the next question finds out."""
        self._coordinators.clear()
        self._roles_are_stale = True


def _may_pass(code: int) -> bool:
    known = ErrorCode.of(code)
    return known.is_retriable and known not in _MISSING
