"""Topics, settings, groups and offsets on a real broker."""

import pytest

from tests.client.live import eventually, fill, make_topic
from trivium.client.admin_cluster import describe_cluster, describe_log_dirs
from trivium.client.admin_configs import Resource, ResourceType, alter_configs, describe_configs
from trivium.client.admin_groups import delete_groups, describe_group, list_groups
from trivium.client.admin_topics import (
    CreatedTopic,
    NewTopic,
    add_partitions,
    create_topics,
    delete_topics,
    describe_topics,
)
from trivium.client.cluster import Cluster
from trivium.client.errors import Refused, settled
from trivium.client.group import GroupConsumer
from trivium.client.group_offsets import (
    CommittedOffset,
    commit_offsets,
    committed_offsets,
    delete_offsets,
)
from trivium.client.offsets import TO_THE_END, delete_records, list_offsets, offset_ranges
from trivium.client.topology import TopicPartition
from trivium.messages.errors import ErrorCode


def code_of(outcome: object) -> ErrorCode | None:
    return outcome.code if isinstance(outcome, Refused) else None


def test_created_topic_has_what_was_asked_for(cluster: Cluster, name: str) -> None:
    made = create_topics(cluster, [NewTopic(name, 3, 1, {"retention.ms": "123000"})])[name]
    assert isinstance(made, CreatedTopic)
    assert (made.partitions, made.replication_factor) == (3, 1)
    topic = cluster.topic(name)
    assert (topic.topic_id, len(topic.partitions)) == (made.topic_id, 3)
    resource = Resource(ResourceType.TOPIC, name)
    setting = settled(describe_configs(cluster, [resource])[resource])["retention.ms"]
    assert (setting.value, setting.source, setting.is_default) == ("123000", "topic", False)


def test_topics_are_created_or_refused_each_for_itself(cluster: Cluster, name: str) -> None:
    wanted = [NewTopic(name, 1), NewTopic(f"{name}/", 1), NewTopic(f"{name}-x", 1, 1, {"no.such": "1"})]
    outcomes = create_topics(cluster, wanted)
    assert {key: code_of(outcome) for key, outcome in outcomes.items()} == {
        name: None,
        f"{name}/": ErrorCode.INVALID_TOPIC_EXCEPTION,
        f"{name}-x": ErrorCode.INVALID_CONFIG,
    }
    assert code_of(create_topics(cluster, [NewTopic(name, 1)])[name]) is ErrorCode.TOPIC_ALREADY_EXISTS


