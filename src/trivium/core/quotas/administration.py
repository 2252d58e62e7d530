"""Client quotas as administrators see them. They are records of the metadata log (``ClientQuotaRecord``)."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from math import isfinite
from typing import Final

from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.quotas import (
    AlteredQuotas,
    AlterQuotas,
    DescribedQuotas,
    DescribeQuotas,
    QuotaChange,
    QuotaComponent,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_quotas import QuotaEntity
from trivium.core.quotas.limits import CLIENT_ID, IP, USER, Budget
from trivium.core.refusing import refusing
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_access import ClientQuotaRecord, EntityData

EXACTLY: Final = 0
DEFAULT: Final = 1
ANY: Final = 2

ENTITIES_MAX: Final = 100_000
"""All limits are held in memory: a script that sets them without end is stopped here."""

_OF_CLIENTS: Final = frozenset(each.value for each in Budget if each is not Budget.CONNECTION)
_OF_ADDRESSES: Final = frozenset((Budget.CONNECTION.value,))
_LONG_MAX: Final = 2**63
_WHOLE: Final = frozenset((Budget.PRODUCE.value, Budget.FETCH.value, Budget.CONNECTION.value))


class QuotaAdministration:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.routes: Routes = {DescribeQuotas: refusing(self.describe), AlterQuotas: refusing(self.alter)}

    def describe(self, command: DescribeQuotas, caller: Caller, reply: Reply[DescribedQuotas]) -> None:
        _check_components(command.components)
        reply(
            DescribedQuotas(
                limits={
                    entity: dict(limits)
                    for entity, limits in self._cluster.image.quotas.by_entity.items()
                    if _is_meant(dict(entity), command)
                }
            )
        )

    def alter(self, command: AlterQuotas, caller: Caller, reply: Reply[list[AlteredQuotas]]) -> None:
        """Each entity by itself; those that can be done are done together."""
        results: list[AlteredQuotas] = []
        records: list[tuple[Message, int]] = []
        present = self._cluster.image.quotas.by_entity
        for change in command.changes:
            try:
                entity = _checked_entity(change.entity)
                _check_limits(entity, change)
                if entity not in present and len(present) + len(records) >= ENTITIES_MAX:
                    raise Refused(Fault.POLICY_VIOLATION, f"There are {ENTITIES_MAX} quotas, and no more.")
                records += _records(entity, change.limits, present.get(entity, {}))
                results.append(AlteredQuotas(change.entity))
            except Refused as refused:
                results.append(AlteredQuotas(change.entity, refused.fault, refused.message))
        if not records or command.validate_only:
            reply(results)
            return
        self._cluster.commit(
            records, lambda fault: reply(results if fault is None else command.refused(fault))
        )


def _check_components(components: Sequence[QuotaComponent]) -> None:
    types = [each.entity_type for each in components]
    for each in components:
        if not each.entity_type:
            raise Refused(Fault.INVALID_REQUEST, "Unexpected empty filter component entity type")
        if each.entity_type not in (USER, CLIENT_ID, IP):
            raise Refused(Fault.UNSUPPORTED, f"Custom entity type '{each.entity_type}' not supported")
        if each.match_type not in (EXACTLY, DEFAULT, ANY):
            raise Refused(Fault.INVALID_REQUEST, f"Unexpected match type: {each.match_type}")
        if (each.match is None) is (each.match_type == EXACTLY):
            raise Refused(Fault.INVALID_REQUEST, "A name is matched exactly, or not given")
        if types.count(each.entity_type) > 1:
            raise Refused(
                Fault.INVALID_REQUEST, f"Duplicate filter component entity type: {each.entity_type}"
            )
    if IP in types and len(types) > 1:
        raise Refused(Fault.INVALID_REQUEST, "Limits of an ip are never those of a user or a client-id, too")


def _is_meant(entity: Mapping[str, str | None], command: DescribeQuotas) -> bool:
    if command.is_strict and entity.keys() != {each.entity_type for each in command.components}:
        return False
    return all(
        each.entity_type in entity and _matches(each, entity[each.entity_type]) for each in command.components
    )


def _matches(component: QuotaComponent, name: str | None) -> bool:
    if component.match_type == ANY:
        return True
    return name == (component.match if component.match_type == EXACTLY else None)


def _checked_entity(parts: Sequence[tuple[str, str | None]]) -> QuotaEntity:
    entity = dict(parts)
    if not entity:
        raise Refused(Fault.INVALID_REQUEST, "Invalid empty client quota entity")
    if len(entity) != len(parts):
        raise Refused(Fault.INVALID_REQUEST, "Duplicate entity type in a client quota entity")
    for kind, name in parts:
        if kind not in (USER, CLIENT_ID, IP):
            raise Refused(Fault.INVALID_REQUEST, f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise Refused(Fault.INVALID_REQUEST, f"Empty {kind} not supported")
    if IP in entity:
        if len(entity) > 1:
            raise Refused(
                Fault.INVALID_REQUEST,
                "Invalid quota entity combination, ip entity should not be combined with user or client-id",
            )
        _check_address(entity[IP])
    return tuple(sorted(entity.items()))


def _check_address(address: str | None) -> None:
    try:
        if address is not None:
            ip_address(address)
    except ValueError as error:
        raise Refused(Fault.INVALID_REQUEST, f"{address} is not a valid IP") from error


def _check_limits(entity: QuotaEntity, change: QuotaChange) -> None:
    known = _OF_ADDRESSES if entity[0][0] == IP else _OF_CLIENTS
    for key, limit in change.limits.items():
        if limit is None:
            continue
        if key not in known:
            raise Refused(Fault.INVALID_REQUEST, f"Invalid configuration key {key}")
        if not isfinite(limit) or limit <= 0:
            raise Refused(Fault.INVALID_REQUEST, f"Quota {key} must be greater than 0")
        if key in _WHOLE and (limit > _LONG_MAX or not limit.is_integer()):
            raise Refused(Fault.INVALID_REQUEST, f"Configuration {key} must be a Long value")


def _records(
    entity: QuotaEntity, limits: Mapping[str, float | None], present: Mapping[str, float]
) -> list[tuple[Message, int]]:
    """What has never been set is lifted without a word."""
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
    return [
        (ClientQuotaRecord(entity=parts, key=key, value=limit or 0.0, remove=limit is None), 0)
        for key, limit in limits.items()
        if limit is not None or key in present
    ]
