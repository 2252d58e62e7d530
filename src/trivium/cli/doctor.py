"""``trivium doctor``: what a node opens to whom, and what of that is risky."""

from pathlib import Path
from typing import Final

import click

from trivium.cli.node_options import node_options
from trivium.cli.output import printable, write_json, writing
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.exposure import Finding, Weight, findings

_SIGNS: Final = {Weight.FINE: "ok  ", Weight.NOTE: "note", Weight.RISK: "RISK"}


@click.command("doctor")
@node_options
@click.option("--strict", is_flag=True, help="End with exit code 1 if anything is risky.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")
def command(config_path: Path | None, flags: dict[str, str], strict: bool, as_json: bool) -> None:
    """Tell what a node with this configuration opens to whom, and what of that is risky.

    Takes the same file and flags as 'trivium serve'. Nothing is started and nothing is changed.

    \b
    Examples:
      trivium doctor trivium.toml
      trivium doctor --kafka 0.0.0.0:9092 --set access.acls=on
      trivium doctor server.properties --strict
    """
    try:
        configuration = load(config_path, flags=flags)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from error
    found = list(findings(configuration, config_path))
    if as_json:
        write_json({"findings": [_facts(each) for each in found]})
    else:
        with writing():
            for each in found:
                click.echo(f"{_SIGNS[each.weight]}  {printable(each.about)}: {printable(each.says)}")
                if each.advice:
                    click.echo(f"      {printable(each.advice)}")
            risks = sum(each.weight is Weight.RISK for each in found)
            click.echo("Nothing is risky." if not risks else f"Risky: {risks}.")
    if strict and any(each.weight is Weight.RISK for each in found):
        raise click.exceptions.Exit(1)


def _facts(finding: Finding) -> dict[str, str]:
    return {
        "weight": finding.weight.value,
        "about": finding.about,
        "says": finding.says,
        "advice": finding.advice,
    }
