"""Frames out of the memory that they were received into, whatever the pieces they come in (S1-S3, 003.35)."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.wire import receiving
from trivium.wire.errors import DecodeError
from trivium.wire.framing import KAFKA_LENGTH
from trivium.wire.receiving import (
    ASIDE_BYTES_MAX,
    BODY_BYTES_MIN,
    GROWTH,
    LEAD_BYTES,
    SPARE_BYTES_MAX,
    Receiver,
)

SCRATCH_BYTES = 64
FRAME_BYTES_MAX = 1 << 20


def framed(*frames: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


class Feed:
    """A receiver behind a socket that gives at most ``piece_bytes`` at a time."""

    def __init__(self, bytes_max: int = FRAME_BYTES_MAX, scratch_bytes: int = SCRATCH_BYTES) -> None:
        self.receiver = Receiver(KAFKA_LENGTH, bytes_max)
        self.scratch = memoryview(bytearray(scratch_bytes))
        self.frames: list[bytes] = []
        self.held_max = 0

    def take(self, data: bytes, piece_bytes: int = 1 << 30) -> None:
        at = 0
        while at < len(data):
            space = self.receiver.space(self.scratch)
            count = min(len(space), piece_bytes, len(data) - at)
            space[:count] = data[at : at + count]
            for frame in self.receiver.received(count, self.scratch):
                self.frames.append(bytes(frame))
            at += count
            self.held_max = max(self.held_max, self.receiver.held_bytes)


@given(st.lists(st.binary(max_size=300), max_size=8), st.integers(1, 400))
def test_frames_come_out_as_they_went_in(frames: list[bytes], piece_bytes: int) -> None:
    """S1: whole, byte by byte, and everything between."""
    feed = Feed()
    feed.take(framed(*frames), piece_bytes)
    assert feed.frames == frames
    assert feed.receiver.is_between_frames
    assert feed.receiver.held_bytes == 0


@given(st.binary(max_size=200), st.integers(1, 50))
def test_any_bytes_give_frames_or_an_error_and_nothing_else(data: bytes, piece_bytes: int) -> None:
    """S1."""
    feed = Feed(bytes_max=1_000)
    try:
        feed.take(data, piece_bytes)
    except DecodeError:
        return
    assert framed(*feed.frames) == data[: len(framed(*feed.frames))]


@pytest.mark.parametrize("length", [-1, -(2**31), FRAME_BYTES_MAX + 1, 2**31 - 1])
def test_length_that_is_refused_is_refused_with_its_fourth_byte(length: int) -> None:
    """S3."""
    feed = Feed()
    announced = struct.pack(">i", length)
    feed.take(announced[:3])
    with pytest.raises(DecodeError, match=str(length)):
        feed.take(announced[3:])


def test_frame_of_just_the_allowed_size_is_taken() -> None:
    feed = Feed(bytes_max=100)
    feed.take(framed(bytes(100)))
    assert feed.frames == [bytes(100)]
    with pytest.raises(DecodeError):
        feed.take(framed(bytes(101)))


def test_refused_length_after_a_whole_frame_gives_the_frame_first() -> None:
    feed = Feed()
    with pytest.raises(DecodeError):
        feed.take(framed(b"good") + struct.pack(">i", -5))
    assert feed.frames == [b"good"]


def test_announced_length_is_not_an_allocation() -> None:
    """S2: memory grows with what has come, never with what was promised."""
    feed = Feed(bytes_max=100 << 20)
    feed.take(struct.pack(">i", 99 << 20) + bytes(10))
    assert feed.receiver.held_bytes == 14
    feed.take(bytes(SCRATCH_BYTES - 14))
    assert feed.receiver.held_bytes == BODY_BYTES_MIN
    feed.take(bytes(BODY_BYTES_MIN))
    assert feed.receiver.held_bytes <= GROWTH * 2 * BODY_BYTES_MIN


@pytest.mark.parametrize("size", [BODY_BYTES_MIN - 1, BODY_BYTES_MIN, 10 * BODY_BYTES_MIN + 7])
def test_large_frame_has_never_much_more_memory_than_has_come(size: int) -> None:
    """S2."""
    body = bytes(range(256)) * (size // 256) + bytes(size % 256)
    feed = Feed()
    feed.take(framed(body), 1_000)
    assert feed.frames == [body]
    assert feed.held_max <= max(BODY_BYTES_MIN, len(body))


def test_space_never_reaches_behind_the_frame_that_is_waited_for() -> None:
    """What follows a large frame belongs to the next read."""
    feed = Feed()
    feed.take(struct.pack(">i", 100) + bytes(SCRATCH_BYTES - 4))
    assert len(feed.receiver.space(feed.scratch)) == 104 - SCRATCH_BYTES


# -- a frame that has just begun ---------------------------------------------------------------------


@pytest.mark.parametrize("begun_bytes", [1, 4, 8, ASIDE_BYTES_MAX])
def test_frame_of_which_little_has_come_still_lies_in_the_scratch(begun_bytes: int) -> None:
    """Clients send a length by itself: that must not cost a copy of the rest. Others use the scratch too."""
    body = bytes(range(256)) * 40
    receiver = Receiver(KAFKA_LENGTH, FRAME_BYTES_MAX)
    scratch = memoryview(bytearray(64 << 10))
    data = framed(body)
    receiver.space(scratch)[:begun_bytes] = data[:begun_bytes]
    assert list(receiver.received(begun_bytes, scratch)) == []
    assert receiver.held_bytes == begun_bytes
    assert not receiver.is_between_frames
    scratch[:] = b"?" * len(scratch)
    rest = data[begun_bytes:]
    receiver.space(scratch)[: len(rest)] = rest
    (frame,) = receiver.received(len(rest), scratch)
    assert frame == body
    scratch[4] = ord("x")
    assert frame[0] == ord("x")


def test_frame_of_which_more_has_come_is_not_copied_twice() -> None:
    receiver = Receiver(KAFKA_LENGTH, FRAME_BYTES_MAX)
    scratch = memoryview(bytearray(64 << 10))
    data = framed(bytes(20_000))[: ASIDE_BYTES_MAX + 1]
    scratch[: len(data)] = data
    assert list(receiver.received(len(data), scratch)) == []
    assert receiver.held_bytes > ASIDE_BYTES_MAX + 1


# -- memory that is used again -----------------------------------------------------------------------


@pytest.fixture
def spares(monkeypatch: pytest.MonkeyPatch) -> list[bytearray]:
    kept: list[bytearray] = []
    monkeypatch.setattr(receiving, "_spares", kept)
    return kept


def test_memory_of_a_large_frame_serves_the_next_one_of_any_connection(spares: list[bytearray]) -> None:
    first, second = Feed(), Feed()
    first.take(framed(b"a" * 30_000))
    (kept,) = spares
    second.take(framed(b"b" * 25_000))
    assert second.frames == [b"b" * 25_000]
    assert [spare is kept for spare in spares] == [True]


def test_large_frame_behind_a_large_one_goes_straight_to_where_it_stays(spares: list[bytearray]) -> None:
    """All but its beginning, into the memory that the one before has left."""
    feed = Feed(scratch_bytes=4 * LEAD_BYTES)
    large = b"a" * 20 * LEAD_BYTES
    feed.take(framed(large))
    (kept,) = spares
    assert len(feed.receiver.space(feed.scratch)) == LEAD_BYTES
    feed.take(framed(large)[:LEAD_BYTES])
    assert feed.receiver.own_bytes == len(kept)
    assert len(feed.receiver.space(feed.scratch)) == len(framed(large)) - LEAD_BYTES
    feed.take(framed(large)[LEAD_BYTES:])
    assert feed.frames == [large, large]


def test_small_frame_behind_a_large_one_ends_what_was_expected() -> None:
    feed = Feed(scratch_bytes=4 * LEAD_BYTES)
    feed.take(framed(bytes(20 * LEAD_BYTES), b"small"))
    assert feed.frames[1:] == [b"small"]
    assert len(feed.receiver.space(feed.scratch)) == 4 * LEAD_BYTES


def test_kept_memory_is_nobodys_while_a_frame_comes_in(spares: list[bytearray]) -> None:
    """Two large frames at once never share a byte."""
    Feed().take(framed(bytes(30_000)))
    one, other = Feed(), Feed()
    for at in range(0, 30_004, 1_000):
        one.take(framed(b"a" * 30_000)[at : at + 1_000])
        other.take(framed(b"b" * 30_000)[at : at + 1_000])
    assert one.frames == [b"a" * 30_000]
    assert other.frames == [b"b" * 30_000]


def test_memory_is_kept_within_its_limit_and_given_to_those_who_need_about_as_much(
    spares: list[bytearray],
) -> None:
    """S2: a small frame does not take what was made for a large one."""
    feed = Feed(bytes_max=100 << 20)
    feed.take(framed(bytes(SPARE_BYTES_MAX + 1)), 1 << 20)
    assert sum(map(len, spares)) <= SPARE_BYTES_MAX
    feed.take(framed(bytes(SPARE_BYTES_MAX)), 1 << 20)
    feed.take(struct.pack(">i", 1 << 20) + bytes(SCRATCH_BYTES))
    assert feed.receiver.held_bytes == BODY_BYTES_MIN


def test_ceiling_may_be_raised_between_two_frames_of_one_read() -> None:
    """S3: a peer that logs in may send more, from its next frame on."""
    receiver = Receiver(KAFKA_LENGTH, 8)
    scratch = memoryview(bytearray(256))
    data = framed(b"login", bytes(50))
    scratch[: len(data)] = data
    frames = []
    for frame in receiver.received(len(data), scratch):
        frames.append(bytes(frame))
        receiver.bytes_max = 100
    assert frames == [b"login", bytes(50)]


def test_one_whole_frame_is_a_view_into_the_scratch() -> None:
    """No copy for what nearly every read brings."""
    receiver = Receiver(KAFKA_LENGTH, 100)
    scratch = memoryview(bytearray(64))
    scratch[:8] = framed(b"abcd")
    (frame,) = receiver.received(8, scratch)
    scratch[4] = ord("x")
    assert bytes(frame) == b"xbcd"


class Door(Feed):
    """A receiver that turns frames away instead of giving up; what it said and took, in order."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__()
        self.receiver = Receiver(
            KAFKA_LENGTH, bytes_max, lambda size: self.frames.append(b"refused %d" % size)
        )


