"""Protobuf into columns: every type, what is left out, and whatever bytes come. No Spark."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP_FILE
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.pipeline.checking.protobuf import message_descriptor, protobuf_columns
from trivium.pipeline.mistake import Mistake
from trivium.spark.formats.batches import REASON, ColumnDecoder
from trivium.spark.formats.protobuf import protobuf_decoder

REPEATED = FieldDescriptorProto.LABEL_REPEATED
NAME = "shop.Order"


def descriptors(*, with_imports: bool = True) -> bytes:
    file = FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    state = file.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    state.value.add(name="PAID", number=1)
    line = file.message_type.add(name="Line")
    line.field.add(name="sku", number=1, type=FieldDescriptorProto.TYPE_STRING)
    order = file.message_type.add(name="Order")
    order.field.add(name="id", number=1, type=FieldDescriptorProto.TYPE_INT64)
    order.field.add(name="huge", number=2, type=FieldDescriptorProto.TYPE_UINT64)
    order.field.add(name="state", number=3, type=FieldDescriptorProto.TYPE_ENUM, type_name=".shop.State")
    message = FieldDescriptorProto.TYPE_MESSAGE
    order.field.add(name="lines", number=4, type=message, type_name=".shop.Line", label=REPEATED)
    order.field.add(name="at", number=5, type=message, type_name=".google.protobuf.Timestamp")
    order.field.add(
        name="note", number=6, type=FieldDescriptorProto.TYPE_STRING, proto3_optional=True, oneof_index=0
    )
    order.oneof_decl.add(name="_note")
    order.field.add(name="parent", number=7, type=message, type_name=".shop.Order")
    entry = order.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=FieldDescriptorProto.TYPE_STRING)
    entry.field.add(name="value", number=2, type=FieldDescriptorProto.TYPE_UINT32)
    order.field.add(
        name="counts", number=8, type=message, type_name=".shop.Order.CountsEntry", label=REPEATED
    )
    files = FileDescriptorSet()
    if with_imports:
        TIMESTAMP_FILE.CopyToProto(files.file.add())
    files.file.append(file)
    data: bytes = files.SerializeToString()
    return data


def order(**fields: Any) -> Any:
    return GetMessageClass(message_descriptor("schema_file", descriptors(), NAME))(**fields)


def rows(*values: bytes | None) -> list[dict[str, Any]]:
    columns = protobuf_columns("schema_file", descriptors(), NAME)
    decode = ColumnDecoder(columns, protobuf_decoder, (descriptors(), NAME, columns))
    found: list[dict[str, Any]] = decode(pa.array(values, pa.binary())).to_pylist()
    return found


def test_every_type_becomes_a_column() -> None:
    assert str(protobuf_columns("schema_file", descriptors(), NAME)) == (
        "id BIGINT, huge DECIMAL(20,0), state STRING, lines ARRAY<STRUCT<sku: STRING>>, at TIMESTAMP, "
        "note STRING, parent STRING, counts MAP<STRING, BIGINT>"
    )
    made = order(id=7, huge=2**64 - 1, state=1, lines=[{"sku": "tea"}], note="", counts={"x": 2**32 - 1})
    made.at.FromDatetime(datetime(2025, 6, 15, 10, 30, 0, 123456))
    made.parent.id = 3
    (row,) = rows(made.SerializeToString())
    assert row == {
        "id": 7,
        "huge": Decimal(2**64 - 1),
        "state": "PAID",
        "lines": [{"sku": "tea"}],
        "at": datetime(2025, 6, 15, 10, 30, 0, 123456, UTC),
        "note": "",
        "parent": '{"id": "3"}',
        "counts": [("x", 2**32 - 1)],
        REASON: None,
    }


def test_what_is_left_out_is_null_where_presence_is_known_and_else_its_default() -> None:
    (row,) = rows(b"")
    assert (row["id"], row["state"], row["lines"], row["note"], row["at"], row["parent"]) == (
        0,
        "NEW",
        [],
        None,
        None,
        None,
    )
    (row,) = rows(order(state=9).SerializeToString())
    assert row["state"] == "9"


def test_what_cannot_be_read_is_a_reason() -> None:
    good = order(id=1).SerializeToString()
    found = rows(good, b"\xff\xff", None)
    assert found[0]["id"] == 1
    assert found[1][REASON] == "not a message shop.Order of Protobuf"
    assert found[2] is None


@given(st.binary(max_size=100))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_columns_or_a_reason(value: bytes) -> None:
    (row,) = rows(value)
    assert (row[REASON] is None) == (row["lines"] is not None)


@pytest.mark.parametrize(
    ("data", "message", "sentence"),
    [
        (b"", NAME, "The file is no descriptor set."),
        (b"\xff", NAME, "The file is no descriptor set."),
        (descriptors(), "shop.Odrer", "Did you mean 'shop.Order'"),
        (descriptors(with_imports=False), NAME, "--include_imports"),
    ],
)
def test_wrong_descriptors_are_a_mistake(data: bytes, message: str, sentence: str) -> None:
    with pytest.raises(Mistake) as raised:
        protobuf_columns("schema_file", data, message)
    assert sentence in str(raised.value)
