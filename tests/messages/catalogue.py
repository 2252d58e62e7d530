"""Every message that there is, and how many examples of each a test looks at."""

import os
from collections.abc import Iterator
from functools import cache

from trivium.messages import consumer_protocol, header
from trivium.messages.api import ApiKey, request_class, response_class
from trivium.messages.schema import Message
from trivium.messages.stored.control_records import CONTROL_RECORDS
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.metadata_log import METADATA_RECORDS
from trivium.messages.stored.share_state import SHARE_STATE
from trivium.messages.stored.transaction_log import TRANSACTION_LOG

EXAMPLES = int(os.environ.get("TRIVIUM_EXAMPLES", "10"))
"""Examples of each message and version: a few in the plain run, thousands in the long form."""


@cache
def all_messages() -> tuple[type[Message], ...]:
    """Each class once, in the order of the rooms it lives in."""
    found: list[type[Message]] = [header.RequestHeader, header.ResponseHeader]
    for key in ApiKey:
        found += [request_class(key), response_class(key)]
    found += [consumer_protocol.ConsumerProtocolSubscription, consumer_protocol.ConsumerProtocolAssignment]
    found += METADATA_RECORDS.values()
    for log in (GROUP_LOG, TRANSACTION_LOG, SHARE_STATE):
        found += [*log.key_types.values(), *log.value_types.values()]
    found += CONTROL_RECORDS.values()
    return tuple(dict.fromkeys(found))


def all_versions() -> Iterator[tuple[type[Message], int]]:
    for message in all_messages():
        for version in message.VERSIONS:
            yield message, version


@cache
def message_named(name: str) -> type[Message]:
    """By name, however it is written: ``k_raft_version_record`` is ``KRaftVersionRecord``."""
    (found,) = (each for each in all_messages() if each.__name__.lower() == name.replace("_", "").lower())
    return found
