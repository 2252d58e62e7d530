"""Which entries somebody means: the filters of DescribeAcls and DeleteAcls, with Kafka's codes.

A filter that names a resource may mean the entries of exactly that name, or all that cover it (``MATCH``).
"""

from enum import IntEnum
from typing import Final, NamedTuple, TypeVar

from trivium.core.acls.entry import (
    WILDCARD,
    AccessControlEntry,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from trivium.core.faults import Fault, Refused

ANY: Final = 1
"""The code for whatever, in place of a resource type, pattern type, operation or permission."""
MATCH: Final = 2
"""The code for every pattern that covers the name, in place of a pattern type."""

Code = TypeVar("Code", bound=IntEnum)


class AclFilter(NamedTuple):
    """None, or ``ANY``: whatever it is."""

    resource_type: int = ANY
    resource_name: str | None = None
    pattern_type: int = ANY
    principal: str | None = None
    host: str | None = None
    operation: int = ANY
    permission: int = ANY

    def check(self) -> None:
        """``Refused`` if a code means nothing."""
        if not (
            _is_known(ResourceType, self.resource_type)
            and (self.pattern_type == MATCH or _is_known(PatternType, self.pattern_type))
        ):
            raise Refused(Fault.INVALID_REQUEST, "Unknown patternFilter.")
        if not (_is_known(Operation, self.operation) and _is_known(Permission, self.permission)):
            raise Refused(Fault.INVALID_REQUEST, "Unknown entryFilter.")

    def matches(self, entry: AccessControlEntry) -> bool:
        return (
            self.resource_type in (ANY, entry.resource_type)
            and self.pattern_type in (ANY, MATCH, entry.pattern_type)
            and self._matches_name(entry)
            and self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (ANY, entry.operation)
            and self.permission in (ANY, entry.permission)
        )

    def _matches_name(self, entry: AccessControlEntry) -> bool:
        if self.resource_name is None:
            return True
        if self.pattern_type != MATCH:
            return self.resource_name == entry.resource_name
        if entry.pattern_type is PatternType.PREFIXED:
            return self.resource_name.startswith(entry.resource_name)
        return entry.resource_name in (self.resource_name, WILDCARD)


def _is_known(codes: type[Code], code: int) -> bool:
    return code == ANY or code in tuple(codes)
