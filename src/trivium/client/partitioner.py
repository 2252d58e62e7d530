"""Which partition a record goes to, as Kafka's Java clients choose it.

Records with the same key go to the same partition, wherever they were sent from: the hash has to be Java's.
Records without a key fill one batch after the other, each in another partition, so that batches are large.
"""

import random
from typing import Final

_SEED: Final = 0x9747_B28C
_MULTIPLIER: Final = 0x5BD1_E995
_SHIFT: Final = 24
_WORD: Final = 0xFFFF_FFFF
_POSITIVE: Final = 0x7FFF_FFFF


def partition_for(key: bytes, partitions_count: int) -> int:
    return (murmur2(key) & _POSITIVE) % partitions_count


def murmur2(data: bytes) -> int:
    """The 32-bit hash of ``data`` with the seed that Kafka uses, as an unsigned number."""
    digest = (_SEED ^ len(data)) & _WORD
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _MULTIPLIER & _WORD
        word = (word ^ word >> _SHIFT) * _MULTIPLIER & _WORD
        digest = (digest * _MULTIPLIER & _WORD) ^ word
    if whole < len(data):
        digest = (digest ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _WORD
    digest = (digest ^ digest >> 13) * _MULTIPLIER & _WORD
    return digest ^ digest >> 15


class StickyPartition:
    """For records without a key: one partition until its batch is full, then the next."""

    __slots__ = ("index",)

    def __init__(self, partitions_count: int) -> None:
        # Each producer starts elsewhere, so that many of them do not all fill the first partition first.
        self.index = random.randrange(partitions_count)  # noqa: S311 - keeps no secret

    def move_on(self, partitions_count: int) -> None:
        self.index = (self.index + 1) % partitions_count
