"""Settings of topics, brokers, groups, subscriptions to client metrics and loggers.

Kinds of resources are Kafka's numbers (``core.metadata_configs.ConfigType``, and ``LOGGER``): a number that
means nothing is refused by whoever carries the command out, resource by resource.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from trivium.core.access import Operation, Resource, Row, on_cluster, on_each
from trivium.core.commands.command import Command, command
from trivium.core.config.change import Change
from trivium.core.config.description import Entry
from trivium.core.faults import Fault
from trivium.core.metadata_configs import ConfigType

LOGGER: Final = 8
"""The kind of a broker's loggers. Their levels are settings that nobody stores."""
KINDS: Final = frozenset((*ConfigType, LOGGER))


class ConfigQuery(NamedTuple):
    kind: int
    resource: str
    names: Sequence[str] | None = None
    """The settings that are of interest; None for all."""


class DescribedConfigs(NamedTuple):
    kind: int
    resource: str
    fault: Fault | None = None
    message: str | None = None
    entries: Sequence[Entry] = ()


@command
class DescribeConfigs(Command[list[DescribedConfigs]]):
    ROW: ClassVar[Row] = on_each(Operation.DESCRIBE_CONFIGS, Resource.CLUSTER)
    queries: Sequence[ConfigQuery]

    def refused(self, fault: Fault, message: str | None = None) -> list[DescribedConfigs]:
        return [DescribedConfigs(query.kind, query.resource, fault, message) for query in self.queries]


class AlteredConfigs(NamedTuple):
    kind: int
    resource: str
    fault: Fault | None = None
    message: str | None = None


class ConfigChanges(NamedTuple):
    kind: int
    resource: str
    changes: Sequence[Change]

    def __repr__(self) -> str:
        return _shown(self.kind, self.resource, [each.name for each in self.changes])


@command
class AlterConfigs(Command[list[AlteredConfigs]]):
    """Change single settings and leave the others. Each resource gets all of its changes or none."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER_CONFIGS, Resource.CLUSTER)
    resources: Sequence[ConfigChanges]
    validate_only: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[AlteredConfigs]:
        return [AlteredConfigs(each.kind, each.resource, fault, message) for each in self.resources]


class ConfigReplacement(NamedTuple):
    kind: int
    resource: str
    values: Sequence[tuple[str, str | None]]

    def __repr__(self) -> str:
        return _shown(self.kind, self.resource, [name for name, _ in self.values])


def _shown(kind: int, resource: str, names: Sequence[str]) -> str:
    """Without the values: some are secrets."""
    return f"(kind={kind}, resource={resource!r}, settings={', '.join(names)})"


@command
class ReplaceConfigs(Command[list[AlteredConfigs]]):
    """Give resources these settings and no others."""

    ROW: ClassVar[Row] = on_each(Operation.ALTER_CONFIGS, Resource.CLUSTER)
    resources: Sequence[ConfigReplacement]
    validate_only: bool = False

    def refused(self, fault: Fault, message: str | None = None) -> list[AlteredConfigs]:
        return [AlteredConfigs(each.kind, each.resource, fault, message) for each in self.resources]


class ListedConfigs(NamedTuple):
    resources: Sequence[tuple[int, str]] = ()
    fault: Fault | None = None


@command
class ListConfigs(Command[ListedConfigs]):
    """All topics, brokers and loggers of these kinds, and what else has settings of its own."""

    ROW: ClassVar[Row] = on_cluster(Operation.DESCRIBE_CONFIGS)
    kinds: Sequence[int]

    def refused(self, fault: Fault, message: str | None = None) -> ListedConfigs:
        return ListedConfigs(fault=fault)
