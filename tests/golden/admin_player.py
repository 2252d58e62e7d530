"""Puts the questions of ``admin_dialogues`` to a broker and makes its answers plain before they are compared:
what differs from one run to the next (ids, addresses, sizes) is replaced by a word, lists in no particular
order are sorted.

A dialogue is held twice: with a real Kafka, whose answers are kept in ``kafka-admin/``, and with ours, which
must answer the same.
"""

from pathlib import Path
from typing import Any, Protocol

from tests.server.wire import Peer

from trivium.messages.api import ApiKey
from trivium.messages.schema import Request, Struct
from trivium.wire.uuid_text import ZERO_UUID

ANSWERS = Path(__file__).parent / "kafka-admin"

STATIC = {"log.retention.ms": "-1"}
"""What ``tests.interop.kafka`` gives its broker, as far as an administrator sees it."""


class Ask(Protocol):
    def __call__(self, label: str, request: Request, version: int) -> Any:
        """The answer as a message; it is kept under its label."""


def question(peer: Peer, request: Request, version: int) -> Any:
    """One question on the wire, with no client in between, and the answer to it."""
    peer.ask(request, version)
    return peer.answer(ApiKey(request.API_KEY), version)[1]


_ADDRESSES = {"host": "HOST", "port": "PORT", "log_dir": "DIRECTORY", "cluster_id": "CLUSTER"}
_SIZES = frozenset(
    (
        "total_bytes",
        "usable_bytes",
        "high_watermark",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
    )
)
_LISTENERS = "listeners"
"""Of controllers: Kafka has one beside its broker's, we have none."""
_KEYS = ("name", "resource_name", "resource_type", "topic", "topic_name", "partition_index", "partition_id")
"""What lists are sorted by, unless their order means something."""
_OF_ANOTHER_LAYER = "min.insync.replicas"
"""Kafka's feature of eligible leaders sets it for all brokers when a cluster is formatted."""
_ORDERED = frozenset(("DescribeTopicPartitionsResponse", "DescribeConfigsSynonym"))


def plain(value: Any, inside: str = "") -> Any:
    """An answer without what differs from run to run."""
    if isinstance(value, Struct):
        answer = {}
        for each in type(value).fields:
            found = getattr(value, each.name)
            if each.name == _LISTENERS:
                continue
            if each.name in _ADDRESSES and found:
                found = _ADDRESSES[each.name]
            elif each.name in _SIZES:
                found = found > 0
            elif each.name == "topic_id":
                found = "ID" if found != ZERO_UUID else None
            elif isinstance(found, bytes | bytearray | memoryview):
                continue
            answer[each.name] = plain(found, type(value).__name__)
        return answer
    if isinstance(value, list):
        items = [plain(each) for each in value if getattr(each, "name", None) != _OF_ANOTHER_LAYER]
        if inside not in _ORDERED and items and isinstance(items[0], dict) and "source" not in items[0]:
            items.sort(key=lambda item: [str(item.get(key)) for key in _KEYS])
        return items
    return value
