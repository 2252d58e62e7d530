"""InitProducerId, DescribeProducers and the telemetry APIs on the wire."""

import pytest

from tests.core.batches import batch, produce
from tests.core.fakes import NOW_MS
from tests.protocols.kafka.data_world import TELEMETRY_BYTES_MAX, conversation_with, data_world
from trivium.messages.api.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
)
from trivium.messages.api.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from trivium.messages.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from trivium.messages.api.push_telemetry import PushTelemetryRequest, PushTelemetryResponse
from trivium.messages.errors import ErrorCode
from trivium.wire.uuid_text import ZERO_UUID


@pytest.mark.parametrize("version", range(7))
def test_producer_gets_an_id_in_every_version(version: int) -> None:
    conversation = conversation_with(data_world())
    asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    for expected in (0, 1):
        answer = conversation.ask(asked, version, InitProducerIdResponse)
        assert (answer.error_code, answer.producer_id, answer.producer_epoch) == (0, expected, 0)


def test_producers_are_described_as_kafka_describes_them() -> None:
    world = data_world()
    produce(world, batch(b"a", producer_id=3, producer_epoch=1, base_sequence=0))
    asked = DescribeProducersRequest(topics=[TopicRequest(name="t", partition_indexes=[0, 1, 8])])
    answer = conversation_with(world).ask(asked, 0, DescribeProducersResponse)
    state = ProducerState(
        producer_id=3,
        producer_epoch=1,
        last_sequence=0,
        last_timestamp=NOW_MS,
        coordinator_epoch=-1,
        current_txn_start_offset=-1,
    )
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.topics[0].partitions == [
        PartitionResponse(partition_index=0, error_code=0, active_producers=[state]),
        PartitionResponse(partition_index=1, error_code=0, active_producers=[]),
        PartitionResponse(partition_index=8, error_code=missing, active_producers=[]),
    ]


def test_telemetry_without_subscriptions_asks_for_nothing() -> None:
    conversation = conversation_with(data_world())
    answer = conversation.ask(
        GetTelemetrySubscriptionsRequest(client_instance_id=ZERO_UUID), 0, GetTelemetrySubscriptionsResponse
    )
    assert (answer.error_code, answer.requested_metrics) == (0, [])
    assert answer.client_instance_id != ZERO_UUID
    assert answer.accepted_compression_types == [4, 3, 1, 2]
    assert (answer.telemetry_max_bytes, answer.delta_temporality) == (TELEMETRY_BYTES_MAX, True)
    pushed = conversation.ask(
        PushTelemetryRequest(
            client_instance_id=answer.client_instance_id,
            subscription_id=answer.subscription_id,
            terminating=True,
            compression_type=0,
            metrics=b"",
        ),
        0,
        PushTelemetryResponse,
    )
    assert pushed.error_code == 0


def test_telemetry_too_often_is_throttled() -> None:
    conversation = conversation_with(data_world())
    asked = GetTelemetrySubscriptionsRequest(client_instance_id=b"c" * 16)
    conversation.ask(asked, 0, GetTelemetrySubscriptionsResponse)
    answer = conversation.ask(asked, 0, GetTelemetrySubscriptionsResponse)
    assert answer.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
