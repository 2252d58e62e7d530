"""Reading Iggy's answers, independently of the code that writes them: every byte must belong to something.

Each reader gives plain values (dictionaries and lists), so that two answers can be compared field by field.
"""

import struct
from collections.abc import Callable
from typing import Any

Fields = dict[str, Any]


class Reader:
    def __init__(self, data: bytes, header_bytes: int) -> None:
        self.data = data
        self.at = 0
        self.header_bytes = header_bytes
        """Of messages."""

    @property
    def is_done(self) -> bool:
        return self.at == len(self.data)

    def take(self, count: int) -> bytes:
        assert self.at + count <= len(self.data), "the answer is too short"
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, kind: str) -> Any:
        return struct.unpack("<" + kind, self.take(struct.calcsize("<" + kind)))[0]

    def text(self) -> str:
        return self.take(self.number("B")).decode()

    def long_text(self) -> str:
        return self.take(self.number("I")).decode()

    def fields(self, **kinds: str) -> Fields:
        return {
            name: getattr(self, kind)() if len(kind) > 1 else self.number(kind)
            for name, kind in kinds.items()
        }

    def all(self, read: Callable[["Reader"], Fields]) -> list[Fields]:
        found = []
        while not self.is_done:
            found.append(read(self))
        return found


def stream(reader: Reader) -> Fields:
    return reader.fields(id="I", created="Q", topics_count="I", size="Q", messages="Q", name="text")


def topic(reader: Reader) -> Fields:
    return reader.fields(
        id="I",
        created="Q",
        partitions_count="I",
        expiry="Q",
        compression="B",
        size_limit="Q",
        replication="B",
        size="Q",
        messages="Q",
        name="text",
    )


def partition(reader: Reader) -> Fields:
    return reader.fields(id="I", created="Q", segments="I", offset="Q", size="Q", messages="Q")


def stream_details(reader: Reader) -> Fields:
    found = stream(reader)
    found["topics"] = [topic(reader) for _ in range(found["topics_count"])]
    return found


def topic_details(reader: Reader) -> Fields:
    found = topic(reader)
    found["partitions"] = [partition(reader) for _ in range(found["partitions_count"])]
    return found


def group(reader: Reader) -> Fields:
    return reader.fields(id="I", partitions_count="I", members_count="I", name="text")


def group_details(reader: Reader) -> Fields:
    found = group(reader)
    found["members"] = []
    for _ in range(found["members_count"]):
        member = reader.fields(id="I", partitions_count="I")
        member["partitions"] = [reader.number("I") for _ in range(member["partitions_count"])]
        found["members"].append(member)
    return found


def client(reader: Reader) -> Fields:
    return reader.fields(id="I", user_id="I", transport="B", address="long_text", groups_count="I")


def client_details(reader: Reader) -> Fields:
    found = client(reader)
    found["groups"] = [reader.fields(stream="I", topic="I", group="I") for _ in range(found["groups_count"])]
    return found


def user(reader: Reader) -> Fields:
    return reader.fields(id="I", created="Q", status="B", name="text")


def user_details(reader: Reader) -> Fields:
    found = user(reader)
    if reader.number("B"):
        found["permissions"] = permissions(Reader(reader.take(reader.number("I")), 0))
    else:
        assert reader.take(3) == bytes(3)
        found["permissions"] = None
    return found


def permissions(reader: Reader) -> Fields:
    found: Fields = {"everywhere": list(reader.take(10)), "streams": {}}
    more = reader.number("B")
    while more:
        stream_id, rights = reader.number("I"), list(reader.take(6))
        topics = {}
        more = reader.number("B")
        while more:
            topic_id = reader.number("I")
            topics[topic_id] = list(reader.take(4))
            more = reader.number("B")
        found["streams"][stream_id] = (rights, topics)
        more = reader.number("B")
    assert reader.is_done
    return found


def token(reader: Reader) -> Fields:
    return reader.fields(name="text", expires="Q")


def message(reader: Reader) -> Fields:
    found = reader.fields(checksum="Q")
    found["message_id"] = int.from_bytes(reader.take(16), "little")
    found |= reader.fields(offset="Q", timestamp="Q", origin="Q")
    headers_bytes, payload_bytes = reader.number("I"), reader.number("I")
    if reader.header_bytes == 64:
        assert reader.take(8) == bytes(8)
    found["payload"] = reader.take(payload_bytes)
    found["headers"] = headers(reader.take(headers_bytes), reader.header_bytes == 64)
    return found


def headers(data: bytes, has_key_kind: bool) -> list[tuple[int, bytes, int, bytes]]:
    reader = Reader(data, 0)
    found = []
    while not reader.is_done:
        key_kind = reader.number("B") if has_key_kind else 2
        key = reader.take(reader.number("I"))
        found.append((key_kind, key, reader.number("B"), reader.take(reader.number("I"))))
    return found


def polled(reader: Reader) -> Fields:
    found = reader.fields(partition="I", offset_last="Q", count="I")
    found["messages"] = reader.all(message)
    assert len(found["messages"]) == found["count"]
    return found


def stats(reader: Reader) -> Fields:
    found = reader.fields(process="I", cpu="f", total_cpu="f")
    found |= reader.fields(memory="Q", total_memory="Q", available_memory="Q", run_time="Q", start_time="Q")
    found |= reader.fields(read_bytes="Q", written_bytes="Q", messages_size="Q", streams="I", topics="I")
    found |= reader.fields(partitions="I", segments="I", messages="Q", clients="I", groups="I")
    found |= reader.fields(hostname="long_text", os="long_text", os_version="long_text", kernel="long_text")
    found |= reader.fields(version="long_text", semver="I", caches="I")
    assert found["caches"] == 0
    if not reader.is_done:  # since 0.8
        found |= reader.fields(threads="I", disk_free="Q", disk_total="Q")
    return found


def cluster(reader: Reader) -> Fields:
    found = reader.fields(name="long_text", nodes_count="I")
    found["nodes"] = []
    for _ in range(found["nodes_count"]):
        node = reader.fields(name="long_text", ip="long_text", tcp="H", quic="H", http="H", websocket="H")
        found["nodes"].append(node | reader.fields(role="B", status="B"))
    return found


def consumer_offset(reader: Reader) -> Fields:
    return reader.fields(partition="I", offset_last="Q", stored="Q")


def identity(reader: Reader) -> Fields:
    return reader.fields(user_id="I")


def raw_token(reader: Reader) -> Fields:
    return reader.fields(token="text")


def archive(reader: Reader) -> Fields:
    return {"archive": reader.take(len(reader.data))}


def every(read: Callable[[Reader], Fields]) -> Callable[[Reader], Fields]:
    return lambda reader: {"all": reader.all(read)}


READERS: dict[int, Callable[[Reader], Fields]] = {
    10: stats,
    11: archive,
    12: cluster,
    20: client_details,
    21: client_details,
    22: every(client),
    31: user_details,
    32: every(user),
    33: user_details,
    38: identity,
    41: every(token),
    42: raw_token,
    44: identity,
    100: polled,
    120: consumer_offset,
    200: stream_details,
    201: every(stream),
    202: stream,
    300: topic_details,
    301: every(topic),
    302: topic_details,
    600: group_details,
    601: every(group),
    602: group_details,
}
"""By code; all others answer with nothing."""


def read_answer(code: int, payload: bytes, header_bytes: int) -> Fields | None:
    """The fields of a payload; None for an empty one."""
    if not payload:
        return None
    reader = Reader(payload, header_bytes)
    found = READERS[code](reader)
    assert reader.is_done, f"{len(payload) - reader.at} bytes left over"
    return found
