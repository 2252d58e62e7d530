"""Leaders and replicas of a broker that is alone, on metadata of its own and of a larger cluster."""

from tests.core.fakes import NODE_ID, World
from trivium.core.commands.placement import (
    ElectLeaders,
    ListReassignments,
    PlacedPart,
    Reassigning,
    Reassignment,
    ReassignPartitions,
)
from trivium.core.faults import Fault
from trivium.core.placement import Placement
from trivium.messages.stored.metadata_topics import PartitionChangeRecord
from trivium.wire.uuid_text import ZERO_UUID

OTHER = 2


def world() -> World:
    made = World()
    made.add(Placement(made.cluster).routes)
    made.create_topic("own")
    return made


def world_from_elsewhere() -> World:
    """A partition that another broker should lead, and that was just being moved to a third."""
    made = world()
    topic_id = made.create_topic("theirs")
    change = PartitionChangeRecord(
        partition_id=0,
        topic_id=topic_id,
        replicas=[OTHER, NODE_ID, 3],
        isr=[NODE_ID],
        adding_replicas=[3],
        removing_replicas=[OTHER],
        directories=[ZERO_UUID] * 3,
    )
    made.cluster.commit([(change, 1)], lambda _fault: None)
    return made


def test_preferred_leader_that_is_gone_cannot_be_elected() -> None:
    elected = world_from_elsewhere().execute(ElectLeaders([("theirs", 0), ("own", 0)]))
    assert [part.fault for part in elected.parts] == [
        Fault.PREFERRED_LEADER_NOT_AVAILABLE,
        Fault.ELECTION_NOT_NEEDED,
    ]


def test_election_of_all_tells_only_of_those_that_needed_one() -> None:
    elected = world_from_elsewhere().execute(ElectLeaders(None))
    assert [(part.topic, part.fault) for part in elected.parts] == [
        ("theirs", Fault.PREFERRED_LEADER_NOT_AVAILABLE)
    ]
    assert elected.topics == ["own", "theirs"]


def test_unclean_election_is_not_needed_where_somebody_leads() -> None:
    elected = world_from_elsewhere().execute(ElectLeaders([("theirs", 0)], unclean=True))
    assert [part.fault for part in elected.parts] == [Fault.ELECTION_NOT_NEEDED]


def test_reassignment_from_elsewhere_is_listed_until_it_is_cancelled() -> None:
    made = world_from_elsewhere()
    under_way = [Reassigning("theirs", 0, (OTHER, NODE_ID, 3), (3,), (OTHER,))]
    assert made.execute(ListReassignments(None)).parts == under_way
    assert made.execute(ListReassignments([("theirs", 0), ("own", 0), ("own", 9)])).parts == under_way
    cancelled = made.execute(ReassignPartitions([Reassignment("theirs", 0, None)]))
    assert cancelled.parts == [PlacedPart("theirs", 0)]
    assert made.execute(ListReassignments(None)).parts == []


def test_reassignment_that_had_come_as_far_as_this_broker_is_ended() -> None:
    made = world()
    topic_id = made.create_topic("halfway")
    change = PartitionChangeRecord(partition_id=0, topic_id=topic_id, adding_replicas=[NODE_ID])
    made.cluster.commit([(change, 1)], lambda _fault: None)
    made.execute(ReassignPartitions([Reassignment("halfway", 0, [NODE_ID])]))
    assert made.execute(ListReassignments(None)).parts == []


def test_partition_from_elsewhere_is_put_on_this_broker_alone() -> None:
    made = world_from_elsewhere()
    made.storage.holds_syncs = True
    replies = made.submit(ReassignPartitions([Reassignment("theirs", 0, [NODE_ID])]))
    assert replies == []
    made.storage.sync()
    assert replies[0].parts == [PlacedPart("theirs", 0)]
    partition = made.image.topics.by_name["theirs"].partitions[0]
    assert (partition.replicas, partition.isr, partition.leader) == ((NODE_ID,), (NODE_ID,), NODE_ID)


def test_reassignment_that_may_not_change_the_number_of_replicas_is_refused() -> None:
    made = world_from_elsewhere()
    command = ReassignPartitions([Reassignment("theirs", 0, [NODE_ID])], may_change_count=False)
    (part,) = made.execute(command).parts
    assert part.fault is Fault.INVALID_REPLICATION_FACTOR
    assert len(made.image.topics.by_name["theirs"].partitions[0].replicas) == 3


def test_reassignment_that_cannot_be_written_changes_nothing() -> None:
    made = world_from_elsewhere()
    made.log("__cluster_metadata").fault = Fault.STORAGE
    assert made.execute(ReassignPartitions([Reassignment("theirs", 0, None)])).fault is Fault.STORAGE
    assert made.execute(ListReassignments(None)).parts != []


def test_reassignment_to_where_the_partition_is_writes_nothing() -> None:
    made = world()
    end = made.log("__cluster_metadata").log_end_offset
    assert made.execute(ReassignPartitions([Reassignment("own", 0, [NODE_ID])])).parts == [
        PlacedPart("own", 0)
    ]
    assert made.log("__cluster_metadata").log_end_offset == end
