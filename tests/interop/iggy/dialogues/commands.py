"""The requests of Iggy 0.8 as tables: the code of each, and its fields with their kinds, in their order.

Kinds are methods of ``bodies.Writer``. Every answer is read by ``tests.protocols.iggy.answers``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Command:
    name: str
    code: int
    fields: Mapping[str, str]


def _fields(text: str) -> dict[str, str]:
    """``"count:u32"``, or only ``"stream"`` where the kind has the name of the field."""
    return {each.partition(":")[0]: each.partition(":")[2] or each for each in text.split()}


_PLACE = "stream topic"
_OFFSET = f"consumer {_PLACE} partition:optional_u32"
_OPTIONS = "compression:u8 expiry:u64 size_limit:u64 replication:u8 name:text"

COMMANDS: Final = {
    name: Command(name, code, _fields(fields))
    for name, code, fields in (
        ("PING", 1, ""),
        ("GET_STATS", 10, ""),
        ("GET_CLUSTER_METADATA", 12, ""),
        ("GET_ME", 20, ""),
        ("GET_CLIENT", 21, "client"),
        ("GET_USER", 31, "user"),
        ("GET_USERS", 32, ""),
        ("CREATE_USER", 33, "username:text password:text status:u8 permissions"),
        ("DELETE_USER", 34, "user"),
        ("UPDATE_USER", 35, "user username:optional_text status:optional_u8"),
        ("UPDATE_PERMISSIONS", 36, "user permissions"),
        ("CHANGE_PASSWORD", 37, "user current:text new:text"),
        ("LOGIN_USER", 38, "username:text password:text version:long_text context:long_text"),
        ("LOGOUT_USER", 39, ""),
        ("GET_TOKENS", 41, ""),
        ("CREATE_TOKEN", 42, "name:text expiry:u64"),
        ("DELETE_TOKEN", 43, "name:text"),
        ("LOGIN_WITH_TOKEN", 44, "token"),
        ("POLL_MESSAGES", 100, f"{_OFFSET} strategy count:u32 auto_commit:u8"),
        ("SEND_MESSAGES", 101, f"{_PLACE} partitioning batch"),
        ("FLUSH_UNSAVED_BUFFER", 102, f"{_PLACE} partition:u32 fsync:u8"),
        ("GET_CONSUMER_OFFSET", 120, _OFFSET),
        ("STORE_CONSUMER_OFFSET", 121, f"{_OFFSET} offset:u64"),
        ("DELETE_CONSUMER_OFFSET", 122, _OFFSET),
        ("GET_STREAM", 200, "stream"),
        ("GET_STREAMS", 201, ""),
        ("CREATE_STREAM", 202, "name:text"),
        ("DELETE_STREAM", 203, "stream"),
        ("UPDATE_STREAM", 204, "stream name:text"),
        ("PURGE_STREAM", 205, "stream"),
        ("GET_TOPIC", 300, _PLACE),
        ("GET_TOPICS", 301, "stream"),
        ("CREATE_TOPIC", 302, f"stream partitions:u32 {_OPTIONS}"),
        ("DELETE_TOPIC", 303, _PLACE),
        ("UPDATE_TOPIC", 304, f"{_PLACE} {_OPTIONS}"),
        ("PURGE_TOPIC", 305, _PLACE),
        ("CREATE_PARTITIONS", 402, f"{_PLACE} count:u32"),
        ("DELETE_PARTITIONS", 403, f"{_PLACE} count:u32"),
        ("DELETE_SEGMENTS", 503, f"{_PLACE} partition:u32 count:u32"),
        ("GET_CONSUMER_GROUP", 600, f"{_PLACE} group"),
        ("GET_CONSUMER_GROUPS", 601, _PLACE),
        ("CREATE_CONSUMER_GROUP", 602, f"{_PLACE} name:text"),
        ("DELETE_CONSUMER_GROUP", 603, f"{_PLACE} group"),
        ("JOIN_CONSUMER_GROUP", 604, f"{_PLACE} group"),
        ("LEAVE_CONSUMER_GROUP", 605, f"{_PLACE} group"),
    )
}
