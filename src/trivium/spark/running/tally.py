"""What a flow has done in a run, added up from what Spark reports of each micro-batch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trivium.spark.running.flow_frames import READ

COUNTS: Final = "rows"
"""The name under which Spark reports how a flow's rows were judged."""


@dataclass
class Tally:
    """The summary of a flow, filled while it runs."""

    flow: str
    rows_in: int = 0
    rows_out: int = 0
    quarantined: int = 0
    dropped: int = 0
    batches: int = 0
    state_rows: int = 0
    """Rows that are remembered: windows that are still open, keys seen, rows that wait for a partner."""

    rows_per_second: float = 0.0
    batch_ms: int = 0
    lag_records: int | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    """How many rows each broken rule has set aside, by its name; ``malformed`` for what cannot be read."""

    offsets: dict[str, dict[str, int]] = field(default_factory=dict)
    """Up to where each partition is covered (exclusive), by topic."""

    new_columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What records have beyond the schema, by source: as far as the first and last of each batch show it."""

    writes_once: bool = True
    """Whether what is run again after a crash is in the sink once: not where a broker cannot tell."""

    files_compacted: int = 0
    """How many files fewer the flow's tables have since their small files became large ones."""

    compaction_problem: str | None = None
    """Why the last compaction was not done; the flow goes on, and so do later ones."""

    failure: str | None = None

    def add(self, progress: Mapping[str, Any]) -> None:
        """``progress`` as Spark's JSON has it. Its own counts of input are of no use: a record counts there
        as often as the plan reads it, which is several times where good and bad rows take different ways."""
        counted = progress.get("observedMetrics") or {}
        read = {name.removeprefix(READ): each for name, each in counted.items() if name.startswith(READ)}
        rows = sum(each["records"] for each in read.values())
        self.rows_in += rows
        self.batches += bool(rows)
        self._count(counted.get(COUNTS) or {})
        for source, each in read.items():
            if each.get("with_new_columns"):
                seen = {*self.new_columns.get(source, ()), *each["most"], *each["least"]}
                self.new_columns[source] = tuple(sorted(seen))
        self.state_rows = sum(each.get("numRowsTotal", 0) for each in progress.get("stateOperators") or ())
        self._place(progress["sources"])
        if rows:
            self.batch_ms = (progress.get("durationMs") or {}).get("triggerExecution", 0)
            self.rows_per_second = 1000 * rows / max(1, self.batch_ms)

    def _count(self, counts: Mapping[str, Any]) -> None:
        for name, count in counts.items():
            if name in ("rows_out", "quarantined", "dropped"):
                setattr(self, name, getattr(self, name) + count)
            elif count:
                self.reasons[name] = self.reasons.get(name, 0) + count

    def _place(self, sources: list[Mapping[str, Any]]) -> None:
        lag: int | None = 0
        for source in sources:
            end, latest = _offsets(source.get("endOffset")), _offsets(source.get("latestOffset"))
            for topic, partitions in end.items():
                self.offsets.setdefault(topic, {}).update(partitions)
                for partition, offset in partitions.items():
                    last = latest.get(topic, {}).get(partition)
                    lag = None if lag is None or last is None else lag + max(0, last - offset)
        self.lag_records = lag


def _offsets(text: object) -> dict[str, dict[str, int]]:
    """Of topics. A quarantine that is a table has positions of another kind, batches of queries."""
    said = json.loads(text) if isinstance(text, str) else text
    places = said if isinstance(said, dict) else {}
    return {topic: offsets for topic, offsets in places.items() if all(map(str.isdecimal, offsets))}