def test_dry_run_creates_nothing(cluster: Cluster, name: str) -> None:
    assert isinstance(create_topics(cluster, [NewTopic(name, 1)], validate_only=True)[name], CreatedTopic)
    assert code_of(describe_topics(cluster, [name])[name]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_topic_grows_and_does_not_shrink(cluster: Cluster, topic: str) -> None:
    assert add_partitions(cluster, {topic: 5}) == {topic: None}
    eventually(lambda: len(settled(describe_topics(cluster, [topic])[topic]).partitions), 5)
    assert code_of(add_partitions(cluster, {topic: 4})[topic]) is ErrorCode.INVALID_PARTITIONS


def test_deleted_topic_is_gone_and_its_absence_is_said_at_once(cluster: Cluster, topic: str) -> None:
    assert delete_topics(cluster, [topic]) == {topic: None}
    assert code_of(delete_topics(cluster, [topic])[topic]) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_setting_is_set_and_unset_and_the_others_stay(cluster: Cluster, name: str) -> None:
    resource = Resource(ResourceType.TOPIC, make_topic(cluster, name, retention_ms="1000"))
    cluster.topic(name)  # Once it is known, so are its settings.
    assert alter_configs(cluster, {resource: {"segment.ms": "5000"}}) == {resource: None}
    assert alter_configs(cluster, {resource: {"retention.ms": None}}) == {resource: None}

    def own_settings() -> set[str]:
        settings = settled(describe_configs(cluster, [resource])[resource])
        return {name for name, setting in settings.items() if setting.source == "topic"}

    eventually(own_settings, {"segment.ms"})
    refused = alter_configs(cluster, {resource: {"segment.ms": "soon"}})[resource]
    assert code_of(refused) is ErrorCode.INVALID_CONFIG


def test_settings_of_a_broker_come_from_itself(cluster: Cluster) -> None:
    (node, *_) = describe_cluster(cluster).nodes
    resource = Resource(ResourceType.BROKER, str(node.node_id))
    settings = settled(describe_configs(cluster, [resource])[resource])
    assert settings["num.partitions"].value == "1"
    assert settings["node.id"].is_read_only


def test_log_directories_know_the_size_of_partitions(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, bytes(5000))
    sizes: dict[TopicPartition, int] = {}
    for directory in describe_log_dirs(cluster):
        sizes |= directory.sizes_bytes
    assert sizes[TopicPartition(topic, 0)] > 5000
    assert sizes[TopicPartition(topic, 1)] == 0


def test_offsets_are_found_by_time(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a", b"b", b"c", timestamp_ms=10_000)
    key = TopicPartition(topic, 0)
    found = {when: settled(list_offsets(cluster, {key: when})[key]) for when in (0, 10_500, 12_000, 12_001)}
    assert [each.offset for each in found.values()] == [0, 1, 2, -1]
    assert found[10_500].timestamp == 11_000


def test_deleted_records_move_the_beginning(cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a", b"b", b"c")
    first, second = cluster.topic(topic).partition_keys()
    outcomes = delete_records(cluster, {first: 2, second: 1})
    assert outcomes[first] == 2
    assert code_of(outcomes[second]) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert offset_ranges(cluster, [first, second]) == {first: (2, 3), second: (0, 0)}
    assert delete_records(cluster, {first: TO_THE_END}) == {first: 3}


def test_group_offsets_are_committed_read_and_forgotten(cluster: Cluster, topic: str, name: str) -> None:
    fill(cluster, topic, b"a", b"b")
    first, second = cluster.topic(topic).partition_keys()
    assert committed_offsets(cluster, name) == {}
    commit_offsets(cluster, name, {first: CommittedOffset(2, metadata="half"), second: CommittedOffset(0)})
    assert committed_offsets(cluster, name) == {
        first: CommittedOffset(2, metadata="half"),
        second: CommittedOffset(0),
    }
    assert set(committed_offsets(cluster, name, [second])) == {second}
    assert delete_offsets(cluster, name, [second]) == {second: None}
    assert set(committed_offsets(cluster, name)) == {first}


def test_group_is_listed_described_and_deleted_only_when_nobody_is_in_it(
    cluster: Cluster, bootstrap: str, topic: str, name: str
) -> None:
    with (
        Cluster.connect(bootstrap, client_id="reader-1") as other,
        GroupConsumer(other, name, [topic]) as consumer,
    ):
        consumer.poll(0)
        group = describe_group(cluster, name)
        assert (group.state, group.group_type, group.assignor) == ("Stable", "classic", "range")
        (member,) = group.members
        assert (member.client_id, member.partitions) == (
            "reader-1",
            tuple(cluster.topic(topic).partition_keys()),
        )
        assert {each.group_id: each.state for each in list_groups(cluster)}[name] == "Stable"
        assert code_of(delete_groups(cluster, [name])[name]) is ErrorCode.NON_EMPTY_GROUP
        with pytest.raises(Refused, match="has members at work; stop them first"):
            commit_offsets(cluster, name, {TopicPartition(topic, 0): CommittedOffset(0)})
        consumer.commit({TopicPartition(topic, 0): 0})
    assert describe_group(cluster, name).state == "Empty"
    assert delete_groups(cluster, [name]) == {name: None}
    with pytest.raises(Refused, match=f"There is no group {name}"):
        describe_group(cluster, name)