@pytest.mark.parametrize("piece_bytes", [*range(1, 40), 1 << 30])
def test_refused_frame_is_passed_over_in_step_however_it_is_split(piece_bytes: int) -> None:
    """004.2, S3: told in its turn, and what follows is read as if it had not been."""
    door = Door(bytes_max=8)
    door.take(framed(b"before", b"x" * 9, b"between", b"y" * 200, b"z" * 9, b"after"), piece_bytes)
    assert door.frames == [b"before", b"refused 9", b"between", b"refused 200", b"refused 9", b"after"]
    assert door.receiver.is_between_frames


def test_refused_frame_is_held_by_nobody() -> None:
    """S2: neither announced nor arrived bytes cost memory; the peer still owes the rest of the frame."""
    door = Door(bytes_max=8)
    door.take(struct.pack(">i", 50 << 20) + bytes(1 << 20), 1 << 16)
    assert door.frames == [b"refused %d" % (50 << 20)]
    assert door.held_max == 0
    assert not door.receiver.is_between_frames


def test_negative_length_cannot_be_passed_over() -> None:
    door = Door(bytes_max=8)
    with pytest.raises(DecodeError, match="-7"):
        door.take(framed(b"good") + struct.pack(">i", -7))
    assert door.frames == [b"good"]


def test_refusal_may_give_up_on_a_frame() -> None:
    """Who waits for a gigabyte to pass by?"""

    def refuse(frame_bytes: int) -> None:
        raise DecodeError(f"{frame_bytes} bytes")

    receiver = Receiver(KAFKA_LENGTH, 8, refuse)
    scratch = memoryview(bytearray(64))
    scratch[:4] = struct.pack(">i", 1 << 30)
    with pytest.raises(DecodeError, match=str(1 << 30)):
        list(receiver.received(4, scratch))
