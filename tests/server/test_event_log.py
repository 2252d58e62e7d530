"""Events as lines: for people, for machines, and never more than a reader can bear (S14, S15)."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from trivium.server import event_log
from trivium.server.event_log import FIELD_CHARS_MAX, SELDOM_SECONDS, EventLog, write_to


@pytest.fixture(autouse=True)
def untouched_logging() -> Iterator[None]:
    root, ours = logging.getLogger(), logging.getLogger("trivium")
    before = (root.handlers[:], root.level, ours.level, logging.raiseExceptions)
    yield
    root.handlers[:], root.level, ours.level, logging.raiseExceptions = before


def written(*, as_json: bool, level: str = "info") -> tuple[EventLog, io.StringIO]:
    stream = io.StringIO()
    write_to(stream, level=level, as_json=as_json)
    return EventLog(logging.getLogger("trivium")), stream


def test_text_line_has_time_level_event_and_fields() -> None:
    events, stream = written(as_json=False)
    events.warning("directory offline", path="/data", reason="it is full of bees", count=3)
    line = stream.getvalue()
    assert line[10] == "T"
    assert line[24:].rstrip("\n") == (
        ' warning directory offline  path=/data reason="it is full of bees" count=3'
    )


def test_json_line_has_the_same_as_an_object() -> None:
    events, stream = written(as_json=True)
    events.info("listening", protocol="kafka", port=9092)
    event = json.loads(stream.getvalue())
    assert event.pop("time").endswith("Z")
    assert event == {"level": "info", "event": "listening", "protocol": "kafka", "port": 9092}


def test_line_below_the_level_is_not_written() -> None:
    events, stream = written(as_json=False, level="warning")
    events.info("listening")
    events.debug("listening")
    assert stream.getvalue() == ""


def test_value_from_a_peer_cannot_begin_a_line_or_command_a_terminal() -> None:
    events, stream = written(as_json=False)
    events.info("protocol error", reason="x\n2026 error forged\x1b[2J")
    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_value_from_a_peer_is_cut_to_a_bearable_length() -> None:
    events, stream = written(as_json=True)
    events.info("protocol error", reason="x" * 10 * FIELD_CHARS_MAX)
    assert len(json.loads(stream.getvalue())["reason"]) == FIELD_CHARS_MAX + 1


def test_event_that_peers_cause_is_told_once_a_minute_with_the_number_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 1000.0
    monkeypatch.setattr("trivium.server.event_log.time.monotonic", lambda: now)
    events, stream = written(as_json=True)
    for _ in range(10):
        events.seldom("connection refused", "10.0.0.1", peer="10.0.0.1")
    events.seldom("connection refused", "10.0.0.2", peer="10.0.0.2")
    now += SELDOM_SECONDS
    events.seldom("connection refused", "10.0.0.1", peer="10.0.0.1")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["peer"], line.get("left_out")) for line in lines] == [
        ("10.0.0.1", None),
        ("10.0.0.2", None),
        ("10.0.0.1", 9),
    ]


def test_seldom_with_endless_kinds_forgets_instead_of_growing() -> None:
    events, _ = written(as_json=True)
    for number in range(3 * event_log.KINDS_MAX):
        events.seldom("protocol error", str(number))
    assert len(events._told) <= event_log.KINDS_MAX


def test_warning_of_a_library_is_written_in_the_same_form() -> None:
    _, stream = written(as_json=True)
    try:
        raise ValueError("odd")
    except ValueError:
        logging.getLogger("asyncio").exception("a task failed")
    event = json.loads(stream.getvalue())
    assert (event["event"], event["error"]) == ("a task failed", "ValueError: odd")


def test_stream_that_is_closed_takes_nothing_else_with_it() -> None:
    events, stream = written(as_json=False)
    stream.close()
    events.error("directory offline")


def test_mistake_of_ours_is_followed_by_where_it_happened() -> None:
    events, stream = written(as_json=False)
    try:
        raise ValueError("odd\n2026 error forged")
    except ValueError as error:
        events.seldom("request failed", level=logging.ERROR, cause=error, request="Fetch v4")
    head, *where = stream.getvalue().splitlines()
    assert head.endswith(r'request failed  request="Fetch v4" error="ValueError: odd\n2026 error forged"')
    assert "test_event_log.py" in where[1]
    assert all(line.startswith("    ") for line in where)


def test_mistake_of_ours_as_json_is_one_line_with_where_it_happened() -> None:
    events, stream = written(as_json=True)
    try:
        raise ValueError("odd")
    except ValueError as error:
        events.seldom("request failed", level=logging.ERROR, cause=error)
    assert "test_event_log.py" in json.loads(stream.getvalue())["traceback"]
