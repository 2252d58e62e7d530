"""Access control entries: looking at them, adding and removing them. Codes are Kafka's."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, on_cluster
from trivium.core.acls.entry import AccessControlEntry
from trivium.core.acls.filter import AclFilter
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault


class DescribedAcls(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    entries: Sequence[AccessControlEntry] = ()


@command
class DescribeAcls(Command[DescribedAcls]):
    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE)
    filter: AclFilter

    def refused(self, fault: Fault, message: str | None = None) -> DescribedAcls:
        return DescribedAcls(fault, message)


class NewAcl(NamedTuple):
    """An entry as somebody asks for it: its codes may mean nothing."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


class CreatedAcl(NamedTuple):
    fault: Fault | None = None
    message: str | None = None


@command
class CreateAcls(Command[list[CreatedAcl]]):
    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    entries: Sequence[NewAcl]

    def refused(self, fault: Fault, message: str | None = None) -> list[CreatedAcl]:
        return [CreatedAcl(fault, message) for _ in self.entries]


class DeletedAcls(NamedTuple):
    """For one filter: what it meant, which is gone now."""

    fault: Fault | None = None
    message: str | None = None
    entries: Sequence[AccessControlEntry] = ()


@command
class DeleteAcls(Command[list[DeletedAcls]]):
    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    filters: Sequence[AclFilter]

    def refused(self, fault: Fault, message: str | None = None) -> list[DeletedAcls]:
        return [DeletedAcls(fault, message) for _ in self.filters]
