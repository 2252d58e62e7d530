"""Who reads whom: every input is there, nothing reads itself, nothing is there for nobody."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trivium.pipeline.checking.sql_text import input_names, parse_query
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, error, from_mistake, warning
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.source import Source, TopicSource


@dataclass(frozen=True, slots=True)
class Graph:
    inputs: Mapping[str, tuple[str, ...]]
    """What each flow reads, by its name; a flow that cannot be understood reads nothing."""

    order: tuple[Flow, ...]
    """Flows behind those that they read; those in a circle are left out."""

    def upstream(self, flow: Flow) -> frozenset[str]:
        """Everything that a flow reads, directly or not."""
        found: set[str] = set()
        wanted = list(self.inputs.get(flow.name, ()))
        while wanted:
            name = wanted.pop()
            if name not in found:
                found.add(name)
                wanted += self.inputs.get(name, ())
        return frozenset(found)

    def sources(self, definition: Definition, flow: Flow) -> tuple[Source, ...]:
        """The sources from which a flow's rows come."""
        upstream = self.upstream(flow)
        return tuple(source for source in definition.sources if source.name in upstream)

    def topic_sources(self, definition: Definition, flow: Flow) -> tuple[TopicSource, ...]:
        return tuple(each for each in self.sources(definition, flow) if isinstance(each, TopicSource))


def graph_of(definition: Definition) -> Graph:
    """Of a definition as it is; ``graph_findings`` says what is wrong with it."""
    known = _names(definition)
    inputs = {}
    for flow in definition.flows:
        try:
            named = _inputs(flow)
        except Mistake:
            named = ()
        # SQL does not care about case; from here on names are as they were defined.
        inputs[flow.name] = tuple(known[name.casefold()] for name in named if name.casefold() in known)
    return Graph(inputs, tuple(_ordered(definition, inputs)))


def graph_findings(definition: Definition, graph: Graph) -> Iterator[Finding]:
    yield from _collisions(definition)
    known = _names(definition)
    for flow in definition.flows:
        where = f"flow.{flow.name}"
        try:
            named = _inputs(flow)
        except Mistake as mistake:
            yield from_mistake(mistake.inside(where))
            continue
        others = [name for name in known.values() if name != flow.name]
        for name in named:
            if name.casefold() not in known:
                at = f"{where}.sql" if flow.sql else where
                yield error(at, f"There is no source or flow {name}.", did_you_mean(name, others))
        if not graph.inputs[flow.name] and not named:
            yield error(f"{where}.sql", "The flow reads nothing.", "Add FROM and a source.")
    yield from _circles(definition, graph)
    yield from _idle(definition, graph)


def _inputs(flow: Flow) -> tuple[str, ...]:
    return input_names("sql", parse_query("sql", flow.sql)) if flow.sql is not None else flow.arguments


def _names(definition: Definition) -> dict[str, str]:
    return {each.name.casefold(): each.name for each in (*definition.sources, *definition.flows)}


def _collisions(definition: Definition) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for kind, things in (("source", definition.sources), ("flow", definition.flows)):
        for thing in things:
            before = seen.setdefault(thing.name.casefold(), f"{kind}.{thing.name}")
            if before != f"{kind}.{thing.name}" or [each.name for each in things].count(thing.name) > 1:
                yield error(
                    f"{kind}.{thing.name}",
                    f"The name {thing.name} is taken by {before.replace('.', ' ')}.",
                    "Views of SQL need different names, and capitals make no difference.",
                )


def _ordered(definition: Definition, inputs: Mapping[str, tuple[str, ...]]) -> Iterator[Flow]:
    ready = {source.name for source in definition.sources}
    waiting = list(definition.flows)
    while waiting:
        runnable = [flow for flow in waiting if ready.issuperset(inputs[flow.name])]
        if not runnable:
            return
        yield from runnable
        ready.update(flow.name for flow in runnable)
        waiting = [flow for flow in waiting if flow not in runnable]


def _circles(definition: Definition, graph: Graph) -> Iterator[Finding]:
    for flow in definition.flows:
        if flow.name in graph.upstream(flow):
            others = sorted(
                name for name in graph.upstream(flow) if definition.flow(name) and name != flow.name
            )
            through = f" through {', '.join(others)}" if others else ""
            yield error(
                f"flow.{flow.name}",
                f"The flow reads itself{through}.",
                "Write to a topic and read that instead.",
            )


def _idle(definition: Definition, graph: Graph) -> Iterator[Finding]:
    if not definition.flows:
        yield error("", "The pipeline has no flow, and so nothing to do.", "Add one with a query and a sink.")
        return
    read = {name for names in graph.inputs.values() for name in names}
    for source in definition.sources:
        if source.name not in read:
            yield warning(f"source.{source.name}", f"No flow reads {source.name}.", "Remove it, or read it.")
    for flow in definition.flows:
        if flow.sink is None and flow.name not in read:
            yield warning(f"flow.{flow.name}", f"{flow.name} has no sink and no reader.", "Give it a sink.")
