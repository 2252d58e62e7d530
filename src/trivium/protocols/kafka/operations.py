"""Authorized operations as Kafka writes them: one bit for each (KIP-430)."""

from collections.abc import Collection
from typing import Final

from trivium.core.access import Operation

NOT_ASKED: Final = -(1 << 31)

CODES: Final = {
    Operation.READ: 3,
    Operation.WRITE: 4,
    Operation.CREATE: 5,
    Operation.DELETE: 6,
    Operation.ALTER: 7,
    Operation.DESCRIBE: 8,
    Operation.CLUSTER_ACTION: 9,
    Operation.DESCRIBE_CONFIGS: 10,
    Operation.ALTER_CONFIGS: 11,
    Operation.IDEMPOTENT_WRITE: 12,
}


def bits_of(operations: Collection[Operation] | None) -> int:
    if operations is None:
        return NOT_ASKED
    return sum(1 << CODES[operation] for operation in operations)
