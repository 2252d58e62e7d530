"""``trivium table compact``: few large files instead of many small ones."""

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json, writing
from trivium.cli.table_argument import care_of, table_argument, table_refusals


@click.command("compact")
@table_argument
@click.option(
    "--target-mb",
    type=click.IntRange(1, 4096),
    default=128,
    show_default=True,
    help="How large files may become.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
def command(table: str, catalog: str | None, target_mb: int, dry_run: bool, as_json: bool) -> None:
    """Make few large files of many small ones.

    The rows stay the same, and flows may write meanwhile. Readers of Delta and Iceberg see one state or the
    other; whoever reads a folder of plain Parquet at that moment may miss rows.

    \b
    Examples:
      trivium table compact lake/orders
      trivium table compact lake/orders --target-mb 512 --dry-run
    """
    with table_refusals():
        done = care_of(table, catalog).compact(target_mb << 20, only_look=dry_run)
    if as_json:
        write_json({"table": table, "files_before": done.files_before, "files_after": done.files_after})
        return
    said = f"{done.files_before:,} files become {done.files_after:,}."
    if done.files_before == done.files_after:
        said = f"{table}: {done.files_before:,} files, none of them worth rewriting."
    with writing():
        click.echo(printable(said))
