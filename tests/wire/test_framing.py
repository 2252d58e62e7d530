"""Framers of the three protocols, fed in every chunking: 001.6, 002.3, 003.1, 004.2, promises S1 and S3."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.wire.errors import DecodeError
from trivium.wire.framing import (
    IGGY_LENGTH,
    KAFKA_LENGTH,
    ROOM_BYTES_MIN,
    RUSTLOG_LENGTH,
    Framer,
    frame,
)
from trivium.wire.limits import FRAME_BYTES_MAX, FRAME_BYTES_MAX_BEFORE_LOGIN, FRAME_ROOM_BYTES_MAX

LENGTHS = pytest.mark.parametrize(
    "length", [KAFKA_LENGTH, RUSTLOG_LENGTH, IGGY_LENGTH], ids=["kafka", "rustlog", "iggy"]
)


def test_frame_each_protocol_spells_its_length() -> None:
    assert frame(KAFKA_LENGTH, b"ab", b"c") == b"\0\0\0\3abc"
    assert frame(RUSTLOG_LENGTH, b"abc") == b"\0\0\0\3abc"
    assert frame(IGGY_LENGTH, b"abc") == b"\3\0\0\0abc"


@LENGTHS
def test_framer_fed_byte_by_byte_yields_the_same_frames(length: struct.Struct) -> None:
    frames = [b"first", b"", b"x" * 300]
    framer = Framer(length, 1_000)
    seen: list[bytes | bytearray] = []
    for byte in b"".join(frame(length, body) for body in frames):
        framer.feed(bytes((byte,)))
        seen += framer.frames()
    assert seen == frames
    assert framer.buffered_bytes == 0


@LENGTHS
@given(
    bodies=st.lists(st.binary(max_size=40), max_size=6),
    cuts=st.lists(st.integers(1, 60), min_size=1, max_size=30),
)
def test_framer_any_chunking_yields_the_same_frames(
    length: struct.Struct, bodies: list[bytes], cuts: list[int]
) -> None:
    stream = b"".join(frame(length, body) for body in bodies)
    framer = Framer(length, 40)
    seen: list[bytes | bytearray] = []
    step = 0
    while stream:
        chunk, stream = stream[: cuts[step % len(cuts)]], stream[cuts[step % len(cuts)] :]
        step += 1
        framer.feed(chunk)
        seen += framer.frames()
    assert seen == bodies


def test_framer_incomplete_frame_waits() -> None:
    framer = Framer(KAFKA_LENGTH, 100)
    framer.feed(b"\0\0\0\5abcd")
    assert framer.next_frame() is None
    assert framer.buffered_bytes == 4
    framer.feed(b"e\0\0")
    assert framer.next_frame() == b"abcde"
    assert framer.next_frame() is None


@pytest.mark.parametrize(
    ("length", "announced"),
    [
        (KAFKA_LENGTH, "80000000"),
        (KAFKA_LENGTH, "ffffffff"),
        (KAFKA_LENGTH, "7fffffff"),
        (KAFKA_LENGTH, "00010001"),
        (RUSTLOG_LENGTH, "80000000"),
        (IGGY_LENGTH, "00000080"),
        (IGGY_LENGTH, "01000100"),
    ],
)
def test_framer_length_outside_the_ceiling_is_refused_after_four_bytes(
    length: struct.Struct, announced: str
) -> None:
    framer = Framer(length, FRAME_BYTES_MAX_BEFORE_LOGIN)
    framer.feed(bytes.fromhex(announced)[:3])
    assert framer.next_frame() is None
    framer.feed(bytes.fromhex(announced)[3:])
    with pytest.raises(DecodeError, match="announced"):
        framer.next_frame()


def test_framer_after_a_refusal_stays_refused_and_holds_nothing() -> None:
    framer = Framer(KAFKA_LENGTH, 10)
    framer.feed(b"\0\0\1\0")
    with pytest.raises(DecodeError):
        framer.next_frame()
    framer.feed(b"\0\0\0\1a")
    with pytest.raises(DecodeError):
        framer.next_frame()
    assert framer.buffered_bytes == 0


def test_framer_ceiling_raised_between_two_frames_counts_for_the_second() -> None:
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX_BEFORE_LOGIN)
    large = bytes(FRAME_BYTES_MAX_BEFORE_LOGIN + 1)
    framer.feed(frame(KAFKA_LENGTH, b"login") + frame(KAFKA_LENGTH, large))
    assert framer.next_frame() == b"login"
    framer.bytes_max = FRAME_BYTES_MAX
    assert framer.next_frame() == large


@pytest.mark.parametrize("step", [1_000, ROOM_BYTES_MIN, 10 * ROOM_BYTES_MIN])
def test_framer_large_frames_received_into_room_are_the_same(step: int) -> None:
    """As a client receives: what came before there was room is in the frame, and the next frame follows."""
    bodies = [bytes(range(256)) * 1_000, b"small", b"", bytes(range(255)) * 1_000]
    stream = b"".join(frame(KAFKA_LENGTH, body) for body in bodies)
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
    seen: list[bytes | bytearray] = []
    made_room = 0
    while stream:
        room = framer.room()
        if room is None:
            framer.feed(stream[:step])
            stream = stream[step:]
        else:
            made_room += 1
            size_bytes = min(step, len(room), len(stream))
            room[:size_bytes] = stream[:size_bytes]
            framer.filled(size_bytes)
            stream = stream[size_bytes:]
        seen += framer.frames()
    assert seen == bodies
    assert framer.buffered_bytes == 0
    assert made_room >= (2 if step < 256_000 else 0)


def test_framer_hands_out_room_of_whom_it_was_told_to_ask_when_it_is_full() -> None:
    made: list[bytearray] = []

    def room_for(size_bytes: int) -> bytearray:
        made.append(bytearray(b"\xff" * size_bytes))
        return made[-1]

    body = bytes(range(256)) * (ROOM_BYTES_MIN // 256 + 1)
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX, room_for)
    framer.feed(KAFKA_LENGTH.pack(len(body)) + body[:7])
    assert framer.next_frame() is None
    room = framer.room()
    assert room is not None
    room[:-1] = body[7:-1]
    framer.filled(len(room) - 1)
    assert framer.next_frame() is None, "its last byte is whatever was there before"
    room = framer.room()
    assert room is not None
    room[:] = body[-1:]
    framer.filled(1)
    received = framer.next_frame()
    assert received == body
    assert [each is received for each in made] == [True]


def test_framer_makes_no_room_for_what_is_small_or_only_announced() -> None:
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
    assert framer.room() is None
    framer.feed(KAFKA_LENGTH.pack(ROOM_BYTES_MIN) + b"a")
    assert framer.next_frame() is None
    assert framer.room() is None, "so little is copied as quickly"
    framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
    framer.feed(KAFKA_LENGTH.pack(FRAME_ROOM_BYTES_MAX + 1))
    assert framer.next_frame() is None
    assert framer.room() is None, "nobody has sent so much yet (S3)"
