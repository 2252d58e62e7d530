"""``compact = "1 hour"``: small files of a flow's tables become large ones while it runs, that often.

Beside the queries, in one thread for all flows, as whoever calls ``trivium table compact`` would do it: a
flow does not wait for it, and does not stop because of it. When a flow's tables had their turn is kept with
the state, so that runs which end when everything is read have turns, too.
"""

import time
from collections.abc import Callable, Sequence
from threading import Thread
from typing import Final

from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.sink import TableSink
from trivium.spark.running.state_files import read_json, write_json
from trivium.spark.running.tally import Tally
from trivium.spark.tables.care import open_care
from trivium.spark.tables.errors import TableError

_LAST: Final = "compacted_s"


class Compactions:
    """``clock``: seconds since 1970."""

    def __init__(self, definition: Definition, clock: Callable[[], float] = time.time) -> None:
        self._definition = definition
        self._clock = clock
        self._last: dict[str, float] = {}
        self._thread: Thread | None = None

    def look(self, flow: Flow, tally: Tally) -> None:
        """Begin with the tables of a flow if it is time and nothing else is being done."""
        tables = [
            sink for sink in (flow.sink, flow.quarantine) if isinstance(sink, TableSink) and sink.compact
        ]
        if not tables or (self._thread is not None and self._thread.is_alive()):
            return
        now = self._clock()
        every_ms = min(sink.compact.milliseconds for sink in tables if sink.compact)
        if (now - self._last_of(flow, now)) * 1000 >= every_ms:
            self._note(flow, now)
            self._thread = Thread(target=_compact, args=(tables, tally), name="compaction", daemon=True)
            self._thread.start()

    def finish(self, timeout_s: float | None = None) -> None:
        """Wait for what was begun. Broken off, it has changed nothing, or is finished by the next."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _last_of(self, flow: Flow, now: float) -> float:
        """The first run of a flow has nothing to do yet; from then on it is counted."""
        if flow.name not in self._last:
            said = read_json(self._definition.compactions_of(flow))
            if said is None:
                self._note(flow, now)
            else:
                self._last[flow.name] = float(said[_LAST])
        return self._last[flow.name]

    def _note(self, flow: Flow, now: float) -> None:
        self._last[flow.name] = now
        write_json(self._definition.compactions_of(flow), {_LAST: now})


def _compact(sinks: Sequence[TableSink], tally: Tally) -> None:
    for sink in sinks:
        care = open_care(sink.table)
        try:
            if care.describe() is None:
                continue  # Nothing was written, or set aside, yet.
            done = care.compact()
        except (TableError, OSError) as error:
            tally.compaction_problem = str(error)
        else:
            tally.files_compacted += done.files_before - done.files_after
