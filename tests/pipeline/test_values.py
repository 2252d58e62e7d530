"""The small words of a definition: spans, triggers, watermarks, starts, names."""

import time
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.names import NAME_CHARACTERS_MAX, check_name, check_pipeline_name
from trivium.pipeline.span import SPAN_MS_MAX, Span, parse_span
from trivium.pipeline.start import EARLIEST, LATEST, PartitionOffset, Start, StartKind, parse_start
from trivium.pipeline.trigger import AVAILABLE_NOW, CONTINUOUS, TriggerKind, parse_trigger
from trivium.pipeline.watermark import parse_watermark


@settings(deadline=None)
@given(st.integers(0, SPAN_MS_MAX))
def test_span_printed_and_read_is_the_same(milliseconds: int) -> None:
    assert parse_span("trigger", str(Span(milliseconds))) == Span(milliseconds)


@pytest.mark.parametrize(
    ("words", "milliseconds"),
    [
        ("10 seconds", 10_000),
        ("1 minute", 60_000),
        ("1 hour 30 minutes", 5_400_000),
        ("500MILLISECONDS", 500),
    ],
)
def test_span_is_read_as_people_write_it(words: str, milliseconds: int) -> None:
    assert parse_span("trigger", words).milliseconds == milliseconds


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("10", "'10' is no length of time."),
        ("ten seconds", "'ten seconds' is no length of time."),
        ("10 secnds", "'secnds' is no unit of time. Did you mean 'seconds'?"),
        (f"{SPAN_MS_MAX + 1} milliseconds", f"'{SPAN_MS_MAX + 1} milliseconds' is longer than ten years."),
        ("", "'' is no length of time."),
    ],
)
def test_wrong_span_is_a_sentence(words: str, sentence: str) -> None:
    with pytest.raises(Mistake) as raised:
        parse_span("trigger", words)
    assert str(raised.value).startswith(sentence)


def test_trigger_is_a_word_or_an_interval() -> None:
    assert parse_trigger("continuous") == parse_trigger("0 seconds") == CONTINUOUS
    assert parse_trigger("available-now") == parse_trigger("available_now") == AVAILABLE_NOW
    every = parse_trigger("10 seconds")
    assert (every.kind, every.every, str(every)) == (TriggerKind.INTERVAL, Span(10_000), "10 seconds")
    with pytest.raises(Mistake, match="'once' is no trigger"):
        parse_trigger("once")


def test_watermark_is_a_column_and_a_delay() -> None:
    plain = parse_watermark("at 10 minutes")
    quoted = parse_watermark("`event time` 1 hour")
    assert plain is not None
    assert (plain.column, plain.delay.milliseconds) == ("at", 600_000)
    assert quoted is not None
    assert (quoted.column, quoted.delay.milliseconds) == ("event time", 3_600_000)


@pytest.mark.parametrize("words", ["at", "10 minutes", "` ` "])
def test_wrong_watermark_is_a_mistake(words: str) -> None:
    with pytest.raises(Mistake):
        parse_watermark(words)


@pytest.mark.parametrize(
    ("value", "start"),
    [
        ("earliest", EARLIEST),
        ("Latest", LATEST),
        ("2025-06-15T10:30", Start(StartKind.TIME, 1_749_983_400_000)),
        ("2025-06-15T12:30+02:00", Start(StartKind.TIME, 1_749_983_400_000)),
        (datetime(2025, 6, 15, 10, 30, tzinfo=UTC), Start(StartKind.TIME, 1_749_983_400_000)),
        (date(2025, 6, 15), Start(StartKind.TIME, 1_749_945_600_000)),
        (
            {"0": 17, 1: 2},
            Start(StartKind.OFFSETS, offsets=(PartitionOffset("t", 0, 17), PartitionOffset("t", 1, 2))),
        ),
        ({"t": {"3": 0}}, Start(StartKind.OFFSETS, offsets=(PartitionOffset("t", 3, 0),))),
    ],
)
def test_start_is_read_in_every_form(value: object, start: Start) -> None:
    assert parse_start(value, ("t",)) == start


def test_time_without_a_zone_is_utc_wherever_the_author_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert parse_start("2025-06-15T10:30", ("t",)).timestamp_ms == 1_749_983_400_000
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("value", "topics", "sentence"),
    [
        ("earlyest", ("t",), "'start' cannot be 'earlyest'. Did you mean 'earliest'?"),
        ("2025-13-01", ("t",), "'2025-13-01' is no time."),
        (17, ("t",), "'start' cannot be a number."),
        ({}, ("t",), "'start' names no partition."),
        ({"0": -1}, ("t",), "-1 is no offset."),
        ({"0": 1 << 63}, ("t",), f"{1 << 63} is no offset."),
        ({"x": 1}, ("t",), "'x' is no partition."),
        ({"0": True}, ("t",), "True is no offset."),
        ({"0": 1}, ("t", "u"), "Of a source with several topics, offsets need a topic."),
        ({"orderz": {"0": 1}}, ("orders",), "The source does not read orderz. Did you mean 'orders'?"),
    ],
)
def test_wrong_start_is_a_sentence(value: object, topics: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(Mistake) as raised:
        parse_start(value, topics)
    assert str(raised.value).startswith(sentence)


def test_names_are_safe_in_sql_files_and_groups() -> None:
    assert check_name("", "clean_orders2") == "clean_orders2"
    assert check_pipeline_name("shop-2025") == "shop-2025"
    for wrong in ("", "2a", "a-b", "a.b", "../a", "a b", "é", 3):
        with pytest.raises(Mistake, match="is no name here"):
            check_name("", wrong)
    for wrong in ("", "-a", "../a", "a.b"):
        with pytest.raises(Mistake, match="is no name here"):
            check_pipeline_name(wrong)


def test_names_have_a_limit() -> None:
    assert check_name("", "a" * NAME_CHARACTERS_MAX)
    with pytest.raises(Mistake, match="too long"):
        check_name("", "a" * (NAME_CHARACTERS_MAX + 1))


def test_suggestion_is_close_or_lists_what_there_is() -> None:
    assert did_you_mean("AMONT", ["id", "amount"]) == "Did you mean 'amount'?"
    assert did_you_mean("x", ["b", "a"]) == "There are a, b."
    assert did_you_mean("x", ["a"]) == "There is a."
    assert did_you_mean("x", []) == ""
