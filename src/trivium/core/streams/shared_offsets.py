"""Offsets in the one store that there is: those of the Kafka group of the same name.

They are committed beside the members that the Kafka group may have. They do not expire for as long as a group
of a stream has the name, and those of a consumer by itself never do.

What carries groups out is asked for with the first offset: many a node has clients that never store one.
"""

from collections.abc import Callable, Iterable

from trivium.core.caller import Caller
from trivium.core.commands.command import Routes
from trivium.core.commands.offsets import (
    NO_COMMITTED_OFFSET,
    CommitOffsets,
    CommittedPart,
    DeletedOffsets,
    DeleteOffsets,
    FetchOffsets,
    GroupOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.faults import Refused
from trivium.core.ports import Done
from trivium.core.streams.registry import Registry


class SharedOffsets:
    def __init__(self, routes: Callable[[], Routes], registry: Registry, reserved_prefix: str) -> None:
        self._routes = routes
        self._registry = registry
        self._reserved_prefix = reserved_prefix

    def are_kept(self, group_id: str) -> bool:
        """Whether the offsets of this group do not expire."""
        return group_id.startswith(self._reserved_prefix) or any(
            topic.group(group_id) is not None for topic in self._registry.topics()
        )

    def store(
        self, group_id: str, topic: str, partition: int, offset: int, caller: Caller, done: Done
    ) -> None:
        def committed(parts: list[CommittedPart]) -> None:
            done(parts[0].fault)

        command = CommitOffsets(group_id, [OffsetToCommit(topic, partition, offset)], shares_only=True)
        self._routes()[CommitOffsets](command, caller, committed)

    def find(self, group_id: str, topic: str, partition: int, caller: Caller) -> int | None:
        """The next to read; None if nothing was committed."""
        found: list[list[GroupOffsets]] = []
        wanted = GroupOffsetsWanted(group_id, [(topic, partition)])
        self._routes()[FetchOffsets](FetchOffsets([wanted]), caller, found.append)
        group = found[0][0]
        fault = group.fault or group.offsets[0].fault
        if fault is not None:
            raise Refused(fault)
        offset = group.offsets[0].offset
        return None if offset == NO_COMMITTED_OFFSET else offset

    def forget(
        self, group_id: str, topic: str, partitions: Iterable[int], caller: Caller, done: Done
    ) -> None:
        """``GROUP_SUBSCRIBED_TO_TOPIC`` if members of the Kafka group of that name read the topic."""

        def deleted(result: DeletedOffsets) -> None:
            done(result.fault or next((part.fault for part in result.parts if part.fault), None))

        command = DeleteOffsets(group_id, [(topic, partition) for partition in partitions])
        self._routes()[DeleteOffsets](command, caller, deleted)
