"""Where partitions are: who leads them, who has copies, and in which directory of a broker they lie."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault
from trivium.core.ports import FutureFacts


class PlacedPart(NamedTuple):
    """What became of one partition."""

    topic: str
    partition: int
    fault: Fault | None = None
    message: str | None = None


# -- leaders -------------------------------------------------------------------------------------


class Elected(NamedTuple):
    parts: Sequence[PlacedPart]
    topics: Sequence[str] = ()
    """All topics that were looked at, also those of whose partitions there is nothing to tell."""
    fault: Fault | None = None


@command
class ElectLeaders(Command[Elected]):
    """Let the preferred replica lead; ``unclean``: any that is there, if nobody leads. None: all partitions,
    and only those are told of that needed it.
    """

    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    parts: Sequence[tuple[str, int]] | None
    unclean: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> Elected:
        parts = [PlacedPart(topic, partition, fault, message) for topic, partition in self.parts or ()]
        return Elected(parts, fault=fault)


# -- replicas ------------------------------------------------------------------------------------


class Reassignment(NamedTuple):
    topic: str
    partition: int
    replicas: Sequence[int] | None
    """None cancels a reassignment that is under way."""


class Reassigned(NamedTuple):
    parts: Sequence[PlacedPart]
    fault: Fault | None = None
    message: str | None = None


@command
class ReassignPartitions(Command[Reassigned]):
    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    parts: Sequence[Reassignment]
    may_change_count: bool = True
    """Whether a partition may get more or fewer replicas than it has."""

    def refused(self, fault: Fault, message: str | None = None) -> Reassigned:
        return Reassigned([], fault, message)


class Reassigning(NamedTuple):
    topic: str
    partition: int
    replicas: Sequence[int]
    adding: Sequence[int]
    removing: Sequence[int]


class ListedReassignments(NamedTuple):
    parts: Sequence[Reassigning]
    fault: Fault | None = None
    message: str | None = None


@command
class ListReassignments(Command[ListedReassignments]):
    """Reassignments under way. None asks for those of all partitions."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    parts: Sequence[tuple[str, int]] | None

    def refused(self, fault: Fault, message: str | None = None) -> ListedReassignments:
        return ListedReassignments([], fault, message)


# -- directories ---------------------------------------------------------------------------------


class DescribedDirectory(NamedTuple):
    path: str
    fault: Fault | None
    total_bytes: int
    usable_bytes: int
    sizes: Mapping[tuple[str, int], int]
    arriving: Mapping[tuple[str, int], FutureFacts]
    """Partitions that are on their way into this directory."""
    is_cordoned: bool
    """Takes no new partitions."""


class DescribedDirectories(NamedTuple):
    directories: Sequence[DescribedDirectory]
    fault: Fault | None = None


@command
class DescribeDirectories(Command[DescribedDirectories]):
    """The log directories of this broker. None asks for all partitions in them."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    parts: Sequence[tuple[str, int]] | None

    def refused(self, fault: Fault, message: str | None = None) -> DescribedDirectories:
        return DescribedDirectories([], fault)


class Relocation(NamedTuple):
    topic: str
    partition: int
    path: str


@command
class RelocatePartitions(Command[list[PlacedPart]]):
    """Begin to carry partitions to other log directories of this broker."""

    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    parts: Sequence[Relocation]

    def refused(self, fault: Fault, message: str | None = None) -> list[PlacedPart]:
        return [PlacedPart(part.topic, part.partition, fault, message) for part in self.parts]
