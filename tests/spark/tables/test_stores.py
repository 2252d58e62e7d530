"""Tables take every batch once, remember what it covered, and refuse rows that do not fit (R19). No Spark."""

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from trivium.pipeline.sink import TableSink, delta, iceberg, parquet
from trivium.spark.tables.batch import Batch
from trivium.spark.tables.care import open_care
from trivium.spark.tables.data_files import (
    FOLDER_NAME_BYTES_MAX,
    OPEN_FILES_MAX,
    DataFile,
    DataFileWriter,
    partition_text,
)
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.statistics import TEXT_CHARACTERS_MAX
from trivium.spark.tables.store import TableStore
from trivium.spark.tables.stores import open_store

FORMATS = [delta, iceberg, parquet]
CHANGEABLE = [delta, iceberg]


def rows(*numbers: int, **more: pa.Array) -> pa.RecordBatch:
    moments = [datetime(2025, 6, number, tzinfo=UTC) for number in numbers]
    columns = {
        "id": pa.array(numbers, pa.int64()),
        "day": pa.array([moment.date() for moment in moments], pa.date32()),
        "at": pa.array(moments, pa.timestamp("us", "UTC")),
        "name": pa.array([f"n{number}" for number in numbers]),
    }
    return pa.RecordBatch.from_pydict(columns | more)


def batch(number: int, *, query: str = "q1") -> Batch:
    return Batch("shop.clean", query, number, json.dumps([{"orders": {"0": number * 10}}]))


def staged(store: TableStore, *parts: pa.RecordBatch) -> list[DataFile]:
    writer = DataFileWriter(store.layout)
    for part in parts:
        writer.write(part)
    return writer.close()


def append(store: TableStore, number: int, part: pa.RecordBatch, **more: Any) -> None:
    store.append(batch(number, **more), part.schema, staged(store, part))


def ids(store: TableStore) -> list[int]:
    found: Sequence[int] = store.read().column("id").to_pylist()
    return sorted(found)


@pytest.fixture(params=FORMATS, ids=lambda make: make.__name__)
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> TableSink:
    made: TableSink = request.param(str(tmp_path / "lake" / "orders"), partition_by=["day"])
    return made


def test_batch_that_comes_again_is_not_written_again(sink: TableSink) -> None:
    store = open_store(sink)
    assert store.read().num_rows == 0
    append(store, 0, rows(1, 2))
    append(store, 0, rows(1, 2))
    append(store, 1, rows(3))
    append(store, 0, rows(9))
    assert ids(open_store(sink)) == [1, 2, 3]


def test_other_query_has_batches_of_its_own_and_both_are_remembered(sink: TableSink) -> None:
    store = open_store(sink)
    append(store, 0, rows(1))
    append(store, 0, rows(2), query="q2")
    assert ids(store) == [1, 2]
    assert {"trivium.shop.clean.q1", "trivium.shop.clean.q2"} <= store.writers()


def with_origin(part: pa.RecordBatch, *, is_nullable: bool) -> pa.RecordBatch:
    """With columns that Spark knows to be always there, or not, also inside of others."""
    fields = [pa.field("offset", pa.int64(), is_nullable), pa.field("topic", pa.string(), is_nullable)]
    origin = pa.array([{"offset": 1, "topic": "t"}] * part.num_rows, pa.struct(fields))
    kinds = [field.with_nullable(is_nullable) for field in part.schema]
    columns = [
        *part.columns,
        origin,
        pa.array(
            [[{"offset": 1, "topic": "t"}]] * part.num_rows,
            pa.list_(pa.field("element", pa.struct(fields), is_nullable)),
        ),
    ]
    schema = pa.schema(
        [*kinds, pa.field("origin", origin.type, is_nullable), pa.field("origins", columns[-1].type)]
    )
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@pytest.mark.parametrize("is_first_nullable", [True, False])
def test_rows_that_are_never_null_and_others_go_to_the_same_table(
    sink: TableSink, is_first_nullable: bool
) -> None:
    for number, is_nullable in enumerate([is_first_nullable, not is_first_nullable]):
        append(open_store(sink), number, with_origin(rows(number + 1), is_nullable=is_nullable))
    kind = pa.struct({"offset": pa.int64(), "topic": pa.string()})
    unknown = pa.array([{"offset": None, "topic": "t"}], kind)
    without = rows(3, name=pa.nulls(1, pa.string()), origin=unknown)
    append(open_store(sink), 2, without)
    found = {row["id"]: row for row in open_store(sink).read().to_pylist()}
    assert found.keys() == {1, 2, 3}
    assert (found[2]["name"], found[2]["origin"]) == ("n2", {"offset": 1, "topic": "t"})
    assert (found[3]["name"], found[3]["origin"]) == (None, {"offset": None, "topic": "t"})


