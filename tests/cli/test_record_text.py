"""Records by a template."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.cli.record_text import BadTemplate, by_template, moment
from trivium.client.reader import Chunk
from trivium.client.topology import TopicPartition
from trivium.records.batch import TimestampType
from trivium.records.record import Record

RECORD = Record(7, 1_750_000_000_123, b"k", None, (("a", b"1"), ("b", None)))
CHUNK = Chunk(TopicPartition("orders", 3), [RECORD], TimestampType.CREATE_TIME, 0)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("{topic}-{partition}@{offset}", b"orders-3@7\n"),
        ("{timestamp} {timestamp_ms}", b"2025-06-15T15:06:40.123Z 1750000000123\n"),
        (r"{key}\t{value}\n", b"k\tnull\n\n"),
        ("{headers}", b"a=1, b=null\n"),
        ("{{{key}}}", b"{k}\n"),
        ("plain", b"plain\n"),
        ("", b"\n"),
    ],
)
def test_template_fills_its_fields(template: str, line: bytes) -> None:
    assert by_template(template, is_terminal=False)(CHUNK, RECORD) == line
    assert by_template(template, is_terminal=True)(CHUNK, RECORD) == line


@pytest.mark.parametrize(
    "template", ["{", "}", "{}", "{0}", "{value.upper}", "{value:>9}", "{value!r}", "{val}"]
)
def test_template_with_a_mistake_is_refused(template: str) -> None:
    """S16: a template names fields, and nothing else of Python."""
    with pytest.raises(BadTemplate):
        by_template(template, is_terminal=False)


@given(st.binary(max_size=60))
def test_terminal_gets_nothing_that_it_would_act_on(data: bytes) -> None:
    """S14: keys, values and headers come from strangers."""
    record = Record(0, 0, data, data, ((data.decode("utf-8", "surrogateescape"), data),))
    line = by_template("{key}{value}{headers}", is_terminal=True)(CHUNK, record)
    assert line[:-1].decode().isprintable()
    raw = by_template("{value}", is_terminal=False)(CHUNK, record)
    assert raw == data + b"\n"


def test_moment_outside_the_calendar_is_told_in_milliseconds() -> None:
    assert moment(-1) == "none"
    assert moment((1 << 63) - 1) == "9223372036854775807 ms"
