"""Tables are looked after while they are in use: no row more or less, offsets stay known (M7). No Spark."""

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.spark.tables.test_stores import append, batch, ids, rows, staged
from trivium.pipeline.sink import TableSink, delta, iceberg, parquet
from trivium.spark.tables.care import Compaction, TableCare, open_care, small_files
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.iceberg import IcebergStore
from trivium.spark.tables.parquet import ParquetStore
from trivium.spark.tables.stores import open_store

SOON = timedelta(hours=1)


@pytest.fixture(params=[delta, iceberg, parquet], ids=lambda make: make.__name__)
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> TableSink:
    made: TableSink = request.param(str(tmp_path / "lake" / "orders"), partition_by=["day"])
    return made


def filled(sink: TableSink) -> TableCare:
    """Two days, four small files of each."""
    store = open_store(sink)
    for number in range(4):
        append(store, number, rows(1, 2))
    return open_care(sink.table)


def test_description_says_what_is_there_and_what_it_covers(sink: TableSink) -> None:
    assert open_care(sink.table).describe() is None
    found = filled(sink).describe()
    assert found is not None
    assert set(found.schema.names) == {"id", "day", "at", "name"}
    assert found.partition_by == ("day",)
    assert (len(found.file_sizes), found.rows) == (8, 8)
    assert min(found.file_sizes) > 0
    (writer,) = found.writers
    assert (writer.flow, writer.query, writer.batch) == ("shop.clean", "q1", 3)
    assert writer.offsets == {"orders": {"0": 30}}
    assert found.last_commit is not None
    assert abs(found.last_commit.timestamp_ms / 1000 - time.time()) < 86_400


def test_small_files_become_one_for_each_partition_and_batches_stay_known(sink: TableSink) -> None:
    care = filled(sink)
    before = ids(open_store(sink))
    assert care.compact(only_look=True) == Compaction(8, 2)
    assert ids(open_store(sink)) == before
    assert care.compact() == Compaction(8, 2)
    assert ids(open_store(sink)) == before
    assert care.compact() == Compaction(2, 2)
    found = care.describe()
    assert found is not None
    assert [(each.batch, each.offsets) for each in found.writers] == [(3, {"orders": {"0": 30}})]
    # A batch that was in the table before is still not written again, and the next one is.
    store = open_store(sink)
    append(store, 3, rows(9))
    append(store, 4, rows(5))
    assert ids(store) == [*before, 5]
    assert "trivium.shop.clean.q1" in store.writers()


def test_expiry_removes_what_nobody_reads_and_nothing_else(sink: TableSink) -> None:
    care = filled(sink)
    care.compact()
    store = open_store(sink)
    before = ids(store)
    staged(store, rows(7))  # An attempt that failed.
    now = datetime.now(UTC)
    assert care.expire(now - SOON).files == 0
    looked = care.expire(now + SOON, only_look=True)
    assert looked.files >= 1
    assert care.expire(now + SOON).files == looked.files
    assert care.expire(now + SOON).files == 0
    assert ids(open_store(sink)) == before
    found = care.describe()
    assert found is not None
    assert [each.offsets for each in found.writers] == [{"orders": {"0": 30}}]
    append(store, 3, rows(9))
    assert ids(store) == before


def test_there_is_nothing_to_look_after_where_no_table_is(sink: TableSink) -> None:
    with pytest.raises(TableError, match=r"There (is|are) no"):
        open_care(sink.table).compact()


def test_iceberg_offsets_stay_when_snapshots_go(tmp_path: Path) -> None:
    sink = iceberg(str(tmp_path / "t"))
    append(open_store(sink), 7, rows(1))
    append(open_store(sink), 8, rows(2))
    care = open_care(sink.table)
    assert care.expire(datetime.now(UTC) + SOON).snapshots == 1
    found = care.describe()
    assert found is not None
    assert found.writers[0].offsets == {"orders": {"0": 80}}


def test_delta_writers_are_carried_on_by_care(tmp_path: Path) -> None:
    sink = delta(str(tmp_path / "t"))
    append(open_store(sink), 7, rows(1))
    append(open_store(sink), 8, rows(2))
    open_care(sink.table).compact()
    newest = DeltaTable(str(tmp_path / "t")).history()[0]
    (writer,) = json.loads(newest["trivium.writers"])
    assert (writer["trivium.batch"], json.loads(writer["trivium.offsets"])) == ("8", [{"orders": {"0": 80}}])


