"""A setting that is changed while a broker runs has its effect at once, on logs that exist already."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.configs import AlterConfigs, ConfigChanges
from trivium.core.commands.topics import CreateTopics, NewTopic
from trivium.core.config.change import Change, Operation
from trivium.core.metadata_configs import ALL_BROKERS, ConfigType
from trivium.log.settings import LogSettings
from trivium.server.node import Node
from trivium.testing.broker_settings import configuration
from trivium.testing.memory_files import MemoryFiles

R = TypeVar("R")

LOG_SETTINGS = [
    ("segment.bytes", "log.segment.bytes", "segment_bytes", 1_048_576),
    ("segment.ms", "log.roll.ms", "segment_ms", 11),
    ("segment.index.bytes", "log.index.size.max.bytes", "segment_index_bytes", 80),
    ("index.interval.bytes", "log.index.interval.bytes", "index_interval_bytes", 12),
    ("retention.ms", "log.retention.ms", "retention_ms", 13),
    ("retention.bytes", "log.retention.bytes", "retention_bytes", 14),
    ("min.cleanable.dirty.ratio", "log.cleaner.min.cleanable.ratio", "min_cleanable_dirty_ratio", 0.25),
    ("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", "min_compaction_lag_ms", 15),
    ("max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms", "max_compaction_lag_ms", 16),
    ("delete.retention.ms", "log.cleaner.delete.retention.ms", "delete_retention_ms", 17),
    ("flush.messages", "log.flush.interval.messages", "flush_messages", 18),
    ("flush.ms", "log.flush.interval.ms", "flush_ms", 19),
]


async def done(node: Node, command: Command[R]) -> R:
    reply: asyncio.Future[R] = asyncio.get_running_loop().create_future()
    node.broker.execute(command, Caller(), reply.set_result)
    return await reply


async def change(node: Node, kind: ConfigType, name: str, *changes: Change) -> None:
    (result,) = await done(node, AlterConfigs([ConfigChanges(kind, name, changes)]))
    assert result.fault is None, result.message


def with_node(test: Callable[[Node], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        node = Node(configuration([], {}), MemoryFiles())
        await node.start()
        try:
            await done(node, CreateTopics([NewTopic("a")]))
            node.storage.log("a", 0)
            await test(node)
        finally:
            await node.stop()

    asyncio.run(run())


def settings_of(node: Node) -> LogSettings:
    log = node.store.get("a", 0)
    assert log is not None
    return log.settings


@pytest.mark.parametrize(("name", "broker_name", "field", "value"), LOG_SETTINGS)
def test_setting_of_a_log_counts_at_once_whoever_has_set_it(
    name: str, broker_name: str, field: str, value: float
) -> None:
    """The topic's own value wins over that of all brokers, and both come and go while the log is in use."""

    async def test(node: Node) -> None:
        def in_force() -> Any:
            return getattr(settings_of(node), field)

        default = in_force()
        assert default != value
        await change(node, ConfigType.BROKER, ALL_BROKERS, Change(broker_name, Operation.SET, str(value)))
        assert in_force() == value
        own = Change(name, Operation.SET, str(value * 2))
        await change(node, ConfigType.TOPIC, "a", own)
        assert in_force() == value * 2
        await change(node, ConfigType.BROKER, ALL_BROKERS, Change(broker_name, Operation.DELETE))
        assert in_force() == value * 2
        await change(node, ConfigType.TOPIC, "a", Change(name, Operation.DELETE))
        assert in_force() == default

    with_node(test)


def test_cleanup_policy_counts_at_once() -> None:
    async def test(node: Node) -> None:
        policy = Change("cleanup.policy", Operation.SET, "compact")
        await change(node, ConfigType.TOPIC, "a", policy)
        assert (settings_of(node).compact, settings_of(node).delete) == (True, False)
        await change(node, ConfigType.TOPIC, "a", Change("cleanup.policy", Operation.APPEND, "delete"))
        assert (settings_of(node).compact, settings_of(node).delete) == (True, True)

    with_node(test)


def test_number_as_java_writes_it_is_a_number_to_the_log() -> None:
    async def test(node: Node) -> None:
        ratio = Change("min.cleanable.dirty.ratio", Operation.SET, " .25d ")
        await change(node, ConfigType.TOPIC, "a", ratio)
        assert settings_of(node).min_cleanable_dirty_ratio == 0.25

    with_node(test)
