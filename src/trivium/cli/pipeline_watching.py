"""What a person sees while flows run: a table on the terminal, drawn anew.

Owns what is in it. Counts come from the run; how many seconds a flow is behind only the broker knows, and it
is asked by a thread of its own: a broker that is away holds up neither the table nor Ctrl-C. It must not know
what is run, or why.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from trivium.cli.output import printable
from trivium.client.door import Door
from trivium.client.errors import ClientError
from trivium.pipeline.definition import Definition
from trivium.pipeline.standing import standing_of
from trivium.spark.running.tally import Tally

if TYPE_CHECKING:
    from rich.table import Table

ASK_EVERY_S: Final = 2.0
"""Between two questions to the broker."""

END_WAIT_S: Final = 1.0
"""How long the end of a run waits for an answer that nobody needs any more."""


@dataclass(frozen=True, slots=True)
class ProgressRow:
    flow: str
    rows_in: int
    rows_out: int
    quarantined: int
    dropped: int
    rows_per_second: int
    lag_records: int | None
    lag_seconds: float | None
    batch_ms: int


class LagSeconds:
    """How far each flow is behind, as ``trivium pipeline status`` says it; empty until the broker answers."""

    def __init__(self, definition: Definition, door: Door) -> None:
        self._definition = definition
        self._door = door
        self._is_over = Event()
        self._thread = Thread(target=self._ask_again_and_again, name="lag", daemon=True)
        self.by_flow: dict[str, float | None] = {}

    def __enter__(self) -> "LagSeconds":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(END_WAIT_S)

    def _ask_again_and_again(self) -> None:
        while not self._is_over.is_set():
            try:
                with self._door.connect() as cluster:
                    while not self._is_over.wait(ASK_EVERY_S if self.by_flow else 0):
                        standing = standing_of(self._definition, cluster)
                        self.by_flow = {
                            flow.name: standing.lag_seconds(flow.name) for flow in self._definition.flows
                        }
            except ClientError:
                self.by_flow = {}  # Not known while the broker is away.
                self._is_over.wait(ASK_EVERY_S)


@contextmanager
def watching(
    definition: Definition, door: Door, tallies: Mapping[str, Tally], *, is_live: bool
) -> Iterator[Callable[[], None]]:
    """What is to be called now and then. Drawn on standard error, where somebody watches a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.live import Live

    lag = LagSeconds(definition, door)

    def drawn() -> "Table":
        return progress_table(definition.name, tallies, lag.by_flow)

    with Live(drawn(), console=Console(stderr=True), refresh_per_second=2, transient=True) as live:
        if not is_live:
            yield lambda: live.update(drawn())
            return
        with lag:
            yield lambda: live.update(drawn())


def progress_table(
    name: str, tallies: Mapping[str, Tally], lag_seconds: Mapping[str, float | None]
) -> "Table":
    from rich.table import Table

    headings = [field.name.replace("_", " ") for field in fields(ProgressRow)]
    table = Table(*headings, title=printable(name), box=None)
    for tally in tallies.values():
        table.add_row(*map(_cell, astuple(_progress(tally, lag_seconds.get(tally.flow)))))
    return table


def _progress(tally: Tally, lag_seconds: float | None) -> ProgressRow:
    return ProgressRow(
        tally.flow,
        tally.rows_in,
        tally.rows_out,
        tally.quarantined,
        tally.dropped,
        round(tally.rows_per_second),
        tally.lag_records,
        lag_seconds,
        tally.batch_ms,
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int | float) else str(value)
