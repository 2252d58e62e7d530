"""Requests of our own in Kafka's form, for what Kafka has no request for (ADR 11). One module per key.

Their keys lie far beyond those that Kafka has given out, and no client hears of them unless it asks: an
ApiVersions request with the tagged field ``EXTENSIONS_TAG`` is answered with these keys as well. Brokers that
do not know the field pass over it (KIP-482), so a client may ask any broker, and learns whether it has them.
"""

from enum import IntEnum
from typing import Final

EXTENSION_KEY_MIN: Final = 16_384
EXTENSIONS_TAG: Final = 16_384
"""In ApiVersions requests, version 3 and newer. Its data is empty: the field says all by being there."""


class ExtensionKey(IntEnum):
    PREPARE_TRANSACTION = 16_384
    COMMIT_BATCH = 16_385
    DESCRIBE_QUERIES = 16_386
    ALTER_USER = 16_387
    DESCRIBE_USERS = 16_388
