"""Transactions in ``__transaction_state``: the last record of a transactional id is its state."""

from trivium.messages.schema import Message, Struct, field
from trivium.messages.stored.keyed_log import KeyedLog
from trivium.messages.types import Int8, Int16, Int32, Int64, String


class TransactionLogKey(Message, key=0, versions="0"):
    transactional_id: String


class PartitionsSchema(Struct):
    topic: String
    partition_ids: list[Int32]


class TransactionLogValue(Message, key=0, versions="0-1", flexible="1+"):
    producer_id: Int64
    previous_producer_id: Int64 = field("1+", default=-1, tag=0)
    next_producer_id: Int64 = field("1+", default=-1, tag=1)
    producer_epoch: Int16
    next_producer_epoch: Int16 = field("1+", default=-1, tag=3)
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Int16 = field("1+", default=0, tag=2)


TRANSACTION_LOG = KeyedLog((TransactionLogKey, TransactionLogValue))
