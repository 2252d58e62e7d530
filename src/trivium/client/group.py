"""Reading topics as a member of a group: the group's partitions shared out, and its offsets committed.

``poll`` does all the work: it joins, sends heartbeats, commits and reads. Records that one ``poll`` handed
out count as done when the next one is called; from then on they may be committed, so each is read at least
once, whoever dies when. A caller who wants to be more exact switches ``commit_interval_s`` off and calls
``commit``. Between two calls of ``poll`` no heartbeat is sent: a session lasts 45 seconds without one.
"""

import contextlib
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.deadline import Deadline
from trivium.client.errors import ClientError, Refused, settled
from trivium.client.fetching import FetchSettings
from trivium.client.group_offsets import CommittedOffset, commit_offsets, committed_offsets
from trivium.client.membership import HEARTBEAT_S, Membership
from trivium.client.offsets import EARLIEST, list_offsets
from trivium.client.reader import POLL_RECORDS, Chunk, Reader
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode

COMMIT_INTERVAL_S: Final = 5.0
"""Between commits: Kafka's ``auto.commit.interval.ms``."""

_NOT_OURS: Final = frozenset(
    {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID}
)
"""A commit that came too late: somebody else has the partitions, and reads from the last commit on."""


class GroupConsumer:
    def __init__(
        self,
        cluster: Cluster,
        group_id: str,
        topics: Sequence[str],
        *,
        start: int = EARLIEST,
        commit_interval_s: float | None = COMMIT_INTERVAL_S,
        settings: FetchSettings | None = None,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        """``start``: ``EARLIEST`` or ``LATEST``, for partitions of which the group has read nothing yet."""
        self._cluster = cluster
        self._group_id = group_id
        self._start = start
        self._settings = settings or FetchSettings()
        self._commit_interval_s = commit_interval_s
        self._next_commit = Deadline(0)
        self._committed: dict[TopicPartition, int] = {}
        self._is_member = False
        self._reader = Reader(cluster, {}, settings=self._settings, reset_to=start)
        self._membership = Membership(cluster, group_id, topics, heartbeat_s=heartbeat_s)
        for topic in topics:
            cluster.topic(topic)

    def __enter__(self) -> "GroupConsumer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def positions(self) -> Mapping[TopicPartition, int]:
        """The partitions that are ours at the moment, and where each goes on."""
        return self._reader.positions

    @property
    def generation_id(self) -> int:
        """Which sharing out of the partitions this is; it changes when the group rebalances."""
        return self._membership.committer.generation_id

    def poll(self, timeout_s: float, records_max: int = POLL_RECORDS) -> list[Chunk]:
        """Up to ``records_max`` records, as soon as there are any; nothing after ``timeout_s``."""
        deadline = Deadline(timeout_s)
        while True:
            self._stay_member()
            wait_s = min(deadline.remaining_s, self._membership.heartbeat_due_s)
            chunks = self._reader.poll(wait_s, records_max)
            if chunks or deadline.has_passed:
                return chunks

    def commit(self, positions: Mapping[TopicPartition, int] | None = None) -> bool:
        """Commit these positions, or all; False if the group has given the partitions to somebody else."""
        wanted = self._reader.positions if positions is None else positions
        news = {key: offset for key, offset in wanted.items() if self._committed.get(key) != offset}
        if not news:
            return True
        offsets = {key: CommittedOffset(offset) for key, offset in news.items()}
        try:
            commit_offsets(self._cluster, self._group_id, offsets, self._membership.committer)
        except Refused as refusal:
            if refusal.code not in _NOT_OURS:
                raise
            self._is_member = False
            return False
        self._committed.update(news)
        return True

    def close(self) -> None:
        """Leave the group. What was not committed is read again by whoever gets the partitions."""
        self._reader.close()
        with contextlib.suppress(ClientError):  # The group notices by itself when the session times out.
            self._membership.leave()

    # -- inside ------------------------------------------------------------------------------------

    def _stay_member(self) -> None:
        if self._is_member and self._commit_interval_s is not None and self._next_commit.has_passed:
            self.commit()
            self._next_commit = Deadline(self._commit_interval_s)
        if self._is_member and not self._membership.heartbeat():
            if self._commit_interval_s is not None:
                self.commit()  # The last chance before somebody else reads on.
            self._is_member = False
        if not self._is_member:
            self._take_over(self._membership.join())
            self._is_member = True
            self._next_commit = Deadline(self._commit_interval_s or 0)

    def _take_over(self, keys: Sequence[TopicPartition]) -> None:
        """Go on where the group has left off."""
        committed = (
            committed_offsets(self._cluster, self._group_id, keys, require_stable=True) if keys else {}
        )
        fresh = dict.fromkeys((key for key in keys if key not in committed), self._start)
        found = list_offsets(self._cluster, fresh, isolation=self._settings.isolation)
        positions = {key: each.offset for key, each in committed.items()}
        positions |= {key: settled(found[key]).offset for key in fresh}
        self._committed = {key: each.offset for key, each in committed.items()}
        self._reader.assign(positions)
