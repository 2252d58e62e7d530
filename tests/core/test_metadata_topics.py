"""Topics and partitions, changed record by record as Kafka's controller changes them."""

import pytest

from trivium.core.metadata_topics import DIRECTORY_UNKNOWN, NO_LEADER, Partition, Topics
from trivium.messages.stored.metadata_topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from trivium.wire.errors import DecodeError

TOPIC_ID = bytes(15) + b"\x07"
DIRECTORIES = [bytes([n]) * 16 for n in (1, 2, 3)]

PLACED = Partition(
    replicas=(1, 2, 3),
    isr=(1, 2),
    leader=1,
    leader_epoch=4,
    partition_epoch=9,
    directories=tuple(DIRECTORIES),
    eligible_leader_replicas=(3,),
)


@pytest.fixture
def topics() -> Topics:
    """One topic, with one partition: ``PLACED``."""
    topics = Topics()
    topics.create(TopicRecord(name="t", topic_id=TOPIC_ID))
    topics.place(
        PartitionRecord(
            partition_id=0,
            topic_id=TOPIC_ID,
            replicas=[1, 2, 3],
            isr=[1, 2],
            removing_replicas=[],
            adding_replicas=[],
            leader=1,
            leader_epoch=4,
            partition_epoch=9,
            directories=list(DIRECTORIES),
            eligible_leader_replicas=[3],
        )
    )
    return topics


def changed(topics: Topics, **fields: object) -> Partition:
    topics.change(PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID, **fields))  # type: ignore[arg-type]
    return topics.by_name["t"].partitions[0]


def test_topic_when_created_is_found_by_name_and_by_id(topics: Topics) -> None:
    assert topics.by_name["t"] is topics.by_id[TOPIC_ID]
    assert topics.by_name["t"].partitions == {0: PLACED}


def test_topic_when_removed_is_found_no_more(topics: Topics) -> None:
    topics.remove(RemoveTopicRecord(topic_id=TOPIC_ID))
    assert (len(topics), topics.by_id) == (0, {})


def test_topic_whose_name_or_id_is_taken_is_refused(topics: Topics) -> None:
    for name, topic_id in (("t", bytes(16)), ("other", TOPIC_ID)):
        with pytest.raises(DecodeError, match="created twice"):
            topics.create(TopicRecord(name=name, topic_id=topic_id))


def test_partition_when_it_gets_a_leader_has_a_new_leader_epoch(topics: Topics) -> None:
    expected = PLACED._replace(leader=2, isr=(2,), leader_epoch=5, partition_epoch=10)
    assert changed(topics, leader=2, isr=[2]) == expected


def test_partition_when_the_same_leader_is_named_again_has_a_new_leader_epoch(topics: Topics) -> None:
    assert changed(topics, leader=1) == PLACED._replace(leader_epoch=5, partition_epoch=10)


def test_partition_when_it_loses_its_leader_has_a_new_leader_epoch(topics: Topics) -> None:
    expected = PLACED._replace(leader=NO_LEADER, isr=(), leader_epoch=5, partition_epoch=10)
    assert changed(topics, leader=NO_LEADER, isr=[]) == expected


def test_partition_when_only_its_replicas_change_keeps_its_leader_epoch(topics: Topics) -> None:
    after = changed(topics, replicas=[1, 2], removing_replicas=[3], directories=DIRECTORIES[:2])
    assert after == PLACED._replace(
        replicas=(1, 2),
        removing_replicas=(3,),
        directories=tuple(DIRECTORIES[:2]),
        partition_epoch=10,
    )


def test_partition_after_an_unclean_election_recovers_until_a_record_says_it_has(topics: Topics) -> None:
    assert changed(topics, leader=3, leader_recovery_state=1).is_recovering
    assert changed(topics, isr=[3]).is_recovering
    assert not changed(topics, leader_recovery_state=0).is_recovering


def test_partition_without_directories_has_an_unknown_one_for_each_replica(topics: Topics) -> None:
    """Records from before KIP-858 do not tell."""
    topics.place(
        PartitionRecord(
            partition_id=1,
            topic_id=TOPIC_ID,
            replicas=[1, 2],
            isr=[1],
            removing_replicas=[],
            adding_replicas=[],
        )
    )
    assert topics.by_name["t"].partitions[1].directories == (DIRECTORY_UNKNOWN,) * 2


def test_partition_with_another_number_of_directories_than_replicas_is_refused(topics: Topics) -> None:
    with pytest.raises(DecodeError, match="3 replicas in 2 directories"):
        changed(topics, directories=DIRECTORIES[:2])


def test_eligible_leaders_when_cleared_count_as_a_change_where_there_were_some(topics: Topics) -> None:
    topics.clear_elr(ClearElrRecord(topic_name="t"))
    expected = PLACED._replace(eligible_leader_replicas=(), partition_epoch=10)
    assert topics.by_name["t"].partitions[0] == expected
    topics.clear_elr(ClearElrRecord(topic_name=""))
    assert topics.by_name["t"].partitions[0] == expected


def test_eligible_leaders_of_all_topics_are_cleared_when_none_is_named(topics: Topics) -> None:
    topics.clear_elr(ClearElrRecord(topic_name=""))
    assert topics.by_name["t"].partitions[0].eligible_leader_replicas == ()


def test_records_about_what_does_not_exist_are_refused(topics: Topics) -> None:
    nowhere = bytes(16)
    with pytest.raises(DecodeError, match="no topic has the id"):
        topics.remove(RemoveTopicRecord(topic_id=nowhere))
    with pytest.raises(DecodeError, match="no topic has the id"):
        topics.change(PartitionChangeRecord(partition_id=0, topic_id=nowhere))
    with pytest.raises(DecodeError, match="t-5 is changed and does not exist"):
        topics.change(PartitionChangeRecord(partition_id=5, topic_id=TOPIC_ID))
    with pytest.raises(DecodeError, match="no such topic"):
        topics.clear_elr(ClearElrRecord(topic_name="other"))
