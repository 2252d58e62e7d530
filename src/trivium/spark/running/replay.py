"""A flow's quarantine through the flow again, after a fix: what passes now is written, once."""

from trivium.client.door import Door
from trivium.pipeline.beside import why_not_beside
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.sink import TableSink, TopicSink
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.passages import Again
from trivium.spark.running.places import with_whole_paths
from trivium.spark.tables.stores import open_store


def plan_replay(definition: Definition, flow: Flow, door: Door) -> Again | None:
    """None where nothing was ever set aside."""
    definition = with_whole_paths(definition)
    flow = definition.flow(flow.name) or flow
    refusal = why_not_beside(definition, graph_of(definition), flow)
    if refusal is not None:
        raise CannotRun(refusal)
    if not _is_there(flow, door):
        return None
    return Again(definition, flow, door)


def readers_of(definition: Definition, flow: Flow) -> list[str]:
    """Flows with sinks that are made of this one: they have passed over the records, and still do."""
    graph = graph_of(definition)
    return [
        each.name for each in definition.flows if each.sink is not None and flow.name in graph.upstream(each)
    ]


def _is_there(flow: Flow, door: Door) -> bool:
    quarantine = flow.quarantine
    if isinstance(quarantine, TopicSink):
        with door.connect() as cluster:
            return quarantine.topic in cluster.topics()
    assert isinstance(quarantine, TableSink), "flows with a sink have one"
    return bool(open_store(quarantine).writers())
