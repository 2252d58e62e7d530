"""Users and streams on a node's real log: what a restart and a kill leave of them (R1, R7, X.2)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import pytest

from tests.core.batches import batch
from trivium.core.caller import Caller
from trivium.core.commands.clients import MeasureNode
from trivium.core.commands.command import Command
from trivium.core.commands.records import Produce, ProducePart
from trivium.core.commands.streams import (
    AddPartitions,
    CreateStream,
    CreateStreamTopic,
    DeleteSegments,
    DescribeStreamTopic,
    DropPartitions,
    ListStreams,
    PurgeStreamTopic,
)
from trivium.core.commands.users import CreateUser, LogIn
from trivium.core.faults import Fault
from trivium.server.configuration.loading import load
from trivium.server.node import Node
from trivium.testing.mortal_files import MortalFiles

R = TypeVar("R")
ROOT = Caller(protocol="iggy", user_id=0)


class Talk:
    """A node in this loop, asked without a door."""

    def __init__(self, node: Node) -> None:
        self.node = node

    async def ask(self, command: Command[R], caller: Caller = ROOT) -> R:
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.node.broker.execute(command, caller, answer.set_result)
        return await asyncio.wait_for(answer, 20)

    async def write(self, topic: str, *values: bytes, partition: int = 0) -> int:
        """The offset of the last of the values."""
        offset = -1
        for value in values:
            part = ProducePart(topic, partition, bytearray(batch(value)))
            (result,) = await self.ask(Produce([part], -1, 30_000))
            assert result.fault is None
            offset = result.base_offset
        return offset


def run(
    directory: Path,
    talk: Callable[[Talk], Awaitable[None]],
    *,
    kill: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Start a node with a door for streams, talk to it, and stop or kill it."""

    files = MortalFiles()

    async def scenario() -> None:
        listen = {"listen.kafka": "127.0.0.1:0", "listen.iggy": "127.0.0.1:0"}
        off = {"listen.console": "off", "listen.rustlog": "off"}
        node = Node(load(None, {}, {"data": str(directory), **listen, **off, **settings}), files)
        await node.start()
        try:
            await talk(Talk(node))
        finally:
            await (node.abandon() if kill else node.stop())

    asyncio.run(scenario())
    if kill:
        files.kill()


@pytest.mark.parametrize("kill", [False, True])
def test_users_and_streams_survive_a_stop_and_a_kill(tmp_path: Path, kill: bool) -> None:
    async def make(talk: Talk) -> None:
        assert (await talk.ask(CreateUser("ann", "secret"))).fault is None
        assert (await talk.ask(CreateStream("shop"))).fault is None
        assert (await talk.ask(CreateStreamTopic("shop", "orders", 2))).fault is None
        await talk.write("shop.orders", b"one", b"two")

    async def look(talk: Talk) -> None:
        guest = Caller(protocol="iggy")
        assert (await talk.ask(LogIn("ann", "secret"), guest)).user_id == 1
        assert (await talk.ask(LogIn("iggy", "iggy"), guest)).user_id == 0
        assert (await talk.ask(LogIn("ann", "wrong"), guest)).fault is Fault.INVALID_CREDENTIALS
        assert (await talk.ask(LogIn("nobody", "wrong"), guest)).fault is Fault.INVALID_CREDENTIALS
        topic = (await talk.ask(DescribeStreamTopic("shop", "orders"))).topic
        assert topic is not None
        assert (topic.partitions_count, topic.messages_count) == (2, 2)
        streams = (await talk.ask(ListStreams())).streams
        assert [(stream.stream_id, stream.name) for stream in streams] == [(0, "default"), (1, "shop")]

    run(tmp_path, make, kill=kill)
    run(tmp_path, look)


@pytest.mark.parametrize("kill", [False, True])
def test_purged_topic_stays_purged(tmp_path: Path, kill: bool) -> None:
    async def purge(talk: Talk) -> None:
        await talk.ask(CreateStreamTopic("default", "t", 2))
        assert await talk.write("t", b"one", b"two") == 1
        assert await talk.ask(PurgeStreamTopic("default", "t")) is None
        assert await talk.write("t", b"three") == 0

    async def look(talk: Talk) -> None:
        topic = (await talk.ask(DescribeStreamTopic("default", "t"))).topic
        assert topic is not None
        assert (topic.topic_id, topic.messages_count) == (0, 1)
        assert await talk.write("t", b"four") == 1

    run(tmp_path, purge, kill=kill)
    run(tmp_path, look)


@pytest.mark.parametrize("kill", [False, True])
def test_dropped_partition_stays_dropped_and_comes_back_empty(tmp_path: Path, kill: bool) -> None:
    async def drop(talk: Talk) -> None:
        await talk.ask(CreateStreamTopic("default", "t", 3))
        await talk.write("t", b"kept")
        await talk.write("t", b"gone", partition=2)
        assert await talk.ask(DropPartitions("default", "t", 2)) is None

    async def look(talk: Talk) -> None:
        described = await talk.ask(DescribeStreamTopic("default", "t"))
        assert [part.messages_count for part in described.partitions] == [1]
        assert await talk.ask(AddPartitions("default", "t", 2)) is None
        assert await talk.write("t", b"new", partition=2) == 0

    async def look_again(talk: Talk) -> None:
        described = await talk.ask(DescribeStreamTopic("default", "t"))
        assert [part.messages_count for part in described.partitions] == [1, 0, 1]

    run(tmp_path, drop, kill=kill)
    run(tmp_path, look, kill=kill)
    run(tmp_path, look_again)


def test_oldest_segments_go_and_the_log_begins_later(tmp_path: Path) -> None:
    async def scenario(talk: Talk) -> None:
        await talk.ask(CreateStreamTopic("default", "t", 1))
        await talk.write("t", *[b"x" * 400_000] * 6)
        before = (await talk.ask(DescribeStreamTopic("default", "t"))).partitions[0]
        assert before.segments_count == 3
        assert await talk.ask(DeleteSegments("default", "t", 0, 1)) is None
        after = (await talk.ask(DescribeStreamTopic("default", "t"))).partitions[0]
        assert (after.offset_last, after.messages_count) == (5, 4)

    run(tmp_path, scenario, settings={"log.segment.bytes": "1048576"})


def test_node_tells_about_its_machine(tmp_path: Path) -> None:
    async def scenario(talk: Talk) -> None:
        machine = (await talk.ask(MeasureNode())).machine
        assert machine.process_id > 0
        assert machine.memory_bytes > 1_000_000
        assert machine.machine_memory_bytes >= machine.available_memory_bytes > 0
        assert machine.os_name

    run(tmp_path, scenario)
