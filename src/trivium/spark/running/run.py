"""Several flows at once, in one Spark: each is a query of its own, and fails by itself.

    with Run(definition, session) as run:
        run.start(trigger=AVAILABLE_NOW)
        run.wait()
    run.tallies["clean_orders"].rows_out

Whatever happens to this process, a flow goes on from its checkpoint when it is run again.
"""

import json
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from trivium.client.door import Door
from trivium.client.errors import ClientError
from trivium.client.security import PLAINTEXT, Security
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.trigger import Trigger
from trivium.spark.connector.errors import ConnectorError
from trivium.spark.running.added_columns import add_columns, seen_in
from trivium.spark.running.compactions import Compactions
from trivium.spark.running.errors import CannotRun, FlowFailed, is_machine_busy, sentence_of
from trivium.spark.running.leases import Lease
from trivium.spark.running.own_session import STOP_TIMEOUT_MS, own_session
from trivium.spark.running.ownership import claim_state
from trivium.spark.running.passages import Passage
from trivium.spark.running.places import with_whole_paths
from trivium.spark.running.query import PreparedQuery, prepare
from trivium.spark.running.schemas import schemas_of
from trivium.spark.running.seen_columns import note_seen_columns
from trivium.spark.running.tally import Tally
from trivium.spark.tables.errors import TableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

NOT_ENDED: Final = (
    f"It did not end within {STOP_TIMEOUT_MS // 1000} seconds. End the process; the flow goes on from its "
    "checkpoint when it is run again."
)

POLL_S: Final = 0.2
"""Between two looks at the queries."""

STARTS_MAX: Final = 20
"""Of one flow in one run, after what is no failure of it: columns that were added, a machine that is busy."""

STOP_WAIT_S: Final = 20.0
"""How long a stop waits for the batches at work."""


