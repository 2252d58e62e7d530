"""Two doors without a client on every machine: what Iggy and RustLog clients send, in a few lines each."""

import json
import socket
import struct
from collections.abc import Sequence

TIMEOUT_S = 30.0
MESSAGES_AT_ONCE = 500
_LOGIN, _SEND = 38, 101
_HEADER_BYTES = 64


def write_as_rustlog(address: str, topic: str, partition: int, values: Sequence[bytes]) -> None:
    """A length, and JSON: RustLog needs no library."""
    with _connect(address) as connection, connection.makefile("rwb") as stream:
        for start in range(0, len(values), MESSAGES_AT_ONCE):
            records = [list(value) for value in values[start : start + MESSAGES_AT_ONCE]]
            body = json.dumps(
                {"Produce": {"topic": topic, "partition": partition, "records": records}}
            ).encode()
            stream.write(struct.pack(">I", len(body)) + body)
            stream.flush()
            (size,) = struct.unpack(">I", stream.read(4))
            answer = json.loads(stream.read(size))
            if "Produce" not in answer:
                raise SystemExit(f"RustLog was refused: {answer}")


def write_as_iggy(address: str, topic: str, values: Sequence[bytes]) -> None:
    """Iggy's frames as its clients of 0.8 send them, shared out over partitions by the broker."""
    with _connect(address) as connection, connection.makefile("rwb") as stream:

        def ask(code: int, body: bytes) -> None:
            stream.write(struct.pack("<II", len(body) + 4, code) + body)
            stream.flush()
            status, size = struct.unpack("<II", stream.read(8))
            stream.read(size)
            if status:
                raise SystemExit(f"Iggy was refused with status {status}")

        ask(_LOGIN, _text("iggy") + _text("iggy") + _long_text("0.8.0") + _long_text(""))
        for start in range(0, len(values), MESSAGES_AT_ONCE):
            ask(_SEND, _messages(topic, values[start : start + MESSAGES_AT_ONCE]))


def _messages(topic: str, values: Sequence[bytes]) -> bytes:
    balanced = b"\x01\x00"
    place = b"\x02" + _text("default") + b"\x02" + _text(topic) + balanced + struct.pack("<I", len(values))
    index, messages = b"", b""
    for value in values:
        head = bytes(48) + struct.pack("<II", 0, len(value))
        messages += head + bytes(_HEADER_BYTES - len(head)) + value
        index += struct.pack("<IIQ", 0, len(messages), 0)
    return struct.pack("<I", len(place)) + place + index + messages


def _connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


def _text(value: str) -> bytes:
    return bytes([len(value)]) + value.encode()


def _long_text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode()
