"""What a flow has done, added up from what Spark reports. No Spark."""

import json
from typing import Any

from trivium.spark.running.tally import Tally


def progress(end: object, latest: object = None) -> dict[str, Any]:
    said = {"numInputRows": 15, "endOffset": json.dumps(end), "latestOffset": latest}
    seen = {"records": 5, "with_new_columns": 1, "most": ["b"], "least": ["a"]}
    return {
        "batchId": 0,
        "sources": [said],
        "observedMetrics": {"read_orders": seen, "rows": {"rows_out": 4, "quarantined": 1, "odd": 1}},
        "durationMs": {"triggerExecution": 10},
    }


def test_offsets_covered_and_what_is_behind_them() -> None:
    tally = Tally("clean")
    tally.add(progress({"orders": {"0": 5, "1": 2}}, json.dumps({"orders": {"0": 9, "1": 2}})))
    assert tally.offsets == {"orders": {"0": 5, "1": 2}}
    assert tally.lag_records == 4


def test_record_counts_once_however_often_the_plan_reads_it() -> None:
    tally = Tally("clean")
    tally.add(progress({"orders": {"0": 5}}))
    assert (tally.rows_in, tally.rows_out, tally.quarantined, tally.reasons) == (5, 4, 1, {"odd": 1})
    assert (tally.rows_per_second, tally.batch_ms) == (500, 10)
    assert tally.new_columns == {"orders": ("a", "b")}


def test_position_in_a_quarantine_is_no_offset_of_a_topic() -> None:
    """A replay of a table's quarantine is at a batch of each query."""
    tally = Tally("clean")
    tally.add(progress({"quarantine": {"6b29146a-aaf5-4011-a164-3bc5f8175065": 1}}))
    assert tally.offsets == {}
    assert tally.rows_in == 5
