"""Streams beside Kafka: it boots a directory that has them (R11, 002.12), and its client overlooks them."""

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from tests.interop.kafka import Kafka
from tests.server.test_streams_on_disk import Talk, run

from trivium.client.admin_topics import describe_places
from trivium.client.cluster import Cluster
from trivium.core.commands.streams import CreateStreamTopic, DropPartitions, PurgeStreamTopic
from trivium.core.commands.users import CreateUser
from trivium.testing import Broker

pytestmark = pytest.mark.interop

CLUSTER_ID = "5L6g3nShT-eMCtK--X86sw"


def test_kafka_boots_a_directory_with_streams_and_shows_a_dropped_partition_without_a_leader(
    tmp_path: Path, kafka: Kafka
) -> None:
    async def make(talk: Talk) -> None:
        await talk.ask(CreateUser("ann", "secret"))
        await talk.ask(CreateStreamTopic("default", "shrunk", 3))
        await talk.ask(CreateStreamTopic("default", "purged", 1))
        await talk.write("shrunk", b"kept")
        await talk.write("purged", b"gone")
        assert await talk.ask(DropPartitions("default", "shrunk", 1)) is None
        assert await talk.ask(PurgeStreamTopic("default", "purged")) is None

    run(tmp_path, make, settings={"cluster-id": CLUSTER_ID})
    with kafka.broker(tmp_path, CLUSTER_ID) as address:
        metadata = AdminClient({"bootstrap.servers": address}).list_topics(timeout=30)
        leaders = {index: part.leader for index, part in sorted(metadata.topics["shrunk"].partitions.items())}
    assert leaders == {0: 1, 1: 1, 2: -1}
    assert sorted(metadata.topics) == ["__trivium", "purged", "shrunk"]


def test_kafkas_own_client_passes_over_where_a_topic_is_in_streams(kafka: Kafka) -> None:
    """It asks for topics by DescribeTopicPartitions, whose answer has a tagged field of ours."""
    with Broker(listen_iggy="127.0.0.1:0") as broker:
        broker.create_topic("orders", 2)
        with Cluster.connect(broker.bootstrap) as cluster:
            assert list(describe_places(cluster, ["orders"])) == ["orders"]
        tool = "org.apache.kafka.tools.TopicCommand"
        shown = kafka.run(tool, "--bootstrap-server", broker.bootstrap, "--describe", "--topic", "orders")
    assert "PartitionCount: 2" in shown
    assert shown.count("Leader: 1") == 2
