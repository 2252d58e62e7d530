"""Access control entries as administrators see them: listed, added, removed.

They are records of the metadata log (``AccessControlEntryRecord``), and count from the moment they are in it.
Without an authorizer nobody would take notice of them: then nothing is shown and nothing is stored, as with
Kafka.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Final, TypeVar

from trivium.core.access import CLUSTER_NAME, Access
from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType
from trivium.core.caller import Caller
from trivium.core.cluster import Cluster
from trivium.core.commands.acls import (
    CreateAcls,
    CreatedAcl,
    DeleteAcls,
    DeletedAcls,
    DescribeAcls,
    DescribedAcls,
    NewAcl,
)
from trivium.core.commands.command import Reply, Routes
from trivium.core.faults import Fault, Refused
from trivium.core.refusing import refusing
from trivium.messages.stored.metadata_access import AccessControlEntryRecord, RemoveAccessControlEntryRecord

ENTRIES_MAX: Final = 100_000
"""All entries are held in memory: a script that makes them without end is stopped here."""

Code = TypeVar("Code", bound=IntEnum)


class AclAdministration:
    def __init__(self, cluster: Cluster, access: Access, new_id: Callable[[], bytes]) -> None:
        self._cluster = cluster
        self._access = access
        self._new_id = new_id
        self.routes: Routes = {
            DescribeAcls: refusing(self.describe),
            CreateAcls: refusing(self.create),
            DeleteAcls: refusing(self.delete),
        }

    def describe(self, command: DescribeAcls, caller: Caller, reply: Reply[DescribedAcls]) -> None:
        self._check_authorizer()
        command.filter.check()
        entries = self._cluster.image.access_control.by_id.values()
        reply(DescribedAcls(entries=sorted({entry for entry in entries if command.filter.matches(entry)})))

    def create(self, command: CreateAcls, caller: Caller, reply: Reply[list[CreatedAcl]]) -> None:
        """Each by itself; those that can be had are made together. One that is there already stays."""
        self._check_authorizer()
        present = set(self._cluster.image.access_control.by_id.values())
        new: dict[AccessControlEntry, None] = {}
        results: list[CreatedAcl] = []
        for wanted in command.entries:
            try:
                entry = _checked(wanted)
                if entry not in present:
                    if len(present) + len(new) >= ENTRIES_MAX:
                        raise Refused(
                            Fault.POLICY_VIOLATION, f"There are {ENTRIES_MAX} entries, and no more can be."
                        )
                    new[entry] = None
                results.append(CreatedAcl())
            except Refused as refused:
                results.append(CreatedAcl(refused.fault, refused.message))
        if not new:
            reply(results)
            return
        self._cluster.commit(
            [(_record(self._new_id(), entry), 0) for entry in new],
            lambda fault: reply(results if fault is None else command.refused(fault)),
        )

    def delete(self, command: DeleteAcls, caller: Caller, reply: Reply[list[DeletedAcls]]) -> None:
        self._check_authorizer()
        gone: dict[bytes, None] = {}
        results: list[DeletedAcls] = []
        for each in command.filters:
            try:
                each.check()
            except Refused as refused:
                results.append(DeletedAcls(refused.fault, refused.message))
                continue
            meant = {
                id_: entry
                for id_, entry in self._cluster.image.access_control.by_id.items()
                if each.matches(entry)
            }
            gone |= dict.fromkeys(meant)
            results.append(DeletedAcls(entries=sorted(set(meant.values()))))
        if not gone:
            reply(results)
            return
        self._cluster.commit(
            [(RemoveAccessControlEntryRecord(id=id_), 0) for id_ in gone],
            lambda fault: reply(results if fault is None else command.refused(fault)),
        )

    def _check_authorizer(self) -> None:
        if self._access.authorizer is None:
            raise Refused(Fault.SECURITY_DISABLED, "No Authorizer is configured.")


def _checked(wanted: NewAcl) -> AccessControlEntry:
    """The entry, if it means something; the sentences are Kafka's."""
    entry = AccessControlEntry(
        _meaning(ResourceType, wanted.resource_type, "resourceType"),
        wanted.resource_name,
        _meaning(PatternType, wanted.pattern_type, "patternType"),
        wanted.principal,
        wanted.host,
        _meaning(Operation, wanted.operation, "operation"),
        _meaning(Permission, wanted.permission, "permissionType"),
    )
    if not entry.resource_name:
        raise Refused(Fault.INVALID_REQUEST, "Resource name should not be empty")
    if entry.resource_type is ResourceType.CLUSTER and entry.resource_name != CLUSTER_NAME:
        raise Refused(
            Fault.INVALID_REQUEST, f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
        )
    if ":" not in entry.principal:
        raise Refused(
            Fault.INVALID_REQUEST,
            f"Could not parse principal from `{entry.principal}` (no colon is present separating the "
            "principal type from the principal name)",
        )
    return entry


def _meaning(codes: type[Code], code: int, called: str) -> Code:
    if code not in tuple(codes):
        raise Refused(Fault.INVALID_REQUEST, f"Invalid {called} {code}")
    return codes(code)


def _record(id_: bytes, entry: AccessControlEntry) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=id_,
        resource_type=entry.resource_type,
        resource_name=entry.resource_name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )
