"""One access control entry: the words it is made of, with Kafka's codes.

The same words name the rights that commands need (``access``), so that there is one vocabulary for all doors.
"""

from enum import IntEnum
from typing import Final, NamedTuple

WILDCARD: Final = "*"
"""Any resource of its type, if a literal pattern is called that; any address, for a host."""
ANYBODY: Final = "User:*"
"""The principal of an entry that is about everybody."""


class ResourceType(IntEnum):
    """What a right is about."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How the name of a resource is meant."""

    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    DENY = 2
    ALLOW = 3


class AccessControlEntry(NamedTuple):
    """Who may, or may not, do what to which resources, and from where."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission

    @property
    def covered(self) -> frozenset[Operation]:
        """The operations it speaks of. Who is allowed to use a thing may know about it; a deny says no more
        than it says.
        """
        if self.operation is Operation.ALL:
            return EVERY_OPERATION
        if self.permission is Permission.ALLOW:
            return frozenset((self.operation, *IMPLIED.get(self.operation, ())))
        return frozenset((self.operation,))


IMPLIED: Final = {
    Operation.READ: (Operation.DESCRIBE,),
    Operation.WRITE: (Operation.DESCRIBE,),
    Operation.DELETE: (Operation.DESCRIBE,),
    Operation.ALTER: (Operation.DESCRIBE,),
    Operation.ALTER_CONFIGS: (Operation.DESCRIBE_CONFIGS,),
}
"""What else is allowed to those who are allowed this."""

EVERY_OPERATION: Final = frozenset(Operation)
