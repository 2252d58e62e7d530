"""SEND_MESSAGES and FLUSH_UNSAVED_BUFFER.

What a send looks like is drawn in ``sent_metadata``. All messages of a request go to one partition, with
offsets side by side, or none does. They are written in batches of up to 1 MiB, a larger message and those for
a topic that takes less in a batch each. They are readable when the answer comes, and in the page cache, as
after Kafka's ``acks=1``; with ``iggy.durability = fsync`` they are on disk. An answer says nothing about
offsets.
"""

from collections.abc import Generator
from typing import Any, Final

from trivium.core.commands.command import Command
from trivium.core.commands.records import Produce, ProducePart
from trivium.core.commands.streams import FlushPartition, LocatedTopic, LocateTopic
from trivium.core.faults import Fault
from trivium.protocols.iggy.body import Body, Partitioning, PartitioningKind
from trivium.protocols.iggy.claimed_headers import without_claimed_headers
from trivium.protocols.iggy.client import Client
from trivium.protocols.iggy.exchange import EMPTY, Call, Exchange, ask, carry_out
from trivium.protocols.iggy.key_hash import hash_key
from trivium.protocols.iggy.sent_metadata import metadata_of
from trivium.protocols.iggy.status import Rejected, Status
from trivium.records.batch import build_batch, iter_batches, iter_records
from trivium.records.iggy import (
    SHORT_HEADER_BYTES,
    BadMessages,
    Flaw,
    SentMessages,
    batches_from_messages,
)
from trivium.records.message import INDEX_ENTRY_BYTES
from trivium.wire.buffer import Buffer

ACKS_WRITTEN: Final = 1
ACKS_DURABLE: Final = -1
SEND_TIMEOUT_MS: Final = 30_000
"""So long a request waits for the disk, if it waits for it."""


def send_messages(body: Body, call: Call) -> Exchange:
    stream, topic, partitioning, count = metadata_of(body)
    client = call.client
    if count == 0:
        # Clients of 0.5 know it as a connection that was closed.
        is_old = client.dialect.counts_from_one
        raise Rejected(Status.CONNECTION_CLOSED if is_old else Status.INVALID_MESSAGES_COUNT)
    sent = _sent(body.ahead, count, client)
    client.dialect.shown_header(sent.header_bytes)
    is_balanced = partitioning.kind is PartitioningKind.BALANCED
    located = yield from ask(LocateTopic(call.stream(stream), call.topic(topic), is_balanced))
    if located.fault is Fault.NO_PARTITIONS and not client.dialect.counts_from_one:
        # Since 0.6 a topic without partitions is no topic to send to, for who leaves it open where in it.
        is_named = partitioning.kind is PartitioningKind.PARTITION
        raise Rejected(Status.PARTITION_NOT_FOUND if is_named else Status.TOPIC_ID_NOT_FOUND)
    call.require(located.fault)
    partition = _partition(partitioning, located, call)
    part = ProducePart(located.topic, partition, memoryview(sent.batches), sent.headers)
    fault = yield from _produce(part, call)
    if fault is Fault.MESSAGE_TOO_LARGE and count > 1:
        # The topic takes less than most do: what is too large for it together may not be one by one.
        fault = yield from _produce(ProducePart(located.topic, partition, _one_by_one(sent.batches)), call)
    call.require(fault)
    return EMPTY


def _sent(data: memoryview, count: int, client: Client) -> SentMessages:
    begun = client.arriving.finish(data, count)
    if begun is not None:
        return begun
    if count * INDEX_ENTRY_BYTES > len(data):
        raise Rejected(Status.INVALID_COMMAND)
    now_us = client.protocol.now_us()
    try:
        return batches_from_messages(data, count, now_us=now_us)
    except BadMessages as bad:
        if bad.flaw is not Flaw.SIZE or client.dialect.header_bytes != SHORT_HEADER_BYTES:
            raise
        corrected = without_claimed_headers(data, count)
        if corrected is None:
            raise
    return batches_from_messages(corrected, count, now_us=now_us)


def _produce(part: ProducePart, call: Call) -> Generator[Command[Any], Any, Fault | None]:
    acks = ACKS_DURABLE if call.client.protocol.sends_wait_for_disk else ACKS_WRITTEN
    return (yield from ask(Produce([part], acks, SEND_TIMEOUT_MS)))[0].fault


def _one_by_one(batches: Buffer) -> bytearray:
    """The same records, each in a batch by itself."""
    return bytearray().join(
        build_batch([record])
        for position, _ in iter_batches(batches)
        for record in iter_records(batches, position)
    )


def _partition(partitioning: Partitioning, located: LocatedTopic, call: Call) -> int:
    if partitioning.kind is PartitioningKind.BALANCED:
        return located.turn
    if partitioning.kind is PartitioningKind.KEY:
        # The same for all generations, so that equal keys meet whoever sends them.
        return hash_key(partitioning.key) % located.partitions_count
    partition = call.number(partitioning.partition)
    if not 0 <= partition < located.partitions_count:
        raise Rejected(Status.PARTITION_NOT_FOUND)
    return partition


def flush_unsaved_buffer(body: Body, call: Call) -> Exchange:
    stream, topic = call.stream(body.identifier()), call.topic(body.identifier())
    partition = call.number(body.u32())
    body.flag()  # Whether to sync: what is flushed here is always on disk.
    return (yield from carry_out(FlushPartition(stream, topic, partition), call))
