"""An answer without what may differ: ids as stand-ins, names without their prefix, lists sorted."""

from typing import Any

from tests.interop.dialogues.allowed import ALLOWED, ORDERED, UNSAID
from tests.interop.dialogues.stand_ins import PRODUCER_FIELDS, SESSION_FIELD, StandIns

from trivium.messages.schema import Struct
from trivium.records.batch import iter_batches, iter_records

RECENT_MS = 1_750_000_000_000
"""Times after this one are of the broker's clock: what a step says lies before it."""

_NAMES = ("name", "group_id", "topic", "topic_name", "resource_name", "transactional_id", "user", "entity")

PARTS = ("partitions", "partition_result", "partition_responses", "results_by_partition")


def plain(value: Any, stand_ins: StandIns, name: str = "", inside: str = "", message: str = "") -> Any:
    rule = ALLOWED.get(f"{message}.{inside}.{name}") or ALLOWED.get(f"{inside}.{name}") or ALLOWED.get(name)
    if rule is not None:
        return rule[0](value)
    if isinstance(value, Struct):
        kind = type(value).__name__
        unsaid = UNSAID.get((kind, getattr(value, "error_code", 0)), ())
        return {
            each.name: plain(getattr(value, each.name), stand_ins, each.name, kind, _message_of(value))
            for each in type(value).fields
            if each.name not in unsaid
        }
    if isinstance(value, list):
        own = [each for each in value if not _is_foreign(each, stand_ins) and not _says_nothing(each)]
        items = [plain(each, stand_ins, name, inside, message) for each in own]
        if (inside, name) == ("FetchResponse", "responses"):
            items = _by_topic(items)
        if name not in ORDERED and f"{inside}.{name}" not in ORDERED:
            items.sort(key=repr)
        return items
    if isinstance(value, str):
        return stand_ins.text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _plain_bytes(bytes(value), stand_ins, name)
    if name in PRODUCER_FIELDS:
        return stand_ins.producer(value)
    if name == SESSION_FIELD:
        return stand_ins.session(value)
    if name == "timestamp" and value > RECENT_MS:
        return "now"
    return value


def _message_of(value: Struct) -> str:
    return type(value).__module__.rpartition(".")[2]


def _by_topic(items: list[Any]) -> list[Any]:
    """Kafka names a topic again where something else of it follows."""
    topics: dict[tuple[str, str], Any] = {}
    for item in items:
        first = topics.setdefault((item["topic"], item["topic_id"]), item)
        if first is not item:
            first["partitions"] = sorted(first["partitions"] + item["partitions"], key=repr)
    return list(topics.values())


def _is_foreign(value: Any, stand_ins: StandIns) -> bool:
    if not isinstance(value, Struct):
        return False
    for name in _NAMES:
        text = getattr(value, name, None)
        if isinstance(text, list):
            if any(
                isinstance(getattr(part, "entity_name", None), str)
                and stand_ins.is_foreign(stand_ins.text(part.entity_name))
                for part in text
            ):
                return True
        elif isinstance(text, str) and stand_ins.is_foreign(stand_ins.text(text)):
            return True
    return False


def _says_nothing(value: Any) -> bool:
    """A topic without partitions: one that was asked for so, and that Kafka repeats."""
    if not isinstance(value, Struct) or hasattr(value, "error_code"):
        return False
    return any(getattr(value, name, None) == [] for name in PARTS)


def _plain_bytes(value: bytes, stand_ins: StandIns, name: str) -> Any:
    if name == "records":
        return _plain_records(value, stand_ins)
    if name.endswith("_id"):
        return stand_ins.uuid(value)
    return value.hex()


def _plain_records(value: bytes, stand_ins: StandIns) -> Any:
    batches: list[dict[str, Any]] = []
    for position, header in iter_batches(value):
        if header.size_bytes > len(value) - position:
            batches.append({"cut": True})
            break
        batches.append(
            {
                "offsets": (header.base_offset, header.last_offset),
                "leader_epoch": header.leader_epoch,
                "attributes": header.attributes,
                "producer": (stand_ins.producer(header.producer_id), header.producer_epoch),
                "sequence": header.base_sequence,
                "times": tuple(
                    "now" if each > RECENT_MS else each
                    for each in (header.base_timestamp, header.max_timestamp)
                ),
                "record_values": [
                    (each.offset, each.key, each.value if not header.is_control else "marker")
                    for each in iter_records(value, position)
                ],
            }
        )
    return batches
