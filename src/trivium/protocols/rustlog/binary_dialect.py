"""The form that RustLog's own broker and its clients speak: one byte for the type, then fields, big-endian.

    type   request                                              response
    01     text topic, u32 partition, u32 n, n x blob           u64 base offset, u32 records
    02     text group, text topic, u32 partition, u64 offset,   u32 n, n x blob, u64 next offset
           u32 max bytes
    03     text group, text topic, u32 partition, u64 offset    u8 success
    04     text group, text topic, u32 partition                u8 there is one, then u64 offset
    05     text topic, u32 partitions                           u8 success
    06                                                          u32 n, n x (text topic, u32 partitions)
    07     text topic                                           text topic, u32 partitions, u32 n,
                                                                n x (u32 partition, u64 next offset)
    08     text topic, u32 partition                            text topic, u32 partition, u64 next offset
    09                                                          u32 length, text in Prometheus' format
    0b     text user, text password                             u8 success
    ff                                                          (nothing)
    fe                                                          u16 code, text message: any request's error

    text   u16 length, UTF-8        blob   u32 length, bytes

An empty group is none. Fetched records come without offsets: the last has the one before ``next offset``, and
they have no gaps. Bytes behind a request are passed over.
"""

from collections.abc import Callable, Mapping
from struct import Struct
from typing import Any, Final

from trivium.protocols.rustlog import messages as m
from trivium.wire.builder import Builder
from trivium.wire.cursor import Cursor
from trivium.wire.errors import DecodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX

name: Final = "binary"
tells_offsets: Final = False

_U64: Final = Struct(">Q")
_BLOB_LENGTH_BYTES: Final = 4
record_bytes_max: Final = _BLOB_LENGTH_BYTES
byte_bytes_max: Final = 1
_ERROR_TYPE: Final = 0xFE
_MESSAGE_BYTES_MAX: Final = (1 << 16) - 1

ERRORS: Final[Mapping[m.Problem, tuple[int, str]]] = {
    m.Problem.UNREADABLE: (2, "Decode error: {detail}"),
    m.Problem.FRAME_TOO_LARGE: (2, "Decode error: max frame size exceeded: {detail}"),
    m.Problem.PARTITION_NOT_FOUND: (
        10,
        "Topic or partition does not exist: topic={topic}, partition={partition}",
    ),
    m.Problem.OFFSET_OUT_OF_RANGE: (4, "Fetch failed: offset out of range: {detail}"),
    m.Problem.TOPIC_NOT_FOUND: (13, "DescribeTopic failed: Topic '{topic}' not found"),
    m.Problem.PARTITION_NOT_DESCRIBED: (
        14,
        "DescribePartition failed: Partition {partition} not found in topic '{topic}'",
    ),
    m.Problem.TOPIC_EXISTS: (11, "Topic '{topic}' already exists"),
    m.Problem.INVALID_PARTITION_COUNT: (12, "Invalid partition count: {partition}"),
    m.Problem.OTHER: (500, "{detail}"),
}
"""Codes and sentences of RustLog's broker, where it has them."""


# -- reading -------------------------------------------------------------------------------------


class _Fields:
    """Reads fields one after the other, and names the one that is not there."""

    def __init__(self, body: memoryview) -> None:
        self._cursor = Cursor(body, 1)

    def text(self, field: str) -> str:
        try:
            return str(self._cursor.take(self._cursor.uint16()), "utf-8")
        except DecodeError:
            raise _truncated(field) from None
        except UnicodeDecodeError:
            raise m.Unreadable(f"decode error: invalid utf8 {field}") from None

    def u32(self, field: str) -> int:
        try:
            return self._cursor.uint32()
        except DecodeError:
            raise _truncated(field) from None

    def u64(self, field: str) -> int:
        try:
            value: int = self._cursor.unpack(_U64)[0]
        except DecodeError:
            raise _truncated(field) from None
        return value

    def blobs(self, field: str) -> list[bytes]:
        count = self.u32(f"{field} count")
        if count > MESSAGE_ELEMENTS_MAX or count * _BLOB_LENGTH_BYTES > self._cursor.remaining:
            raise _truncated(field)
        try:
            return [self._cursor.raw(self._cursor.uint32()) for _ in range(count)]
        except DecodeError:
            raise _truncated(field) from None


def _truncated(field: str) -> m.Unreadable:
    return m.Unreadable(f"decode error: truncated {field}")


def read(body: memoryview) -> m.Request:
    if not body:
        raise m.Unreadable("decode error: empty request")
    reader = _READERS.get(body[0])
    if reader is None:
        raise m.Unreadable(f"unknown request type: {body[0]}")
    return reader(_Fields(body))


