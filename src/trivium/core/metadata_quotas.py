"""Client quotas as the metadata log tells them: limits by user, client id, address, or a pair of them."""

from dataclasses import dataclass, field
from typing import TypeAlias

from trivium.messages.stored.metadata_access import ClientQuotaRecord
from trivium.wire.errors import DecodeError

QuotaEntity: TypeAlias = tuple[tuple[str, str | None], ...]
"""Type and name of each part, in the order of types; None names the default entity of its type."""


@dataclass(slots=True)
class ClientQuotas:
    by_entity: dict[QuotaEntity, dict[str, float]] = field(default_factory=dict)
    changes: int = field(default=0, compare=False, repr=False)
    """How often it has changed: whoever has worked something out from it knows when to do so anew."""

    def set(self, record: ClientQuotaRecord) -> None:
        """Set one limit of an entity, or lift it."""
        entity = _entity(record)
        self.changes += 1
        limits = self.by_entity.setdefault(entity, {})
        if record.remove:
            limits.pop(record.key, None)
        else:
            limits[record.key] = record.value
        if not limits:
            del self.by_entity[entity]


def _entity(record: ClientQuotaRecord) -> QuotaEntity:
    parts = {part.entity_type: part.entity_name for part in record.entity}
    if not parts or len(parts) != len(record.entity):
        raise DecodeError(
            f"the quota {record.key} is for {len(record.entity)} entities of {len(parts)} types"
        )
    return tuple(sorted(parts.items()))