def test_columns_that_come_later_take_rows_without_a_value_inside(sink: TableSink) -> None:
    append(open_store(sink), 0, rows(1))
    wider = with_origin(rows(2), is_nullable=False)
    open_store(sink).widen(wider.schema)
    append(open_store(sink), 1, wider)
    kind = pa.struct({"offset": pa.int64(), "topic": pa.string()})
    append(open_store(sink), 2, rows(3, origin=pa.array([{"offset": 1, "topic": None}], kind)))
    found = {row["id"]: row["origin"] for row in open_store(sink).read().to_pylist()}
    assert found == {1: None, 2: {"offset": 1, "topic": "t"}, 3: {"offset": 1, "topic": None}}


def test_delta_table_promises_of_no_column_that_it_is_always_there(tmp_path: Path) -> None:
    append(open_store(delta(str(tmp_path / "t"))), 0, with_origin(rows(1), is_nullable=False))
    assert '"nullable":false' not in DeltaTable(str(tmp_path / "t")).schema().to_json().replace(" ", "")


@pytest.mark.parametrize("make", CHANGEABLE)
@pytest.mark.parametrize("is_first_nullable", [True, False])
def test_upsert_takes_rows_that_are_never_null_and_others(
    tmp_path: Path, make: Any, is_first_nullable: bool
) -> None:
    for number, is_nullable in enumerate([is_first_nullable, not is_first_nullable]):
        store = open_store(make(str(tmp_path / "t")))
        part = with_origin(rows(1, number + 2), is_nullable=is_nullable)
        store.upsert(batch(number), pa.Table.from_batches([part]), ["id"])
    assert ids(open_store(make(str(tmp_path / "t")))) == [1, 2, 3]


@pytest.mark.parametrize("make", CHANGEABLE)
def test_batch_that_another_process_commits_meanwhile_is_not_written_again(tmp_path: Path, make: Any) -> None:
    """A killed driver may leave its commit behind, to land while the next run commits the same batch."""
    path = str(tmp_path / "t")
    append(open_store(make(path)), 0, rows(1))
    late: Any = open_store(make(path))
    check = late.check

    def overtaken(schema: pa.Schema) -> None:
        late.check = check
        append(open_store(make(path)), 1, rows(2))
        check(schema)

    late.check = overtaken
    with suppress(CommitFailedError):
        append(late, 1, rows(2))
    assert ids(open_store(make(path))) == [1, 2]


