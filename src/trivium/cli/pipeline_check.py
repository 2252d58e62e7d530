"""``trivium pipeline check``: what is wrong with a pipeline, as a table or for scripts."""

from dataclasses import dataclass

import click

from trivium.cli.connecting import json_option
from trivium.cli.output import printable, write_json, writing
from trivium.cli.pipeline_file import door_of, file_argument, pipeline_broker_option
from trivium.client.cluster import Cluster
from trivium.client.door import Door
from trivium.client.errors import ClientError
from trivium.pipeline.checking import (
    broker_findings,
    check,
    folder_findings,
    in_order,
    relations_of,
    unreachable,
)
from trivium.pipeline.checking.broker import BROKER_TIMEOUT_S
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, Severity, Unreadable
from trivium.pipeline.reading import load


@dataclass(frozen=True, slots=True)
class FindingRow:
    severity: str
    line: int | None
    where: str
    what: str
    remedy: str


@dataclass(frozen=True, slots=True)
class FlowRow:
    flow: str
    reads: tuple[str, ...]
    writes: str
    trigger: str
    group: str


@click.command("check")
@file_argument
@click.option("--offline", is_flag=True, help="Ask neither broker nor disk: topics and folders are believed.")
@pipeline_broker_option
@json_option
def command(file: str, offline: bool, bootstrap: str | None, as_json: bool) -> None:
    """Find mistakes in a pipeline before Spark starts.

    Looks at the file, its schemas and its SQL, asks the broker about topics and rights, and the disk whether
    tables and state can be written. Exit code 1 where there are errors; warnings alone are none.

    \b
    Examples:
      trivium pipeline check orders.toml
      trivium pipeline check orders.py --offline
      trivium pipeline check orders.toml --json | jq -r '.findings[].what'
    """
    definition: Definition | None = None
    try:
        definition = load(file)
        findings = check(definition)
    except Unreadable as error:
        findings = list(error.findings)
    if definition is not None and not any(each.severity is Severity.ERROR for each in findings):
        findings = in_order(definition, [*findings, *_tables(definition)])
    if definition is not None and not offline:
        asked = [*folder_findings(definition), *_asked(definition, door_of(definition, bootstrap))]
        findings = in_order(definition, [*findings, *asked])
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if as_json:
        write_json(
            {
                "file": file,
                "pipeline": definition.name if definition else None,
                "errors": errors,
                "warnings": len(findings) - errors,
                "findings": _rows(findings),
                "flows": _flows(definition) if definition else [],
            }
        )
    else:
        _show(file, definition, findings, errors)
    if errors:
        raise click.exceptions.Exit(1)


def _tables(definition: Definition) -> list[Finding]:
    """Tables that are there: whether the flows fit them."""
    try:
        import pyarrow  # noqa: F401 - without it there is nothing to look with
    except ModuleNotFoundError:
        return []
    from trivium.spark.tables.checking import table_findings

    return list(table_findings(definition, relations_of(definition)))


def _asked(definition: Definition, door: Door) -> list[Finding]:
    try:
        with Cluster.connect(door.bootstrap, timeout_s=BROKER_TIMEOUT_S, security=door.security) as cluster:
            return list(broker_findings(definition, cluster))
    except ClientError as error:
        return [unreachable(error)]


def _show(file: str, definition: Definition | None, findings: list[Finding], errors: int) -> None:
    from trivium.cli.tables import show_table

    show_table(printable(file), _rows(findings))
    if definition is not None and not errors:
        show_table("flows", _flows(definition))
    warnings = len(findings) - errors
    with writing():
        click.echo(printable(f"{file}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}."))


def _counted(count: int, noun: str) -> str:
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"


def _rows(findings: list[Finding]) -> list[FindingRow]:
    return [
        FindingRow(str(each.severity), each.line, each.where, each.sentence, each.remedy) for each in findings
    ]


def _flows(definition: Definition) -> list[FlowRow]:
    graph = graph_of(definition)
    return [
        FlowRow(
            flow.name,
            graph.inputs[flow.name],
            str(flow.sink or "nothing by itself"),
            str(flow.trigger),
            definition.group_of(flow),
        )
        for flow in definition.flows
    ]
