"""What the cluster says about itself."""

from tests.core.fakes import NODE_ID, NOW_MS, World
from trivium.core.cluster_facts import ClusterFacts
from trivium.core.commands.cluster import (
    DescribeCluster,
    DescribeQuorum,
    UnregisterBroker,
    Unregistered,
    Voter,
)
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault
from trivium.messages.stored.metadata_brokers import BrokerEndpoint, RegisterBrokerRecord

OTHER = 7


def world(**settings: str) -> World:
    made = World({name.replace("_", "."): value for name, value in settings.items()})
    made.add(ClusterFacts(made.cluster, made.settings, made.access).routes)
    return made


def register(made: World, broker_id: int) -> None:
    """As a directory from a larger cluster has it."""
    record = RegisterBrokerRecord(
        broker_id=broker_id,
        incarnation_id=bytes(16),
        broker_epoch=5,
        end_points=[BrokerEndpoint(name="PLAINTEXT", host="other", port=9, security_protocol=0)],
        features=[],
        rack=None,
    )
    made.cluster.commit([(record, 1)], lambda _fault: None)


def test_broker_of_a_former_cluster_is_told_of_as_fenced_if_asked_for() -> None:
    made = world(broker_rack="r1")
    register(made, NODE_ID)
    register(made, OTHER)
    here = Node(NODE_ID, rack="r1")
    assert made.execute(DescribeCluster()).nodes == [here]
    assert made.execute(DescribeCluster(with_fenced=True)).nodes == [
        here,
        Node(OTHER, "other", 9, is_fenced=True),
    ]


def test_quorum_of_the_metadata_is_this_broker_with_all_records() -> None:
    made = world()
    made.create_topic("a")
    (quorum,) = made.execute(DescribeQuorum([("__cluster_metadata", 0)]))
    assert (quorum.leader_id, quorum.leader_epoch, quorum.high_watermark) == (NODE_ID, 1, 2)
    assert quorum.voters == [Voter(NODE_ID, 2, NOW_MS)]


def test_broker_of_a_former_cluster_can_be_forgotten_once() -> None:
    made = world()
    register(made, OTHER)
    assert made.execute(UnregisterBroker(OTHER)) == Unregistered()
    assert made.execute(UnregisterBroker(OTHER)).fault is Fault.BROKER_ID_NOT_REGISTERED


def test_broker_at_work_stays_registered() -> None:
    made = world()
    register(made, NODE_ID)
    assert made.execute(UnregisterBroker(NODE_ID)).fault is Fault.INVALID_REQUEST
    assert NODE_ID in made.image.brokers.by_id


def test_broker_whose_end_cannot_be_written_stays_registered() -> None:
    made = world()
    register(made, OTHER)
    made.log("__cluster_metadata").fault = Fault.STORAGE
    assert made.execute(UnregisterBroker(OTHER)).fault is Fault.STORAGE
    assert OTHER in made.image.brokers.by_id
