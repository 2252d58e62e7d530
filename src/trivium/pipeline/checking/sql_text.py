"""SQL of Spark as a tree, by sqlglot, which is imported when there is SQL to look at.

sqlglot takes the word WINDOW behind GROUP BY for a clause of its own; in streams it is nearly always the
function ``window(time, '1 minute')``. So the word is a plain name wherever a bracket follows.
"""

from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from trivium.pipeline.mistake import Mistake
from trivium.pipeline.schema import METADATA

if TYPE_CHECKING:
    from sqlglot import exp

SQLGLOT_CRASHES: Final = (RecursionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What sqlglot raises beside its own errors where a text is odd enough."""

SQL_REMEDY: Final = "Install it: pip install 'trivium[spark]'."


def is_sql_readable() -> bool:
    """Whether sqlglot is there; it comes with the extra for Spark."""
    return find_spec("sqlglot") is not None


def parse_query(key: str, sql: str) -> "exp.Query":
    """One SELECT, or several in a UNION."""
    _need_sqlglot(key)
    from sqlglot import exp

    tree = _parse(key, sql)
    if not isinstance(tree, exp.Query):
        kind = sql.split(maxsplit=1)[0].upper()[:20]
        raise Mistake(
            key, f"A flow is a SELECT, and this is {kind}.", "What is written where is said by the sink."
        )
    if not tree.selects:
        raise Mistake(key, "The SELECT gives no column.", "Name some, or write *.")
    return tree


def parse_condition(key: str, condition: str) -> "exp.Query":
    """A condition over columns, as the only column of a query over ``rows``."""
    _need_sqlglot(key)
    from sqlglot import exp

    tree = _parse(key, f"SELECT ({condition}\n) AS ok FROM rows")  # noqa: S608 - nobody runs it
    is_nested = any(each is not tree for each in tree.find_all(exp.Query))
    if not isinstance(tree, exp.Select) or len(tree.selects) != 1 or is_nested:
        raise Mistake(
            key, "This is more than a condition.", "Write what must be true of a row: 'amount > 0'."
        )
    return tree


def input_names(key: str, query: "exp.Query") -> tuple[str, ...]:
    """The names that a query reads, in order, each once; what WITH defines is not among them."""
    from sqlglot.errors import SqlglotError

    try:
        return tuple(dict.fromkeys(_table_names(query)))
    except (SqlglotError, *SQLGLOT_CRASHES):
        raise Mistake(key, "What the SQL reads cannot be made out.", "Look at FROM and JOIN.") from None


def _table_names(query: "exp.Query") -> list[str]:
    from sqlglot import exp
    from sqlglot.optimizer.scope import traverse_scope

    return [
        source.sql(dialect="spark", comments=False) if source.db else source.name
        for scope in traverse_scope(query)
        for table in scope.tables
        if isinstance(source := scope.sources.get(table.alias_or_name), exp.Table)
        and isinstance(source.this, exp.Identifier)
    ]


def spoken_metadata(query: "exp.Query") -> frozenset[str]:
    """The metadata columns (``_offset`` …) that a query names, casefolded: these its sink gets."""
    from sqlglot import exp

    names = (column.name.casefold() for column in query.find_all(exp.Column))
    return frozenset(name for name in names if METADATA.find(name) is not None)


def as_written(node: "exp.Expr | None") -> str:
    """As its author wrote it, without the tables that resolving has added."""
    from sqlglot import exp

    if node is None:
        return ""
    plain = node.copy()
    for column in [plain] if isinstance(plain, exp.Column) else plain.find_all(exp.Column):
        column.set("table", None)
    return plain.sql(dialect="spark", normalize_functions=False)


def _need_sqlglot(key: str) -> None:
    if not is_sql_readable():
        raise Mistake(key, "SQL cannot be understood without sqlglot.", SQL_REMEDY)


def _parse(key: str, sql: str) -> "exp.Expr":
    from sqlglot import Dialect
    from sqlglot.errors import ParseError, TokenError
    from sqlglot.tokenizer_core import Token, TokenType

    dialect = Dialect.get_or_raise("spark")
    try:
        tokens = dialect.tokenize(sql)
        for at, (token, following) in enumerate(pairwise(tokens)):
            if token.token_type is TokenType.WINDOW and following.token_type is TokenType.L_PAREN:
                tokens[at] = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end)
        trees = [tree for tree in dialect.parser().parse(tokens, sql) if tree is not None]
    except ParseError as error:
        raise Mistake(key, _said(error)) from None
    except TokenError:
        raise Mistake(key, "A quote or a comment in the SQL has no end.", "Close it.") from None
    except RecursionError:
        raise Mistake(
            key, "The SQL has too many brackets inside brackets.", "Split it into several flows."
        ) from None
    except SQLGLOT_CRASHES:
        raise Mistake(key, "The SQL cannot be understood.") from None
    if len(trees) != 1:
        said = f"{len(trees)} statements" if trees else "no statement"
        raise Mistake(key, f"The SQL has {said}.", "A flow is one SELECT.")
    return trees[0]


def _said(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return "The SQL cannot be understood."
    first = details[0]
    near = " ".join((first["highlight"] or "").split())
    where = f" near '{near}'" if near else " at its end"
    what = first["description"].rstrip(".")
    # The commonest of its explanations explains nothing.
    why = "" if what.startswith("Invalid expression") else f": {what[:1].lower()}{what[1:]}"
    return f"The SQL cannot be understood{where} (its line {first['line']}){why}."
