"""The pipelines of ``examples/``: nothing is wrong with them, and they do what they say."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from trivium.pipeline import load
from trivium.pipeline.checking import check
from trivium.pipeline.finding import Severity
from trivium.testing import run_pipeline

pytestmark = pytest.mark.pipelines

EXAMPLES = Path(__file__).parents[3] / "examples"


def click(name: str | None, page: str | None = "/", *, second: int = 0) -> dict[str, Any]:
    return {"id": name, "page": page, "user": "u", "at": f"2025-06-15T10:00:{second:02}Z"}


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.*")), ids=lambda file: file.name)
def test_example_has_no_mistakes(file: Path) -> None:
    assert [each for each in check(load(file)) if each.severity is Severity.ERROR] == []


def test_clicks_are_counted_once_and_at_once(spark: SparkSession) -> None:
    clicks: list[Any] = [
        click("a"),
        click("a"),
        click("b", second=5),
        click("c", "/cart"),
        click("d", None),
        b"?",
    ]
    out = run_pipeline(EXAMPLES / "clicks.toml", spark=spark, clicks=clicks)["per_page"]
    assert sorted((row["page"], row["clicks"]) for row in out.rows) == [("/", 2), ("/cart", 1)]
    assert [each.reasons for each in out.quarantined] == [["not JSON"]]


def test_sensors_give_degrees_by_day(spark: SparkSession) -> None:
    lines = ["kitchen,2951,2025-06-15T10:00:00Z", "oven,9000,2025-06-15T10:00:00Z", "x,y,z"]
    out = run_pipeline(EXAMPLES / "sensors.py", spark=spark, readings=lines)["celsius"]
    assert [(row["sensor"], row["celsius"], str(row["day"])) for row in out.rows] == [
        ("kitchen", 21.95, str(date(2025, 6, 15)))
    ]
    assert sorted(each.offset or 0 for each in out.quarantined) == [1, 2]


def test_customers_are_changed_by_key_and_those_abroad_are_told(spark: SparkSession) -> None:
    changes: list[dict[str, Any]] = [
        {"id": 1, "name": "Ann", "country": "AT"},
        {"id": 2, "name": "Bob", "country": "AT"},
        {"id": 1, "name": "Ann", "country": "PT"},
        {"name": "nobody"},
    ]
    out = run_pipeline(EXAMPLES / "customers.toml", spark=spark, customers=changes)
    now = out["customers_now"]
    assert sorted((row["id"], row["country"]) for row in now.rows) == [(1, "PT"), (2, "AT")]
    assert [each.offset for each in now.quarantined] == [3]
    assert out["abroad"].rows == [{"id": 1, "country": "PT"}]
