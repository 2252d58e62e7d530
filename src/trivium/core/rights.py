"""The words for rights: what there is to be protected, and what can be done to it."""

from enum import IntEnum
from typing import Final

from trivium.core.acls.entry import Operation, ResourceType

CLUSTER_NAME: Final = "kafka-cluster"
"""The name under which Kafka's rights speak of the cluster itself."""


class Resource(IntEnum):
    """Kafka's types by their codes, and what only Iggy has."""

    TOPIC = ResourceType.TOPIC
    GROUP = ResourceType.GROUP
    CLUSTER = ResourceType.CLUSTER
    TRANSACTIONAL_ID = ResourceType.TRANSACTIONAL_ID
    DELEGATION_TOKEN = ResourceType.DELEGATION_TOKEN
    USER = ResourceType.USER
    """The empty name is all users together."""
    STREAM = 100
    """By its name; the empty name is all streams together."""


OPERATIONS: Final = {
    Resource.TOPIC: frozenset(
        (
            Operation.READ,
            Operation.WRITE,
            Operation.CREATE,
            Operation.DELETE,
            Operation.ALTER,
            Operation.DESCRIBE,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
        )
    ),
    Resource.GROUP: frozenset(
        (
            Operation.READ,
            Operation.DELETE,
            Operation.DESCRIBE,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
        )
    ),
    Resource.CLUSTER: frozenset(
        (
            Operation.CREATE,
            Operation.ALTER,
            Operation.DESCRIBE,
            Operation.CLUSTER_ACTION,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
            Operation.IDEMPOTENT_WRITE,
        )
    ),
    Resource.TRANSACTIONAL_ID: frozenset((Operation.DESCRIBE, Operation.WRITE, Operation.TWO_PHASE_COMMIT)),
    Resource.DELEGATION_TOKEN: frozenset((Operation.DESCRIBE,)),
    Resource.USER: frozenset(
        (
            Operation.CREATE,
            Operation.DELETE,
            Operation.ALTER,
            Operation.DESCRIBE,
            Operation.CREATE_TOKENS,
            Operation.DESCRIBE_TOKENS,
        )
    ),
    Resource.STREAM: frozenset((Operation.CREATE, Operation.DELETE, Operation.ALTER, Operation.DESCRIBE)),
}
"""What can be done to what."""
