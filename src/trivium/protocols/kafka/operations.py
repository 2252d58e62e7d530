"""Authorized operations as Kafka writes them: one bit for each (KIP-430)."""

from collections.abc import Collection
from typing import Final

from trivium.core.access import Operation

NOT_ASKED: Final = -(1 << 31)


def bits_of(operations: Collection[Operation] | None) -> int:
    if operations is None:
        return NOT_ASKED
    return sum(1 << operation for operation in operations)
