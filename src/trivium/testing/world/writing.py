"""Writing in a world: Produce requests with numbered batches of one record."""

from typing import Final, NamedTuple

from trivium.messages.api.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from trivium.messages.errors import ErrorCode
from trivium.records.batch import build_batch
from trivium.records.record import Record
from trivium.testing.world.clock import EPOCH_MS

VERSION: Final = 12
"""The last one that names topics; from it on a write joins its transaction by itself."""
VERSION_NOT_JOINING: Final = 11
WRITTEN: Final = frozenset((ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER))
ACKS_ALL: Final = -1
TIMEOUT_MS: Final = 30_000


class Identity(NamedTuple):
    producer_id: int
    epoch: int


def produce_request(
    topic: str,
    partition: int,
    value: str,
    identity: Identity,
    sequence: int,
    transactional_id: str | None = None,
) -> ProduceRequest:
    batch = build_batch(
        [Record(0, EPOCH_MS, None, value.encode())],
        producer_id=identity.producer_id,
        producer_epoch=identity.epoch,
        base_sequence=sequence,
        transactional=transactional_id is not None,
    )
    data = PartitionProduceData(index=partition, records=batch)
    return ProduceRequest(
        transactional_id=transactional_id,
        acks=ACKS_ALL,
        timeout_ms=TIMEOUT_MS,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )


def told(answer: ProduceResponse) -> PartitionProduceResponse:
    return answer.responses[0].partition_responses[0]
