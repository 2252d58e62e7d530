"""The log directories of this broker: what lies in them, and moving it from one to another."""

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.placement import (
    DescribedDirectories,
    DescribedDirectory,
    DescribeDirectories,
    PlacedPart,
    RelocatePartitions,
    Relocation,
)
from trivium.core.faults import Fault, Refused
from trivium.core.ports import DirectoryFacts
from trivium.core.settings import Settings
from trivium.core.topic_names import METADATA_TOPIC

ALL_DIRECTORIES = "*"


class LogDirectories:
    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings
        self.routes: Routes = {DescribeDirectories: self.describe, RelocatePartitions: self.relocate}

    def describe(
        self, command: DescribeDirectories, caller: Caller, reply: Reply[DescribedDirectories]
    ) -> None:
        wanted = None if command.parts is None else set(command.parts)
        facts = self._cluster.storage.directories()
        reply(DescribedDirectories([self._described(each, wanted) for each in facts]))

    def _described(self, facts: DirectoryFacts, wanted: set[tuple[str, int]] | None) -> DescribedDirectory:
        def is_wanted(part: tuple[str, int]) -> bool:
            return part[0] != METADATA_TOPIC if wanted is None else part in wanted

        cordoned = self._settings.broker("cordoned.log.dirs")
        assert isinstance(cordoned, tuple), "cordoned.log.dirs is a list"
        return DescribedDirectory(
            facts.path,
            facts.fault,
            facts.total_bytes,
            facts.usable_bytes,
            {part: size for part, size in facts.sizes.items() if is_wanted(part)},
            {part: future for part, future in facts.arriving.items() if is_wanted(part)},
            facts.path in cordoned or ALL_DIRECTORIES in cordoned,
        )

    def relocate(self, command: RelocatePartitions, caller: Caller, reply: Reply[list[PlacedPart]]) -> None:
        """Answered when the moves have begun, as with Kafka: a large partition takes its time, and whoever
        wants to know looks at the directories.
        """
        results = []
        paths = {facts.path for facts in self._cluster.storage.directories()}
        for part in command.parts:
            try:
                # As with Kafka, where it should go counts before whether it is there.
                if part.path not in paths:
                    raise Refused(Fault.LOG_DIRECTORY_NOT_FOUND, f"{part.path} is no log directory here")
                self._begin(part)
                results.append(PlacedPart(part.topic, part.partition))
            except Refused as refused:
                results.append(PlacedPart(part.topic, part.partition, refused.fault, refused.message))
        reply(results)

    def _begin(self, part: Relocation) -> None:
        if part.partition not in self._cluster.topic(part.topic).partitions:
            raise Refused(Fault.UNKNOWN_TOPIC)
        self._cluster.storage.move(part.topic, part.partition, part.path, lambda _fault: None)
