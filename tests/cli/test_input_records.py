"""Lines as records."""

import io
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.cli.input_records import BadLine, NewRecord, parse_json, parse_lines, parse_text, read_lines
from trivium.cli.record_text import as_json
from trivium.client.reader import Chunk
from trivium.client.topology import TopicPartition
from trivium.records.batch import TimestampType
from trivium.records.record import Record


def lines(data: bytes) -> list[bytes]:
    return list(read_lines(io.BytesIO(data), lambda: None, lambda size: None))


@given(st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=30))
def test_lines_are_what_stands_between_newlines(expected: list[bytes]) -> None:
    assert lines(b"".join(line + b"\n" for line in expected)) == expected


def test_last_line_may_lack_its_newline() -> None:
    assert lines(b"a\nb") == [b"a", b"b"]


def test_line_of_many_pieces_is_not_copied_for_each() -> None:
    """A record may have 100 MB; by pieces of 64 KB that would be terabytes to copy."""
    started = time.process_time()
    assert len(lines(b"x" * 80_000_000)[0]) == 80_000_000
    assert time.process_time() - started < 5


def test_line_longer_than_a_record_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.cli.input_records.RECORD_BYTES_MAX", 100_000)
    with pytest.raises(BadLine, match=r"longer than a record may be \(100,000 bytes\)"):
        lines(b"x" * 200_000)


def test_text_is_a_value_or_a_key_and_a_value() -> None:
    assert parse_text(b"a:b:c", None, empty_is_null=False) == NewRecord(b"a:b:c")
    assert parse_text(b"a:b:c", b":", empty_is_null=False) == NewRecord(b"b:c", b"a")
    assert parse_text(b"a:", b":", empty_is_null=False) == NewRecord(b"", b"a")
    assert parse_text(b"a:", b":", empty_is_null=True) == NewRecord(None, b"a")


def test_json_may_hold_all_that_a_record_has() -> None:
    line = json.dumps(
        {
            "key": "k",
            "value_base64": "/w==",
            "headers": {"h": "1", "n": None},
            "timestamp_ms": 5,
            "partition": 2,
        }
    )
    assert parse_json(line.encode()) == NewRecord(b"\xff", b"k", (("h", b"1"), ("n", None)), 5, 2)


@pytest.mark.parametrize(
    ("value", "expected"), [(5, b"5"), ({"é": [1, None]}, '{"é":[1,null]}'.encode()), (True, b"true")]
)
def test_json_value_that_is_no_text_is_sent_as_json(value: Any, expected: bytes) -> None:
    assert parse_json(json.dumps({"value": value}).encode()).value == expected


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b"{", "is no JSON"),
        (b"\xff", "is no JSON"),
        (b"[1]", "is no JSON object"),
        (b'{"vlaue": "a"}', "has the field 'vlaue'"),
        (b'{"value": "a", "value_base64": "YQ=="}', "has both value and value_base64"),
        (b'{"value_base64": "?"}', "that is not base64"),
        (b'{"value_base64": 5}', "that is not base64"),
        (b'{"value": "\\ud800"}', "half a character"),
        (b'{"headers": "h"}', "has headers that are neither"),
        (b'{"headers": [{"value": "1"}]}', "a header that is not made of name and value"),
        (b'{"headers": [{"name": "h", "extra": 1}]}', "a header that is not made of name and value"),
        (b'{"timestamp_ms": "now"}', "a timestamp_ms that is no whole number"),
        (b'{"timestamp_ms": 9223372036854775808}', "a timestamp_ms that is no whole number"),
        (b'{"partition": -1}', "a partition that is no whole number"),
        (b'{"partition": true}', "a partition that is no whole number"),
    ],
)
def test_json_that_is_no_record_is_one_sentence(line: bytes, complaint: str) -> None:
    with pytest.raises(BadLine) as error:
        list(parse_lines([b"", line], parse_json))
    assert str(error.value).startswith("Line 2 ")
    assert complaint in str(error.value)


_bytes = st.none() | st.binary(max_size=20) | st.text(max_size=20).map(str.encode)
_names = st.binary(max_size=10).map(lambda name: name.decode("utf-8", "surrogateescape"))


@given(
    st.builds(
        Record,
        st.integers(0, (1 << 63) - 1),
        st.integers(-1, (1 << 63) - 1),
        _bytes,
        _bytes,
        st.lists(st.tuples(_names, _bytes), max_size=3).map(tuple),
    )
)
def test_json_of_a_record_is_read_back_as_it_was(record: Record) -> None:
    """Whatever bytes it has: what consume prints, produce takes."""
    chunk = Chunk(TopicPartition("orders", 3), [record], TimestampType.CREATE_TIME, 0)
    line = as_json(chunk, record)
    assert line.isascii()
    assert line.count(b"\n") == 1
    timestamp_ms = None if record.timestamp == -1 else record.timestamp
    assert parse_json(line) == NewRecord(record.value, record.key, record.headers, timestamp_ms, 3)
