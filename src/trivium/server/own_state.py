"""What a node keeps in ``__trivium``: users, streams and queries, and the log that they follow from."""

from trivium.core.cluster import Cluster
from trivium.core.streams.registry import Registry
from trivium.core.topic_creation import TopicCreation
from trivium.core.transactions.queries import Queries
from trivium.core.trivium_log import TriviumLog
from trivium.core.users.directory import UserDirectory


class OwnState:
    def __init__(self, cluster: Cluster, creation: TopicCreation) -> None:
        self.users = UserDirectory()
        self.registry = Registry(cluster.image.topics.id_of)
        self.queries = Queries()
        self.log = TriviumLog(cluster, creation.new_topic_records, [self.users, self.registry, self.queries])
