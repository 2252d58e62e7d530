"""Arrays of bytes in JSON, read and written by the kernel: as Python's own JSON does, or not at all."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.wire.errors import DecodeError

payloads = st.lists(st.binary(max_size=50), max_size=10)


@given(payloads, st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", ":")]), st.integers(0, 5))
def test_arrays_come_out_as_bytes_and_end_where_they_end(
    kernel: Any, records: list[bytes], separators: tuple[str, str], before: int
) -> None:
    text = b" " * before + json.dumps([list(record) for record in records], separators=separators).encode()
    assert kernel.bytes_from_json(text + b",]", 0, 100) == (records, len(text))


@given(st.text(alphabet="[]0123456789, -.e\n\t", max_size=30))
def test_arrays_are_read_only_if_python_reads_them_the_same(kernel: Any, text: str) -> None:
    """S1: nothing is guessed, and nothing but ``DecodeError`` is raised."""
    try:
        found, end = kernel.bytes_from_json(text.encode(), 0, 100)
    except DecodeError:
        return
    assert [bytes(array) for array in json.loads(text[:end])] == found


@given(st.lists(st.binary(min_size=1, max_size=30), min_size=1, max_size=3), st.data())
def test_arrays_with_one_character_changed_are_read_as_python_reads_them_or_not_at_all(
    kernel: Any, records: list[bytes], data: st.DataObject
) -> None:
    """S1. Numbers are read two at a time where they look well."""
    text = bytearray(json.dumps([list(record) for record in records], separators=(",", ":")).encode())
    at = data.draw(st.integers(0, len(text) - 1))
    text[at] = data.draw(st.sampled_from(b"[]0123456789, -.e\n\0\x80"))
    try:
        found, end = kernel.bytes_from_json(bytes(text), 0, 100)
    except DecodeError:
        return
    assert [bytes(array) for array in json.loads(text[:end])] == found


NO_ARRAYS = "[1] {} null [null] [[[1]]] [[,1]]"
TORN = "[ [[ [[1 [[1, [[1] [[1], [[1],] [[1,]]"
NO_BYTES = '[[256]] [[1000]] [[-1]] [[01]] [[00]] [[1.0]] [[1e2]] [[true]] [["1"]]'


@pytest.mark.parametrize(
    "text", [*NO_ARRAYS.split(), *TORN.split(), *NO_BYTES.split(), "", "[[1 2]]", "[[1] [2]]", "[[\x0b1]]"]
)
def test_anything_else_is_an_error(kernel: Any, text: str) -> None:
    with pytest.raises(DecodeError):
        kernel.bytes_from_json(text.encode(), 0, 100)


def test_arrays_have_a_limit(kernel: Any) -> None:
    """S1."""
    assert kernel.bytes_from_json(b"[[],[1]]", 0, 2) == ([b"", b"\x01"], 8)
    with pytest.raises(DecodeError, match="more than 1"):
        kernel.bytes_from_json(b"[[],[1]]", 0, 1)


@given(st.lists(st.tuples(st.integers(0, 2**63 - 1), st.binary(max_size=300)), max_size=10))
def test_records_are_written_as_json(kernel: Any, records: list[tuple[int, bytes]]) -> None:
    text = bytes(kernel.json_from_bytes(records, b"[", b"]"))
    assert json.loads(text) == [{"offset": offset, "payload": list(payload)} for offset, payload in records]
    assert b" " not in text


def test_every_byte_is_written_as_its_number(kernel: Any) -> None:
    text = bytes(kernel.json_from_bytes([(0, bytes(range(256)))], b"", b""))
    assert json.loads(text)["payload"] == list(range(256))
