"""How far a stream has read, shown as the committed offsets of a consumer group.

Spark's checkpoint is the truth; the group is for people and for tools that know groups and their lag. So a
group that cannot be written to is a warning, not the end of the query.
"""

import logging
from collections.abc import Mapping

from trivium.client.cluster import Cluster
from trivium.client.errors import ClientError
from trivium.client.group_offsets import CommittedOffset, commit_offsets
from trivium.client.topology import TopicPartition

_log = logging.getLogger(__name__)


class PublishedProgress:
    def __init__(self, group_id: str | None) -> None:
        self._group_id = group_id
        self._published: dict[TopicPartition, int] = {}
        self._has_warned = False

    def publish(self, cluster: Cluster, positions: Mapping[TopicPartition, int]) -> None:
        """Everything before these positions has been processed."""
        news = {key: at for key, at in positions.items() if self._published.get(key) != at}
        if self._group_id is None or not news:
            return
        try:
            offsets = {key: CommittedOffset(at) for key, at in news.items()}
            commit_offsets(cluster, self._group_id, offsets)
        except ClientError as error:
            if not self._has_warned:
                _log.warning("The query goes on, but group %s does not show it: %s", self._group_id, error)
                self._has_warned = True
        else:
            self._published |= news
            self._has_warned = False
