"""``trivium table expire``: older states go, and what failed attempts have left behind."""

from datetime import UTC, datetime, timedelta
from typing import Final

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json, writing
from trivium.cli.table_argument import care_of, table_argument, table_refusals
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.span import parse_span

LEAST_MS: Final = 3_600_000
"""An hour: files of a batch at work belong to nobody yet, and must not be taken for left behind."""


@click.command("expire")
@table_argument
@click.option(
    "--older-than", "age", metavar="SPAN", default="7 days", show_default=True, help="At least 1 hour."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
def command(table: str, catalog: str | None, age: str, dry_run: bool, as_json: bool) -> None:
    """Remove what no reader of the newest state needs.

    Older states of Delta and Iceberg cannot be read afterwards. Files that failed attempts have left go, too.
    The newest state, and up to which offsets it covers what, stays.

    \b
    Examples:
      trivium table expire lake/orders
      trivium table expire lake/orders --older-than '1 day' --dry-run
    """
    try:
        span_ms = parse_span("--older-than", age).milliseconds
    except Mistake as mistake:
        raise click.BadParameter(printable(str(mistake)), param_hint="--older-than") from mistake
    if span_ms < LEAST_MS:
        raise click.BadParameter(
            "At least '1 hour': a batch at work has files that no commit names yet.",
            param_hint="--older-than",
        )
    before = datetime.now(UTC) - timedelta(milliseconds=span_ms)
    with table_refusals():
        done = care_of(table, catalog).expire(before, only_look=dry_run)
    if as_json:
        write_json({"table": table, "snapshots": done.snapshots, "files": done.files})
        return
    verb = "would go" if dry_run else "are gone"
    with writing():
        click.echo(printable(f"{done.snapshots:,} older states and {done.files:,} files {verb}."))
