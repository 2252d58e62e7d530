"""Client quotas: looking at them and changing them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault
from trivium.core.metadata_quotas import QuotaEntity


class QuotaComponent(NamedTuple):
    """One type of entity that somebody asks for; ``match_type`` is Kafka's: exactly, the default, any."""

    entity_type: str
    match_type: int
    match: str | None = None


class DescribedQuotas(NamedTuple):
    fault: Fault | None = None
    message: str | None = None
    limits: Mapping[QuotaEntity, Mapping[str, float]] | None = None


@command
class DescribeQuotas(Command[DescribedQuotas]):
    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE_CONFIGS)
    components: Sequence[QuotaComponent]
    is_strict: bool = False
    """Only entities of exactly these types."""

    def refused(self, fault: Fault, message: str | None = None) -> DescribedQuotas:
        return DescribedQuotas(fault, message)


class QuotaChange(NamedTuple):
    """For one entity, given part by part: limits by their keys; None lifts one."""

    entity: Sequence[tuple[str, str | None]]
    limits: Mapping[str, float | None]


class AlteredQuotas(NamedTuple):
    entity: Sequence[tuple[str, str | None]]
    fault: Fault | None = None
    message: str | None = None


@command
class AlterQuotas(Command[list[AlteredQuotas]]):
    ROW: ClassVar[Row] = on_cluster(Operation.ALTER_CONFIGS)
    changes: Sequence[QuotaChange]
    validate_only: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[AlteredQuotas]:
        return [AlteredQuotas(change.entity, fault, message) for change in self.changes]
