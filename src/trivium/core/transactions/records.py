"""Transactions as records of ``__transaction_state``: the last one of a transactional id is its state."""

from collections import defaultdict
from typing import Final

from trivium.core.commands.producers import NO_PRODUCER_ID
from trivium.core.groups.moment import Moment
from trivium.core.groups.offsets import Place
from trivium.core.internal_topic import KeyedRecord
from trivium.core.kept_answers import kept
from trivium.core.transactions.transaction import FIRST_EPOCH, NOBODY, Producer, State, Transaction
from trivium.messages.stored.transaction_log import (
    TRANSACTION_LOG,
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from trivium.wire.errors import DecodeError

STATUS: Final = {
    State.EMPTY: 0,
    State.ONGOING: 1,
    State.PREPARE_COMMIT: 2,
    State.PREPARE_ABORT: 3,
    State.COMPLETE_COMMIT: 4,
    State.COMPLETE_ABORT: 5,
    State.DEAD: 6,
    State.PREPARE_EPOCH_FENCE: 7,
}
_STATES: Final = {status: state for state, status in STATUS.items()}
PLAIN_VERSION: Final = 0
TAGGED_VERSION: Final = 1
"""Knows former and next producers, and by which version of the protocol a transaction was ended."""
TAGGED_SINCE: Final = 1
"""The ``transaction.version`` from which on records are written so."""
NO_TIMESTAMP: Final = -1


def transaction_record(transaction: Transaction, transaction_version: int) -> KeyedRecord:
    """The record as a cluster of this ``transaction.version`` writes it."""
    started_at = transaction.started_at
    value = TransactionLogValue(
        producer_id=transaction.producer.producer_id,
        producer_epoch=transaction.producer.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=STATUS[transaction.state],
        transaction_partitions=None if transaction.state is State.EMPTY else _topics(transaction.partitions),
        transaction_last_update_timestamp_ms=transaction.updated_at.wall_ms,
        transaction_start_timestamp_ms=NO_TIMESTAMP if started_at is None else started_at.wall_ms,
    )
    version = PLAIN_VERSION
    if transaction_version >= TAGGED_SINCE:
        version = TAGGED_VERSION
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id, value.next_producer_epoch = transaction.next_producer
        value.client_transaction_version = transaction.version
    return _key(transaction.transactional_id), TRANSACTION_LOG.encode_value(value, version)


def tombstone(transactional_id: str) -> KeyedRecord:
    return _key(transactional_id), None


@kept  # every step of a transaction writes its own again
def _key(transactional_id: str) -> bytes:
    return TRANSACTION_LOG.encode_key(TransactionLogKey(transactional_id=transactional_id))


def _topics(partitions: frozenset[Place]) -> list[PartitionsSchema]:
    by_topic: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(partitions):
        by_topic[topic].append(partition)
    return [PartitionsSchema(topic=topic, partition_ids=ids) for topic, ids in by_topic.items()]


def transaction_from(transactional_id: str, value: TransactionLogValue, now: Moment) -> Transaction:
    state = _STATES.get(value.transaction_status)
    if state is None:
        raise DecodeError(f"transaction {transactional_id} is in state {value.transaction_status}")
    started_at_ms = value.transaction_start_timestamp_ms
    return Transaction(
        transactional_id=transactional_id,
        producer=Producer(value.producer_id, value.producer_epoch),
        timeout_ms=value.transaction_timeout_ms,
        updated_at=now.recall(value.transaction_last_update_timestamp_ms),
        state=state,
        partitions=frozenset(
            (topic.topic, partition)
            for topic in value.transaction_partitions or ()
            for partition in topic.partition_ids
        ),
        started_at=None if started_at_ms == NO_TIMESTAMP else now.recall(started_at_ms),
        version=value.client_transaction_version,
        previous_producer_id=value.previous_producer_id,
        next_producer=_next_producer(value),
    )


def _next_producer(value: TransactionLogValue) -> Producer:
    if value.next_producer_id == NO_PRODUCER_ID:
        return NOBODY
    # A successor by exhausted epochs may be named without an epoch: its first one goes without saying.
    return Producer(value.next_producer_id, max(FIRST_EPOCH, value.next_producer_epoch))
