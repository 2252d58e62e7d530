"""How far flows are behind, as their groups say."""

import time

import pytest
from tests.client.live import fill
from tests.pipeline.definitions import defined

from trivium.client.admin_topics import delete_topics
from trivium.client.cluster import Cluster
from trivium.client.group_offsets import CommittedOffset, commit_offsets
from trivium.client.offsets import delete_records
from trivium.client.topology import TopicPartition
from trivium.pipeline.definition import Definition
from trivium.pipeline.standing import PartitionStanding, Standing, standing_of


@pytest.fixture
def shop(name: str) -> Definition:
    return defined(
        f"""
        [pipeline]
        name = "{name}"
        [source.orders]
        topic = "{name}"
        [source.later]
        topic = "{name}"
        start = "latest"
        [flow.clean]
        sql = "SELECT * FROM orders"
        sink = {{ topic = "out" }}
        [flow.sums]
        sql = "SELECT * FROM clean"
        sink = {{ topic = "sums" }}
        [flow.view]
        sql = "SELECT * FROM orders"
        [flow.fresh]
        sql = "SELECT * FROM later"
        sink = {{ topic = "fresh" }}
        """
    )


def commit(cluster: Cluster, group: str, topic: str, offset: int) -> None:
    commit_offsets(cluster, group, {TopicPartition(topic, 0): CommittedOffset(offset)})


def first(standing: Standing, flow: str) -> PartitionStanding:
    return next(each for each in standing.partitions if each.flow == flow and each.partition == 0)


def test_flow_is_as_far_behind_as_its_group(cluster: Cluster, topic: str, shop: Definition) -> None:
    hour_ago_ms = int(time.time() * 1000) - 3_600_000
    fill(cluster, topic, b"a", b"b", b"c", timestamp_ms=hour_ago_ms)
    commit(cluster, f"{topic}.clean", topic, 2)
    commit(cluster, f"{topic}.sums", topic, 3)
    standing = standing_of(shop, cluster)
    assert {each.flow for each in standing.partitions} == {"clean", "sums", "fresh"}
    clean, sums, fresh = (first(standing, flow) for flow in ("clean", "sums", "fresh"))
    assert (clean.committed, clean.end, clean.lag_records) == (2, 3, 1)
    assert clean.lag_seconds is not None
    assert clean.lag_seconds >= 3_597  # The third record is two seconds younger than the first.
    assert (sums.committed, sums.lag_records, sums.lag_seconds) == (3, 0, 0.0)
    assert (fresh.committed, fresh.lag_records, fresh.lag_seconds) == (None, None, None)


def test_flows_at_different_offsets_have_different_ages(
    cluster: Cluster, topic: str, shop: Definition
) -> None:
    fill(cluster, topic, b"a", b"b", b"c", timestamp_ms=1_000)
    commit(cluster, f"{topic}.clean", topic, 0)
    commit(cluster, f"{topic}.sums", topic, 2)
    standing = standing_of(shop, cluster)
    older, newer = first(standing, "clean").lag_seconds, first(standing, "sums").lag_seconds
    assert older is not None
    assert newer is not None
    assert older - newer == pytest.approx(2.0)


def test_flow_that_has_not_begun_has_everything_before_it(
    cluster: Cluster, topic: str, shop: Definition
) -> None:
    fill(cluster, topic, b"a", b"b")
    clean = first(standing_of(shop, cluster), "clean")
    assert (clean.committed, clean.end, clean.lag_records) == (None, 2, 2)


def test_what_was_deleted_is_not_waited_for(cluster: Cluster, topic: str, shop: Definition) -> None:
    fill(cluster, topic, b"a", b"b", b"c")
    commit(cluster, f"{topic}.clean", topic, 0)
    delete_records(cluster, {TopicPartition(topic, 0): 2})
    clean = first(standing_of(shop, cluster), "clean")
    assert (clean.committed, clean.lag_records) == (0, 1)


def test_topic_that_is_not_there_is_named(cluster: Cluster, topic: str, shop: Definition) -> None:
    delete_topics(cluster, [topic])
    standing = standing_of(shop, cluster)
    assert standing.partitions == ()
    assert list(standing.missing) == [topic]


def test_pattern_stands_for_the_topics_that_match(cluster: Cluster, topic: str) -> None:
    shop = defined(
        f"[pipeline]\nname = 'shop'\n[source.s]\npattern = '{topic}|nothing'\n"
        "[flow.f]\nsql = 'SELECT * FROM s'\nsink = { topic = 'out' }"
    )
    assert [(each.topic, each.partition) for each in standing_of(shop, cluster).partitions] == [
        (topic, 0),
        (topic, 1),
    ]
