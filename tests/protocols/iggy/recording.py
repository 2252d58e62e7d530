"""Recordings of real clients and servers (``tests/golden/iggy``), and how to play them to another server.

Numbers that a server has given (streams, topics, users, clients, tokens) stand in later requests; they are
put in anew, because another server has given others. All else of a request goes out as it was recorded.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.protocols.iggy.answers import Fields, Reader, read_answer

DIRECTORY = Path(__file__).parents[2] / "golden" / "iggy"


class Exchange(NamedTuple):
    """A request, and what was answered; None: the connection was closed."""

    server: str
    client: str
    connection: int
    code: int
    name: str
    note: str
    request: bytes
    answer: bytes | None
    was_preceded: bool
    """Whether something on the same connection came before that is not in the recording."""

    @property
    def status(self) -> int | None:
        return None if self.answer is None else int.from_bytes(self.answer[:4], "little")

    @property
    def payload(self) -> bytes:
        return b"" if self.answer is None else self.answer[8:]


def exchanges(file: str, client: str, server: str) -> list[Exchange]:
    """One client's dialogue with one server, in the order of its requests."""
    return [each for each in _all(file) if each.client == client and each.server == server]


def _all(file: str) -> Iterator[Exchange]:
    lines = [json.loads(line) for line in (DIRECTORY / f"{file}.jsonl").read_text().splitlines()]
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        if line["direction"] == "request":
            is_answered = (
                following is not None
                and following["direction"] == "response"
                and (following["conn"], following["seq"]) == (line["conn"], line["seq"])
            )
            yield Exchange(
                line["server"],
                line["client"],
                line["conn"],
                line["code"],
                line["name"],
                line["note"],
                bytes.fromhex(line["hex"]),
                bytes.fromhex(following["hex"]) if is_answered else None,
                line["seq"] > 1,
            )


STATS = 10

KINDS = {
    **dict.fromkeys((20, 21, 22), "client"),
    **dict.fromkeys((31, 32, 33), "user"),
    **dict.fromkeys((200, 201, 202), "stream"),
    **dict.fromkeys((300, 301, 302), "topic"),
    **dict.fromkeys((600, 601, 602), "group"),
}
"""What the number in an answer is the number of."""

CREATIONS = {202: "stream", 302: "topic", 602: "group", 33: "user"}
_STREAM, _TOPIC, _GROUP, _USER = ("stream",), ("stream", "topic"), ("stream", "topic", "group"), ("user",)
IDENTIFIERS = {
    **dict.fromkeys((200, 203, 204, 205, 301, 302), _STREAM),
    **dict.fromkeys((102, 300, 303, 304, 305, 402, 403, 503, 601, 602), _TOPIC),
    **dict.fromkeys((600, 603, 604, 605), _GROUP),
    **dict.fromkeys((31, 34, 35, 36, 37), _USER),
}
"""What the identifiers at the beginning of a body stand for."""


class Translation:
    """Numbers of the recorded server, and those that the other one has given to the same things."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[str, int], int] = {}
        self.tokens: dict[bytes, bytes] = {}

    def learn(self, recorded: Exchange, payload: bytes, header_bytes: int) -> None:
        """Both servers have answered with success."""
        theirs = read_answer(recorded.code, recorded.payload, header_bytes)
        ours = read_answer(recorded.code, payload, header_bytes)
        if theirs is None or ours is None:
            return
        if recorded.code in CREATIONS:
            self.numbers[CREATIONS[recorded.code], theirs["id"]] = ours["id"]
        elif recorded.code == 20:
            self.numbers["client", theirs["id"]] = ours["id"]
        elif recorded.code == 42:
            self.tokens[theirs["token"].encode()] = ours["token"].encode()

    def number(self, kind: str, recorded: int) -> int:
        return self.numbers.get((kind, recorded), recorded)

    # -- answers ---------------------------------------------------------------------------------

    def answer(self, code: int, theirs: Fields | None) -> Fields | None:
        """A recorded answer in the other server's numbers; what a server makes up by itself is left out."""
        if theirs is None or code == STATS:
            return theirs
        kind = KINDS.get(code)
        for each in theirs.get("all", [theirs]):
            if kind is not None:
                each["id"] = self.number(kind, each["id"])
            for topic in each.get("topics", ()):
                topic["id"] = self.number("topic", topic["id"])
            for group in each.get("groups", ()):
                group["stream"] = self.number("stream", group["stream"])
            if each.get("permissions"):
                streams = each["permissions"]["streams"]
                each["permissions"]["streams"] = {self.number("stream", at): streams[at] for at in streams}
        return theirs

    # -- requests --------------------------------------------------------------------------------

    def request(self, recorded: Exchange) -> bytes:
        """The recorded request, in the other server's numbers."""
        frame, code = recorded.request, recorded.code
        try:
            body = self._body(code, frame[8:])
        except (AssertionError, struct.error, IndexError):
            return frame  # It was malformed on purpose.
        return struct.pack("<II", len(body) + 4, code) + body

    def _body(self, code: int, body: bytes) -> bytes:
        reader = Reader(body, 0)
        if code in IDENTIFIERS:
            parts = [self._identifier(reader, kind) for kind in IDENTIFIERS[code]]
            if code == 36:
                parts.append(self._permissions(reader))
            return b"".join(parts) + body[reader.at :]
        if code in (100, 120, 121, 122):
            is_group = reader.take(1) == b"\x02"
            who = self._identifier(reader, "group" if is_group else "consumer")
            place = self._identifier(reader, "stream") + self._identifier(reader, "topic")
            return body[:1] + who + place + body[reader.at :]
        if code == 101:
            size = reader.number("I")
            place = self._identifier(reader, "stream") + self._identifier(reader, "topic")
            metadata = place + body[reader.at : 4 + size]
            return struct.pack("<I", len(metadata)) + metadata + body[4 + size :]
        if code == 33:
            reader.take(reader.number("B"))
            reader.take(reader.number("B") + 1)
            at = reader.at
            return body[:at] + self._permissions(reader) + body[reader.at :]
        if code == 21:
            return struct.pack("<I", self.number("client", reader.number("I")))
        if code == 44:
            token = reader.take(reader.number("B"))
            ours = self.tokens.get(token, token)
            return bytes([len(ours)]) + ours
        return body

    def _identifier(self, reader: Reader, kind: str) -> bytes:
        at = reader.at
        is_number, size = reader.take(1) == b"\x01", reader.number("B")
        value = reader.take(size)
        if not is_number or size != 4:
            return reader.data[at : reader.at]
        return struct.pack("<BBI", 1, 4, self.number(kind, struct.unpack("<I", value)[0]))

    def _permissions(self, reader: Reader) -> bytes:
        if reader.take(1) == b"\x00":
            return b"\x00"
        tree = Reader(reader.take(reader.number("I")), 0)
        parts = [tree.take(10)]
        while (more := tree.take(1)) == b"\x01":
            parts += [more, struct.pack("<I", self.number("stream", tree.number("I"))), tree.take(6)]
            while (more := tree.take(1)) == b"\x01":
                parts += [more, struct.pack("<I", self.number("topic", tree.number("I"))), tree.take(4)]
            parts.append(more)
        parts.append(more)
        data = b"".join(parts)
        return b"\x01" + struct.pack("<I", len(data)) + data
