"""Which queries malformed records may go through: those that lose none of them, and give none twice."""

import pytest

from trivium.spark.running.lineage import GENERATORS, carry


def takes_malformed(sql: str) -> bool:
    carried = carry(sql, {"rows"})
    return carried is not None and carried.takes_malformed


@pytest.mark.parametrize("name", sorted(GENERATORS))
@pytest.mark.parametrize(
    "query", ["SELECT id, {}({}) AS y FROM rows", "SELECT *, {}({}) FROM rows WHERE id > 1"]
)
def test_functions_that_make_rows_do_not(name: str, query: str) -> None:
    assert not takes_malformed(query.format(name, "2, x" if name == "stack" else "x"))


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM rows", "SELECT id, upper(x) FROM rows WHERE exists(l, e -> e > 1)"]
)
def test_queries_of_row_by_row_do(sql: str) -> None:
    assert takes_malformed(sql)


def test_joins_and_lateral_views_do_not() -> None:
    assert not takes_malformed("SELECT id, e FROM rows LATERAL VIEW explode(l) t AS e")
    assert not takes_malformed("SELECT a.id FROM rows a JOIN names b ON a.id = b.id")
