"""Histories as files: what is written is read, and what is no history is named by its line."""

import io
import json
from pathlib import Path

import pytest

from tests.testing.history.story import Story, sent
from tests.testing.history.test_minimal_histories import STORIES
from trivium.testing.history import (
    BadHistory,
    Outcome,
    Poll,
    Protocol,
    Record,
    Recorder,
    Send,
    from_line,
    read_history,
    to_line,
)
from trivium.testing.history.__main__ import main
from trivium.testing.history.checker import KEPT_PER_KIND, check


def write(path: Path, story: Story) -> str:
    path.write_bytes(b"".join(map(to_line, story.operations)))
    return str(path)


def test_history_written_and_read_is_the_same(tmp_path: Path) -> None:
    for kind, story in STORIES.items():
        path = write(tmp_path / kind.name, story())
        assert list(read_history(path)) == story().operations


def test_record_of_a_poll_written_and_read_has_its_time_and_headers() -> None:
    poll = Poll("orders", 0, 3, 4, (Record(3, "x", 17, (("k", "00ff"),)),), stable=9)
    (operation,) = Story().ok("a", poll, "iggy").operations
    assert from_line(to_line(operation), 1) == operation


def test_files_recorded_at_the_same_time_become_one_history(tmp_path: Path) -> None:
    story = Story().ok("a", sent("x", at=0)).ok("b", sent("y", at=1)).ok("a", sent("z", at=2))
    evens, odds = Story(), Story()
    evens.operations, odds.operations = story.operations[::2], story.operations[1::2]
    merged = read_history(write(tmp_path / "1", evens), write(tmp_path / "2", odds))
    assert list(merged) == story.operations


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"process": None}, "None is no text"),
        ({"protocol": "smtp"}, "'smtp' is none of kafka, iggy, rustlog"),
        ({"outcome": "fine"}, "'fine' is none of ok, fail, unknown"),
        ({"end": True}, "True is no whole number"),
        ({"end": 1}, "it ends before it begins"),
        ({"commit": {}}, "exactly one of send, poll,"),
        ({"send": []}, "send is not an object"),
        ({"send": {}}, "topic of send is missing"),
        ({"send": {"colour": 1}}, "send has no field colour"),
        ({"send": {"topic": "t", "partition": 0, "values": "x"}}, "values of send: 'x' is no array"),
        (
            {"send": {"topic": "t", "partition": 0, "values": ["x"], "offsets": []}},
            "send has 1 values and 0 offsets",
        ),
    ],
)
def test_line_that_is_no_operation_is_refused_with_its_number(
    change: dict[str, object], complaint: str
) -> None:
    (operation,) = Story().ok("a", sent("x", at=0)).operations
    fields = {**json.loads(to_line(operation)), **change}
    with pytest.raises(BadHistory, match=f"^line 7: .*{complaint}"):
        from_line(json.dumps(fields), 7)


@pytest.mark.parametrize(
    ("records", "complaint"), [([[1]], "is not an offset"), ([[1, "x", 2, [["k"]]]], "is not a name")]
)
def test_record_of_a_poll_with_missing_parts_is_refused(records: object, complaint: str) -> None:
    (operation,) = Story().ok("a", Poll("orders", 0, 0)).operations
    fields = json.loads(to_line(operation))
    fields["poll"]["records"] = records
    with pytest.raises(BadHistory, match=f"records of poll: .*{complaint}"):
        from_line(json.dumps(fields))


def test_command_says_what_is_wrong_and_ends_with_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clean = write(tmp_path / "clean", Story().unknown("a", sent("x")))
    lost = write(tmp_path / "lost", Story().ok("a", sent("x", at=0)))
    broken = tmp_path / "broken"
    broken.write_text("{\n")
    assert main([clean]) == 0
    assert capsys.readouterr().out == "1 operations, no anomaly\n"
    assert main([lost]) == 1
    assert (
        "'x' of orders-0 was acknowledged, and nobody has read where it should be" in capsys.readouterr().out
    )
    assert main([str(broken)]) == main([str(tmp_path / "missing")]) == main([]) == 2
    assert f"{broken}, line 1: it is not JSON" in capsys.readouterr().err


def test_verdict_with_many_of_one_kind_shows_the_first_and_counts_all() -> None:
    story = Story()
    for number in range(KEPT_PER_KIND + 5):
        story.ok("a", sent(str(number), at=number))
    verdict = check(story.operations)
    assert len(verdict.anomalies) == KEPT_PER_KIND
    assert f"  {KEPT_PER_KIND + 5} x unseen at the end" in str(verdict)


def test_recorder_writes_operations_in_the_order_of_their_ends_and_what_is_open_as_unknown() -> None:
    file = io.BytesIO()
    ticks = iter(range(100))
    with Recorder(file, clock=lambda: next(ticks)) as recorder:
        first = recorder.begin("a", Protocol.IGGY, Send("orders", 0, ("x",)))
        second = recorder.begin("b", Protocol.RUSTLOG, Send("orders", 0, ("y",)))
        recorder.begin("c", Protocol.KAFKA, Send("orders", 0, ("z",)))
        second.ok(Send("orders", 0, ("y",), (4,)))
        first.fail()
        with pytest.raises(ValueError, match="ends a second time"):
            first.ok()
    operations = [from_line(line) for line in file.getvalue().splitlines()]
    assert [(each.process, each.outcome, each.invoke, each.end) for each in operations] == [
        ("b", Outcome.OK, 1, 3),
        ("a", Outcome.FAIL, 0, 4),
        ("c", Outcome.UNKNOWN, 2, 5),
    ]
    assert operations[0].act == Send("orders", 0, ("y",), (4,))
