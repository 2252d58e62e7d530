"""A flow with a state of its own: what Spark offers for that works in a flow as it is (M7).

Needs pandas, as Spark does for it: ``pip install 'trivium[stateful]'``.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from trivium.pipeline import Pipeline, delta
from trivium.testing import run_pipeline

pytestmark = pytest.mark.pipelines

COLUMNS = "customer STRING, total BIGINT"


class Totals(StatefulProcessor):
    """What each customer has spent so far."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._total = handle.getValueState("total", "total BIGINT")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        (before,) = self._total.get() or (0,)
        total = before + sum(row.amount for row in rows)
        self._total.update((total,))
        yield Row(customer=key[0], total=total)

    def close(self) -> None:
        """Nothing is held open."""


def test_flow_keeps_a_state_of_its_own(spark: SparkSession) -> None:
    pytest.importorskip("pandas")
    p = Pipeline("shop")
    p.source("orders", schema="customer STRING, amount BIGINT")

    @p.flow(sink=delta("totals"), schema=COLUMNS)
    def totals(orders: DataFrame) -> DataFrame:
        paid = orders.select("customer", "amount").groupBy("customer")
        return paid.transformWithState(Totals(), COLUMNS, "append", "none")

    orders = [{"customer": name, "amount": amount} for name, amount in (("ann", 1), ("bob", 5), ("ann", 2))]
    out = run_pipeline(p, spark=spark, orders=[*orders, b"?"])["totals"]
    assert sorted((row["customer"], row["total"]) for row in out.rows) == [("ann", 3), ("bob", 5)]
    assert [each.reasons for each in out.quarantined] == [["not JSON"]]
