"""What a producer asks for and what it hears: acknowledgements, its identity, deliveries."""

from typing import Final, NamedTuple

from trivium.client.errors import ClientError
from trivium.client.topology import TopicPartition
from trivium.records.batch import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

ACKS_ALL: Final = -1
ACKS_LEADER: Final = 1
ACKS_NONE: Final = 0

UNKNOWN_OFFSET: Final = -1


class ProducerIdentity(NamedTuple):
    """By which a broker recognises batches that it has already."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_PRODUCER_EPOCH

    @property
    def is_idempotent(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID


class Delivery(NamedTuple):
    """What became of a batch."""

    key: TopicPartition
    records_count: int
    size_bytes: int
    """About what they took before compression."""

    base_offset: int
    """Of its first record; -1 if it failed, or if nobody said."""

    error: ClientError | None
