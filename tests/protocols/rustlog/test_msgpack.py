"""MessagePack: what goes in comes out, known encodings are read, bad bytes are a ``DecodeError``."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.protocols.rustlog.msgpack import DEPTH_MAX, pack, unpack
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import MESSAGE_ELEMENTS_MAX

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)
things = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | text | st.binary(max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(text, inner, max_size=20),
    max_leaves=20,
).filter(lambda thing: _depth(thing) <= DEPTH_MAX)


def _depth(thing: Any) -> int:
    if isinstance(thing, list):
        return 1 + max(map(_depth, thing), default=0)
    if isinstance(thing, dict):
        return 1 + max(map(_depth, thing.values()), default=0)
    return 0


@given(things)
def test_packed_thing_comes_out_as_it_went_in(thing: Any) -> None:
    again = unpack(memoryview(pack(thing)))
    assert again == thing
    assert repr(again) == repr(thing), "True is not 1"


@pytest.mark.parametrize(
    ("packed", "thing"),
    [
        ("00", 0),
        ("7f", 127),
        ("e0", -32),
        ("ff", -1),
        ("cc80", 128),
        ("cd0100", 256),
        ("ce00010000", 65536),
        ("cf0000000100000000", 2**32),
        ("d080", -128),
        ("d18000", -32768),
        ("d280000000", -(2**31)),
        ("d38000000000000000", -(2**63)),
        ("c0", None),
        ("c2", False),
        ("c3", True),
        ("a3616263", "abc"),
        ("d903616263", "abc"),
        ("da0003616263", "abc"),
        ("db00000003616263", "abc"),
        ("c403616263", b"abc"),
        ("c50003616263", b"abc"),
        ("c600000003616263", b"abc"),
        ("920102", [1, 2]),
        ("dc00020102", [1, 2]),
        ("dd000000020102", [1, 2]),
        ("81a16101", {"a": 1}),
        ("de0001a16101", {"a": 1}),
        ("df00000001a16101", {"a": 1}),
    ],
)
def test_every_encoding_of_the_specification_is_read(packed: str, thing: Any) -> None:
    assert unpack(memoryview(bytes.fromhex(packed))) == thing


@pytest.mark.parametrize("size", [0, 1, 15, 16, 31, 32, 255, 256, 65535, 65536])
def test_lengths_at_the_border_of_an_encoding_are_kept(size: int) -> None:
    for thing in ("x" * size, b"x" * size, [1] * size, {str(number): 1 for number in range(size)}):
        assert unpack(memoryview(pack(thing))) == thing


@given(st.binary(max_size=60))
def test_any_bytes_are_a_thing_or_an_error(data: bytes) -> None:
    """S1."""
    with suppress(DecodeError):
        unpack(memoryview(data))


@pytest.mark.parametrize(
    "packed",
    [
        "",
        "c1",
        "ca00000000",
        "d4ff00",
        "0000",
        "a2ff61",
        "a1ff",
        "810101",
        "dbffffffff",
        "c6ffffffff",
        "ddffffffff",
        "dfffffffff",
        "dc000301",
        "91" * (DEPTH_MAX + 1) + "00",
    ],
)
def test_bad_bytes_are_an_error_at_once(packed: str) -> None:
    """S2: a length is never an allocation."""
    with pytest.raises(DecodeError):
        unpack(memoryview(bytes.fromhex(packed)))


def test_elements_of_all_arrays_together_have_a_limit() -> None:
    """S1."""
    half = b"\xdd" + (MESSAGE_ELEMENTS_MAX // 2).to_bytes(4, "big") + b"\xc0" * (MESSAGE_ELEMENTS_MAX // 2)
    assert unpack(memoryview(half))
    with pytest.raises(DecodeError):
        unpack(memoryview(b"\x93" + half + half + b"\xc0"))


@pytest.mark.parametrize("thing", [1.5, {1: 2}.keys(), 2**64, -(2**63) - 1])
def test_what_has_no_form_is_an_error(thing: Any) -> None:
    with pytest.raises(EncodeError):
        pack(thing)
