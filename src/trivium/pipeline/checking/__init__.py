"""Everything that can be found wrong with a pipeline before Spark starts.

``check`` reads the definition and the files that it names; ``broker_findings`` asks the broker about its
topics, and ``folder_findings`` the disk about places. None starts or makes anything; they only report.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trivium.pipeline.checking.broker import broker_findings, unreachable
from trivium.pipeline.checking.flows import flow_findings
from trivium.pipeline.checking.folders import folder_findings
from trivium.pipeline.checking.graph import graph_findings, graph_of
from trivium.pipeline.checking.nesting import nesting_findings
from trivium.pipeline.checking.relation import Relation
from trivium.pipeline.checking.sinks import place_findings, sink_findings
from trivium.pipeline.checking.source_columns import relation_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, Severity

__all__ = ["broker_findings", "check", "folder_findings", "in_order", "relations_of", "unreachable"]


def check(definition: Definition) -> list[Finding]:
    """Errors first, each with its line."""
    return in_order(definition, _findings(definition, {}))


def in_order(definition: Definition, findings: Iterable[Finding]) -> list[Finding]:
    """As they are shown: each once and with its line, errors first, then as they stand in the file."""
    placed = dict.fromkeys(
        replace(each, line=each.line or definition.line_of(each.where)) for each in findings
    )
    return sorted(placed, key=lambda each: (each.severity is not Severity.ERROR, each.line or 0))


def relations_of(definition: Definition) -> dict[str, Relation]:
    """What each source and flow gives, by its casefolded name, as far as it is known without Spark."""
    relations: dict[str, Relation] = {}
    for _ in _findings(definition, relations):
        pass
    return relations


def _findings(definition: Definition, relations: dict[str, Relation]) -> Iterator[Finding]:
    """``relations`` are filled on the way."""
    for source in definition.sources:
        relation, findings = relation_of(definition, source)
        relations[source.name.casefold()] = relation
        yield from findings
    graph = graph_of(definition)
    yield from graph_findings(definition, graph)
    yield from place_findings(definition, graph)
    yield from nesting_findings(definition)
    for flow in graph.order:
        yield from flow_findings(definition, graph, flow, relations)
        yield from sink_findings(flow, relations[flow.name.casefold()])
