"""Bytes from a peer that lies or stammers: promises S1 and S2, over every message and version.

Whatever comes in, a decoder either gives a message or raises ``DecodeError``, and what it allocates is
bounded by what it received, never by what the bytes announce.
"""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.messages.catalogue import EXAMPLES, all_versions
from tests.messages.plain_encoding import Length, PlainEncoding
from tests.messages.samples import samples
from trivium.messages import decode, encode
from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.metadata import MetadataRequest
from trivium.messages.frames import decode_request, decode_response
from trivium.messages.schema import Message
from trivium.wire.builder import Builder
from trivium.wire.errors import DecodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX, TAGGED_FIELDS_MAX, TEXT_BYTES_MAX

REFUSAL_BYTES = 4_096
"""What an exception and the objects around a lie may take, beside what the honest message takes."""

REPETITIONS = 3

PARTS = 4
"""The work on all messages is cut into so many tests, for as many processes as there are."""

LYING_INTEGERS = {2: ["7fff", "8000", "ffff", "fffe"], 4: ["7fffffff", "80000000", "ffffffff", "fffffffe"]}
LYING_UVARINTS = [
    "00",
    "7f",
    "ffffffff07",  # INT_MAX
    "8080808008",  # INT_MIN, read without a sign
    "ffffffff0f",  # -1, read without a sign
    "ffffffffff01",  # a sixth byte
    "8080808080",  # no end
]


def _decode_or_refuse(cls: type[Message], version: int, data: bytes) -> None:
    with suppress(DecodeError):
        decode(cls, version, data)


def test_sample_of_every_version_is_encoded_as_the_plain_encoder_does() -> None:
    for message, version in samples():
        plain = PlainEncoding(message, version).data
        assert encode(message, version) == plain, f"{type(message).__name__} version {version}"
        assert decode(type(message), version, plain) == (message, len(plain))


def test_sample_cut_at_every_byte_is_refused() -> None:
    """S1."""
    for message, version in samples():
        whole = encode(message, version)
        for length in range(len(whole)):
            with pytest.raises(DecodeError):
                decode(type(message), version, whole[:length])


def test_sample_with_bytes_changed_is_read_or_refused() -> None:
    """S1. A bytearray and a memoryview are as good as bytes."""
    dice = random.Random(1)
    for message, version in samples():
        whole = encode(message, version)
        for _ in range(EXAMPLES if whole else 0):
            changed = bytearray(whole)
            for _ in range(dice.randint(1, 3)):
                changed[dice.randrange(len(changed))] = dice.choice(
                    (0, 1, 127, 128, 255, dice.randrange(256))
                )
            _decode_or_refuse(type(message), version, bytes(changed))


@settings(max_examples=EXAMPLES * 5, deadline=None)
@given(st.binary(max_size=120) | st.binary(max_size=12).map(lambda unit: unit * 20))
def test_garbage_into_every_decoder_is_read_or_refused(garbage: bytes) -> None:
    """S1."""
    for cls, version in all_versions():
        _decode_or_refuse(cls, version, garbage)


@settings(max_examples=EXAMPLES * 20, deadline=None)
@given(st.binary(max_size=80), st.integers(0, 95), st.integers(0, 20))
def test_garbage_frame_is_read_or_refused(garbage: bytes, key: int, version: int) -> None:
    """S1, with headers: as it comes, and behind a header that is almost right."""
    for frame in (garbage, Builder().int16(key).int16(version).raw(garbage).build()):
        with suppress(DecodeError):
            decode_request(frame)
    with suppress(DecodeError):
        decode_response(3, version % 14, garbage)


def _lies(whole: bytes, length: Length) -> Iterator[bytes]:
    """The same bytes with another length at this place."""
    spellings = LYING_UVARINTS if length.is_uvarint else LYING_INTEGERS[length.stop - length.start]
    for spelled in spellings:
        yield whole[: length.start] + bytes.fromhex(spelled) + whole[length.stop :]


def _peak_bytes(action: Callable[[], None]) -> int:
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    action()
    return tracemalloc.get_traced_memory()[1] - before


def _exceeds(action: Callable[[], None], allowed_bytes: int) -> bool:
    """Whether it takes more every time: the count is of the whole process, and a thread that another test
    has left behind (a client's, a broker's) may allocate in between.
    """
    return all(_peak_bytes(action) > allowed_bytes for _ in range(REPETITIONS))


@pytest.mark.parametrize("part", range(PARTS))
def test_length_planted_in_every_place_is_never_an_allocation(part: int) -> None:
    """S2: INT_MAX, INT_MIN, -1 and endless varints in every length of every message and version."""
    planted = 0
    for message, version in samples(elements=1)[part::PARTS]:
        plain = PlainEncoding(message, version)
        read = partial(_decode_or_refuse, type(message), version)
        read(plain.data)
        tracemalloc.start()
        try:
            honest = _peak_bytes(partial(read, plain.data))
            for length in plain.lengths:
                for lie in _lies(plain.data, length):
                    allowed_bytes = honest + 2 * len(lie) + REFUSAL_BYTES
                    name = f"{type(message).__name__} version {version}, {length}"
                    assert not _exceeds(partial(read, lie), allowed_bytes), name
                    planted += 1
        finally:
            tracemalloc.stop()
    assert planted > 5_000


def test_elements_beyond_the_budget_of_a_message_are_refused() -> None:
    """S1: a count that the bytes do hold, of elements that are a hundred times larger in memory."""
    count = MESSAGE_ELEMENTS_MAX + 1
    frame = Builder().array_count(count).raw(bytes(2 * count)).build()
    with pytest.raises(DecodeError, match="elements"):
        decode(MetadataRequest, 1, frame)


@pytest.mark.parametrize("make_group_id", ["g".__mul__, lambda size: "ä" * (size // 2) + "g" * (size % 2)])
def test_text_of_a_request_is_no_longer_in_compact_form_than_in_the_other(
    make_group_id: Callable[[int], str],
) -> None:
    """Where lengths have two bytes there is no room for more; where they have not, Kafka refuses it, too."""
    longest, longer = (
        HeartbeatRequest(group_id=make_group_id(size), generation_id=1, member_id="m")
        for size in (TEXT_BYTES_MAX, TEXT_BYTES_MAX + 1)
    )
    for version in (3, 4):
        assert decode(HeartbeatRequest, version, encode(longest, version))[0] == longest
    with pytest.raises(DecodeError, match="a text of 32768 bytes"):
        decode(HeartbeatRequest, 4, encode(longer, 4))


def test_tagged_fields_beyond_their_limit_are_refused() -> None:
    count = TAGGED_FIELDS_MAX + 1
    body = Builder().compact_array_count(0).boolean(True).boolean(False)
    tags = body.uvarint(count).raw(
        b"".join(Builder().uvarint(tag).uvarint(0).build() for tag in range(count))
    )
    with pytest.raises(DecodeError, match="tagged fields"):
        decode(MetadataRequest, 12, tags.build())
