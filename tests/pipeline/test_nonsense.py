"""Whatever an author writes is a definition with findings, or unreadable: never a traceback."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pipeline.definitions import ORDERS, defined, flow

from trivium.pipeline import Unreadable
from trivium.pipeline.building import Pipeline
from trivium.pipeline.checking import check
from trivium.pipeline.sink import to_topic

WORDS = [
    *(
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP BY",
        "ORDER BY",
        "JOIN",
        "LEFT JOIN",
        "ON",
        "USING",
        "UNION ALL",
        "WITH",
        "AS",
    ),
    *(
        "DISTINCT",
        "HAVING",
        "LIMIT",
        "OVER",
        "PARTITION BY",
        "CASE",
        "WHEN",
        "THEN",
        "END",
        "LATERAL VIEW",
        "IN",
        "NOT",
    ),
    *(
        "orders",
        "id",
        "at",
        "to",
        "tags",
        "o",
        "x",
        "*",
        "o.*",
        "to.city",
        "tags[0]",
        "window",
        "count",
        "sum",
        "explode",
    ),
    *(
        "(",
        ")",
        ",",
        ".",
        "=",
        ">",
        "+",
        "-",
        "||",
        "->",
        "::",
        ";",
        "'a'",
        "'1 hour'",
        "1",
        "NULL",
        "INTERVAL",
        "`",
        "--",
    ),
    *(
        "STRUCT",
        "ARRAY",
        "MAP",
        "VALUES",
        "PIVOT",
        "TABLESAMPLE",
        "QUALIFY",
        "EXISTS",
        "BETWEEN",
        "AND",
        "date",
        "{",
        "}",
    ),
]
salad = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)
KEYS = st.sampled_from(
    ["topic", "format", "schema", "start", "watermark", "sql", "sink", "expect", "trigger", "path"]
)
VALUES = st.recursive(
    st.sampled_from(
        ['"x"', "3", "true", "2025-01-01", '"delta"', '"a INT"', '"1 second"', "1.5", '""', "inf"]
    ),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda each: f"[{', '.join(each)}]")
        | st.dictionaries(KEYS, inner, max_size=3).map(
            lambda each: "{" + ", ".join(f"{key} = {value}" for key, value in each.items()) + "}"
        )
    ),
    max_leaves=4,
)
TABLES = st.dictionaries(
    st.sampled_from(["pipeline", "source.a", "source.b", "flow.f", "flow.g", "x", "source", "flow"]),
    st.dictionaries(KEYS | st.just("name"), VALUES, max_size=4),
    max_size=4,
)


def understood(sql: str, expectation: str = "id > 0") -> None:
    p = Pipeline("shop")
    p.source("orders", schema="id BIGINT, at TIMESTAMP, tags ARRAY<STRING>, to STRUCT<city: STRING>")
    p.sql("f", sql, sink=to_topic("out"), expect={"good": expectation})
    check(p.definition())


@settings(max_examples=300, deadline=None)
@given(salad)
def test_any_query_has_findings(words: str) -> None:
    understood(f"SELECT {words}")
    understood(f"SELECT * FROM orders o {words}")


@settings(max_examples=200, deadline=None)
@given(salad.filter(str.strip))
def test_any_condition_has_findings(words: str) -> None:
    understood("SELECT * FROM orders", words)


@settings(deadline=None)
@given(TABLES)
def test_any_tables_are_a_definition_or_unreadable(tables: dict[str, dict[str, str]]) -> None:
    text = "\n".join(
        f"[{name}]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())
        for name, keys in tables.items()
    )
    with suppress(Unreadable):
        check(defined(text))


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_a_definition_or_unreadable(text: str) -> None:
    with suppress(Unreadable):
        check(defined(text))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {' + '.join(['id'] * 400)} AS x FROM orders",
        f"SELECT id FROM {'(SELECT * FROM ' * 200}orders{')' * 200}",
        f"SELECT id FROM orders WHERE {' AND '.join(['id > 0'] * 400)}",
        f"SELECT {'CASE WHEN id = 1 THEN ' * 300}1{' END' * 300} AS x FROM orders",
        " UNION ALL ".join(["SELECT id FROM orders"] * 300),
    ],
)
def test_deep_query_has_findings(sql: str) -> None:
    check(flow(sql))


def test_deep_toml_is_unreadable() -> None:
    with pytest.raises(Unreadable):
        defined(f"{ORDERS}\nx = {'[' * 20_000}{']' * 20_000}")
