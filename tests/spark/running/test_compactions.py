"""``compact = "1 hour"``: tables have their turn while their flow runs, and over runs that end. No Spark."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark.tables.test_stores import append, ids, rows
from trivium.pipeline import Pipeline, delta, iceberg, parquet
from trivium.pipeline.definition import Definition
from trivium.pipeline.sink import TableSink
from trivium.spark.running.compactions import Compactions
from trivium.spark.running.tally import Tally
from trivium.spark.tables.care import open_care
from trivium.spark.tables.parquet import ParquetStore
from trivium.spark.tables.stores import open_store

HOUR_S = 3600.0


def shop(folder: Path, make: Callable[..., TableSink]) -> Definition:
    p = Pipeline("shop", state=str(folder / "state"))
    p.source("orders", schema="id BIGINT")
    p.sql("kept", "SELECT * FROM orders", sink=make(str(folder / "kept"), compact="1 hour"))
    p.sql("left", "SELECT * FROM orders", sink=make(str(folder / "left")))
    return p.definition()


def files(sink: object) -> int:
    assert isinstance(sink, TableSink)
    found = open_care(sink.table).describe()
    return 0 if found is None else len(found.file_sizes)


@pytest.mark.parametrize("make", [delta, iceberg, parquet])
def test_tables_have_their_turn_after_each_span_also_over_runs(
    tmp_path: Path, make: Callable[..., TableSink]
) -> None:
    definition, now = shop(tmp_path, make), 1_000.0
    flows = {flow.name: flow for flow in definition.flows}
    kept = flows["kept"].sink
    tables = [kept, flows["kept"].quarantine, flows["left"].sink]
    for sink in tables:
        assert isinstance(sink, TableSink)
        for number in range(3):
            append(open_store(sink), number, rows(number + 1))
    tallies = {name: Tally(name) for name in flows}

    def look() -> list[int]:
        run = Compactions(definition, lambda: now)
        for name, flow in flows.items():
            run.look(flow, tallies[name])
            run.finish()
        return [files(sink) for sink in tables]

    assert look() == [3, 3, 3], "the first run begins to count"
    now += HOUR_S - 1
    assert look() == [3, 3, 3]
    now += 1
    assert look() == [1, 1, 3], "the quarantine, too; a sink that says nothing is left alone"
    assert isinstance(kept, TableSink)
    assert ids(open_store(kept)) == [1, 2, 3]
    assert (tallies["kept"].files_compacted, tallies["kept"].compaction_problem) == (4, None)
    append(open_store(kept), 3, rows(4))
    assert look()[0] == 2, "not before the next hour"
    now += HOUR_S
    assert look()[0] == 1


def test_compaction_that_cannot_be_done_is_said_and_stops_nothing(tmp_path: Path) -> None:
    definition, now = shop(tmp_path, parquet), 0.0
    kept = definition.flow("kept")
    assert kept is not None
    assert isinstance(kept.sink, TableSink)
    append(open_store(kept.sink), 0, rows(1))
    tally, compactions = Tally("kept"), Compactions(definition, lambda: now)
    compactions.look(kept, tally)
    ParquetStore(kept.sink, kept.sink.table.path or "").write_note("compacting", {"begun_s": 1e12})
    now += HOUR_S
    compactions.look(kept, tally)
    compactions.finish()
    assert tally.compaction_problem is not None
    assert "is being compacted" in tally.compaction_problem
