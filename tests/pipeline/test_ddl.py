"""Schemas in DDL: what Spark takes is read, what is read is printed back, and mistakes say where."""

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trivium.pipeline.ddl import NESTING_LEVELS_MAX, parse_schema
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import Array, Column, DataType, Decimal, Map, Scalar, Schema, Struct

SCALARS = [
    *(
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DATE",
        "TIMESTAMP",
        "TIMESTAMP_NTZ",
    ),
    *("STRING", "BINARY", "VARIANT", "VARCHAR(20)", "CHAR(3)"),
]
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8)


def columns_of(types: st.SearchStrategy[DataType]) -> st.SearchStrategy[tuple[Column, ...]]:
    column = st.builds(Column, names, types, st.booleans(), st.none() | names)
    return st.lists(column, min_size=1, max_size=4, unique_by=lambda each: each.name.casefold()).map(tuple)


scalars: st.SearchStrategy[DataType] = st.sampled_from(SCALARS).map(Scalar) | st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)
types = st.recursive(
    scalars,
    lambda inner: (
        st.builds(Array, inner) | st.builds(Map, inner, inner) | st.builds(Struct, columns_of(inner))
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(columns_of(types))
@example((Column("s", Struct((Column(">", Scalar("BOOLEAN"), False, None),)), False, None),))
def test_schema_printed_and_read_is_the_same(columns: tuple[Column, ...]) -> None:
    schema = Schema(columns)
    assert parse_schema("schema", str(schema)) == schema


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("LONG", "BIGINT"),
        ("integer", "INT"),
        ("byte", "TINYINT"),
        ("short", "SMALLINT"),
        ("real", "FLOAT"),
        ("timestamp_ltz", "TIMESTAMP"),
        ("numeric(5)", "DECIMAL(5,0)"),
        ("dec", "DECIMAL(10,0)"),
        ("decimal( 12 , 2 )", "DECIMAL(12,2)"),
        ("array<struct<a:int,b string>>", "ARRAY<STRUCT<a: INT, b: STRING>>"),
        ("map<string,array<int>>", "MAP<STRING, ARRAY<INT>>"),
        ("struct<>", "STRUCT<>"),
    ],
)
def test_type_of_many_names_has_one(written: str, means: str) -> None:
    assert str(parse_schema("schema", f"c {written}").columns[0].type) == means


def test_column_keeps_what_is_said_about_it() -> None:
    schema = parse_schema(
        "schema", "`odd name` INT NOT NULL COMMENT 'it''s' , b: STRING".replace("''", "\\'")
    )
    assert schema.columns == (
        Column("odd name", Scalar("INT"), is_nullable=False, comment="it's"),
        Column("b", Scalar("STRING")),
    )


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("id BIGINTT", "id has the type BIGINTT, which Spark does not know. Did you mean 'BIGINT'?"),
        ("id", "In the schema, the schema ends where the type of id should be."),
        (
            "id INT name STRING",
            "In the schema, there is 'name' at position 8 where ',' and another column should be.",
        ),
        ("id INT,", "In the schema, the schema ends where the name of a column should be."),
        ("a ARRAY<INT", "In the schema, the schema ends where '>' should be."),
        ("a ARRAY", "In the schema, the schema ends where '<' should be."),
        ("a MAP<INT>", "In the schema, there is '>' at position 10 where ',' should be."),
        ("a INT NOT", "In the schema, the schema ends where NULL should be."),
        (
            "a INT COMMENT x",
            "In the schema, there is 'x' at position 15 where a comment in quotes should be.",
        ),
        ("a INT, A STRING", "The schema has two columns A."),
        ("a DECIMAL(39,2)", "There is no DECIMAL(39,2)."),
        ("a DECIMAL(4,5)", "There is no DECIMAL(4,5)."),
        ("a VARCHAR", "In the schema, the schema ends where '(' should be."),
        ("a;b INT", "The schema has a ';' at position 2 that belongs nowhere."),
    ],
)
def test_wrong_schema_is_a_sentence(written: str, sentence: str) -> None:
    with pytest.raises(Mistake) as raised:
        parse_schema("schema", written)
    assert str(raised.value).startswith(sentence)
    assert raised.value.key == "schema"


def test_types_inside_types_have_a_limit() -> None:
    depth = NESTING_LEVELS_MAX - 1
    parse_schema("schema", f"c {'ARRAY<' * depth}INT{'>' * depth}")
    with pytest.raises(Mistake, match="too many types inside types"):
        parse_schema("schema", f"c {'ARRAY<' * (depth + 1)}INT{'>' * (depth + 1)}")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_schema_or_a_mistake(text: str) -> None:
    with suppress(Mistake):
        assert parse_schema("schema", text).columns
