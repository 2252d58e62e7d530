"""A query over relations: which columns it names that are not there, and which it gives.

Nothing is claimed where anything is not known: a relation without columns silences what depends on it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from trivium.pipeline.checking.relation import UNKNOWN, Relation
from trivium.pipeline.checking.sql_text import SQLGLOT_CRASHES, as_written, spoken_metadata
from trivium.pipeline.checking.sql_types import type_mistakes
from trivium.pipeline.checking.streams import Streaming, streaming_of
from trivium.pipeline.ddl import parse_schema
from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.schema import Column, DataType, Schema, bare

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

_TIME_WINDOWS: Final = ("window", "session_window")
"""GROUP BY window(…) makes a column of this name."""


@dataclass(frozen=True, slots=True)
class QueryFacts:
    mistakes: tuple[Mistake, ...] = ()
    columns: Schema | None = None
    spoken: frozenset[str] = frozenset()
    unnamed: tuple[str, ...] = ()
    """Expressions to which Spark will give a name of its own."""

    streaming: Streaming = field(default_factory=Streaming)
    is_beyond_us: bool = False
    """Whether the query could be read but not followed: Spark may think otherwise."""


def analyse(key: str, query: "exp.Query", relations: Mapping[str, Relation]) -> QueryFacts:
    """``relations``: all that the query reads, by casefolded name."""
    from sqlglot.errors import SqlglotError

    spoken = spoken_metadata(query)
    try:
        unnamed = tuple(_unnamed(query))
        tree = _resolved(query, relations)
        return _facts(key, tree, relations, spoken, unnamed)
    except SqlglotError as error:
        if any(relation.columns is None for relation in relations.values()):
            return QueryFacts(spoken=spoken, is_beyond_us=True)
        said = " ".join(str(error).split()).rstrip(".")
        return QueryFacts((Mistake(key, f"The SQL cannot be resolved: {said}."),), spoken=spoken)
    except SQLGLOT_CRASHES:
        return QueryFacts(spoken=spoken, is_beyond_us=True)


def _resolved(query: "exp.Query", relations: Mapping[str, Relation]) -> "exp.Query":
    """The query with the table of each column, * written out, and types as far as they follow."""
    from sqlglot.optimizer.annotate_types import annotate_types
    from sqlglot.optimizer.qualify import qualify
    from sqlglot.schema import MappingSchema

    schema = MappingSchema(
        {
            relation.name: {column.name: str(bare(column.type)) for column in relation.columns.columns}
            for relation in relations.values()
            if relation.columns is not None
        },
        dialect="spark",
    )
    qualified = qualify(
        query.copy(),
        schema=schema,
        dialect="spark",
        validate_qualify_columns=False,
        allow_partial_qualification=True,  # Unknown columns are ours to report, all of them.
        quote_identifiers=False,
    )
    return annotate_types(qualified, schema=schema, dialect="spark")


def _facts(
    key: str,
    tree: "exp.Query",
    relations: Mapping[str, Relation],
    spoken: frozenset[str],
    unnamed: tuple[str, ...],
) -> QueryFacts:
    from sqlglot.optimizer.scope import traverse_scope

    scopes = traverse_scope(tree)
    mistakes = list(_unknown_columns(key, scopes, relations))
    if not mistakes:
        mistakes += type_mistakes(key, tree)
    return QueryFacts(tuple(mistakes), _output(tree), spoken, unnamed, streaming_of(scopes, relations))


def _unnamed(query: "exp.Query") -> Iterator[str]:
    from sqlglot import exp

    for each in query.selects:
        if not isinstance(
            each, exp.Alias | exp.Aliases | exp.Column | exp.Star | exp.Dot | exp.Explode | exp.Posexplode
        ):
            yield as_written(each)


def _unknown_columns(key: str, scopes: "list[Scope]", relations: Mapping[str, Relation]) -> Iterator[Mistake]:
    seen = set()
    for scope in scopes:
        known = _known_columns(scope, relations)
        for column in scope.columns:
            place = (column.table, column.name)
            if place not in seen and not _is_time_window(scope, column):
                seen.add(place)
                yield from _unknown_column(key, scope, known, *place)


def _unknown_column(
    key: str, scope: "Scope", known: Mapping[str, list[str] | None], table: str, name: str
) -> Iterator[Mistake]:
    if table and table not in known:
        if table not in scope.sources:  # Else it is of a query around this one, and looked at there.
            yield Mistake(key, f"There is no input and no column {table} here.", did_you_mean(table, known))
        return
    aliases = [table] if table else list(known)
    names = []
    for alias in aliases:
        found = known[alias]
        if found is None:
            return
        names += found
    if name.casefold() not in (each.casefold() for each in names):
        of = ", ".join(_input_name(scope, alias) for alias in aliases)
        yield Mistake(key, f"There is no column {name} in {of}.", did_you_mean(name, names))


def _known_columns(scope: "Scope", relations: Mapping[str, Relation]) -> dict[str, list[str] | None]:
    """The columns of each thing that a SELECT reads, by its alias; None where they are not known."""
    from sqlglot import exp

    known: dict[str, list[str] | None] = {}
    for alias, (_, source) in scope.selected_sources.items():
        if isinstance(source, exp.Table):
            relation = relations.get(source.name.casefold())
            known[alias] = list(relation.columns.names) if relation and relation.columns else None
        else:
            names = list(source.expression.named_selects) if isinstance(source.expression, exp.Query) else []
            known[alias] = None if not names or "*" in names or "" in names else names
    if scope.find(exp.Lateral, exp.Unnest) is not None:
        known[""] = None  # What it makes of rows is Spark's business.
    return known


def _is_time_window(scope: "Scope", column: "exp.Column") -> bool:
    from sqlglot import exp

    if (column.table or column.name).casefold() not in _TIME_WINDOWS:
        return False
    return any(each.name.casefold() in _TIME_WINDOWS for each in scope.find_all(exp.Anonymous))


def _input_name(scope: "Scope", alias: str) -> str:
    from sqlglot import exp

    source = scope.sources[alias]
    return source.name if isinstance(source, exp.Table) else alias


def _output(tree: "exp.Expr") -> Schema | None:
    from sqlglot import exp

    assert isinstance(tree, exp.Query)
    columns = []
    for each in tree.selects:
        if each.is_star or isinstance(each, exp.Aliases) or not each.alias_or_name:
            return None
        columns.append(Column(each.alias_or_name, _type(each)))
    return Schema(tuple(columns))


def _type(expression: "exp.Expr") -> DataType:
    if expression.type is None:
        return UNKNOWN
    try:
        return parse_schema("", f"c {expression.type.sql(dialect='spark')}").columns[0].type
    except Mistake:
        return UNKNOWN
