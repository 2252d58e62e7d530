"""Client quotas of a cluster: read, set and lifted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.messages.api.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    EntityData,
    OpData,
)
from trivium.messages.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from trivium.messages.errors import ErrorCode

_SUBJECT: Final = "quotas"


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of one entity: its parts by their types, None for the default of a type."""

    entity: Mapping[str, str | None]
    limits: Mapping[str, float]


def describe_quotas(cluster: Cluster) -> list[Quota]:
    """All that there are."""
    answer = cluster.call(
        cluster.anyone,
        DescribeClientQuotasRequest(components=[], strict=False),
        DescribeClientQuotasResponse,
        codes=lambda response: [response.error_code],
    )
    if answer.error_code:
        raise Refused(ErrorCode(answer.error_code), _SUBJECT, answer.error_message)
    return [
        Quota(
            {part.entity_type: part.entity_name for part in entry.entity},
            {each.key: each.value for each in entry.values},
        )
        for entry in answer.entries or []
    ]


def alter_quotas(
    cluster: Cluster, entity: Mapping[str, str | None], limits: Mapping[str, float | None]
) -> None:
    """Set limits of one entity; None lifts one. ``Refused`` if they cannot be."""
    entry = AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=0.0 if limit is None else limit, remove=limit is None)
            for key, limit in limits.items()
        ],
    )
    answer = cluster.call(
        cluster.controller,
        AlterClientQuotasRequest(entries=[entry], validate_only=False),
        AlterClientQuotasResponse,
        codes=lambda response: [each.error_code for each in response.entries],
    )
    for each in answer.entries:
        if each.error_code:
            raise Refused(ErrorCode(each.error_code), _SUBJECT, each.error_message)
