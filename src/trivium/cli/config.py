"""``trivium config``: what a node would be configured with, and where each value comes from.

Takes the same file, environment and flags as ``trivium serve``. ``trivium config explain NAME`` is about one
setting: what it is for, what it takes, where it can be written. Secrets are never shown.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from trivium.cli.node_options import node_options
from trivium.cli.output import write_json, writing
from trivium.cli.tables import open_console, show_rows
from trivium.core.config.broker import BROKER
from trivium.core.config.definition import Definition
from trivium.core.config.group import GROUP
from trivium.core.config.topic import TOPIC
from trivium.server.configuration.configuration import Setting
from trivium.server.configuration.environment import variable_of
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.configuration.names import nearest
from trivium.server.configuration.own_settings import FLAGS, KAFKA_NAMES, OWN, OWN_NAMES

_HIDDEN: Final = "(hidden)"
_NOT_SET: Final = "not set"
_NO_EFFECT: Final = "has no effect here"


@dataclass(frozen=True, slots=True)
class SettingRow:
    setting: str
    value: str
    source: str
    note: str


@dataclass(frozen=True, slots=True)
class SettingFacts:
    """The same for scripts."""

    name: str
    value: str | None
    source: str
    is_default: bool
    is_secret: bool
    takes_effect: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    name: str
    of: str
    """Whose setting it is: node, broker, topic, group."""
    purpose: str
    takes: str
    default: str | None
    change: str
    written_as: list[str]
    same_as: str | None
    """Trivium's own name for it, which may be used instead."""
    falls_back_to: str | None
    """The broker's setting that counts where this one has no value."""


class _ShowsUnlessTold(click.Group):
    """``trivium config`` alone shows; whatever is not the name of a subcommand belongs to that."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["show", *args]
        return super().parse_args(ctx, args)


@click.group("config", cls=_ShowsUnlessTold)
def command() -> None:
    """Show a node's settings with where they come from."""


@command.command("show")
@node_options
@click.option("--all", "wants_all", is_flag=True, help="Also what is as it is by default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")
def show(config_path: Path | None, flags: dict[str, str], wants_all: bool, as_json: bool) -> None:
    """Show the settings that a node would have, with where each comes from.

    CONFIG is a trivium.toml or a Kafka server.properties. Stronger than it are TRIVIUM_* in the environment,
    and flags. Shown is what somebody has set.

    \b
    Examples:
      trivium config trivium.toml
      trivium config /etc/kafka/server.properties --all
      trivium config --kafka 0.0.0.0:9092 --set num.partitions=3
      trivium config explain retention.ms                what one setting is for
      trivium config --json | jq '.[] | select(.takes_effect | not) | .name'
    """
    try:
        configuration = load(config_path, os.environ, flags)
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from error
    shown = [each for each in configuration.settings.values() if wants_all or not each.is_default]
    if as_json:
        write_json([_facts(setting) for setting in shown])
        return
    with writing():
        if shown:
            show_rows(open_console(), "Settings of the node", [_row(setting) for setting in shown])
        else:
            click.echo("Nothing is set; --all shows what a node is by default.")


def _row(setting: Setting) -> SettingRow:
    is_hidden = setting.definition.is_sensitive and not setting.is_default
    value = _NOT_SET if setting.text is None else setting.text
    note = "" if setting.takes_effect else _NO_EFFECT
    return SettingRow(setting.name, _HIDDEN if is_hidden else value, setting.source, note)


def _facts(setting: Setting) -> SettingFacts:
    return SettingFacts(
        setting.name,
        setting.text,
        setting.source,
        setting.is_default,
        setting.definition.is_sensitive,
        setting.takes_effect,
    )


@command.command("explain")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")
def explain(name: str, as_json: bool) -> None:
    """Explain one setting, Trivium's or Kafka's: of a node, a broker, a topic, a group.

    \b
    Examples:
      trivium config explain durability
      trivium config explain log.retention.hours
    """
    tables = {"node": OWN, "broker": BROKER, "topic": TOPIC, "group": GROUP}
    found = [_explanation(of, table[name]) for of, table in tables.items() if name in table]
    if not found:
        known = sorted({each for table in tables.values() for each in table})
        raise click.ClickException(f"{name} is no setting{nearest(name, known)}.")
    if as_json:
        write_json(found)
        return
    with writing():
        click.echo("\n\n".join(map(_paragraph, found)))


def _explanation(of: str, definition: Definition) -> Explanation:
    name = definition.name
    return Explanation(
        name=name,
        of=of,
        purpose=definition.doc or f"Known to Kafka; it {_NO_EFFECT}.",
        takes=definition.allowed,
        default=definition.default_text,
        change=_change(of, definition),
        written_as=_spellings(of, name),
        same_as=OWN_NAMES.get(name),
        falls_back_to=definition.broker_name,
    )


def _change(of: str, definition: Definition) -> str:
    if of in ("topic", "group"):
        return "at any time"
    return "before the start" if definition.is_read_only else f"at any time ({definition.update.value})"


def _spellings(of: str, name: str) -> list[str]:
    if of == "topic":
        return [f"trivium topic create NAME --config {name}=…", f"trivium topic alter NAME --set {name}=…"]
    if of == "group":
        return [f"kafka-configs --alter --entity-type groups --entity-name NAME --add-config {name}=…"]
    key = name if of == "broker" else name.rpartition(".")[2]
    table = "kafka" if of == "broker" else name.rpartition(".")[0]
    place = f"[{table}] {key} = … in trivium.toml" if table else f"{key} = … in trivium.toml"
    spellings = [place, variable_of(name), FLAGS.get(name, f"--set {name}=…")]
    if of == "broker":
        spellings.append(f"{name}=… in server.properties")
    return spellings + [f"{kafka}=… in server.properties" for kafka in KAFKA_NAMES.get(name, ())]


def _paragraph(explanation: Explanation) -> str:
    facts = {
        "takes": explanation.takes,
        "default": "none" if explanation.default is None else explanation.default or "empty",
        "changes": explanation.change,
        "same as": explanation.same_as,
        "otherwise": explanation.falls_back_to and f"{explanation.falls_back_to} of the broker",
        "write": f"\n{'':12}".join(explanation.written_as),
    }
    lines = [f"{explanation.name} ({explanation.of})", f"  {explanation.purpose}", ""]
    return "\n".join([*lines, *(f"  {label:10}{text}" for label, text in facts.items() if text)])
