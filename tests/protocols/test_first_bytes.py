"""Telling protocols apart by the first bytes, however few come at a time (issue 5, point 6)."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.protocols.rustlog.test_real_broker import recorded
from trivium.messages.extensions import EXTENSION_KEY_MIN
from trivium.protocols.first_bytes import DECIDING_BYTES_MAX, Spoken, spoken_by
from trivium.protocols.kafka.apis import APIS
from trivium.protocols.rustlog.msgpack import pack

GOLDEN = Path(__file__).parents[1] / "golden"


KAFKAS_OWN = sorted(key for key in APIS if key < EXTENSION_KEY_MIN)
"""Nobody begins with an extension: it is used by those who have been told that it is there."""


def kafka(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def rustlog(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def iggy(code: int, payload: bytes = b"") -> bytes:
    return struct.pack("<II", len(payload) + 4, code) + payload


FIRST_REQUESTS = {
    "Kafka's ApiVersions": (Spoken.KAFKA, kafka(bytes.fromhex("0012000400000001ffff00"))),
    "Kafka's Produce of 64 KiB": (
        Spoken.KAFKA,
        kafka(bytes.fromhex("0000000900000001ffff00") + bytes(65525)),
    ),
    "Kafka's Produce of 15 MiB": (Spoken.KAFKA, struct.pack(">i", 15 << 20) + bytes(12)),
    "RustLog's JSON": (Spoken.RUSTLOG, rustlog(b'{"Ping":{}}')),
    "RustLog's JSON without fields": (Spoken.RUSTLOG, rustlog(b'"Ping"')),
    "RustLog's JSON of 64 KiB": (Spoken.RUSTLOG, rustlog(b'{"Ping":{}}'.ljust(65536))),
    "RustLog's JSON of 128 KiB": (Spoken.RUSTLOG, rustlog(b'{"Ping":{}}'.ljust(131072))),
    "RustLog's MessagePack": (Spoken.RUSTLOG, rustlog(pack({"Ping": {}}))),
    "RustLog's binary ping": (Spoken.RUSTLOG, rustlog(b"\xff")),
    "RustLog's binary list": (Spoken.RUSTLOG, rustlog(b"\x06")),
    "RustLog's binary produce of 64 KiB": (Spoken.RUSTLOG, rustlog((b"\x01\0\6orders").ljust(65536, b"\0"))),
    "Iggy's PING": (Spoken.IGGY, iggy(1)),
    "Iggy's LOGIN_USER": (Spoken.IGGY, iggy(38, b"\x04iggy\x04iggy\0\0\0\0\0\0\0\0")),
    "Iggy's login of 256 bytes": (Spoken.IGGY, iggy(38, bytes(252))),
    "Iggy's login of 512 bytes": (Spoken.IGGY, iggy(38, bytes(508))),
    "Iggy's login of 65535 bytes": (Spoken.IGGY, iggy(44, bytes(65531))),
    "Iggy's GET_CONSUMER_GROUP": (Spoken.IGGY, iggy(600, bytes(30))),
    "Iggy from 0.9": (Spoken.IGGY, bytes(256)),
    "TLS 1.0 hello": (Spoken.TLS, bytes.fromhex("1603010200010001fc0303")),
    "TLS 1.2 hello": (Spoken.TLS, bytes.fromhex("160303007a010000760303")),
    "HTTP": (Spoken.UNKNOWN, b"GET / HTTP/1.1\r\n\r\n"),
    "HTTP/2": (Spoken.UNKNOWN, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "SSH": (Spoken.UNKNOWN, b"SSH-2.0-OpenSSH_9.9\r\n"),
}


@pytest.mark.parametrize(("spoken", "request_frame"), FIRST_REQUESTS.values(), ids=FIRST_REQUESTS.keys())
def test_first_request_tells_its_protocol_at_some_byte_and_never_another(
    spoken: Spoken, request_frame: bytes
) -> None:
    """Undecided up to a byte, decided from there on; and never later than the request is whole."""
    said = [spoken_by(request_frame[:size]) for size in range(min(len(request_frame), 64) + 1)]
    decided = [each for each in said if each is not None]
    assert set(decided) == {spoken}
    assert said[: len(said) - len(decided)] == [None] * (len(said) - len(decided))
    assert said[min(len(request_frame), DECIDING_BYTES_MAX)] is spoken


def test_every_recorded_request_of_rustlogs_is_known_as_rustlogs() -> None:
    for exchange in recorded():
        assert spoken_by(exchange.request[:DECIDING_BYTES_MAX]) is Spoken.RUSTLOG, exchange.note


@pytest.mark.parametrize("generation", ["w5", "w6", "w7", "w8", "v9"])
def test_every_recorded_request_of_iggys_is_known_as_iggys(generation: str) -> None:
    """As far as it could be a first one: before a login none has 64 KiB."""
    for line in (GOLDEN / "iggy" / f"{generation}.jsonl").read_text().splitlines():
        recorded_frame = json.loads(line)
        frame = bytes.fromhex(recorded_frame["hex"])
        if recorded_frame["direction"] == "request" and len(frame) < 65536:
            assert spoken_by(frame[:DECIDING_BYTES_MAX]) is Spoken.IGGY, recorded_frame["name"]


@given(st.sampled_from([10, 38, 44, 100, 101, 202, 302, 405, 505, 605]), st.integers(4, 65535))
@example(1, 4)  # PING has no body: with one, of 256 bytes say, it could be RustLog's.
def test_every_size_of_a_first_iggy_request_is_known_as_iggys(code: int, length: int) -> None:
    """S3: before a login none is larger."""
    assert spoken_by(struct.pack("<II", length, code)) is Spoken.IGGY


@given(
    st.integers(8, 10_485_760),
    st.sampled_from([b'{"Pro', b'{"Fet', b"\x81\xa7Pr", b"\x01\0\6or", b"\x02\0\0\0\6"]),
)
@example(65536, b"\x02\0\0\0\6")  # What looks most like Iggy.
def test_every_size_of_a_first_rustlog_request_is_known_as_rustlogs(length: int, begin: bytes) -> None:
    assert spoken_by(struct.pack(">I", length) + begin) is Spoken.RUSTLOG


@given(st.integers(8, (16 << 20) - 1), st.sampled_from(KAFKAS_OWN), st.integers(0, 18))
def test_every_size_of_a_first_kafka_request_is_known_as_kafkas(length: int, key: int, version: int) -> None:
    assert spoken_by(struct.pack(">ihh", length, key, version)) is Spoken.KAFKA


@given(st.binary(min_size=DECIDING_BYTES_MAX, max_size=DECIDING_BYTES_MAX))
def test_eight_bytes_always_decide(head: bytes) -> None:
    """Nobody is waited for who has sent as much."""
    assert spoken_by(head) is not None


def test_json_of_every_request_is_known_as_rustlogs() -> None:
    for kind in ("Produce", "Fetch", "OffsetCommit", "OffsetFetch", "CreateTopic", "ListTopics", "Ping"):
        body = json.dumps({kind: {}}).encode()
        assert spoken_by(rustlog(body)) is Spoken.RUSTLOG
