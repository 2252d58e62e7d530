"""What the cluster says about itself: its brokers, its controller, and the quorum behind its metadata."""

from trivium.core.access import CLUSTER_NAME, Access, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.cluster import (
    DescribeCluster,
    DescribedCluster,
    DescribedQuorum,
    DescribeQuorum,
    UnregisterBroker,
    Unregistered,
    Voter,
)
from trivium.core.commands.command import Reply, Routes
from trivium.core.faults import Fault, Refused
from trivium.core.nodes import other_nodes, this_node
from trivium.core.settings import Settings
from trivium.core.topic_names import METADATA_TOPIC
from trivium.messages.stored.metadata_brokers import UnregisterBrokerRecord


class ClusterFacts:
    def __init__(self, cluster: Cluster, settings: Settings, access: Access) -> None:
        self._cluster = cluster
        self._settings = settings
        self._access = access
        self.routes: Routes = {
            DescribeCluster: self.describe,
            DescribeQuorum: self.describe_quorum,
            UnregisterBroker: self.unregister,
        }

    def describe(self, command: DescribeCluster, caller: Caller, reply: Reply[DescribedCluster]) -> None:
        nodes = [this_node(self._cluster, self._settings)]
        if command.with_fenced:
            nodes += other_nodes(self._cluster)
        operations = None
        if command.with_operations:
            operations = self._access.operations(caller, Resource.CLUSTER, CLUSTER_NAME)
        reply(DescribedCluster(self._cluster.cluster_id, self._cluster.node_id, nodes, operations))

    def describe_quorum(
        self, command: DescribeQuorum, caller: Caller, reply: Reply[list[DescribedQuorum]]
    ) -> None:
        reply([self._quorum(topic, partition) for topic, partition in command.parts])

    def _quorum(self, topic: str, partition: int) -> DescribedQuorum:
        if (topic, partition) != (METADATA_TOPIC, 0):
            message = "This server does not host this topic-partition."
            return DescribedQuorum(topic, partition, Fault.UNKNOWN_TOPIC, message)
        cluster = self._cluster
        offset_end = cluster.metadata_offset_end
        return DescribedQuorum(
            topic,
            partition,
            leader_id=cluster.node_id,
            leader_epoch=cluster.metadata_epoch,
            high_watermark=offset_end,
            voters=[Voter(cluster.node_id, offset_end, cluster.clock.wall_ms())],
        )

    def unregister(self, command: UnregisterBroker, caller: Caller, reply: Reply[Unregistered]) -> None:
        broker = self._cluster.image.brokers.by_id.get(command.broker_id)
        if command.broker_id == self._cluster.node_id:
            reply(Unregistered(Fault.INVALID_REQUEST, "This broker is at work and stays registered."))
        elif broker is None:
            reply(
                Unregistered(
                    Fault.BROKER_ID_NOT_REGISTERED,
                    f"Broker ID {command.broker_id} is not currently registered",
                )
            )
        else:
            record = UnregisterBrokerRecord(broker_id=broker.broker_id, broker_epoch=broker.broker_epoch)
            try:
                self._cluster.commit([(record, 0)], lambda fault: reply(Unregistered(fault)))
            except Refused as refused:
                reply(Unregistered(refused.fault, refused.message))
