"""What a flow has done, added up from what Spark reports. No Spark."""

import json
from typing import Any

from trivium.spark.running.tally import Tally


def progress(end: object, latest: object = None) -> dict[str, Any]:
    said = {"numInputRows": 5, "endOffset": json.dumps(end), "latestOffset": latest}
    return {"batchId": 0, "sources": [said], "durationMs": {"triggerExecution": 7}}


def test_offsets_covered_and_what_is_behind_them() -> None:
    tally = Tally("clean")
    tally.add(progress({"orders": {"0": 5, "1": 2}}, json.dumps({"orders": {"0": 9, "1": 2}})), {"orders": 1})
    assert tally.offsets == {"orders": {"0": 5, "1": 2}}
    assert (tally.rows_in, tally.lag_records, tally.batch_ms) == (5, 4, 7)


def test_position_in_a_quarantine_is_no_offset_of_a_topic() -> None:
    """A replay of a table's quarantine is at a batch of each query."""
    tally = Tally("clean")
    tally.add(progress({"quarantine": {"6b29146a-aaf5-4011-a164-3bc5f8175065": 1}}), {"orders": 1})
    assert tally.offsets == {}
    assert tally.rows_in == 5