def broken_off(path: Path, steps: int) -> tuple[ParquetStore, str]:
    """A folder of two files whose compaction has removed so many of them, and the file that replaces them."""
    store = open_store(parquet(str(path)))
    assert isinstance(store, ParquetStore)
    append(store, 0, rows(1))
    append(store, 1, rows(2))
    old = store.files()
    (merged,) = staged(store, rows(1, 2))
    store.write_note("replacing", {"old": old, "new": merged.path})
    for name in old[:steps]:
        (path / name).unlink()
    return store, merged.path


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_parquet_compaction_that_was_broken_off_is_finished_by_the_next_batch(
    tmp_path: Path, steps: int
) -> None:
    store, _ = broken_off(tmp_path / "t", steps)
    append(store, 2, rows(3))
    assert ids(store) == [1, 2, 3]
    assert len(store.files()) == 2


def test_two_compactions_of_one_folder_do_not_meet(tmp_path: Path) -> None:
    sink = parquet(str(tmp_path / "t"))
    store = open_store(sink)
    assert isinstance(store, ParquetStore)
    append(store, 0, rows(1))
    store.write_note("compacting", {"begun_s": time.time()})
    with pytest.raises(TableError, match="is being compacted"):
        open_care(sink.table).compact()
    store.write_note("compacting", {"begun_s": 0})
    assert open_care(sink.table).compact() == Compaction(1, 1)


def test_parquet_staged_files_that_a_batch_still_needs_stay(tmp_path: Path) -> None:
    sink = parquet(str(tmp_path / "t"))
    store = open_store(sink)
    assert isinstance(store, ParquetStore)
    needed = staged(store, rows(1))
    store.write_note(batch(0).writer, {"number": 0, "files": [file.path for file in needed]})
    for file in (tmp_path / "t" / "_trivium" / "staged").iterdir():
        os.utime(file, (0, 0))
    assert open_care(sink.table).expire(datetime.now(UTC)).files == 0
    append(store, 0, rows(1))
    assert ids(store) == [1]


def test_parquet_file_of_a_compaction_that_was_broken_off_is_not_taken_for_a_leftover(tmp_path: Path) -> None:
    """It has the only copy of its rows."""
    store, merged = broken_off(tmp_path / "t", 2)
    os.utime(tmp_path / "t" / "_trivium" / "staged" / merged, (0, 0))
    assert open_care(parquet(str(tmp_path / "t")).table).expire(datetime.now(UTC)).files == 0
    store.finish_replacing()
    assert ids(store) == [1, 2]


@pytest.mark.parametrize("way", ["up and down", "link"])
def test_iceberg_files_are_known_by_whatever_path_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    (tmp_path / "lake").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    plain, other = iceberg(str(tmp_path / "lake" / "t")), iceberg("../lake/t")
    if way == "link":
        (tmp_path / "linked").symlink_to(tmp_path / "lake")
        other = iceberg(str(tmp_path / "linked" / "t"))
    append(open_store(plain), 0, rows(1))
    append(open_store(other), 1, rows(2))
    for sink in (plain, other):
        open_care(sink.table).expire(datetime.now(UTC) + SOON)
        assert ids(open_store(sink)) == [1, 2]


def test_iceberg_snapshots_with_a_tag_stay(tmp_path: Path) -> None:
    sink = iceberg(str(tmp_path / "t"))
    store = open_store(sink)
    assert isinstance(store, IcebergStore)
    for number in range(3):
        append(store, number, rows(number + 1))
    table = store.open()
    assert table is not None
    table.manage_snapshots().create_tag(table.history()[0].snapshot_id, "first").commit()
    assert open_care(sink.table).expire(datetime.now(UTC) + SOON).snapshots == 1
    assert ids(open_store(sink)) == [1, 2, 3]


