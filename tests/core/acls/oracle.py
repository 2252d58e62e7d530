"""Kafka's rules for a decision, told again without an index: every entry is looked at, one by one."""

from collections.abc import Iterable

from trivium.core.acls.entry import AccessControlEntry, Operation, PatternType, Permission, ResourceType

IMPLIES_DESCRIBE = {"READ", "WRITE", "DELETE", "ALTER", "DESCRIBE"}
IMPLIES_DESCRIBE_CONFIGS = {"ALTER_CONFIGS", "DESCRIBE_CONFIGS"}


def decides(
    entries: Iterable[AccessControlEntry],
    principal: str,
    host: str,
    operation: Operation,
    kind: ResourceType,
    name: str,
    *,
    open_without_entries: bool = False,
) -> bool:
    about = [
        entry
        for entry in entries
        if entry.resource_type == kind
        and (
            entry.resource_name in (name, "*")
            if entry.pattern_type == PatternType.LITERAL
            else name.startswith(entry.resource_name)
        )
    ]
    mine = [
        entry
        for entry in about
        if entry.principal in (principal, "User:*")
        and entry.host in (host, "*")
        and _speaks(entry, operation)
    ]
    if any(entry.permission == Permission.DENY for entry in mine):
        return False
    if any(entry.permission == Permission.ALLOW for entry in mine):
        return True
    return open_without_entries and not about


def _speaks(entry: AccessControlEntry, operation: Operation) -> bool:
    if entry.operation.name in ("ALL", operation.name):
        return True
    if entry.permission == Permission.DENY:
        return False
    implying = {"DESCRIBE": IMPLIES_DESCRIBE, "DESCRIBE_CONFIGS": IMPLIES_DESCRIBE_CONFIGS}
    return entry.operation.name in implying.get(operation.name, set())
