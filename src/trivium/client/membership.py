"""Being a member of a classic group: join, get an assignment, say now and then that one lives, leave.

Everything happens in the calling thread, so heartbeats are sent when ``heartbeat`` is called: whoever owns a
membership calls it more often than the session times out. When it says that the group rebalances, or has
forgotten us, ``join`` is the answer to both.
"""

from collections.abc import Sequence
from typing import Final

from trivium.client.assignor import assign_ranges
from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline, attempts
from trivium.client.errors import ClientError, Refused, TimedOut
from trivium.client.group_offsets import NO_GENERATION, NO_MEMBER, Committer
from trivium.client.leaders import group_by_topic
from trivium.client.topology import TopicPartition
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.api.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from trivium.messages.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from trivium.messages.api.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from trivium.messages.consumer_protocol import TopicPartition as AssignedTopic
from trivium.messages.errors import ErrorCode
from trivium.wire.errors import DecodeError

SESSION_TIMEOUT_MS: Final = 45_000
"""Without a heartbeat for so long a member is dead to its group: Kafka's ``session.timeout.ms``."""

REBALANCE_TIMEOUT_MS: Final = 300_000
"""What members have to come back in when the group rebalances: Kafka's ``max.poll.interval.ms``."""

HEARTBEAT_S: Final = 3.0
"""Between heartbeats: Kafka's ``heartbeat.interval.ms``."""

GROWTH_S: Final = 60.0
"""Between looks of the group's leader at whether topics have more partitions than it gave out."""

_ASSIGNOR: Final = "range"
_PROTOCOL_TYPE: Final = "consumer"
_PROTOCOL_VERSION: Final = 1
_JOIN_MARGIN_S: Final = 10.0
"""An answer to JoinGroup may take the whole rebalance, and then has a little time to arrive."""

_JOIN_AGAIN: Final = frozenset(
    {
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.MEMBER_ID_REQUIRED,
    }
)
"""The group goes on without us unless we join it (again)."""


