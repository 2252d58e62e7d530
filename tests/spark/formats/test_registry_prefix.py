"""The prefix of a schema registry: skipped where it is the declared one, else a reason. No Spark (M7)."""

import io
import json
from typing import Any

import pyarrow as pa
import pytest
from fastavro import parse_schema, schemaless_writer
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given
from hypothesis import strategies as st

from trivium.pipeline.checking.avro import avro_columns
from trivium.pipeline.checking.protobuf import message_descriptor, message_indexes, protobuf_columns
from trivium.spark.formats.avro import avro_decoder
from trivium.spark.formats.batches import REASON, ColumnDecoder, Unreadable
from trivium.spark.formats.protobuf import protobuf_decoder
from trivium.spark.formats.registry_prefix import after_indexes, after_prefix

AVRO: dict[str, Any] = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
INNER = "shop.Order.Line"


def prefix(schema_id: int, rest: bytes = b"") -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + rest


def avro(number: int) -> bytes:
    stream = io.BytesIO()
    schemaless_writer(stream, parse_schema(AVRO), {"id": number})
    return stream.getvalue()


def read_avro(ids: tuple[int, ...], *values: bytes) -> list[dict[str, Any]]:
    columns = avro_columns("schema_file", AVRO)
    decode = ColumnDecoder(columns, avro_decoder, (json.dumps(AVRO), columns, ids))
    found: list[dict[str, Any]] = decode(pa.array(values, pa.binary())).to_pylist()
    return found


def descriptors() -> bytes:
    """A message that is the second in its file, with a map and then another message inside."""
    file = FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.message_type.add(name="First")
    order = file.message_type.add(name="Order")
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=FieldDescriptorProto.TYPE_STRING)
    entry.field.add(name="value", number=2, type=FieldDescriptorProto.TYPE_UINT32)
    line = order.nested_type.add(name="Line")
    line.field.add(name="sku", number=1, type=FieldDescriptorProto.TYPE_STRING)
    data: bytes = FileDescriptorSet(file=[file]).SerializeToString()
    return data


def test_avro_behind_the_declared_number_is_read_and_the_rest_has_a_reason() -> None:
    good = prefix(17, avro(5))
    rows = read_avro((17, 18), good, prefix(18, avro(6)), prefix(19, avro(7)), avro(8), b"", b"\0\0")
    assert [row["id"] for row in rows] == [5, 6, None, None, None, None]
    assert [row[REASON] for row in rows[2:]] == [
        "schema 19 of the registry, which is not in schema_id",
        *["no prefix of a schema registry"] * 3,
    ]
    assert read_avro((), prefix(123456, avro(9)))[0]["id"] == 9


def test_message_is_found_in_its_file_as_registries_count() -> None:
    """Entries of maps, which the compiler makes up, are not counted."""
    assert message_indexes(message_descriptor("schema_file", descriptors(), "shop.First")) == (0,)
    assert message_indexes(message_descriptor("schema_file", descriptors(), "shop.Order")) == (1,)
    assert message_indexes(message_descriptor("schema_file", descriptors(), INNER)) == (1, 0)


def test_protobuf_behind_number_and_message_is_read_and_another_message_has_a_reason() -> None:
    columns = protobuf_columns("schema_file", descriptors(), INNER)
    decode = ColumnDecoder(columns, protobuf_decoder, (descriptors(), INNER, columns, (17,)))
    line = GetMessageClass(message_descriptor("schema_file", descriptors(), INNER))(sku="tea")
    bare = line.SerializeToString()
    values = [
        prefix(17, b"\x04\x02\x00" + bare),  # two indexes, 1 and 0, in zigzag
        prefix(17, b"\x00" + bare),  # the short form of the first message
        prefix(17, b"\x02\x02" + bare),
        prefix(3, b"\x04\x02\x00" + bare),
        prefix(17, b"\x04"),
        prefix(17, b"\xff\xff\xff\xff\x0f"),
        bare,
    ]
    rows = decode(pa.array(values, pa.binary())).to_pylist()
    assert [row["sku"] for row in rows] == ["tea", *[None] * 6]
    assert [row[REASON] for row in rows[1:]] == [
        "message [0] of its file, and not [1, 0]",
        "message [1] of its file, and not [1, 0]",
        "schema 3 of the registry, which is not in schema_id",
        "a prefix of a schema registry that ends too early",
        "a prefix of a schema registry with impossible message indexes",
        "no prefix of a schema registry",
    ]


@given(st.binary(max_size=40))
def test_whatever_bytes_come_there_is_a_place_or_a_reason(value: bytes) -> None:
    try:
        at = after_indexes(value, after_prefix(value, ()), (0,))
    except Unreadable:
        return
    assert 5 < at <= len(value)


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 2**20])
def test_long_numbers_are_read_whole(number: int) -> None:
    zigzag, encoded = number << 1, b""
    while zigzag > 0x7F:
        encoded += bytes([zigzag & 0x7F | 0x80])
        zigzag >>= 7
    encoded += bytes([zigzag])
    assert after_indexes(b"\x02" + encoded, 0, (number,)) == 1 + len(encoded)