def test_files_that_no_commit_names_are_in_no_table(sink: TableSink) -> None:
    store = open_store(sink)
    append(store, 0, rows(1))
    staged(store, rows(2))
    assert ids(store) == [1]


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (rows(1, extra=pa.array(["x"])), "has no column extra, which the flow gives"),
        (rows(1, name=pa.array([1.5])), "has name as (large_)?string(_view)?, and the flow gives double"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_a_sentence(
    sink: TableSink, part: pa.RecordBatch, sentence: str
) -> None:
    store = open_store(sink)
    append(store, 0, rows(1))
    with pytest.raises(TableError, match=sentence):
        store.check(part.schema)
    with pytest.raises(TableError, match=sentence):
        append(store, 1, part)
    assert ids(store) == [1]


@pytest.mark.parametrize("make", CHANGEABLE)
def test_partitioning_that_differs_is_refused(tmp_path: Path, make: Any) -> None:
    path = str(tmp_path / "t")
    append(open_store(make(path, partition_by=["day"])), 0, rows(1))
    with pytest.raises(TableError, match="by day, and the flow would partition it by no column"):
        open_store(make(path)).check(rows(1).schema)


@pytest.mark.parametrize("key", [["id"], ["id", "day"]])
@pytest.mark.parametrize("make", CHANGEABLE)
def test_upsert_replaces_by_key_once(tmp_path: Path, make: Any, key: list[str]) -> None:
    store = open_store(make(str(tmp_path / "t"), mode="upsert", key=key))

    def change(number: int, *parts: tuple[int, str]) -> None:
        numbers = [each for each, _ in parts]
        part = rows(*numbers, name=pa.array([name for _, name in parts]))
        store.upsert(batch(number), pa.Table.from_batches([part]), key)

    change(0, (1, "a"), (2, "b"))
    change(1, (2, "c"), (3, "d"))
    change(1, (2, "never"))
    found = store.read().select(["id", "name"]).to_pylist()
    assert sorted((row["id"], row["name"]) for row in found) == [(1, "a"), (2, "c"), (3, "d")]


def test_delta_commit_says_what_it_covers_and_files_can_be_passed_over(tmp_path: Path) -> None:
    store = open_store(delta(str(tmp_path / "t")))
    append(store, 7, rows(3, 5, note=pa.array(["x" * (TEXT_CHARACTERS_MAX + 1), "y"])))
    table = DeltaTable(str(tmp_path / "t"))
    commit = table.history()[0]
    assert json.loads(commit["trivium.offsets"]) == [{"orders": {"0": 70}}]
    assert (commit["trivium.flow"], commit["trivium.batch"]) == ("shop.clean", "7")
    (file,) = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert (file["num_records"], file["min.id"], file["max.id"]) == (2, 3, 5)
    assert file["max.at"] == datetime(2025, 6, 5, tzinfo=UTC)
    assert file.get("max.note") is None


def test_parquet_commit_that_was_cut_short_is_finished_by_the_next(tmp_path: Path) -> None:
    store = open_store(parquet(str(tmp_path / "t"), partition_by=["day"]))
    first = staged(store, rows(1, 2))
    book = tmp_path / "t" / "_trivium" / f"{batch(0).writer}.json"
    book.write_text(json.dumps({"number": 0, "files": [file.path for file in first]}))
    # Killed here: the batch is named, and its files have not been moved. Spark runs it again.
    append(store, 0, rows(1, 2))
    assert ids(store) == [1, 2]
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == [
        "_trivium",
        "day=2025-06-01",
        "day=2025-06-02",
    ]
    # Whoever knows nothing of us sees the same.
    assert sorted(pq.read_table(tmp_path / "t", columns=["id"]).column("id").to_pylist()) == [1, 2]


def test_partition_by_with_too_many_values_is_refused(tmp_path: Path) -> None:
    store = open_store(delta(str(tmp_path / "t"), partition_by=["id"]))
    days = pa.array([date(2025, 1, 1)] * (OPEN_FILES_MAX + 1))
    part = pa.RecordBatch.from_pydict({"id": pa.array(range(OPEN_FILES_MAX + 1)), "day": days})
    with pytest.raises(TableError, match=f"more than {OPEN_FILES_MAX} partitions"):
        staged(store, part)


def test_partition_values_are_written_as_delta_and_hive_do() -> None:
    moment = datetime(2025, 6, 15, 10, 30, tzinfo=UTC)
    texts = [partition_text(value) for value in (None, True, 7, date(2025, 6, 15), moment, "a b")]
    assert texts == [None, "true", "7", "2025-06-15", "2025-06-15 10:30:00", "a b"]


def test_table_grows_by_columns_that_were_not_there(sink: TableSink) -> None:
    """new_columns = "add": NULL in what was there before."""
    store = open_store(sink)
    append(store, 0, rows(1))
    wider = rows(2, colour=pa.array(["red"]))
    store.widen(wider.schema)
    store.check(wider.schema)
    append(store, 1, wider)
    append(store, 2, rows(3))
    found = {row["id"]: row["colour"] for row in open_store(sink).read().to_pylist()}
    assert found == {1: None, 2: "red", 3: None}
    store.widen(wider.schema)
    assert open_store(sink).read().num_rows == 3


def test_table_grows_inside_its_columns(sink: TableSink) -> None:
    """Fields of a STRUCT, and of the STRUCTs in an ARRAY; compacted, the rows are the same."""
    store = open_store(sink)
    append(store, 0, rows(1, to=pa.array([{"city": "Rome"}]), lines=pa.array([[{"sku": "tea"}]])))
    wider = rows(1, to=pa.array([{"city": "Bonn", "zip": "1"}]), lines=pa.array([[{"sku": "tea", "n": 2}]]))
    with pytest.raises(TableError, match="has to as"):
        store.check(wider.schema)
    store.widen(wider.schema)
    store.check(wider.schema)
    append(store, 1, wider)
    expected = [
        ({"city": "Bonn", "zip": "1"}, [{"sku": "tea", "n": 2}]),
        ({"city": "Rome", "zip": None}, [{"sku": "tea", "n": None}]),
    ]

    def found() -> list[tuple[Any, Any]]:
        there = open_store(sink).read().to_pylist()
        return sorted(((row["to"], row["lines"]) for row in there), key=str)

    assert found() == expected
    open_care(sink.table).compact()
    assert found() == expected
    store.widen(wider.schema)
    assert found() == expected


def test_iceberg_has_one_kind_of_small_integers(tmp_path: Path) -> None:
    """A flow's TINYINT and SMALLINT are INT there, and fit the table that they made."""
    sink = iceberg(str(tmp_path / "t"))
    small = rows(
        1,
        tiny=pa.array([1], pa.int8()),
        inside=pa.array([[{"n": 2}]], pa.list_(pa.struct([("n", pa.int16())]))),
        by_name=pa.array([[("a", 3)]], pa.map_(pa.string(), pa.int16())),
    )
    for number in range(2):
        append(open_store(sink), number, small)
    open_store(sink).check(small.schema)
    open_store(sink).widen(pa.schema([*small.schema, pa.field("more", pa.int16())]))
    found = open_store(sink).read().to_pylist()
    assert [(row["tiny"], row["inside"], row["by_name"]) for row in found] == [
        (1, [{"n": 2}], [("a", 3)])
    ] * 2
    with pytest.raises(TableError, match="has tiny as int32, and the flow gives int64"):
        open_store(sink).check(rows(1, tiny=pa.array([1], pa.int64())).schema)


def test_column_without_a_type_is_refused_by_iceberg_before_anything_runs(tmp_path: Path) -> None:
    store = open_store(iceberg(str(tmp_path / "t")))
    with pytest.raises(TableError, match=r"gives nothing without a type, .* write CAST"):
        store.check(rows(1, nothing=pa.nulls(1)).schema)


LATE = pa.array([1_700_000_000_000 * 1_000_000], pa.timestamp("us", "UTC"))
"""Milliseconds that were taken for seconds: in the year 55840."""


def test_time_beyond_the_calendar_is_named_where_a_table_cannot_take_it(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"not between the years 1 and 9999.*an expectation, such as year"):
        append(open_store(iceberg(str(tmp_path / "i"))), 0, rows(1, late=LATE))
    with pytest.raises(TableError, match="not between the years 1 and 9999"):
        append(open_store(delta(str(tmp_path / "d"), partition_by=["late"])), 0, rows(1, late=LATE))
    append(open_store(delta(str(tmp_path / "d2"))), 0, rows(1, late=LATE))


def test_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = open_store(delta(str(tmp_path / "file" / "t")))
    with pytest.raises(TableError, match=r"The table in .* cannot be written .* choose another path"):
        append(store, 0, rows(1))


def test_partition_that_is_too_long_for_a_folder_is_named(tmp_path: Path) -> None:
    store = open_store(parquet(str(tmp_path / "t"), partition_by=["name"]))
    longest = FOLDER_NAME_BYTES_MAX - len("name=")
    append(store, 0, rows(1, name=pa.array(["x" * longest])))
    with pytest.raises(TableError, match=r"A value of name is too long .* length\(url_encode\(name\)\) <="):
        append(store, 1, rows(2, name=pa.array(["x" * (longest + 1)])))
    assert ids(store) == [1]


@pytest.mark.parametrize("make", CHANGEABLE)
def test_rows_without_a_key_replace_each_other(tmp_path: Path, make: Any) -> None:
    key = ["name", "of"]
    store = open_store(make(str(tmp_path / "t"), mode="upsert", key=key))
    for number in range(3):
        names, others = pa.array([None, "a", "a", None]), pa.array([1, 1, None, None], pa.int32())
        part = rows(*(number * 4 + each for each in range(1, 5)), name=names, of=others)
        store.upsert(batch(number), pa.Table.from_batches([part]), key)
    found = {(row["name"], row["of"]): row["id"] for row in store.read().to_pylist()}
    assert found == {(None, 1): 9, ("a", 1): 10, ("a", None): 11, (None, None): 12}
    assert store.read().num_rows == len(found)
