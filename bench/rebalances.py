"""Rebalances of many members, with Trivium and with Kafka.

Members are frames on connections of their own: each is heard as soon as its last answer is there, so that
what takes time is the broker, and no pause between two heartbeats. Whatever a broker waits for by its
settings has passed before a measurement begins.
"""

import contextlib
import statistics
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from bench.load import Client, framed
from bench.peers import Peer

from trivium.messages.api import ApiKey
from trivium.messages.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.find_coordinator import FindCoordinatorRequest
from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from trivium.messages.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_response
from trivium.messages.schema import Request

ROUNDS = 3
MEMBERS = 50
PARTITIONS = 100
SESSION_MS = 45_000
REBALANCE_MS = 60_000
INTERVAL_SECONDS = 1.2
"""Longer than ``group.consumer.assignment.interval.ms``, for which an assignment stands at least."""
JOIN_VERSION = 5
SYNC_VERSION = 3
HEARTBEAT_VERSION = 3
CONSUMER_HEARTBEAT_VERSION = 1
FIND_VERSION = 2
CREATE_VERSION = 5
_NOT_YET = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
)
"""What a coordinator says while it is being made or reads its groups."""


Rows = list[tuple[str, ...]]


def rebalances(row: Callable[..., tuple[str, ...]], peers: Sequence[Peer]) -> Rows:
    rows = []
    for name, settle in (("classic", classic), ("KIP-848", consumer)):
        times = rebalance_times(peers, settle)
        rows.append(row(f"rebalance of {MEMBERS} members, {name}", times, ".0f", "<= 1", unit=" ms"))
    return rows


def rebalance_times(peers: Sequence[Peer], settle: "Callable[[Peer, str], float]") -> list[float]:
    """Milliseconds until all members hold what they are to hold, after something has changed."""
    found: list[list[float]] = [[] for _ in peers]
    for round_ in range(ROUNDS):
        for peer, results in zip(peers, found, strict=True):
            results.append(settle(peer, f"bench-{settle.__name__}-{round_}") * 1000)
    return [statistics.median(results) for results in found]


class Member:
    """One connection to the coordinator, which on one node is everybody's."""

    def __init__(self, peer: Peer, group_id: str) -> None:
        self.client = Client(peer.port)
        self.group_id = group_id
        self.member_id = ""

    def send(self, request: Request, version: int) -> None:
        self.client.socket.sendall(framed(request, version))

    def hear(self, key: ApiKey, version: int) -> Any:
        return decode_response(key, version, self.client.read_answer())[1]

    def ask(self, request: Request, version: int) -> Any:
        self.send(request, version)
        return self.hear(ApiKey(request.API_KEY), version)

    def close(self) -> None:
        self.client.socket.close()


def prepare(peer: Peer, group_id: str) -> None:
    """A topic for the members, and a coordinator that is there."""
    with contextlib.closing(Member(peer, group_id)) as anybody:
        topic = CreatableTopic(
            name="shared", num_partitions=PARTITIONS, replication_factor=1, assignments=[], configs=[]
        )
        anybody.ask(CreateTopicsRequest(topics=[topic]), CREATE_VERSION)
        while anybody.client.metadata(["shared"]).topics[0].error_code:
            time.sleep(0.05)
        while anybody.ask(FindCoordinatorRequest(key=group_id), FIND_VERSION).error_code:
            time.sleep(0.05)
        stranger = HeartbeatRequest(group_id=group_id, generation_id=1, member_id="stranger")
        while anybody.ask(stranger, HEARTBEAT_VERSION).error_code in _NOT_YET:
            time.sleep(0.05)


# -- the classic protocol --------------------------------------------------------------------------


class ClassicMember(Member):
    generation = -1

    def send_join(self, metadata: bytes) -> None:
        self.send(
            JoinGroupRequest(
                group_id=self.group_id,
                session_timeout_ms=SESSION_MS,
                rebalance_timeout_ms=REBALANCE_MS,
                member_id=self.member_id,
                protocol_type="consumer",
                protocols=[JoinGroupRequestProtocol(name="range", metadata=metadata)],
            ),
            JOIN_VERSION,
        )

    def hear_join(self) -> Any:
        answer = self.hear(ApiKey.JOIN_GROUP, JOIN_VERSION)
        self.member_id, self.generation = answer.member_id, answer.generation_id
        return answer

    def send_sync(self, members: Sequence[str]) -> None:
        self.send(
            SyncGroupRequest(
                group_id=self.group_id,
                generation_id=self.generation,
                member_id=self.member_id,
                assignments=[
                    SyncGroupRequestAssignment(member_id=each, assignment=each.encode()) for each in members
                ],
            ),
            SYNC_VERSION,
        )

    def hear_sync(self) -> None:
        answer = self.hear(ApiKey.SYNC_GROUP, SYNC_VERSION)
        assert (answer.error_code, answer.assignment) == (0, self.member_id.encode())

    def beat(self) -> int:
        request = HeartbeatRequest(
            group_id=self.group_id, generation_id=self.generation, member_id=self.member_id
        )
        return int(self.ask(request, HEARTBEAT_VERSION).error_code)


