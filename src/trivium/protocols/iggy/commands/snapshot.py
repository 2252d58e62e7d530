"""The files of GET_SNAPSHOT_FILE: what somebody who helps from afar wants to see of a node.

A file that the caller has no right to see says so; the others are there.
"""

from collections.abc import Callable, Generator, Sequence
from enum import IntEnum
from typing import Any, Final

from trivium.core.commands.clients import MeasureNode
from trivium.core.commands.command import Command
from trivium.core.commands.configs import ConfigQuery, DescribeConfigs
from trivium.core.commands.placement import DescribeDirectories
from trivium.core.metadata_configs import ConfigType
from trivium.protocols.iggy.exchange import Call, ask

Text = Generator[Command[Any], Any, str]

NOT_ALLOWED: Final = "You may not see this: it needs the right to read servers.\n"


class SnapshotKind(IntEnum):
    FILESYSTEM = 1
    PROCESSES = 2
    RESOURCES = 3
    TEST = 4
    LOGS = 5
    CONFIG = 6
    ALL = 100


def kinds_wanted(kinds: Sequence[SnapshotKind]) -> Sequence[SnapshotKind]:
    """``ALL`` must stand alone; ``ValueError`` otherwise."""
    if SnapshotKind.ALL not in kinds:
        return list(dict.fromkeys(kinds))
    if len(kinds) > 1:
        raise ValueError("all kinds, and others besides")
    return list(_FILES)


def snapshot(kinds: Sequence[SnapshotKind], call: Call) -> Generator[Command[Any], Any, dict[str, bytes]]:
    files = {}
    for kind in kinds:
        name, write = _FILES[kind]
        text = yield from write()
        files[name] = text.encode()
    return files


def _filesystem() -> Text:
    described = yield from ask(DescribeDirectories(None))
    if described.fault is not None:
        return NOT_ALLOWED
    lines = []
    for each in described.directories:
        state = "online" if each.fault is None else "offline"
        lines.append(f"{each.path} {state}, {each.usable_bytes} of {each.total_bytes} bytes free")
        lines += [f"  {topic}-{partition} {size}" for (topic, partition), size in sorted(each.sizes.items())]
    return "\n".join(lines) + "\n"


def _processes() -> Text:
    figures = yield from ask(MeasureNode())
    if figures.fault is not None:
        return NOT_ALLOWED
    machine = figures.machine
    return f"{machine.process_id} trivium, {machine.threads_count} threads, {machine.memory_bytes} bytes\n"


def _resources() -> Text:
    figures = yield from ask(MeasureNode())
    if figures.fault is not None:
        return NOT_ALLOWED
    facts = {**figures.machine._asdict(), **figures.log._asdict()}
    return "".join(f"{name} = {value}\n" for name, value in facts.items())


def _test() -> Text:
    return "test\n"
    yield


def _logs() -> Text:
    return "The node writes its log to standard error and keeps none of it.\n"
    yield


def _config() -> Text:
    described = yield from ask(DescribeConfigs([ConfigQuery(ConfigType.BROKER, "")]))
    if described[0].fault is not None:
        return NOT_ALLOWED
    return "".join(
        f"{each.name} = {'' if each.value is None else each.value}\n" for each in described[0].entries
    )


_FILES: Final[dict[SnapshotKind, tuple[str, Callable[[], Text]]]] = {
    SnapshotKind.FILESYSTEM: ("filesystem_overview.txt", _filesystem),
    SnapshotKind.PROCESSES: ("process_list.txt", _processes),
    SnapshotKind.RESOURCES: ("resource_usage.txt", _resources),
    SnapshotKind.TEST: ("test.txt", _test),
    SnapshotKind.LOGS: ("server_logs.txt", _logs),
    SnapshotKind.CONFIG: ("server_config.txt", _config),
}
