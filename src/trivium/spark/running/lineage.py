"""Which record a row of a query was made of: SQL is changed so that it carries the record along.

``SELECT *`` has it already. Where columns are named it is added, if each row comes from one record: no
aggregate, no DISTINCT, one stream in FROM. If moreover nothing but WHERE can lose a row, malformed records
may go through the query as well, and the topic is read only once for good and bad records. A function that
makes rows of one, such as ``explode``, loses those without a value.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trivium.pipeline.checking.sql_text import SQLGLOT_CRASHES, parse_query
from trivium.spark.running.source_frames import PROBLEM, RECORD

if TYPE_CHECKING:
    from sqlglot import exp


GENERATORS: Final = frozenset(
    f"{name}{outer}"
    for name in ("explode", "posexplode", "inline", "variant_explode")
    for outer in ("", "_outer")
) | {"stack", "json_tuple"}
"""Functions of Spark in SELECT that give no row, or several, for one."""


@dataclass(frozen=True, slots=True)
class Carried:
    sql: str
    takes_malformed: bool
    """Whether records with a problem come out as they go in, whatever the query asks for."""


def carry(sql: str, streams: Set[str]) -> Carried | None:
    """The query with the record; None where a row is not made of one. ``streams``: casefolded names."""
    from sqlglot import exp

    query = parse_query("sql", sql)
    source = _only_stream(query, streams)
    if source is None or not isinstance(query, exp.Select):
        return None
    has_star = any(each.is_star for each in query.selects)
    is_alone = not any(query.args.get(each) for each in ("joins", "laterals")) and not _multiplies(query)
    where = query.args.get("where")
    if has_star and where is None:
        return Carried(sql, is_alone)
    changed = query.copy()
    if not has_star:
        changed.select(exp.column(RECORD, table=source.alias_or_name), copy=False)
    if where is not None and is_alone:
        problem = exp.Dot.build([exp.column(RECORD), exp.to_identifier(PROBLEM)])
        condition = exp.Paren(this=where.this.copy())
        changed.set(
            "where",
            exp.Where(this=exp.or_(condition, exp.Not(this=exp.Is(this=problem, expression=exp.null())))),
        )
    try:
        return Carried(changed.sql(dialect="spark", normalize_functions=False), is_alone)
    except SQLGLOT_CRASHES:
        return None


def _multiplies(query: "exp.Select") -> bool:
    from sqlglot import exp

    functions = (each for selected in query.selects for each in selected.find_all(exp.Func))
    return any(
        (each.name if isinstance(each, exp.Anonymous) else each.sql_name()).casefold() in GENERATORS
        for each in functions
    )


def _only_stream(query: "exp.Query", streams: Set[str]) -> "exp.Table | None":
    """The stream in FROM of a query that makes each row of one record."""
    from sqlglot import exp

    if not isinstance(query, exp.Select) or query.find(exp.AggFunc, exp.Subquery):
        return None
    if any(
        query.args.get(each) for each in ("with", "with_", "group", "having", "distinct", "limit", "qualify")
    ):
        return None
    origin = query.args.get("from") or query.args.get("from_")
    table = origin.this if origin is not None else None
    if not isinstance(table, exp.Table) or table.name.casefold() not in streams:
        return None
    if table.args.get("pivots") or table.args.get("sample"):
        return None
    return table
