"""The APIs of consumer groups, version by version: frames in, frames out (KIP-848)."""

import pytest

from tests.core.groups.consumer.consuming import HASTY
from tests.core.groups.coordinated import Coordinated
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.messages.api import ApiKey
from trivium.messages.api.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from trivium.messages.api.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.apis import APIS


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated(HASTY)


@pytest.fixture
def client(groups: Coordinated) -> Conversation:
    return Conversation(protocol_of(groups.world))


def joined(client: Conversation, version: int, member_id: str) -> ConsumerGroupHeartbeatResponse:
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    return client.ask(request, version, ConsumerGroupHeartbeatResponse)


@pytest.mark.parametrize("key", [ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CONSUMER_GROUP_DESCRIBE])
def test_versions_served_are_those_of_kafka(key: ApiKey) -> None:
    assert (APIS[key].version_min, APIS[key].version_last) == (0, 1)


def test_member_without_an_id_is_given_one_in_version_0(client: Conversation) -> None:
    answer = joined(client, 0, "")
    assert (answer.error_code, answer.member_id) == (ErrorCode.NONE, "1")
    assert answer.assignment is not None
    assert [each.partitions for each in answer.assignment.topic_partitions] == [[0, 1, 2, 3]]


def test_member_without_an_id_is_refused_from_version_1_on(client: Conversation) -> None:
    """KIP-1082"""
    answer = joined(client, 1, "")
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "MemberId can't be empty.",
    )


def test_topic_that_a_member_names_twice_counts_with_both(groups: Coordinated, client: Conversation) -> None:
    joined(client, 1, "one")
    second = joined(client, 1, "two")
    assert second.assignment is not None
    assert second.assignment.topic_partitions == []
    topic_id = groups.world.image.topics.by_name["t"].topic_id

    def beat(*partitions: int) -> ConsumerGroupHeartbeatResponse:
        owned = [TopicPartitions(topic_id=topic_id, partitions=[number]) for number in partitions]
        request = ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="one", member_epoch=2, topic_partitions=owned
        )
        return client.ask(request, 1, ConsumerGroupHeartbeatResponse)

    assert beat(0, 1, 2, 3).member_epoch == 2
    assert beat(0, 1, 2).member_epoch == 2
    assert beat(0, 1).member_epoch == 3


@pytest.mark.parametrize(("version", "kind"), [(0, -1), (1, 1)])
def test_description_tells_the_protocol_of_a_member_from_version_1_on(
    client: Conversation, version: int, kind: int
) -> None:
    joined(client, 1, "one")
    request = ConsumerGroupDescribeRequest(group_ids=["g"], include_authorized_operations=False)
    [group] = client.ask(request, version, ConsumerGroupDescribeResponse).groups
    assert [member.member_type for member in group.members] == [kind]
