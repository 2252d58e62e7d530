"""``trivium pipeline new``: a file to begin with, never over one that is there."""

from pathlib import Path

import click

from trivium.cli.output import printable, writing
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.names import check_pipeline_name
from trivium.pipeline.template import template


@click.command("new")
@click.argument("name")
@click.option("--python", "is_python", is_flag=True, help="In Python, with flows as functions on DataFrames.")
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), default=".", help="In which folder."
)
def command(name: str, is_python: bool, folder: Path) -> None:
    """Write NAME.toml, or NAME.py, with every key explained.

    \b
    Examples:
      trivium pipeline new orders
      trivium pipeline new orders --python --to pipelines
    """
    try:
        check_pipeline_name(name)
    except Mistake as mistake:
        raise click.BadParameter(printable(str(mistake)), param_hint="NAME") from mistake
    file = folder / f"{name}.{'py' if is_python else 'toml'}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(template(name, is_python=is_python))
    except FileExistsError:
        raise click.ClickException(
            printable(f"{file} is there already; choose another name, or remove it.")
        ) from None
    except OSError as error:
        raise click.ClickException(printable(f"{file} cannot be written: {error.strerror}.")) from error
    with writing():
        click.echo(printable(f"Wrote {file}; 'trivium pipeline check {file}' reads it."))