def _produce(fields: _Fields) -> m.Request:
    return m.ProduceRequest(fields.text("topic"), fields.u32("partition"), fields.blobs("record"))


def _fetch(fields: _Fields) -> m.Request:
    group_id = fields.text("group")
    return m.FetchRequest(
        fields.text("topic"),
        fields.u32("partition"),
        fields.u64("offset"),
        fields.u32("max bytes"),
        group_id or None,
    )


def _offset_commit(fields: _Fields) -> m.Request:
    group_id = fields.text("group")
    return m.OffsetCommitRequest(
        fields.text("topic"), fields.u32("partition"), group_id, fields.u64("offset")
    )


def _offset_fetch(fields: _Fields) -> m.Request:
    group_id = fields.text("group")
    return m.OffsetFetchRequest(fields.text("topic"), fields.u32("partition"), group_id)


_READERS: Final[Mapping[int, Callable[[_Fields], m.Request]]] = {
    0x01: _produce,
    0x02: _fetch,
    0x03: _offset_commit,
    0x04: _offset_fetch,
    0x05: lambda fields: m.CreateTopicRequest(fields.text("topic"), fields.u32("partition count")),
    0x06: lambda fields: m.ListTopicsRequest(),
    0x07: lambda fields: m.DescribeTopicRequest(fields.text("topic")),
    0x08: lambda fields: m.DescribePartitionRequest(fields.text("topic"), fields.u32("partition")),
    0x09: lambda fields: m.MetricsRequest(),
    0x0B: lambda fields: m.LoginRequest(fields.text("user"), fields.text("password")),
    0xFF: lambda fields: m.PingRequest(),
}

TYPES: Final = frozenset(_READERS)


# -- writing -------------------------------------------------------------------------------------


def write(response: m.Response) -> bytes:
    type_byte, writer = _WRITERS[type(response)]
    builder = Builder().uint8(type_byte)
    writer(builder, response)
    return builder.build()


def _text(builder: Builder, text: str) -> Builder:
    data = text.encode()[:_MESSAGE_BYTES_MAX]
    return builder.uint16(len(data)).raw(data)


def _produced(builder: Builder, response: m.ProduceResponse) -> None:
    builder.int64(response.base_offset).uint32(response.records_count)


def _fetched(builder: Builder, response: m.FetchResponse) -> None:
    builder.uint32(len(response.records))
    for _, payload in response.records:
        builder.uint32(len(payload)).raw(payload)
    builder.int64(response.next_offset)


def _committed(builder: Builder, response: m.OffsetCommitResponse) -> None:
    builder.boolean(response.success)


def _found_offset(builder: Builder, response: m.OffsetFetchResponse) -> None:
    builder.boolean(response.offset is not None)
    if response.offset is not None:
        builder.int64(response.offset)


def _listed(builder: Builder, response: m.ListTopicsResponse) -> None:
    builder.uint32(len(response.topics))
    for topic, partitions in response.topics:
        _text(builder, topic).uint32(partitions)


def _described_topic(builder: Builder, response: m.DescribeTopicResponse) -> None:
    count = len(response.partitions)
    _text(builder, response.topic).uint32(count).uint32(count)
    for each in response.partitions:
        builder.uint32(each.partition).int64(each.next_offset)


def _described_partition(builder: Builder, response: m.DescribePartitionResponse) -> None:
    _text(builder, response.topic).uint32(response.range.partition).int64(response.range.next_offset)


def _metrics(builder: Builder, response: m.MetricsResponse) -> None:
    data = response.text.encode()
    builder.uint32(len(data)).raw(data)


def _error(builder: Builder, response: m.ErrorResponse) -> None:
    code, template = ERRORS[response.problem]
    _text(builder.uint16(code), response.words(template))


def _nothing(builder: Builder, response: m.PingResponse) -> None:
    """The type says it all."""


_WRITERS: Final[Mapping[type, tuple[int, Callable[[Builder, Any], object]]]] = {
    m.ProduceResponse: (0x01, _produced),
    m.FetchResponse: (0x02, _fetched),
    m.OffsetCommitResponse: (0x03, _committed),
    m.OffsetFetchResponse: (0x04, _found_offset),
    m.CreateTopicResponse: (0x05, lambda builder, response: builder.boolean(True)),
    m.ListTopicsResponse: (0x06, _listed),
    m.DescribeTopicResponse: (0x07, _described_topic),
    m.DescribePartitionResponse: (0x08, _described_partition),
    m.MetricsResponse: (0x09, _metrics),
    m.LoginResponse: (0x0B, lambda builder, response: builder.boolean(True)),
    m.PingResponse: (0xFF, _nothing),
    m.ErrorResponse: (_ERROR_TYPE, _error),
}
