"""Settings of topics, brokers and groups: read, and changed one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from trivium.client.cluster import Cluster, Whom
from trivium.client.errors import Refused
from trivium.messages.api.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from trivium.messages.errors import ErrorCode


class ResourceType(IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class Resource(NamedTuple):
    """Whose settings. A broker's name is its id; brokers in general have an empty one."""

    type: ResourceType
    name: str

    def __str__(self) -> str:
        return f"{self.type.name.lower().replace('_', ' ')} {self.name}".rstrip()


_SOURCES: Final = {
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "broker file",
    5: "default",
    6: "broker logger",
    7: "client metrics",
    8: "group",
}
"""Where a value comes from, by the protocol's numbers."""

_SET: Final = 0
_DELETE: Final = 1


@dataclass(frozen=True, slots=True)
class Config:
    name: str
    value: str | None
    """None also where it is a secret."""

    source: str
    is_read_only: bool
    is_sensitive: bool

    @property
    def is_default(self) -> bool:
        return self.source == "default"


def describe_configs(
    cluster: Cluster, resources: Sequence[Resource]
) -> dict[Resource, dict[str, Config] | Refused]:
    """All settings of these resources, by name."""
    described: dict[Resource, dict[str, Config] | Refused] = {}
    for whom, group in _by_broker(cluster, resources):
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(
                    resource_type=resource.type, resource_name=resource.name, configuration_keys=None
                )
                for resource in group
            ]
        )
        answer = cluster.call(
            whom,
            request,
            DescribeConfigsResponse,
            codes=lambda response: [each.error_code for each in response.results],
        )
        for result in answer.results:
            resource = Resource(ResourceType(result.resource_type), result.resource_name)
            described[resource] = _refusal(result.error_code, resource, result.error_message) or {
                each.name: Config(
                    each.name,
                    each.value,
                    _SOURCES.get(each.config_source, "default" if each.is_default else "unknown"),
                    each.read_only,
                    each.is_sensitive,
                )
                for each in sorted(result.configs, key=lambda config: config.name)
            }
    return described


def alter_configs(
    cluster: Cluster,
    changes: Mapping[Resource, Mapping[str, str | None]],
    *,
    validate_only: bool = False,
) -> dict[Resource, Refused | None]:
    """Set each setting, or let it be the default again (None); the others stay. None is done."""
    outcomes: dict[Resource, Refused | None] = {}
    for whom, group in _by_broker(cluster, list(changes)):
        request = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=resource.type,
                    resource_name=resource.name,
                    configs=[
                        AlterableConfig(
                            name=name, config_operation=_DELETE if value is None else _SET, value=value
                        )
                        for name, value in changes[resource].items()
                    ],
                )
                for resource in group
            ],
            validate_only=validate_only,
        )
        answer = cluster.call(
            whom,
            request,
            IncrementalAlterConfigsResponse,
            codes=lambda response: [each.error_code for each in response.responses],
        )
        for each in answer.responses:
            resource = Resource(ResourceType(each.resource_type), each.resource_name)
            outcomes[resource] = _refusal(each.error_code, resource, each.error_message)
    return outcomes


def _by_broker(cluster: Cluster, resources: Sequence[Resource]) -> list[tuple[Whom, list[Resource]]]:
    """A broker is asked about itself; everything else anyone knows."""
    groups: dict[int | None, list[Resource]] = {}
    for resource in resources:
        is_one_broker = resource.type in (ResourceType.BROKER, ResourceType.BROKER_LOGGER) and resource.name
        groups.setdefault(int(resource.name) if is_one_broker else None, []).append(resource)
    return [
        (cluster.controller if node_id is None else cluster.node_of(node_id), group)
        for node_id, group in groups.items()
    ]


def _refusal(code: int, resource: Resource, detail: str | None) -> Refused | None:
    known = ErrorCode.of(code)
    return None if known is ErrorCode.NONE else Refused(known, str(resource), detail)
