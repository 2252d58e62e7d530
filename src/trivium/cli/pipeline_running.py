"""Flows on Spark as every command runs them: watched while they run, ended by Ctrl-C, summed up at the end.

``run``, ``backfill`` and ``replay`` differ in what they start; what is here does not know which it is.
"""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import FrameType
from typing import TYPE_CHECKING

import click

from trivium.cli.output import printable, write_json, writing
from trivium.cli.pipeline_file import read_pipeline
from trivium.cli.pipeline_spark import running_spark
from trivium.cli.pipeline_watching import watching
from trivium.client.door import Door
from trivium.client.errors import ClientError
from trivium.pipeline.checking import check, folder_findings, in_order
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Severity
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import did_you_mean
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.tally import Tally
from trivium.spark.tables.errors import TableError

if TYPE_CHECKING:
    from trivium.spark.running.run import Run


@dataclass(frozen=True, slots=True)
class SummaryRow:
    flow: str
    rows_in: int
    rows_out: int
    quarantined: int
    dropped: int
    still_open: int
    """Rows of windows that are not final, of keys and of joins that wait."""

    offsets: str


def runnable(file: str) -> Definition:
    """The pipeline in a file, if it has no mistakes."""
    definition = read_pipeline(file)
    findings = in_order(definition, [*check(definition), *folder_findings(definition)])
    errors = [each for each in findings if each.severity is Severity.ERROR]
    if errors:
        raise click.ClickException(
            printable(f"{file}: {errors[0]} 'trivium pipeline check {file}' shows all mistakes.")
        )
    return definition


def flow_named(definition: Definition, name: str) -> Flow:
    """The flow with a sink that an argument names."""
    flow = definition.flow(name)
    if flow is not None and flow.sink is not None:
        return flow
    there = [each.name for each in definition.flows if each.sink is not None]
    raise click.BadParameter(
        printable(f"There is no flow {name} with a sink. {did_you_mean(name, there)}"), param_hint="FLOW"
    )


def run_flows(
    definition: Definition,
    door: Door,
    master: str | None,
    start: "Callable[[Run], None]",
    *,
    as_json: bool,
    is_live: bool = False,
) -> list[Tally]:
    """Start flows, watch them until they end or Ctrl-C comes, and show what they did. ``is_live``: they read
    the topics as they come, so the broker knows how far behind they are."""
    with refusals(), _until_interrupted() as is_interrupted, running_spark(master) as spark:
        from trivium.spark.running.run import Run

        with Run(definition, spark, door.bootstrap, door.security) as run:
            start(run)
            with watching(definition, door, run.tallies, is_live=is_live) as watch:
                run.wait(watch, is_interrupted)
        tallies = list(run.tallies.values())
    if as_json:
        write_json({"pipeline": definition.name, "flows": [asdict(tally) for tally in tallies]})
    else:
        _show_summary(definition.name, tallies)
    failures = [f"{tally.flow} stopped: {tally.failure}" for tally in tallies if tally.failure]
    if failures:
        raise click.ClickException("\n".join(map(printable, failures)))
    if is_interrupted():
        raise click.exceptions.Exit(0)
    return tallies


@contextmanager
def refusals() -> Iterator[None]:
    """What cannot be run is one sentence."""
    try:
        yield
    except (CannotRun, ClientError, TableError) as error:
        raise click.ClickException(printable(str(error))) from error


@contextmanager
def _until_interrupted() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM ask for an end; whoever asks twice does not want to wait for it."""
    asked = False

    def ask(number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            logging.disable(logging.ERROR)  # Py4J tells at length of what it was kept from.
            raise KeyboardInterrupt
        asked = True
        click.echo("Ending; the next run goes on from here.", err=True)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    except KeyboardInterrupt:
        raise click.exceptions.Exit(1) from None
    finally:
        logging.disable(logging.NOTSET)
        for number, handler in before.items():
            signal.signal(number, handler)


def _show_summary(name: str, tallies: list[Tally]) -> None:
    from trivium.cli.tables import show_table

    rows = [
        SummaryRow(
            tally.flow,
            tally.rows_in,
            tally.rows_out,
            tally.quarantined,
            tally.dropped,
            tally.state_rows,
            _offsets_text(tally),
        )
        for tally in tallies
    ]
    show_table(printable(name), rows)
    with writing():
        for tally in tallies:
            for sentence in _remarks(tally):
                click.echo(printable(sentence))


def _offsets_text(tally: Tally) -> str:
    return ", ".join(
        f"{topic}-{partition}: {offset}"
        for topic, partitions in sorted(tally.offsets.items())
        for partition, offset in sorted(partitions.items(), key=lambda each: int(each[0]))
    )


def _remarks(tally: Tally) -> Iterator[str]:
    for name, count in sorted(tally.reasons.items()):
        yield f"{tally.flow}: {count:,} set aside by {name}."
    for source, columns in tally.new_columns.items():
        yield f"{tally.flow}: records of {source} have columns that its schema has not: {', '.join(columns)}."
    if not tally.writes_once:
        yield (
            f"{tally.flow}: this broker does not commit batches of queries, as Trivium does, so records are "
            "written at least once: after a crash some may be there twice."
        )
    if tally.files_compacted:
        yield f"{tally.flow}: compaction left {tally.files_compacted:,} files fewer."
    if tally.compaction_problem:
        yield f"{tally.flow}: not compacted: {tally.compaction_problem}"
    if tally.state_rows:
        yield f"{tally.flow}: {tally.state_rows:,} rows of state wait; windows come out when later data does."
