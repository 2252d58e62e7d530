"""Feature levels: what all brokers have agreed to do, so that clients can rely on it (KIP-584)."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Operation, Row, for_everybody, on_cluster
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault


class FeatureLevels(NamedTuple):
    supported: Mapping[str, tuple[int, int]]
    """The lowest and the last level of every feature that this node can do."""
    finalized: Mapping[str, int]
    """The level that is in force."""
    epoch: int
    """Grows with every change of the metadata."""
    collects_metrics: bool = False
    """Somebody has asked for metrics of clients (a resource of type client-metrics)."""


@command
class DescribeFeatures(Command[FeatureLevels]):
    ROW: ClassVar[Row] = for_everybody("clients ask before they log in, to know how to")


class FeatureUpdate(NamedTuple):
    name: str
    level: int
    """0 takes the feature out of force."""
    lowers: bool = False
    """The level may only be lowered, instead of raised."""


class UpdatedFeatures(NamedTuple):
    fault: Fault | None = None
    message: str | None = None


@command
class UpdateFeatures(Command[UpdatedFeatures]):
    """Put features in force at these levels, all of them or none."""

    ROW: ClassVar[Row] = on_cluster(Operation.ALTER)
    updates: Sequence[FeatureUpdate]
    validates_only: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> UpdatedFeatures:
        return UpdatedFeatures(fault, message)