class Membership:
    def __init__(
        self,
        cluster: Cluster,
        group_id: str,
        topics: Sequence[str],
        *,
        session_timeout_ms: int = SESSION_TIMEOUT_MS,
        rebalance_timeout_ms: int = REBALANCE_TIMEOUT_MS,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self.group_id = group_id
        self.committer = Committer()
        self._cluster = cluster
        self._topics = sorted(set(topics))
        self._session_timeout_ms = session_timeout_ms
        self._rebalance_timeout_ms = rebalance_timeout_ms
        self._heartbeat_s = heartbeat_s
        self._next_heartbeat = Deadline(0)
        self._next_growth_check = Deadline(GROWTH_S)
        self._given_out: dict[str, int] | None = None
        """As leader of the group: the partitions that topics had when they were given out."""

    @property
    def heartbeat_due_s(self) -> float:
        return self._next_heartbeat.remaining_s

    def join(self) -> list[TopicPartition]:
        """Become a member of the next generation; the partitions to read in it."""
        deadline = Deadline(self._rebalance_timeout_ms / 1000 + _JOIN_MARGIN_S)
        try:
            for _ in attempts(deadline):
                joined = self._join(deadline)
                assignment = None if joined is None else self._sync(joined, deadline)
                if assignment is not None:
                    self._next_heartbeat = Deadline(self._heartbeat_s)
                    return assignment
        except DecodeError as error:
            raise ClientError(
                f"The members of group {self.group_id} do not understand each other: {error}."
            ) from error
        raise TimedOut(
            f"Group {self.group_id} does not come to rest; its members join and leave all the time."
        )

    def heartbeat(self) -> bool:
        """Say that we live, if it is time to; False when the group wants us to join again, or should."""
        if not self._next_heartbeat.has_passed:
            return True
        answer = self._cluster.call(
            self._cluster.coordinator(self.group_id),
            HeartbeatRequest(
                group_id=self.group_id,
                generation_id=self.committer.generation_id,
                member_id=self.committer.member_id,
            ),
            HeartbeatResponse,
            codes=lambda response: [response.error_code],
        )
        self._next_heartbeat = Deadline(self._heartbeat_s)
        return self._is_accepted(answer.error_code) and not self._has_grown()

    def leave(self) -> None:
        """Tell the group, so that it need not wait for the session to time out."""
        if self.committer.member_id == NO_MEMBER:
            return
        member = MemberIdentity(member_id=self.committer.member_id, reason="the consumer is closed")
        self._cluster.call(
            self._cluster.coordinator(self.group_id),
            LeaveGroupRequest(group_id=self.group_id, members=[member]),
            LeaveGroupResponse,
        )
        self.committer = Committer()

    # -- inside ------------------------------------------------------------------------------------

    def _join(self, deadline: Deadline) -> JoinGroupResponse | None:
        subscription = ConsumerProtocolSubscription(topics=self._topics)
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self._session_timeout_ms,
            rebalance_timeout_ms=self._rebalance_timeout_ms,
            member_id=self.committer.member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocols=[
                JoinGroupRequestProtocol(
                    name=_ASSIGNOR, metadata=encode_subscription(subscription, _PROTOCOL_VERSION)
                )
            ],
        )
        answer = self._cluster.call(
            self._cluster.coordinator(self.group_id),
            request,
            JoinGroupResponse,
            codes=lambda response: [response.error_code],
            deadline=deadline,
        )
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            # Given now, so that a join whose answer gets lost leaves no ghost behind (KIP-394).
            self.committer = Committer(answer.member_id, NO_GENERATION)
            return None
        if not self._is_accepted(answer.error_code):
            return None
        self.committer = Committer(answer.member_id, answer.generation_id)
        return answer

    def _sync(self, joined: JoinGroupResponse, deadline: Deadline) -> list[TopicPartition] | None:
        is_leader = joined.leader == joined.member_id and not joined.skip_assignment
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=joined.generation_id,
            member_id=joined.member_id,
            protocol_type=_PROTOCOL_TYPE,
            protocol_name=joined.protocol_name,
            assignments=self._give_out(joined) if is_leader else [],
        )
        if not is_leader:
            self._given_out = None
        answer = self._cluster.call(
            self._cluster.coordinator(self.group_id),
            request,
            SyncGroupResponse,
            codes=lambda response: [response.error_code],
            deadline=deadline,
        )
        if not self._is_accepted(answer.error_code):
            return None
        if not answer.assignment:
            return []
        _, assignment = decode_assignment(answer.assignment)
        return [
            TopicPartition(topic.topic, partition)
            for topic in assignment.assigned_partitions
            for partition in topic.partitions
        ]

    def _give_out(self, joined: JoinGroupResponse) -> list[SyncGroupRequestAssignment]:
        """As the group's leader: everybody's part."""
        subscriptions = {
            member.member_id: decode_subscription(member.metadata)[1].topics for member in joined.members
        }
        self._given_out = self._count_partitions({topic for each in subscriptions.values() for topic in each})
        self._next_growth_check = Deadline(GROWTH_S)
        return [
            SyncGroupRequestAssignment(
                member_id=member_id,
                assignment=encode_assignment(
                    ConsumerProtocolAssignment(
                        assigned_partitions=[
                            AssignedTopic(topic=topic, partitions=partitions)
                            for topic, partitions in group_by_topic(keys).items()
                        ]
                    ),
                    _PROTOCOL_VERSION,
                ),
            )
            for member_id, keys in assign_ranges(subscriptions, self._given_out).items()
        ]

    def _has_grown(self) -> bool:
        """Whether, as leader, we have partitions to give out that were not there before."""
        if self._given_out is None or not self._next_growth_check.has_passed:
            return False
        self._next_growth_check = Deadline(GROWTH_S)
        return self._count_partitions(set(self._given_out)) != self._given_out

    def _count_partitions(self, topics: set[str]) -> dict[str, int]:
        self._cluster.metadata(topics)
        known = self._cluster.topology.topics
        return {topic: len(known[topic].partitions) if topic in known else 0 for topic in topics}

    def _is_accepted(self, error_code: int) -> bool:
        """Whether we belong to the group as it is now; what joining again does not mend is raised."""
        code = ErrorCode.of(error_code)
        if code is ErrorCode.UNKNOWN_MEMBER_ID:
            self.committer = Committer()
        if code is ErrorCode.NONE:
            return True
        if code in _JOIN_AGAIN:
            return False
        raise Refused(code, f"group {self.group_id}")
