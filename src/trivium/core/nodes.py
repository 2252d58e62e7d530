"""The brokers of the cluster: this one, and those that a directory from elsewhere still has registered."""

from collections.abc import Iterator

from trivium.core.cluster import Cluster
from trivium.core.commands.topics import Node
from trivium.core.settings import Settings


def this_node(cluster: Cluster, settings: Settings) -> Node:
    rack = settings.broker("broker.rack")
    return Node(cluster.node_id, rack=None if rack is None else str(rack))


def other_nodes(cluster: Cluster) -> Iterator[Node]:
    """Registered brokers of a former cluster. Nobody hears of them any more: they are fenced."""
    for broker in sorted(cluster.image.brokers, key=lambda broker: broker.broker_id):
        if broker.broker_id != cluster.node_id:
            listener = next(iter(broker.listeners.values()), None)
            host, port = ("", -1) if listener is None else (listener.host, listener.port)
            yield Node(broker.broker_id, host, port, broker.rack, is_fenced=True)