class Run:
    """Queries of one pipeline, each in a session of its own, on the Spark of ``spark``."""

    def __init__(
        self,
        definition: Definition,
        spark: "SparkSession",
        bootstrap: str | None = None,
        security: Security = PLAINTEXT,
    ) -> None:
        self._definition = with_whole_paths(definition)
        self._door = Door(bootstrap or definition.broker(), security)
        self._spark = spark
        self._queries: dict[str, tuple[PreparedQuery, StreamingQuery]] = {}
        self._seen: dict[str, int] = {}
        self._starts: dict[str, int] = {}
        self._leases: dict[str, Lease] = {}
        self._trigger: Trigger | None = None
        self._passage: Passage | None = None
        self._compactions = Compactions(self._definition)
        self.tallies: dict[str, Tally] = {}

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def start(
        self, only: Sequence[str] = (), trigger: Trigger | None = None, passage: Passage | None = None
    ) -> None:
        """Start the flows, or some of them; nothing is started if one of them cannot be. ``passage``: what
        they are run on instead of the topics as they come."""
        claim_state(self._definition)
        self._trigger, self._passage = trigger, passage
        flows = self._chosen(only)
        for flow in flows:
            name = passage.name if passage is not None else self._definition.group_of(flow)
            self._leases[flow.name] = Lease(self._definition.state, name)
        for query in self._prepare(flows):
            self.tallies[query.flow.name] = Tally(query.flow.name, writes_once=query.writes_once)
            self._queries[query.flow.name] = (query, query.start(trigger or query.flow.trigger))

    def _prepare(self, flows: Sequence[Flow]) -> list[PreparedQuery]:
        graph = graph_of(self._definition)
        sources = {s.name: s for flow in flows for s in graph.topic_sources(self._definition, flow)}
        try:
            session = own_session(self._spark)
            schemas = schemas_of(session, self._definition, sources.values(), self._door)
            return [
                prepare(
                    own_session(self._spark),
                    self._definition,
                    graph,
                    schemas,
                    self._door,
                    flow,
                    self._passage,
                )
                for flow in flows
            ]
        except (TableError, ClientError, ConnectorError) as error:
            raise CannotRun(str(error)) from error
        except Exception as error:
            if not _is_sparks(error):
                raise
            raise CannotRun(sentence_of(error)) from error

    def wait(
        self, watch: Callable[[], None] = lambda: None, is_enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Until every flow has ended by itself, or it is enough; ``watch`` is called now and then."""
        while self.look() and not is_enough():
            watch()
            time.sleep(POLL_S)
        if not self.look():
            self._compactions.finish()
        watch()

    def look(self) -> bool:
        """Bring ``tallies`` up to date; whether any flow runs."""
        is_running = False
        for name, (prepared, query) in list(self._queries.items()):
            is_active = query.isActive  # Asked first: what is reported before it ends is not missed.
            self._gather(name, prepared, query)
            self._compactions.look(prepared.flow, self.tallies[name])
            is_running = is_running or is_active
            error = None if is_active else query.exception()
            if error is None:
                continue
            try:
                is_started = self._start_again(name, error)
            except CannotRun as refusal:
                self.tallies[name].failure = str(refusal)
                continue
            is_running = is_running or is_started
            if not is_started:
                self.tallies[name].failure = sentence_of(error)
                self._leases[name].end()
        return is_running

    def _start_again(self, name: str, error: BaseException) -> bool:
        """After what is no failure of the flow; each start goes on from the checkpoint."""
        prepared, _ = self._queries[name]
        seen = seen_in(error)
        if self._starts.get(name, 0) == STARTS_MAX or not (seen or is_machine_busy(error)):
            return False
        self._starts[name] = self._starts.get(name, 0) + 1
        if seen is not None:
            add_columns(own_session(self._spark), self._definition, seen, self._door)
            (prepared,) = self._prepare([prepared.flow])
        self._queries[name] = (prepared, prepared.start(self._trigger or prepared.flow.trigger))
        return True

    def stop(self) -> None:
        """End every flow. Nothing is lost: a batch that is cut short is done again by the next run."""
        try:
            self._stop()
        finally:
            for lease in self._leases.values():
                lease.end()

    def _stop(self) -> None:
        self._compactions.finish(STOP_WAIT_S)
        active = [query for _, query in self._queries.values() if query.isActive]
        if not active:
            return
        _let_batches_end(active)
        context = self._spark.sparkContext
        level = context.getConf().get("spark.log.level", "ERROR")
        context.setLogLevel("OFF")  # Spark complains at length of what it is told to break off.
        for prepared, query in self._queries.values():
            try:
                query.stop()
            except Exception as error:
                if not _is_sparks(error):
                    raise
                self.tallies[prepared.flow.name].failure = NOT_ENDED
            self._gather(prepared.flow.name, prepared, query)
        context.setLogLevel(level)

    def raise_failure(self) -> None:
        """``FlowFailed`` for the first flow that stopped."""
        for tally in self.tallies.values():
            if tally.failure is not None:
                raise FlowFailed(tally.flow, tally.failure)

    def _gather(self, name: str, prepared: PreparedQuery, query: "StreamingQuery") -> None:
        seen = self._seen.get(name, -1)
        for progress in query.recentProgress:
            said: dict[str, Any] = json.loads(progress.json)
            if said["batchId"] > seen:
                self.tallies[name].add(said)
                self._seen[name] = seen = said["batchId"]
                for source, columns in self.tallies[name].new_columns.items():
                    note_seen_columns(self._definition, source, columns)

    def _chosen(self, only: Sequence[str]) -> list[Flow]:
        flows = [flow for flow in self._definition.flows if flow.sink is not None]
        for name in only:
            if name not in {flow.name for flow in flows}:
                there = ", ".join(flow.name for flow in flows)
                raise CannotRun(f"There is no flow {name} with a sink; there are {there}.")
        chosen = [flow for flow in flows if not only or flow.name in only]
        if not chosen:
            raise CannotRun(f"{self._definition.name} has no flow with a sink, so there is nothing to run.")
        return chosen


def _let_batches_end(queries: "Sequence[StreamingQuery]") -> None:
    """Wait for what each is doing, as long as that is not for long: it would have to be done again."""
    last = {query: query.lastProgress for query in queries}
    ends_at = time.monotonic() + STOP_WAIT_S
    while time.monotonic() < ends_at and any(
        query.isActive and query.status["isDataAvailable"] and query.lastProgress == last[query]
        for query in queries
    ):
        time.sleep(POLL_S)


def _is_sparks(error: Exception) -> bool:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JError)
