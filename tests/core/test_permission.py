"""What is missing and what is forbidden look alike to whom it is forbidden (S11)."""

from typing import Any

import pytest

from tests.core.batches import writing_world
from trivium.core.access import Access
from trivium.core.commands.command import Command
from trivium.core.commands.list_offsets import FindOffsets, OffsetQuery, Spot
from trivium.core.commands.records import Fetch, FetchPart, Produce, ProducePart
from trivium.core.faults import Fault
from trivium.core.list_offsets import Offsets


def asked_for(topic: str) -> list[Command[Any]]:
    return [
        Produce([ProducePart(topic, 0, b"no batch")], 1, 1_000),
        Fetch([FetchPart(topic, 0, 0, 1 << 20)], 0, 0, 1 << 20),
        FindOffsets([OffsetQuery(topic, 0, Spot.LATEST)]),
    ]


@pytest.mark.parametrize("number", range(3))
def test_missing_and_forbidden_partition_get_the_same_fault(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = writing_world()
    world.add(Offsets(world.cluster, world.access).routes)
    monkeypatch.setattr(Access, "allows", lambda *_: False)
    faults = [world.execute(asked_for(topic)[number])[0].fault for topic in ("t", "missing")]
    assert faults == [Fault.NOT_AUTHORIZED_TOPIC, Fault.NOT_AUTHORIZED_TOPIC]
