"""The table that a command is given: a folder, or a name in a catalog of Iceberg."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from trivium.cli.output import printable
from trivium.pipeline.table import Table, TableFormat

if TYPE_CHECKING:
    from trivium.spark.tables.care import TableCare

F = TypeVar("F", bound=Callable[..., Any])


def table_argument(function: F) -> F:
    function = click.option(
        "--catalog",
        metavar="NAME",
        help="TABLE is a name, namespace.table, in this catalog of pyiceberg's configuration.",
    )(function)
    return click.argument("table", metavar="TABLE")(function)


def named_table(table: str, catalog: str | None) -> Table:
    from trivium.spark.tables.finding import table_at

    return table_at(table) if catalog is None else Table(TableFormat.ICEBERG, None, table, catalog)


def care_of(table: str, catalog: str | None) -> "TableCare":
    from trivium.spark.tables.care import open_care

    return open_care(named_table(table, catalog))


@contextmanager
def table_refusals() -> Iterator[None]:
    """What a table, its libraries or its disk refuse is one sentence."""
    try:
        import pyarrow as pa

        from trivium.spark.tables.errors import TableError
    except ModuleNotFoundError as error:
        raise click.ClickException("Tables need more packages: pip install 'trivium[spark]'.") from error
    try:
        yield
    except TableError as error:
        raise click.ClickException(printable(str(error))) from error
    except pa.ArrowException as error:
        reason = printable(str(error)).partition("\n")[0].rstrip(".")
        raise click.ClickException(
            f"Files of the table are damaged, or belong to several: {reason}. Name the folder of one table."
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(printable(f"The table cannot be reached: {reason}.")) from error
