"""Produce (key 0): append record batches to partitions.

Served: 0-13.

    0-2     the records are a message set of one of the old formats; it is converted here
    3-6     exactly one record batch per partition, in any compression but zstd
    7-11    zstd too (KIP-110)
    11      TRANSACTION_ABORTABLE may be said (KIP-890)
    12      a partition becomes a part of a transaction by being written to (KIP-890)
    13      topics are named by their id (KIP-516)

A request with acks=0 is never answered. When it fails the connection is closed, because that is the only way
to tell its client that something is wrong.
"""

from struct import Struct
from typing import Final

from trivium.core.commands.command import TopicRef
from trivium.core.commands.records import Produce, ProducedPart, ProducePart
from trivium.core.faults import Fault, Refused
from trivium.core.produce import ACKS_NONE
from trivium.messages.api import ApiKey
from trivium.messages.api.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from trivium.messages.codec import encode
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.api import Api, Call, NoAnswer
from trivium.protocols.kafka.faults import code_of
from trivium.protocols.kafka.single_produce import VERSION_MIN, read_single_produce
from trivium.records.batch import HEADER_BYTES, LOG_OVERHEAD_BYTES, MAGIC
from trivium.records.compression import Compression
from trivium.records.header import COMPRESSION_BITS
from trivium.records.legacy import convert_up
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError

_BATCHES_SINCE: Final = 3
_ZSTD_SINCE: Final = 7
_ABORTABLE_SINCE: Final = 11
_JOINS_SINCE: Final = 12
_BY_ID_SINCE: Final = 13
_NOT_NOW: Final = frozenset(
    (Fault.COORDINATOR_LOADING, Fault.COORDINATOR_NOT_AVAILABLE, Fault.NOT_COORDINATOR)
)
"""What a transaction coordinator says and no producer expects as an answer to a write."""

_HEAD: Final = Struct(">i4xb4xh")
"""Length, magic and attributes of a batch, from its length on: all that a version has a say in."""
_LENGTH_AT: Final = 8
_NO_HEAD: Final = (0, -1, 0)


def shortcut(frame: memoryview, at: int, call: Call) -> Produce | None:
    if call.version < VERSION_MIN:
        return None
    single = read_single_produce(frame, at, call.version)
    if single is None:
        return None
    topic, partition, records, acks, timeout_ms = single
    call.state = acks
    return Produce([_asked(topic, partition, records, call.version)], acks, timeout_ms)


def to_command(request: ProduceRequest, call: Call) -> Produce:
    version = call.version
    by_id = version >= _BY_ID_SINCE
    call.state = request.acks
    return Produce(
        [
            _asked(topic.topic_id if by_id else topic.name, part.index, part.records, version)
            for topic in request.topic_data
            for part in topic.partition_data
        ],
        request.acks,
        request.timeout_ms,
        request.transactional_id,
        joins_transaction=version >= _JOINS_SINCE,
    )


def _asked(topic: TopicRef, partition: int, records: Buffer | None, version: int) -> ProducePart:
    try:
        return ProducePart(topic, partition, _records(records, version))
    except Refused as refused:
        return ProducePart(topic, partition, records, wrong=(refused.fault, refused.message or ""))


def _records(records: Buffer | None, version: int) -> Buffer:
    """The records of a partition as one batch of the newest format, if this version may send them."""
    if not records:
        raise Refused(Fault.INVALID_RECORD, "A produce without records.")
    length, magic, attributes = (
        _HEAD.unpack_from(records, _LENGTH_AT) if len(records) >= HEADER_BYTES else _NO_HEAD
    )
    if version >= _BATCHES_SINCE:
        if magic != MAGIC or length + LOG_OVERHEAD_BYTES != len(records):
            raise Refused(
                Fault.INVALID_RECORD, "There must be exactly one batch, of format 2, for each partition."
            )
        if version < _ZSTD_SINCE and attributes & COMPRESSION_BITS == Compression.ZSTD:
            raise Refused(Fault.UNSUPPORTED_COMPRESSION, "zstd needs Produce in version 7 or newer.")
    elif magic != MAGIC:
        # Batches in old requests are taken as they are: some clients send them, and Kafka never minded.
        try:
            return convert_up(records)
        except DecodeError as error:
            raise Refused(Fault.CORRUPT_MESSAGE, f"The messages cannot be read: {error}.") from error
    return records


def to_response(results: list[ProducedPart], call: Call) -> ProduceResponse | NoAnswer:
    if call.state == ACKS_NONE:
        failed = any(result.fault is not None for result in results)
        return NoAnswer.HANG_UP if failed else NoAnswer.SILENCE
    return _response(results, call.version)


def _response(results: list[ProducedPart], version: int) -> ProduceResponse:
    by_topic: dict[TopicRef, list[PartitionProduceResponse]] = {}
    for result in results:
        by_topic.setdefault(result.topic, []).append(_part(result, version))
    return ProduceResponse(
        responses=[
            TopicProduceResponse(topic_id=topic, partition_responses=parts)
            if isinstance(topic, bytes)
            else TopicProduceResponse(name=topic, partition_responses=parts)
            for topic, parts in by_topic.items()
        ]
    )


def _part(part: ProducedPart, version: int) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=part.partition,
        error_code=_code(part.fault, version),
        base_offset=part.base_offset,
        log_append_time_ms=part.log_append_time_ms,
        log_start_offset=part.log_start_offset,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=error.record_index, batch_index_error_message=error.message)
            for error in part.record_errors
        ],
        error_message=part.message,
    )


def _code(fault: Fault | None, version: int) -> int:
    """What a client of this version does the right thing about: try again, or give the transaction up."""
    if fault is Fault.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    if fault in _NOT_NOW or (fault is Fault.CONCURRENT_TRANSACTIONS and version < _JOINS_SINCE):
        # As with Kafka: of all that makes old clients send again, it is what disturbs them least.
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return code_of(fault)


# -- the answer that is given more often than any other ------------------------------------------

_NUMBERS: Final = Struct(">qqq")
"""Base offset, append time, log start: side by side since version 5, and all that is new in a success."""
_NUMBERS_SINCE: Final = 5
_MARK: Final = (0x0102030405060708, 0x1112131415161718, 0x2122232425262728)
FORMS_MAX: Final = 10_000
"""Partitions and versions whose answer is kept in its encoded form; with more, all are made anew."""


def form(results: list[ProducedPart], call: Call) -> bytes | None:
    """The answer for one partition that was written: encoded once, and then only its numbers are put in."""
    if len(results) != 1 or call.state == ACKS_NONE:
        return None
    version, part = call.version, results[0]
    if part.fault is not None or version < _NUMBERS_SINCE:
        return None
    key = (version, part.topic, part.partition)
    halves = _forms.get(key)
    if halves is None:
        if len(_forms) >= FORMS_MAX:
            _forms.clear()
        halves = _forms[key] = _form(version, part)
    before, after = halves
    numbers = _NUMBERS.pack(part.base_offset, part.log_append_time_ms, part.log_start_offset)
    return before + numbers + after


_forms: Final[dict[tuple[int, TopicRef, int], tuple[bytes, bytes]]] = {}


def _form(version: int, part: ProducedPart) -> tuple[bytes, bytes]:
    """What stands before and behind the numbers."""
    marked = encode(
        _response([ProducedPart(part.topic, part.partition, None, None, *_MARK)], version), version
    )
    before, mark, after = marked.partition(_NUMBERS.pack(*_MARK))
    assert mark
    return before, after


API = Api(ApiKey.PRODUCE, 0, 13, to_command, to_response, shortcut, form)
