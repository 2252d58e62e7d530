"""What a query asks of a stream, which has no end: what needs a watermark, and what Spark cannot do at all.

A time is *held* where a watermark says when no older one is to come: the column itself, and a window over it.
Sums by anything else grow for ever and are never final.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from trivium.pipeline.checking.relation import Relation
from trivium.pipeline.checking.sql_text import as_written

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

_WINDOWS: Final = ("window", "session_window", "window_time")


@dataclass(frozen=True, slots=True)
class Streaming:
    is_stream: bool = False
    event_times: frozenset[str] = frozenset()
    """Columns of the result that are held, casefolded."""

    endless: tuple[str, ...] = ()
    """Groups that are never final, as they are written."""

    impossible: tuple[str, ...] = ()
    """What Spark refuses on a stream, as it is written."""

    joins_endlessly: bool = False
    """Two streams are joined, and one has no watermark: every row is remembered."""

    waits_endlessly: bool = False
    """Two streams are joined by an outer join that does not know when no partner can come any more."""


def streaming_of(scopes: "Sequence[Scope]", relations: Mapping[str, Relation]) -> Streaming:
    """``scopes``: of one query, inner ones first; the last is the whole."""
    inner: dict[int, Streaming] = {}
    found = Streaming()
    for scope in scopes:
        found = _look(scope, relations, inner)
        inner[id(scope)] = found
    return Streaming(
        found.is_stream,
        found.event_times,
        tuple(text for each in inner.values() for text in each.endless),
        tuple(text for each in inner.values() for text in each.impossible),
        any(each.joins_endlessly for each in inner.values()),
        any(each.waits_endlessly for each in inner.values()),
    )


def _look(scope: "Scope", relations: Mapping[str, Relation], inner: Mapping[int, Streaming]) -> Streaming:
    from sqlglot import exp

    held: dict[str, frozenset[str]] = {}
    streams = []
    for alias, (_, source) in scope.selected_sources.items():
        if isinstance(source, exp.Table):
            relation = relations.get(source.name.casefold())
            is_stream, times = (
                (relation.is_stream, relation.event_times) if relation else (False, frozenset())
            )
        else:
            below = inner.get(id(source), Streaming())
            is_stream, times = below.is_stream, below.event_times
        held[alias] = times
        if is_stream:
            streams.append(alias)
    parts = [inner[id(part)] for part in scope.set_operation_scopes if id(part) in inner]
    if parts:
        # Spark takes over what is known of the first part's columns.
        return Streaming(any(part.is_stream for part in parts), parts[0].event_times)
    select = scope.expression
    if not streams or not isinstance(select, exp.Select):
        return Streaming()
    joins = select.args.get("joins") or [] if len(streams) > 1 else []
    return Streaming(
        True,
        frozenset(_held_columns(select, held)),
        tuple(_endless(scope, select, held)),
        tuple(_impossible(scope, select)),
        bool(joins) and not all(held[alias] for alias in streams),
        any(join.side and not _is_timed(join, held) for join in joins),
    )


def _held_columns(select: "exp.Select", held: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for each in select.selects:
        if each.is_star:
            # Only of inputs whose columns are not known is it still there.
            yield from frozenset().union(*held.values())
        elif _is_held(each.unalias(), held):
            yield each.alias_or_name.casefold()


def _is_held(expression: "exp.Expr", held: Mapping[str, frozenset[str]]) -> bool:
    from sqlglot import exp

    if isinstance(expression, exp.Paren | exp.Alias):
        return _is_held(expression.this, held)
    if isinstance(expression, exp.Anonymous) and expression.name.casefold() in _WINDOWS:
        return bool(expression.expressions) and _is_held(expression.expressions[0], held)
    if not isinstance(expression, exp.Column):
        return False
    name = expression.name.casefold()
    if name in _WINDOWS:
        return any(held.values())
    if not expression.table:  # It could not be told whose it is.
        return any(name in times for times in held.values())
    return name in held.get(expression.table, frozenset())


def _is_timed(join: "exp.Join", held: Mapping[str, frozenset[str]]) -> bool:
    """Whether the condition compares the times of both sides."""
    from sqlglot import exp

    condition = join.args.get("on")
    columns = condition.find_all(exp.Column) if condition is not None else ()
    return len({column.table for column in columns if _is_held(column, held)}) > 1


def _endless(scope: "Scope", select: "exp.Select", held: Mapping[str, frozenset[str]]) -> list[str]:
    from sqlglot import exp

    group = select.args.get("group")
    by = list(group.expressions) if group else []
    if select.args.get("distinct"):
        by = [each.unalias() for each in select.selects]
    elif not group and not any(
        each.find_ancestor(exp.Window, exp.Query) is select for each in scope.find_all(exp.AggFunc)
    ):
        return []
    if any(_is_held(each, held) for each in by):
        return []
    return [", ".join(as_written(each) for each in by) if by else "all rows"]


def _impossible(scope: "Scope", select: "exp.Select") -> list[str]:
    from sqlglot import exp

    found = [as_written(each) for each in scope.find_all(exp.Window)]
    if scope.is_subquery:
        found.append("A SELECT inside an expression")
    found += [
        as_written(select.args[key]).strip() for key in ("order", "sort", "offset") if select.args.get(key)
    ]
    return found
