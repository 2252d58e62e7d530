"""What a start loads: nothing that nobody has asked for, everything that was there before (R1)."""

import asyncio
import subprocess
import sys
from typing import TypeVar

import pytest

from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.offsets import CommitOffsets, OffsetToCommit
from trivium.core.commands.topics import CreateTopics, NewTopic
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles

R = TypeVar("R")

START = """
import asyncio, sys
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles

async def start():
    node = Node(configuration([], {}), MemoryFiles())
    await node.start()
    print(*sys.modules, sep="\\n")
    await node.stop()

asyncio.run(start())
"""

NOT_YET_NEEDED = (
    "trivium.core.groups.coordinator",
    "trivium.core.transactions.coordinator",
    "trivium.core.streams.streams",
    "trivium.core.users.people",
    "trivium.core.produce",
    "trivium.core.configs",
    "trivium.protocols.kafka.session",
    "trivium.protocols.iggy",
    "trivium.protocols.rustlog",
)


async def ask(node: Node, command: Command[R]) -> R:
    answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
    node.broker.execute(command, Caller(), answer.set_result)
    return await asyncio.wait_for(answer, 60)


def test_start_of_a_fresh_node_loads_no_noun_that_nobody_has_asked_for() -> None:
    started = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    loaded = set(started.stdout.splitlines())
    assert "trivium.server.assembly" in loaded
    assert sorted(loaded & set(NOT_YET_NEEDED)) == []


@pytest.mark.parametrize("first", ["groups", "streams"])
def test_offsets_of_streams_are_kept_whichever_room_opens_first(first: str) -> None:
    """A door for Iggy opens without groups, and groups without streams; together they keep what both know."""

    async def open_both() -> None:
        node = Node(configuration([], {}), MemoryFiles())
        await node.start()
        nouns = node.assembly.nouns
        assert not {"groups", "streams"} & vars(nouns).keys()
        for noun in (first, *({"groups", "streams"} - {first})):
            getattr(nouns, noun)
        keeps = nouns.groups._shards.is_spared
        assert keeps("iggy.consumer.1")
        assert not keeps("billing")
        await node.stop()

    asyncio.run(open_both())


def test_start_on_a_directory_with_groups_knows_their_offsets_before_anybody_asks() -> None:
    files, settings = MemoryFiles(), configuration([], {"offsets.topic.num.partitions": 1})

    async def commit() -> None:
        node = Node(settings, files)
        await node.start()
        assert list(node.assembly.committed()) == []
        await ask(node, CreateTopics([NewTopic("orders", 1, 1, {})]))
        (part,) = await ask(node, CommitOffsets("billing", [OffsetToCommit("orders", 0, 7)]))
        assert part.fault is None
        await node.stop()

    async def look() -> None:
        node = Node(settings, files)
        await node.start()
        assert list(node.assembly.committed()) == [("billing", ("orders", 0), 7)]
        await node.stop()

    asyncio.run(commit())
    asyncio.run(look())
