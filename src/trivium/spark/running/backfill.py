"""Older records through a flow, beside the live one: which of them, each only once, and what was done.

    <state>/backfills/<flow>/1/plan.json        from where to where, and whether it is done
    <state>/backfills/<flow>/1/checkpoint       how far it is

The live flow has everything from its beginning on, each backfill what its plan says. What is asked for is
filled as far as nobody has it. A plan that is not done is done first: killed, a backfill goes on.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trivium.client.door import Door
from trivium.client.topology import TopicPartition
from trivium.pipeline.beside import why_not_beside
from trivium.pipeline.checking.graph import graph_of
from trivium.pipeline.definition import Definition
from trivium.pipeline.flow import Flow
from trivium.pipeline.mistake import Mistake
from trivium.pipeline.start import Start, parse_start
from trivium.spark.connector.offsets_json import from_json, to_json
from trivium.spark.running.beginnings import Positions, kept_beginning, offsets_at
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.passages import Past
from trivium.spark.running.places import with_whole_paths
from trivium.spark.running.state_files import names_in, read_json, write_json


@dataclass(frozen=True)
class Backfill:
    passage: Past
    is_resumed: bool
    """Whether it is an older one that was not finished, and not what was asked for now."""

    @property
    def file(self) -> str:
        return _file(self.passage.definition, self.passage.flow, self.passage.number)

    @property
    def sentences(self) -> list[str]:
        """What it reads."""
        return [
            f"{key.topic}, partition {key.partition}: offsets {start:,} to {end - 1:,}."
            for source, starts in self.passage.starts.items()
            for key, start in sorted(starts.items())
            if (end := self.passage.ends[source][key]) > start
        ]

    def mark_done(self) -> None:
        write_json(self.file, {**read_json(self.file), "is_done": True})


def parse_moment(key: str, text: str, topics: tuple[str, ...]) -> Start:
    """``earliest``, a time, or offsets in JSON, as ``start`` of a source has them."""
    if not text.lstrip().startswith("{"):
        return parse_start(text, topics)
    try:
        return parse_start(json.loads(text), topics)
    except ValueError:
        raise Mistake(key, f"{text} is not JSON.", """Such as '{"0": 17}'.""") from None


def plan_backfill(
    definition: Definition, flow: Flow, since: Start, until: Start | None, door: Door
) -> Backfill | None:
    """None where nothing is left to fill. Written down before anything is done."""
    definition = with_whole_paths(definition)
    flow = definition.flow(flow.name) or flow
    graph = graph_of(definition)
    refusal = why_not_beside(definition, graph, flow)
    if refusal is not None:
        raise CannotRun(refusal)
    earlier = _plans(definition, flow)
    for number, plan in earlier.items():
        if not plan["is_done"]:
            return Backfill(_passage(definition, flow, door, number, plan), is_resumed=True)
    starts: dict[str, Positions] = {}
    ends: dict[str, Positions] = {}
    with door.connect() as cluster:
        for source in graph.topic_sources(definition, flow):
            live = kept_beginning(definition, flow, source)
            if live is None:
                raise CannotRun(
                    f"{flow.name} has never run, and a backfill ends where the live flow began. Run it "
                    f"first; it begins where start = of {source.name} says."
                )
            first = offsets_at(cluster, since, live)
            last = live if until is None else offsets_at(cluster, until, live)
            starts[source.name], ends[source.name] = {}, {}
            for key, limit in live.items():
                wanted = (first[key], min(last[key], limit))
                filled = [_range(plan, source.name, key) for plan in earlier.values()]
                start, end = _unfilled(key, wanted, filled)
                starts[source.name][key], ends[source.name][key] = start, end
    if starts == ends:
        return None
    number = max(earlier, default=0) + 1
    plan = {
        "starts": {name: to_json(each) for name, each in starts.items()},
        "ends": {name: to_json(each) for name, each in ends.items()},
        "is_done": False,
    }
    write_json(_file(definition, flow, number), plan)
    return Backfill(_passage(definition, flow, door, number, plan), is_resumed=False)


def _unfilled(key: TopicPartition, wanted: tuple[int, int], filled: list[tuple[int, int]]) -> tuple[int, int]:
    """What is left of a range; nothing is an empty one."""
    start, end = wanted
    for first, last in sorted(filled):
        if first <= start < last:
            start = last
    for first, last in sorted(filled, reverse=True):
        if first < end <= last:
            end = first
    if start >= end:
        return wanted[0], wanted[0]
    for first, last in filled:
        if start < last and first < end and first < last:
            raise CannotRun(
                f"Topic {key.topic}, partition {key.partition} is filled from offset {first} to {last - 1} "
                "already, in the middle of what you ask for; fill what is before and behind it in turn."
            )
    return start, end


def _range(plan: Mapping[str, Any], source: str, key: TopicPartition) -> tuple[int, int]:
    starts, ends = from_json(plan["starts"].get(source, {})), from_json(plan["ends"].get(source, {}))
    return starts.get(key, 0), ends.get(key, 0)


def _passage(definition: Definition, flow: Flow, door: Door, number: int, plan: Mapping[str, Any]) -> Past:
    return Past(
        definition,
        flow,
        door,
        number,
        {name: from_json(each) for name, each in plan["starts"].items()},
        {name: from_json(each) for name, each in plan["ends"].items()},
    )


def _plans(definition: Definition, flow: Flow) -> dict[int, Any]:
    names = names_in(definition.backfills_of(flow))
    found = {int(name): read_json(_file(definition, flow, int(name))) for name in names if name.isdecimal()}
    return {number: plan for number, plan in sorted(found.items()) if plan is not None}


def _file(definition: Definition, flow: Flow, number: int) -> str:
    return f"{definition.backfills_of(flow)}/{number}/plan.json"
