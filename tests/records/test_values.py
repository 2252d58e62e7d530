"""Records that are nothing but a value: written as ``build`` writes them, and read back within bounds."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.records.batch import build_batch, build_batch_of_values, read_section
from trivium.records.record import Record, Section, ValuesWanted
from trivium.wire.errors import DecodeError, EncodeError

UNBOUNDED = ValuesWanted(0, 1 << 62, 1 << 62, 0, 1, takes_gaps=True)

values = st.lists(st.binary(max_size=200), min_size=1, max_size=20)


@given(values, st.integers(0, 2**62))
def test_values_are_built_as_records_without_anything_else(
    kernel: Any, written: list[bytes], timestamp: int
) -> None:
    records = [Record(0, timestamp, None, value) for value in written]
    assert kernel.build_values(written, timestamp) == kernel.build(records, None)


def test_a_batch_of_values_is_the_batch_of_their_records() -> None:
    assert build_batch_of_values([b"a", b""], 7) == build_batch(
        [Record(0, 7, None, b"a"), Record(0, 7, None, b"")]
    )
    with pytest.raises(EncodeError, match="a batch needs a record"):
        build_batch_of_values([], 7)


@given(
    values,
    st.integers(0, 25),
    st.integers(0, 500),
    st.integers(0, 2_000),
    st.integers(0, 50),
    st.integers(1, 4),
)
def test_values_are_taken_while_there_is_room_and_one_in_any_case(
    kernel: Any,
    written: list[bytes],
    offset_first: int,
    payload_bytes_max: int,
    answer_bytes_max: int,
    record_bytes: int,
    byte_bytes: int,
) -> None:
    """004.8: the first record comes whatever its size."""
    taken = kernel.Values(
        ValuesWanted(
            offset_first, payload_bytes_max, answer_bytes_max, record_bytes, byte_bytes, takes_gaps=True
        )
    )
    whole = taken.take(read_section(build_batch_of_values(written, 7)))
    expected: list[tuple[int, bytes]] = []
    for offset, value in list(enumerate(written))[offset_first:]:
        payload_bytes = sum(len(before) for _, before in expected) + len(value)
        answer_bytes = record_bytes * (len(expected) + 1) + byte_bytes * payload_bytes
        if expected and (payload_bytes > payload_bytes_max or answer_bytes > answer_bytes_max):
            break
        expected.append((offset, value))
    found = taken.taken()
    assert found.records == expected
    assert found.payload_bytes == sum(len(value) for _, value in expected)
    assert found.offset_next == (expected[-1][0] + 1 if expected else offset_first)
    assert whole == (len(expected) == len(written[offset_first:]))


def test_keys_headers_and_null_values_are_passed_over(kernel: Any) -> None:
    """What RustLog has no place for is left out, and what has no value is empty."""
    batch = build_batch(
        [Record(0, 1, b"key", b"value", (("name", b"header"),)), Record(0, 2, b"key", None)], base_offset=5
    )
    taken = kernel.Values(UNBOUNDED)
    assert taken.take(read_section(batch))
    assert taken.taken() == ([(5, b"value"), (6, b"")], 5, 7)


def test_values_end_at_a_gap_for_who_counts_offsets_back(kernel: Any) -> None:
    first, second = (build_batch_of_values([b"x"], 7), build_batch([Record(0, 7, None, b"y")], base_offset=3))
    for takes_gaps, count in ((True, 2), (False, 1)):
        taken = kernel.Values(UNBOUNDED._replace(takes_gaps=takes_gaps))
        assert taken.take(read_section(first))
        taken.pass_over(3)
        assert taken.take(read_section(second)) is takes_gaps
        assert len(taken.taken().records) == count


def test_what_is_passed_over_counts_until_something_is_taken(kernel: Any) -> None:
    taken = kernel.Values(UNBOUNDED)
    taken.pass_over(9)
    assert taken.taken() == ([], 0, 9)
    taken.take(read_section(build_batch([Record(0, 7, None, b"y")], base_offset=9)))
    taken.pass_over(30)
    assert taken.taken().offset_next == 10


def test_values_before_damage_are_kept(kernel: Any) -> None:
    """S1: damage inside of a batch is a ``DecodeError``, and what was read before it is still there."""
    section = read_section(build_batch_of_values([b"good", b"bad"], 7))
    torn = Section(section.data[:-1], *section[1:])
    taken = kernel.Values(UNBOUNDED)
    with pytest.raises(DecodeError):
        taken.take(torn)
    assert taken.taken() == ([(0, b"good")], 4, 1)
