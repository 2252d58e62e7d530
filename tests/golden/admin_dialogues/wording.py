"""Words that the dialogues share."""

from tests.golden.admin_player import Ask

from trivium.messages.api.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from trivium.messages.api.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from trivium.records.batch import build_batch
from trivium.records.record import Record

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3
UNKNOWN_ID = bytes(15) + b"\x77"


def new(
    name: str,
    partitions: int = 1,
    replication: int = 1,
    configs: dict[str, str | None] | None = None,
    assignments: list[tuple[int, list[int]]] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in assignments or ()
        ],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
    )


def create(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=10_000, validate_only=validate_only)


def ten_records(ask: Ask, topic: str, partition: int = 0) -> None:
    batch = build_batch([Record(number, 1_700_000_000_000, b"k", b"v") for number in range(10)])
    request = ProduceRequest(
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=partition, records=bytes(batch))]
            )
        ],
    )
    ask(f"ten records into {topic}", request, 9)