def classic(peer: Peer, group_id: str) -> float:
    """One of fifty members says something new of itself, and all of them join again."""
    prepare(peer, group_id)
    with contextlib.ExitStack() as stack:
        members = [
            stack.enter_context(contextlib.closing(ClassicMember(peer, group_id))) for _ in range(MEMBERS)
        ]
        for member in members:
            # Answered with an id to join with.
            member.send_join(b"")
            assert member.hear_join().error_code == ErrorCode.MEMBER_ID_REQUIRED
        _share(members, b"")
        start_s = time.perf_counter()
        members[0].send_join(b"something new")
        for member in members[1:]:
            while member.beat() != ErrorCode.REBALANCE_IN_PROGRESS:
                pass
        _share(members, b"", joined=1)
        return time.perf_counter() - start_s


def _share(members: Sequence[ClassicMember], metadata: bytes, joined: int = 0) -> None:
    """All join, the first ``joined`` have said so already; the leader shares, and all hear what they have."""
    for member in members[joined:]:
        member.send_join(metadata)
    answers = [member.hear_join() for member in members]
    assert {answer.error_code for answer in answers} == {0}
    assert len({answer.generation_id for answer in answers}) == 1
    for member, answer in zip(members, answers, strict=True):
        member.send_sync([each.member_id for each in answer.members])
    for member in members:
        member.hear_sync()


# -- the consumer protocol (KIP-848) ---------------------------------------------------------------


class ConsumerMember(Member):
    def __init__(self, peer: Peer, group_id: str) -> None:
        super().__init__(peer, group_id)
        self.epoch = self.holds = 0
        self.owned: list[TopicPartitions] | None = []

    def send_beat(self, *, leaving: bool = False) -> None:
        is_new = self.epoch == 0
        self.member_id = self.member_id or str(uuid.uuid4())
        self.send(
            ConsumerGroupHeartbeatRequest(
                group_id=self.group_id,
                member_id=self.member_id,
                member_epoch=-1 if leaving else self.epoch,
                rebalance_timeout_ms=REBALANCE_MS if is_new else -1,
                subscribed_topic_names=["shared"] if is_new else None,
                topic_partitions=self.owned,
            ),
            CONSUMER_HEARTBEAT_VERSION,
        )

    def hear_beat(self) -> None:
        """Hear, and hold what it was told: that is what it owns when it speaks again."""
        answer = self.hear(ApiKey.CONSUMER_GROUP_HEARTBEAT, CONSUMER_HEARTBEAT_VERSION)
        assert answer.error_code == 0, answer
        self.epoch = answer.member_epoch
        self.owned = [] if self.epoch == 0 else None
        if answer.assignment is not None:
            self.owned = [
                TopicPartitions(topic_id=part.topic_id, partitions=part.partitions)
                for part in answer.assignment.topic_partitions
            ]
            self.holds = sum(len(part.partitions) for part in self.owned)


def consumer(peer: Peer, group_id: str) -> float:
    """One of fifty-one members goes, and its partitions are the others'."""
    prepare(peer, group_id)
    with contextlib.ExitStack() as stack:
        members = [
            stack.enter_context(contextlib.closing(ConsumerMember(peer, group_id)))
            for _ in range(MEMBERS + 1)
        ]
        _reconcile(members)
        time.sleep(INTERVAL_SECONDS)
        gone = members.pop()
        start_s = time.perf_counter()
        gone.send_beat(leaving=True)
        gone.hear(ApiKey.CONSUMER_GROUP_HEARTBEAT, CONSUMER_HEARTBEAT_VERSION)
        _reconcile(members, above=max(member.epoch for member in members))
        return time.perf_counter() - start_s


def _reconcile(members: Sequence[ConsumerMember], above: int = 0) -> None:
    """Until all have come to one epoch, newer than before, and hold all partitions between them."""
    while (
        len({member.epoch for member in members}) > 1
        or members[0].epoch <= above
        or sum(member.holds for member in members) != PARTITIONS
    ):
        for member in members:
            member.send_beat()
        for member in members:
            member.hear_beat()
