"""Settings at work: telling them, changing them. What may be set to what is the business of ``config``.

A change is a record of the metadata log, and takes effect when it is written: ``Cluster.commit`` lets logs
and live partitions follow. Levels of loggers are the exception: they are of this process and go with it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from trivium.core.access import CLUSTER_NAME, NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.configs import (
    KINDS,
    LOGGER,
    AlterConfigs,
    AlteredConfigs,
    ConfigChanges,
    ConfigQuery,
    ConfigReplacement,
    DescribeConfigs,
    DescribedConfigs,
    ListConfigs,
    ListedConfigs,
    ReplaceConfigs,
)
from trivium.core.config import description
from trivium.core.config.change import Delta, altered, checked, replaced
from trivium.core.config.description import Entry
from trivium.core.faults import Fault, Refused
from trivium.core.loggers import change_levels, describe_loggers
from trivium.core.metadata_configs import ALL_BROKERS, ConfigResource, ConfigType
from trivium.core.ports import Loggers
from trivium.core.settings import Settings
from trivium.core.topic_names import check_topic_name
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_topics import ConfigRecord

_NAMELESS: Final = {
    ConfigType.TOPIC: "Default topic resources are not allowed.",
    ConfigType.GROUP: "Default group resources are not allowed.",
    ConfigType.CLIENT_METRICS: "Subscription name can't be empty",
}

Altering = TypeVar("Altering", ConfigChanges, ConfigReplacement)


class Configs:
    def __init__(self, cluster: Cluster, settings: Settings, access: Access, loggers: Loggers) -> None:
        self._cluster = cluster
        self._settings = settings
        self._access = access
        self._loggers = loggers
        self.routes: Routes = {
            DescribeConfigs: self.describe,
            AlterConfigs: self.alter,
            ReplaceConfigs: self.replace,
            ListConfigs: self.list_resources,
        }

    # -- telling ---------------------------------------------------------------------------------

    def describe(
        self, command: DescribeConfigs, caller: Caller, reply: Reply[list[DescribedConfigs]]
    ) -> None:
        results = []
        unknown = next((query.kind for query in command.queries if query.kind not in KINDS), None)
        if unknown is not None:
            reply(command.refused(Fault.INVALID_REQUEST, f"Unknown resource type {unknown}"))
            return
        for query in command.queries:
            try:
                self._authorize(caller, Operation.DESCRIBE_CONFIGS, query.kind, query.resource)
                results.append(DescribedConfigs(query.kind, query.resource, entries=self._entries(query)))
            except Refused as refused:
                results.append(DescribedConfigs(query.kind, query.resource, refused.fault, refused.message))
        reply(results)

    def _entries(self, query: ConfigQuery) -> Sequence[Entry]:
        kind, name, names, layers = query.kind, query.resource, query.names, self._settings.layers
        if kind == ConfigType.TOPIC:
            check_topic_name(name)
            self._cluster.topic(name)
            return description.describe_topic(self._own(ConfigType.TOPIC, name), layers, names)
        if kind == ConfigType.BROKER:
            if name == ALL_BROKERS:
                return description.describe_all_brokers(layers.all_brokers, names)
            self._check_broker_id(name, "Broker id", f"{self._cluster.node_id} or empty string,")
            return description.describe_broker(layers, names)
        if kind == LOGGER:
            if not name:
                raise Refused(Fault.INVALID_REQUEST, "Broker id must not be empty")
            self._check_broker_id(name, "Broker id", f"{self._cluster.node_id}")
            return describe_loggers(self._loggers, names)
        if kind == ConfigType.GROUP:
            if not name:
                raise Refused(Fault.INVALID_REQUEST, "Group name must not be empty")
            return description.describe_group(self._own(ConfigType.GROUP, name), layers, names)
        if not name:
            raise Refused(Fault.INVALID_REQUEST, "Client metrics subscription name must not be empty")
        return description.describe_client_metrics(self._own(ConfigType.CLIENT_METRICS, name), names)

    def list_resources(self, command: ListConfigs, caller: Caller, reply: Reply[ListedConfigs]) -> None:
        if not KINDS.issuperset(command.kinds):
            reply(ListedConfigs(fault=Fault.UNSUPPORTED))
            return
        found: list[tuple[int, str]] = [
            (resource.type, resource.name)
            for resource in sorted(self._cluster.image.configs.by_resource)
            if resource.type in command.kinds and resource.type not in (ConfigType.BROKER, ConfigType.TOPIC)
        ]
        if ConfigType.TOPIC in command.kinds:
            found += [(ConfigType.TOPIC, name) for name in sorted(self._cluster.image.topics.by_name)]
        found += [
            (kind, str(self._cluster.node_id))
            for kind in (ConfigType.BROKER, LOGGER)
            if kind in command.kinds
        ]
        reply(ListedConfigs(found))

    # -- changing --------------------------------------------------------------------------------

    def alter(self, command: AlterConfigs, caller: Caller, reply: Reply[list[AlteredConfigs]]) -> None:
        def delta(each: ConfigChanges) -> Delta:
            if each.kind == LOGGER:
                self._check_broker_id(each.resource, "Node id", f"{self._cluster.node_id},")
                change_levels(self._loggers, each.changes, validate_only=command.validate_only)
                return {}
            resource = self._resource(each.kind, each.resource)
            own = self._own(*resource)
            return self._checked(resource, own, altered(resource.type, own, each.changes))

        self._change(command.resources, delta, command.validate_only, caller, reply)

    def replace(self, command: ReplaceConfigs, caller: Caller, reply: Reply[list[AlteredConfigs]]) -> None:
        def delta(each: ConfigReplacement) -> Delta:
            resource = self._resource(each.kind, each.resource)
            own = self._own(*resource)
            return self._checked(resource, own, replaced(own, each.values))

        self._change(command.resources, delta, command.validate_only, caller, reply)

    def _checked(self, resource: ConfigResource, own: Mapping[str, str], wanted: Delta) -> Delta:
        """In Kafka's order: a wrong value is told before a topic that is not there."""
        self._check_name(resource)
        delta = checked(resource, own, wanted, self._settings.layers)
        if resource.type is ConfigType.TOPIC and resource.name not in self._cluster.image.topics.by_name:
            raise Refused(Fault.UNKNOWN_TOPIC, f"The topic '{resource.name}' does not exist.")
        return delta

    def _change(
        self,
        resources: Sequence[Altering],
        delta_of: Callable[[Altering], Delta],
        validate_only: bool,
        caller: Caller,
        reply: Reply[list[AlteredConfigs]],
    ) -> None:
        """Each resource by itself, and all that can be done in one batch."""
        times = Counter((each.kind, each.resource) for each in resources)
        results: list[AlteredConfigs] = []
        records: list[tuple[Message, int]] = []
        for each in resources:
            try:
                if times[each.kind, each.resource] > 1:
                    raise Refused(Fault.INVALID_REQUEST, "Each resource must appear at most once.")
                self._authorize(caller, Operation.ALTER_CONFIGS, each.kind, each.resource)
                records += _records(each.kind, each.resource, delta_of(each))
                results.append(AlteredConfigs(each.kind, each.resource))
            except Refused as refused:
                results.append(AlteredConfigs(each.kind, each.resource, refused.fault, refused.message))
        if not records or validate_only:
            reply(results)
            return

        def done(fault: Fault | None, message: str | None = None) -> None:
            if fault is not None:
                results[:] = [
                    each if each.fault else AlteredConfigs(each.kind, each.resource, fault, message)
                    for each in results
                ]
            reply(results)

        try:
            self._cluster.commit(records, done)
        except Refused as refused:
            done(refused.fault, refused.message)

    def _resource(self, kind: int, name: str) -> ConfigResource:
        """A resource that may be given settings."""
        if kind not in tuple(ConfigType):
            raise Refused(Fault.INVALID_REQUEST, f"Unknown resource type {kind}")
        if kind == ConfigType.BROKER and name != ALL_BROKERS:
            self._check_broker_id(name, "Node id", f"{self._cluster.node_id},")
        return ConfigResource(ConfigType(kind), name)

    def _check_name(self, resource: ConfigResource) -> None:
        if resource.type is ConfigType.BROKER:
            return
        if not resource.name:
            raise Refused(Fault.INVALID_REQUEST, _NAMELESS[resource.type])
        if resource.type is ConfigType.TOPIC:
            check_topic_name(resource.name)

    # -- both ------------------------------------------------------------------------------------

    def _own(self, kind: ConfigType, name: str) -> Mapping[str, str]:
        return self._cluster.image.configs.by_resource.get(ConfigResource(kind, name), {})

    def _check_broker_id(self, name: str, called: str, expected: str) -> None:
        if not name.lstrip("-").isdecimal():
            raise Refused(Fault.INVALID_REQUEST, f"{called} must be an integer, but it is: {name}")
        if int(name) != self._cluster.node_id:
            raise Refused(
                Fault.INVALID_REQUEST, f"Unexpected broker id, expected {expected} but received {name}"
            )

    def _authorize(self, caller: Caller, operation: Operation, kind: int, name: str) -> None:
        if kind not in KINDS:
            raise Refused(Fault.INVALID_REQUEST, f"Unknown resource type {kind}")
        if kind == ConfigType.TOPIC:
            resource = Resource.TOPIC
        elif kind == ConfigType.GROUP:
            resource = Resource.GROUP
        else:
            resource, name = Resource.CLUSTER, CLUSTER_NAME
        if not self._access.allows(caller, operation, resource, name):
            raise Refused(NOT_AUTHORIZED[resource])


def _records(kind: int, name: str, delta: Delta) -> list[tuple[Message, int]]:
    return [
        (ConfigRecord(resource_type=kind, resource_name=name, name=setting, value=value), 0)
        for setting, value in delta.items()
    ]
