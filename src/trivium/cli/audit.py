"""``trivium audit``: the audit trail, for people: who came in, and what each was allowed or not."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from trivium.cli.output import printable, writing


@click.command("audit")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--refused", is_flag=True, help="Only what was not allowed.")
@click.option("--logins", is_flag=True, help="Only who came in, or tried to.")
@click.option("--principal", metavar="PRINCIPAL", help="Only what this one did, such as User:ann.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N of them.")
@click.option("--json", "as_json", is_flag=True, help="The lines as they are, for scripts.")
def command(
    file: Path, refused: bool, logins: bool, principal: str | None, last: int | None, as_json: bool
) -> None:
    """Read the audit trail that a node writes to its audit.file.

    \b
    Examples:
      trivium audit /var/log/trivium/audit.jsonl --refused
      trivium audit audit.jsonl --logins --last 20
      trivium audit audit.jsonl --principal User:ann --json
    """

    def is_wanted(event: dict[str, Any]) -> bool:
        return (
            (not refused or event.get("allowed") is False)
            and (not logins or event.get("event") == "login")
            and (principal is None or event.get("principal") == principal)
        )

    found: list[dict[str, Any]] = []
    with writing():
        for event in filter(is_wanted, _events(file)):
            if last is None:
                _show(event, as_json)
            else:
                found.append(event)
                del found[:-last]
        for event in found:
            _show(event, as_json)


def _events(file: Path) -> Iterator[dict[str, Any]]:
    """Lines that are no events, such as one that a full disk has cut, are left out and counted."""
    events = others = bad_line = 0
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    event = json.loads(line)
                except ValueError:
                    event = None
                if not isinstance(event, dict):
                    others += 1
                    bad_line = bad_line or number
                    continue
                events += 1
                yield event
    except OSError as error:
        raise click.ClickException(
            f"{file} cannot be read: {error.strerror}; 'trivium config' shows a node's audit.file."
        ) from error
    if others and not events:
        raise click.ClickException(f"{file} is no audit trail: none of its lines is an event.")
    if others:
        left_out = "1 line is" if others == 1 else f"{others:,} lines are"
        click.echo(f"{left_out} no event, and left out; see line {bad_line}.", err=True)


def _show(event: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(event, separators=(",", ":")))
        return
    if event.get("event") == "missing":
        click.echo(f"{event.get('time')}  {event.get('lines')} lines are missing here")
        return
    verdict = "allowed" if event.get("allowed") else "REFUSED"
    who = f"{event.get('principal')}@{event.get('host')} ({event.get('door')})"
    if event.get("event") == "login":
        what = f"login as {event.get('name') or '?'} by {event.get('method')}"
    else:
        what = f"{event.get('operation')} {event.get('resource')} {event.get('name')}"
    click.echo(printable(f"{event.get('time')}  {verdict}  {who}  {what}: {event.get('why')}"))
