"""``trivium inspect DIR``: what is in a log directory, and what recovery would do to it.

Works on Trivium's and on Kafka's directories, also while a broker runs on them: everything is opened
through an overlay, so nothing on disk changes. The facts are gathered first (``inspect_logs``,
``inspect_metadata``), then shown as tables or, with ``--json``, as one document.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Final
from uuid import uuid4

import click
from rich.console import Console

from trivium.cli.inspect_logs import Facts, show_directory, show_partition, survey, survey_partition
from trivium.cli.inspect_metadata import load_metadata, settings_from, show_metadata, survey_metadata
from trivium.cli.output import writing
from trivium.cli.tables import open_console
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError
from trivium.log.files import RealFiles
from trivium.log.names import META_PROPERTIES
from trivium.log.overlay import OverlayFiles
from trivium.log.properties import read_meta
from trivium.wire.errors import DecodeError

_BATCHES_SHOWN: Final = 20
"""Of a partition, unless asked for more: a screenful."""

_ATTEMPTS: Final = 5
"""A broker at work deletes segments and replaces checkpoints between our listing and our opening them."""


@click.command("inspect")
@click.argument("directory", type=click.Path(exists=True, file_okay=False))
@click.option("--partition", "-p", metavar="TOPIC-N", help="Show this partition's segments and batches.")
@click.option(
    "--records",
    "-r",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With --partition: also N records.",
)
@click.option(
    "--from", "offset", type=click.IntRange(0), metavar="OFFSET", help="With --partition: begin here."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    show_default=str(_BATCHES_SHOWN),
    help="With --partition: batches to show.",
)
@click.option(
    "--metadata",
    "-m",
    "wants_metadata",
    is_flag=True,
    help="Show topics with their settings, users, rights, quotas and features.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document for scripts.")
def command(
    directory: str,
    partition: str | None,
    records: int,
    offset: int | None,
    limit: int | None,
    wants_metadata: bool,
    as_json: bool,
) -> None:
    """Look into a log directory, ours or Kafka's, without changing it.

    \b
    Examples:
      trivium inspect data                           all partitions, and what recovery would do
      trivium inspect data -p orders-0               segments and batches of one
      trivium inspect data -p orders-0 -r 5 --from 1000
      trivium inspect data --metadata                what the cluster is: topics, users, rights
      trivium inspect data --json | jq '.partitions[].log_end_offset'
    """
    if wants_metadata and partition is not None:
        raise click.UsageError("Choose one of --metadata and --partition.")
    if partition is None and (records or offset is not None or limit is not None):
        raise click.UsageError("--records, --from and --limit go with --partition: say of which.")
    path = directory.rstrip("/") or "/"
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            facts, show = _gather(path, wants_metadata, partition, offset, limit or _BATCHES_SHOWN, records)
            break
        except (LogError, DecodeError, OSError) as error:
            if attempt == _ATTEMPTS or not isinstance(_cause(error), FileNotFoundError):
                raise click.ClickException(_sentence(error, path)) from error
    with writing():
        if as_json:
            click.echo(json.dumps(facts, default=asdict, indent=1))
        else:
            show(open_console(), facts)


def _gather(
    path: str, wants_metadata: bool, partition: str | None, offset: int | None, limit: int, records: int
) -> tuple[Facts, Callable[[Console, Facts], None]]:
    """What was asked for, and how to show it to a person."""
    if not os.path.exists(os.path.join(path, META_PROPERTIES)):
        raise click.ClickException(
            f"{path} has no {META_PROPERTIES}; name the log directory itself, as in log.dirs."
        )
    now_ms = int(time.time() * 1000)
    metadata = load_metadata(RealFiles(), path, now_ms)
    if wants_metadata:
        if metadata is None:
            raise click.ClickException(
                f"{path} has no metadata log; it is in another directory of the node, or on the controllers."
            )
        return survey_metadata(metadata, path), show_metadata
    opened = LogDirectory.open(
        OverlayFiles(RealFiles()),
        path,
        node_id=-1,
        cluster_id=None,
        new_id=uuid4,
        settings_for=settings_from(metadata, read_meta(RealFiles(), f"{path}/{META_PROPERTIES}").node_id),
        now_ms=now_ms,
    )
    if partition is None:
        return survey(opened), show_directory
    return survey_partition(opened, partition, offset, limit, records), show_partition


def _cause(error: Exception) -> BaseException | None:
    """What the operating system said, if it was that. To a log any such error is a failed disk."""
    return error.__cause__ if isinstance(error, LogError) else error


def _sentence(error: Exception, path: str) -> str:
    cause = _cause(error)
    if isinstance(cause, PermissionError):
        return f"You may not read {cause.filename or path}; run this as the user that the broker runs as."
    if isinstance(cause, FileNotFoundError):
        return (
            f"{cause.filename or path} vanished while it was looked at; run this again when less is deleted."
        )
    if isinstance(error, OSError):
        return f"{error.filename or path} cannot be read: {error.strerror or error}."
    return str(error)
