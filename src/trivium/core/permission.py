"""A partition for somebody who may have it.

The right is asked for before the partition is looked up: to whom it is forbidden, what is missing and what is
there look alike (promise S11). Only a topic's id cannot be asked about before it is known whose it is.
"""

from trivium.core.access import NOT_AUTHORIZED, Access, Row
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import TopicRef
from trivium.core.faults import Refused
from trivium.core.partition import LivePartition


def permitted_partition(
    cluster: Cluster, access: Access, caller: Caller, row: Row, topic: TopicRef, index: int
) -> LivePartition:
    """The live partition; ``Refused`` if the caller has no right to its topic, or if it is not there."""
    name = topic if isinstance(topic, str) else cluster.topic(topic).name
    if not access.allows(caller, row.operation, row.resource, name):
        raise Refused(NOT_AUTHORIZED[row.resource])
    return cluster.partition(name, index)
