"""Where in a topic to begin, as people write it."""

import pytest

from trivium.cli.starting_point import Kind, StartingPoint, parse_starting_point


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("earliest", Kind.EARLIEST, 0),
        ("latest", Kind.LATEST, 0),
        ("0", Kind.OFFSET, 0),
        ("9223372036854775807", Kind.OFFSET, (1 << 63) - 1),
        ("-5", Kind.BEFORE_END, 5),
        ("@1750000000000", Kind.TIME, 1_750_000_000_000),
        ("2025-06-15", Kind.TIME, 1_749_945_600_000),
        ("2025-06-15T15:06:40.5", Kind.TIME, 1_750_000_000_500),
        ("2025-06-15 15:06:40Z", Kind.TIME, 1_750_000_000_000),
        ("2025-06-15T17:06:40+02:00", Kind.TIME, 1_750_000_000_000),
        ("1900-01-01", Kind.TIME, 0),
    ],
)
def test_point_is_understood(text: str, kind: Kind, number: int) -> None:
    assert parse_starting_point(text) == StartingPoint(kind, number)


@pytest.mark.parametrize(
    ("text", "ago_ms"), [("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("1d", 86_400_000)]
)
def test_point_may_be_so_long_ago(text: str, ago_ms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trivium.cli.starting_point.time.time", lambda: 1_750_000_000.0)
    assert parse_starting_point(text) == StartingPoint(Kind.TIME, 1_750_000_000_000 - ago_ms)


@pytest.mark.parametrize(
    "text", ["", "now", "1.5", "--5", "5x", "@", "2025-13-01", "9223372036854775808", "m"]
)
def test_point_that_means_nothing_is_none(text: str) -> None:
    assert parse_starting_point(text) is None
