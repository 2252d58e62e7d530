"""DescribeProducers (key 61): who writes to a partition with an id. Served: 0."""

from trivium.core.commands.producers import DescribedProducers, DescribeProducers
from trivium.messages.api import ApiKey
from trivium.messages.api.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from trivium.protocols.kafka.api import Api, Call
from trivium.protocols.kafka.faults import code_of


def to_command(request: DescribeProducersRequest, call: Call) -> DescribeProducers:
    return DescribeProducers(
        [(topic.name, partition) for topic in request.topics for partition in topic.partition_indexes]
    )


def to_response(results: list[DescribedProducers], call: Call) -> DescribeProducersResponse:
    by_topic: dict[str, list[PartitionResponse]] = {topic.name: [] for topic in call.request.topics}
    for result in results:
        assert isinstance(result.topic, str)
        by_topic[result.topic].append(_partition(result))
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[TopicResponse(name=name, partitions=partitions) for name, partitions in by_topic.items()],
    )


def _partition(result: DescribedProducers) -> PartitionResponse:
    return PartitionResponse(
        partition_index=result.partition,
        error_code=code_of(result.fault),
        error_message=result.message,
        active_producers=[
            ProducerState(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                last_sequence=producer.last_sequence,
                last_timestamp=producer.last_timestamp_ms,
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=producer.txn_first_offset,
            )
            for producer in result.producers
        ],
    )


API = Api(ApiKey.DESCRIBE_PRODUCERS, 0, 0, to_command, to_response)
