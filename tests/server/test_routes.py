"""A node carries out every command there is: what a session can ask for, somebody answers."""

import asyncio

from tests.core.test_commands import all_commands
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles


def test_node_has_somebody_for_every_command() -> None:
    async def routes() -> set[object]:
        node = Node(configuration([], {}), MemoryFiles())
        await node.start()
        try:
            for command in all_commands():
                node.broker.open(command.__module__.rpartition(".")[2])
            return set(node.broker.routes)
        finally:
            await node.stop()

    assert asyncio.run(routes()) == set(all_commands())
