"""Whole pipelines through ``run_pipeline``: what their users read about, row by row.

Those that show the most are part of ``make test``; ``make pipelines`` runs all of them.
"""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from trivium.pipeline import Pipeline, Unreadable, delta, iceberg, parquet, to_topic
from trivium.pipeline.expectation import expect
from trivium.spark.running.errors import CannotRun, FlowFailed
from trivium.testing import run_pipeline

long = pytest.mark.pipelines

ORDERS = "id BIGINT, customer STRING, amount DECIMAL(12,2), at TIMESTAMP"


def order(number: int, amount: float = 5, *, minute: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": number, "customer": "ann", "amount": amount, "at": f"2025-06-15T10:{minute:02}:00Z", **more}


def shop(**source: Any) -> Pipeline:
    pipeline = Pipeline("shop")
    pipeline.source("orders", schema=ORDERS, watermark="at 10 minutes", **source)
    return pipeline


def ids(rows: list[dict[str, Any]]) -> list[int]:
    return sorted(row["id"] for row in rows)


def test_example_of_the_page_gives_rows_quarantine_and_windows(spark: SparkSession, tmp_path: Path) -> None:
    page = Path(__file__).parents[3].joinpath("docs", "pipelines.md").read_text()
    file = tmp_path / "orders.toml"
    file.write_text(page.split("```toml\n")[1].split("```")[0])
    records: list[Any] = [order(n, minute=n) for n in range(15)]
    records += [b"not json", order(20, -1), order(21) | {"customer": None}, order(22, 1) | {"amount": "x"}]
    out = run_pipeline(file, spark=spark, orders=records)
    clean = out["clean_orders"]
    assert ids(clean.rows) == list(range(15))
    assert (clean.rows[0]["day"], clean.rows[0]["amount"]) == (date(2025, 6, 15), Decimal("5.00"))
    assert sorted((each.offset, each.reasons) for each in clean.quarantined) == [
        (15, ["not JSON"]),
        (16, ["positive_amount: not amount > 0"]),
        (18, ["amount is not DECIMAL(12,2)"]),
    ]
    assert clean.quarantined[0].value is not None
    summary = clean.summary
    assert (summary.rows_in, summary.rows_out, summary.quarantined, summary.dropped) == (19, 15, 3, 1)
    assert summary.offsets == {"orders": {"0": 19}}
    # Windows up to ten minutes before the last order are final; the others wait for what may come late.
    assert [row["revenue"] for row in out["revenue"].rows] == [5.0] * 4
    assert out["revenue"].summary.state_rows == 11


@long
def test_selected_columns_keep_the_record_and_metadata_goes_where_it_is_named(spark: SparkSession) -> None:
    p = shop()
    p.sql(
        "big",
        "SELECT id, _offset FROM orders WHERE amount > 3",
        sink=parquet("big"),
        expect={"even": "id % 2 = 0"},
    )
    out = run_pipeline(p, spark=spark, orders=[order(2), order(4, 1), order(5), b"{"])["big"]
    assert out.rows == [{"id": 2, "_offset": 0}]
    found = sorted((each.offset, each.reasons) for each in out.quarantined)
    assert found == [(2, ["even: not id % 2 = 0"]), (3, ["not JSON"])]


@pytest.mark.parametrize("name", ["__reasons", "__dropped", "__aside", "__PLACE"])
def test_column_with_a_name_that_judgements_need_is_refused(spark: SparkSession, name: str) -> None:
    p = shop()
    p.sql("mine", f"SELECT id, 'mine' AS {name} FROM orders", sink=parquet("mine"))
    with pytest.raises(CannotRun, match=f"mine gives a column {name}, a name that Trivium needs; rename it"):
        run_pipeline(p, spark=spark, orders=[order(1)])


@long
def test_function_flow_sets_aside_what_its_source_cannot_read(spark: SparkSession) -> None:
    p = shop()

    @p.flow(sink=delta("doubled"), expect={"small": expect("amount < 100", otherwise="drop")})
    def doubled(orders: DataFrame) -> DataFrame:
        return orders.selectExpr("id", "amount * 2 AS amount")

    out = run_pipeline(p, spark=spark, orders=[order(1), order(2, 60), b"nonsense"])["doubled"]
    assert out.rows == [{"id": 1, "amount": Decimal("10.00")}]
    assert [each.value for each in out.quarantined] == [b"nonsense"]
    assert (out.summary.rows_in, out.summary.dropped) == (3, 1)


def test_rule_that_cannot_be_asked_of_a_row_is_broken_by_it(spark: SparkSession) -> None:
    """No record stops a pipeline by a division by its zero, or by a text that is no number."""
    p = Pipeline("rules")
    p.source("rows", schema="id BIGINT, n INT, text STRING")
    rules: Any = {"ratio": "10 / n > 1", "number": expect("CAST(text AS INT) > 0", otherwise="drop")}
    p.sql("good", "SELECT * FROM rows", sink=parquet("good"), expect={**rules, "wide": "id * 1000 > 0"})
    given = [(1, 1, "1"), (2, 0, "1"), (3, 1, "x"), (2**62, 1, "1")]
    rows = [{"id": number, "n": n, "text": text} for number, n, text in given]
    out = run_pipeline(p, spark=spark, rows=rows)["good"]
    assert ids(out.rows) == [1]
    found = sorted((each.offset, each.reasons) for each in out.quarantined)
    assert found == [(1, ["ratio: not 10 / n > 1"]), (3, ["wide: not id * 1000 > 0"])]
    assert out.summary.dropped == 1


def test_malformed_records_are_set_aside_once_whatever_the_query_does_with_rows(spark: SparkSession) -> None:
    p = Pipeline("odd")
    p.source("rows", schema="id BIGINT, n INT, parts ARRAY<INT>")
    p.sql("parts", "SELECT id, explode(parts) AS part FROM rows", sink=parquet("parts"))
    p.sql("twice", "SELECT *, explode(array(1, 2)) AS time FROM rows", sink=parquet("twice"))
    p.sql("shares", "SELECT id, 10 / n AS share FROM rows WHERE n <> 0", sink=parquet("shares"))
    malformed: list[Any] = [b"?", {"id": "x", "n": 0}, {"id": 2, "parts": "no"}]
    out = run_pipeline(p, spark=spark, rows=[{"id": 1, "n": 5, "parts": [7, 8]}, *malformed])
    for flow in out.values():
        assert sorted(each.offset for each in flow.quarantined if each.offset is not None) == [1, 2, 3]
        assert (flow.summary.rows_in, flow.summary.quarantined) == (4, 3)
    assert sorted(row["part"] for row in out["parts"].rows) == [7, 8]
    assert sorted(row["time"] for row in out["twice"].rows) == [1, 2]
    assert [row["share"] for row in out["shares"].rows] == [2.0]


@long
def test_deduplication_keeps_the_first_good_row(spark: SparkSession) -> None:
    p = shop()
    p.sql(
        "once",
        "SELECT * FROM orders",
        sink=iceberg("once", partition_by=["customer"]),
        expect={"positive": "amount > 0"},
        deduplicate="id",
    )
    out = run_pipeline(p, spark=spark, orders=[order(1, -1), order(1, 5), order(1, 6), order(2)])["once"]
    assert sorted((row["id"], row["amount"]) for row in out.rows) == [(1, Decimal(5)), (2, Decimal(5))]
    assert [each.offset for each in out.quarantined] == [0]
    assert out.summary.rows_in == 4


@pytest.mark.parametrize("make", [delta, pytest.param(iceberg, marks=long)])
def test_upsert_replaces_by_key_and_the_last_record_wins(
    spark: SparkSession, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing of a run may wait for this process: Spark's calls back into Python have been seen to hang.
    monkeypatch.setattr("pyspark.java_gateway.ensure_callback_server_started", None)
    p = shop()
    p.sql("last", "SELECT id, amount FROM orders", sink=make("last", mode="upsert", key="id"))
    out = run_pipeline(p, spark=spark, orders=[order(1, 1), order(2, 2), order(1, 3), b"?"])["last"]
    assert sorted((row["id"], row["amount"]) for row in out.rows) == [(1, Decimal(3)), (2, Decimal(2))]
    assert [each.reasons for each in out.quarantined] == [["not JSON"]]
    assert out.summary.rows_in == 4


def test_stream_is_joined_with_a_table_and_quarantined_into_a_topic(spark: SparkSession) -> None:
    p = shop()
    p.source("customers", format="delta", path="customers")
    p.sql(
        "named",
        "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer = c.customer",
        sink=to_topic("named", key="id"),
        expect={"known": "name <> 'nobody'"},
    )
    people = [{"customer": "ann", "name": "Ann"}, {"customer": "bob", "name": "nobody"}]
    orders: list[Any] = [order(1), order(2, customer="bob"), order(3, customer="eve"), b"-"]
    out = run_pipeline(p, spark=spark, orders=orders, customers=people)["named"]
    assert out.rows == [{"id": 1, "name": "Ann"}]
    assert sorted((each.offset, each.reasons) for each in out.quarantined) == [
        (1, ["known: not name <> 'nobody'"]),
        (3, ["not JSON"]),
    ]


@long
def test_flow_that_may_not_fail_stops_with_the_place_of_the_record(spark: SparkSession) -> None:
    p = shop()
    rule = expect("amount > 0", otherwise="fail")
    p.sql("strict", "SELECT * FROM orders", sink=delta("strict"), expect={"positive": rule})
    with pytest.raises(FlowFailed) as raised:
        run_pipeline(p, spark=spark, orders=[order(1), order(2, -1)])
    sentence = "strict stopped: Topic orders, partition 0, offset 1 breaks positive: amount > 0."
    assert str(raised.value) == sentence


@long
def test_columns_that_are_inferred_and_new_ones_that_are_reported(spark: SparkSession) -> None:
    p = Pipeline("inferred")
    p.source("events")
    p.source("typed", schema="a BIGINT")
    p.sql("events_out", "SELECT a, b FROM events", sink=delta("a"))
    p.sql("typed_out", "SELECT * FROM typed", sink=delta("b"))
    out = run_pipeline(p, spark=spark, events=[{"a": 1, "b": "x"}, {"a": 2}], typed=[{"a": 1, "c": 2}])
    assert sorted(out["events_out"].rows, key=str) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert out["typed_out"].rows == [{"a": 1}]
    assert out["typed_out"].summary.new_columns == {"typed": ("c",)}


@long
@pytest.mark.parametrize(
    ("source", "records", "rows", "reason"),
    [
        ({"format": "csv", "schema": "a INT, b STRING"}, ["1,x", "y,z"], [{"a": 1, "b": "x"}], "CSV"),
        ({"format": "text"}, ["plain", b"\xff\xfe"], [{"value": "plain"}], "not text in UTF-8"),
        ({"format": "raw"}, [b"\x00\xff"], [{"value": b"\x00\xff"}], None),
    ],
)
def test_formats_give_columns_and_reasons(
    spark: SparkSession, source: dict[str, Any], records: list[Any], rows: list[Any], reason: str | None
) -> None:
    p = Pipeline("formats")
    p.source("lines", **source)
    p.sql("lines_out", "SELECT * FROM lines", sink=delta("out"))
    out = run_pipeline(p, spark=spark, lines=records)["lines_out"]
    assert out.rows == rows
    assert [each.reasons[0].startswith(reason or "") for each in out.quarantined] == [True] * bool(reason)


def test_definition_with_mistakes_and_unknown_sources_are_refused() -> None:
    p = shop()
    p.sql("wrong", "SELECT nothing FROM orders", sink=delta("x"))
    with pytest.raises(Unreadable, match="nothing"):
        run_pipeline(p, orders=[])
    with pytest.raises(ValueError, match="no source clicks; there are orders"):
        run_pipeline(p, clicks=[])
