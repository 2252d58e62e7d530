"""A pipeline in a test: records in, and what every sink and every quarantine would hold.

    out = run_pipeline("orders.toml", orders=[{"id": 1, "amount": 5}, b"not json"])
    assert out["clean_orders"].rows == [...]
    assert out["clean_orders"].quarantined[0].reasons == ["not JSON"]

The definition runs as it is, on a broker in memory and in a folder that is gone afterwards; only places are
others, and flows end when everything is read. One Spark is shared by all tests of a process: the first test
waits for it.
"""

import json
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from trivium.pipeline.building import Pipeline
from trivium.pipeline.checking import check
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Severity, Unreadable
from trivium.pipeline.flow import Flow
from trivium.pipeline.reading import load
from trivium.pipeline.sink import Sink, TableSink, TopicSink, ValueFormat
from trivium.pipeline.source import Source, TopicSource
from trivium.pipeline.start import EARLIEST
from trivium.pipeline.table import Table, TableFormat
from trivium.pipeline.trigger import AVAILABLE_NOW
from trivium.spark.running.tally import Tally
from trivium.testing.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GivenRecord = Mapping[str, Any] | bytes | str | None | tuple[Any, Any]
"""A dict becomes JSON, text and bytes are sent as they are; a pair is a key and one of these."""

RUN_TIMEOUT_S: Final = 300.0
"""For all flows of a pipeline: longer than any test should wait, also on a machine that has a lot to do."""

_SMALL_SPARK: Final = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss2m",
    "spark.sql.shuffle.partitions": "1",
}
"""For a JVM that lives as long as a few tests."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A record that was set aside. Of a row that was made of many records only the value is known."""

    value: bytes | None
    reasons: list[str]
    key: bytes | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class FlowOutcome:
    rows: list[dict[str, Any]]
    """What the sink holds; of a topic in JSON what values say, else ``key`` and ``value``."""

    quarantined: list[Quarantined]
    summary: Tally
    """Counts, windows that are still open, offsets covered, new columns."""


def run_pipeline(
    pipeline: "str | Path | Pipeline | Definition",
    *,
    spark: "SparkSession | None" = None,
    **records: Iterable[GivenRecord],
) -> dict[str, FlowOutcome]:
    """Run a pipeline on records by the names of its sources; the outcome of each flow with a sink.

    Mistakes in the definition are an ``Unreadable``, a flow that stops is a ``FlowFailed``.
    """
    definition = _definition(pipeline)
    for name in records:
        if definition.source(name) is None:
            there = ", ".join(source.name for source in definition.sources)
            raise ValueError(f"{definition.name} has no source {name}; there are {there}.")
    findings = [each for each in check(definition) if each.severity is Severity.ERROR]
    if findings:
        raise Unreadable(str(definition.file or definition.name), findings)
    with tempfile.TemporaryDirectory(prefix="trivium-") as folder, Broker() as broker:
        elsewhere = _moved(definition, Path(folder))
        for source in elsewhere.sources:
            _fill(broker, source, records.get(source.name, ()))
        return _run(elsewhere, broker, spark or _shared_spark())


def _run(definition: Definition, broker: Broker, spark: "SparkSession") -> dict[str, FlowOutcome]:
    from trivium.spark.running.run import Run

    ends_at = time.monotonic() + RUN_TIMEOUT_S
    with Run(definition, spark, broker.bootstrap) as run:
        run.start(trigger=AVAILABLE_NOW)
        run.wait(is_enough=lambda: time.monotonic() > ends_at)
        if run.look():
            raise TimeoutError(
                f"{definition.name} has not read everything within {RUN_TIMEOUT_S:.0f} seconds; give it "
                "fewer records, or look with 'jstack' at what Spark waits for."
            )
    run.raise_failure()
    return {
        flow.name: FlowOutcome(
            _rows(flow.sink, broker), _quarantined(flow.quarantine, broker), run.tallies[flow.name]
        )
        for flow in definition.flows
        if flow.sink is not None
    }


def _definition(pipeline: "str | Path | Pipeline | Definition") -> Definition:
    if isinstance(pipeline, Definition):
        return pipeline
    return pipeline.definition() if isinstance(pipeline, Pipeline) else load(pipeline)


def _shared_spark() -> "SparkSession":
    from pyspark.sql import SparkSession

    from trivium.spark import session

    running = SparkSession.getActiveSession()
    return running if running is not None else session("local[2]", **_SMALL_SPARK)


# -- places ----------------------------------------------------------------------------------------


def _moved(definition: Definition, folder: Path) -> Definition:
    """The same pipeline, with all that it writes below a folder."""
    return replace(
        definition,
        state=str(folder / "state"),
        sources=tuple(_moved_source(source, folder) for source in definition.sources),
        flows=tuple(_moved_flow(flow, folder) for flow in definition.flows),
    )


def _moved_source(source: Source, folder: Path) -> Source:
    if isinstance(source, TopicSource):
        return replace(source, topics=source.topics or (source.name,), pattern=None, start=EARLIEST)
    return replace(source, table=Table(TableFormat.DELTA, str(folder / "sources" / source.name)))


def _moved_flow(flow: Flow, folder: Path) -> Flow:
    return replace(
        flow,
        sink=_moved_sink(flow.sink, folder / flow.name),
        quarantine_at=_moved_sink(flow.quarantine_at, folder / f"{flow.name}-quarantine"),
    )


def _moved_sink(sink: Sink | None, folder: Path) -> Sink | None:
    if not isinstance(sink, TableSink):
        return sink
    return replace(sink, table=Table(sink.table.format, str(folder)))


# -- records ---------------------------------------------------------------------------------------


def _fill(broker: Broker, source: Source, records: Iterable[GivenRecord]) -> None:
    if isinstance(source, TopicSource):
        for topic in source.topics:
            if topic not in broker.topics():
                broker.create_topic(topic, 1)
        broker.produce(source.topics[0], [_record(each) for each in records])
        return
    import pyarrow as pa
    from deltalake import write_deltalake

    write_deltalake(source.table.path or "", pa.Table.from_pylist([dict(each) for each in records]))  # type: ignore[arg-type]


def _record(given: GivenRecord) -> Any:
    if isinstance(given, tuple):
        key, value = given
        return key, _value(value)
    return _value(given)


def _value(given: Any) -> bytes | str | None:
    return json.dumps(given, default=str) if isinstance(given, Mapping) else given


def _rows(sink: Sink | None, broker: Broker) -> list[dict[str, Any]]:
    if isinstance(sink, TableSink):
        return _table_rows(sink)
    assert sink is not None
    stored = broker.records(sink.topic)
    if sink.format is ValueFormat.JSON:
        return [json.loads(record.value or b"null") for record in stored]
    return [{"key": record.key, "value": record.value} for record in stored]


def _quarantined(sink: Sink | None, broker: Broker) -> list[Quarantined]:
    if isinstance(sink, TopicSink):
        from trivium.spark.sinks.topic_outlet import quarantined_of

        return [
            Quarantined(**quarantined_of(record.key, record.value, record.headers))
            for record in broker.records(sink.topic)
        ]
    assert sink is not None
    names = Quarantined.__dataclass_fields__
    return [Quarantined(**{name: row[name] for name in names}) for row in _table_rows(sink)]


def _table_rows(sink: TableSink) -> list[dict[str, Any]]:
    from trivium.spark.tables.stores import open_store

    rows: list[dict[str, Any]] = open_store(sink).read().to_pylist()
    return rows