@pytest.mark.parametrize("outer", [delta, parquet], ids=lambda make: make.__name__)
@pytest.mark.parametrize("inner", [delta, iceberg, parquet], ids=lambda make: make.__name__)
def test_table_inside_another_keeps_its_files(
    tmp_path: Path, outer: Callable[[str], TableSink], inner: Callable[[str], TableSink]
) -> None:
    """What is looked after is not asked whose it is: so nothing is done until they lie apart."""
    around, inside = outer(str(tmp_path / "t")), inner(str(tmp_path / "t" / "b"))
    for number in range(2):
        append(open_store(around), number, rows(1))
        append(open_store(inside), number, rows(2))
    care = open_care(around.table)
    with pytest.raises(TableError, match=r"has another table inside it, .*/t/b; move one of them"):
        care.expire(datetime.now(UTC) + SOON) if outer is delta else care.compact()
    assert ids(open_store(inside)) == [2, 2]


def test_parquet_folders_that_begin_with_an_underscore_are_tables_only_as_partitions(tmp_path: Path) -> None:
    store = open_store(parquet(str(tmp_path / "t")))
    assert isinstance(store, ParquetStore)
    append(store, 0, rows(1))
    (whole,) = store.files()
    for folder in ("_offset=1", "b/_trivium/staged"):
        (tmp_path / "t" / folder).mkdir(parents=True)
        (tmp_path / "t" / folder / "x.parquet").write_bytes((tmp_path / "t" / whole).read_bytes())
    assert store.files() == sorted(["_offset=1/x.parquet", whole])


def test_delta_files_are_kept_as_long_as_was_said(tmp_path: Path) -> None:
    """Delta counts in hours: a part of one is a whole one."""
    sink = delta(str(tmp_path / "t"))
    store = open_store(sink)
    append(store, 0, rows(1))
    (left,) = staged(store, rows(7))
    long_ago = time.time() - 75 * 60
    os.utime(tmp_path / "t" / left.path, (long_ago, long_ago))
    assert open_care(sink.table).expire(datetime.now(UTC) - timedelta(minutes=90)).files == 0
    assert (tmp_path / "t" / left.path).exists()


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ({}, []),
        ({"a": 1}, []),
        ({"a": 1, "b": 2, "c": 99}, [["a", "b"]]),
        ({"a": 40, "b": 40, "c": 40, "d": 40}, [["a", "b"], ["c", "d"]]),
        ({"a": 60, "b": 60}, []),
    ],
)
def test_only_files_much_smaller_than_the_target_are_put_together(
    sizes: dict[str, int], groups: list[list[str]]
) -> None:
    assert small_files(sizes, 100) == groups


@pytest.mark.parametrize("make", [delta, iceberg])
def test_compaction_beside_a_writer_loses_nothing(
    tmp_path: Path, make: Callable[..., TableSink], monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = make(str(tmp_path / "t"))
    store = open_store(sink)
    append(store, 0, rows(1))
    append(store, 1, rows(2))
    care: Any = open_care(sink.table)
    opened = care._existing

    def overtaken() -> Any:
        table = opened()
        monkeypatch.undo()
        append(store, 2, rows(3))  # After the compaction has looked, before it commits.
        return table

    monkeypatch.setattr(care, "_existing", overtaken)
    care.compact()
    assert ids(store) == [1, 2, 3]
    assert pa.table(store.read()).num_rows == 3


@pytest.mark.parametrize("make", [delta, iceberg])
def test_upsert_beside_a_compaction_is_done_on_what_it_left(
    tmp_path: Path, make: Callable[..., TableSink], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that it has read are gone: it reads the others, and the flow does not stop."""
    sink = make(str(tmp_path / "t"), mode="upsert", key="id")
    store: Any = open_store(sink)
    for number in range(3):
        store.upsert(batch(number), pa.Table.from_batches([rows(number + 1)]), ["id"])
    check = store.check

    def overtaken(schema: pa.Schema) -> None:
        monkeypatch.undo()
        check(schema)
        assert open_care(sink.table).compact() == Compaction(
            3, 1
        )  # It has opened the table, and not read it.

    monkeypatch.setattr(store, "check", overtaken)
    changed = rows(1, 4, name=pa.array(["new", "newer"]))
    store.upsert(batch(3), pa.Table.from_batches([changed]), ["id"])
    found = {row["id"]: row["name"] for row in open_store(sink).read().to_pylist()}
    assert found == {1: "new", 2: "n2", 3: "n3", 4: "newer"}
