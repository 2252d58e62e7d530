"""Iggy's messages, whole and damaged, are bridged alike by both kernels (002.25, 002.29; S1)."""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records.arbitrary import RECORD_LISTS
from tests.records.iggy_messages import messages, sent
from tests.records.test_iggy import NOW_US, PLACE
from tests.records.test_kernel import HITS, damaged
from trivium.records.iggy import LONG_HEADER_BYTES, BadMessages
from trivium.records.record import Record, Section
from trivium.wire.errors import DecodeError, EncodeError


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except BadMessages as error:
        return error.flaw, str(error)
    except (DecodeError, EncodeError) as error:
        return type(error), str(error)


@settings(max_examples=400)
@given(st.data(), HITS, st.integers(-1, 8), st.sampled_from([1, 300, 10**6]), st.sampled_from([56, 64]))
def test_kernels_on_damaged_messages_agree(
    both_kernels: tuple[Any, Any],
    data: st.DataObject,
    hits: list[tuple[int, int]],
    count: int,
    size_max: int,
    header_bytes: int,
) -> None:
    original = data.draw(messages(header_bytes))
    wrong = damaged(sent(original, header_bytes), hits)
    for messages_count in (len(original), count):
        compiled, interpreted = (
            outcome(kernel.batches_from_messages, wrong, messages_count, NOW_US, size_max)
            for kernel in both_kernels
        )
        assert compiled == interpreted


def bridged_in_pieces(kernel: Any, data: bytes, count: int, ends: list[int], size_max: int) -> Any:
    sending = kernel.Sending(count, NOW_US, size_max, 1)
    for end in sorted(ends):
        sending.begun(bytearray(data[:end]))
    return sending.whole(data)


@settings(max_examples=400)
@given(
    st.data(),
    HITS,
    st.lists(st.integers(0, 2_000), max_size=6),
    st.sampled_from([1, 300, 10**6]),
    st.sampled_from([56, 64]),
)
def test_messages_that_come_in_pieces_become_what_they_are_together(
    both_kernels: tuple[Any, Any],
    data: st.DataObject,
    hits: list[tuple[int, int]],
    ends: list[int],
    size_max: int,
    header_bytes: int,
) -> None:
    """Whole and damaged ones alike, wherever the pieces end (S1)."""
    original = data.draw(messages(header_bytes))
    for arrived in (sent(original, header_bytes), damaged(sent(original, header_bytes), hits)):
        for kernel in both_kernels:
            together = outcome(kernel.batches_from_messages, arrived, len(original), NOW_US, size_max)
            pieces = outcome(bridged_in_pieces, kernel, arrived, len(original), ends, size_max)
            assert pieces == together


@settings(max_examples=400)
@given(st.binary(max_size=200), st.integers(-1, 5))
def test_kernels_on_garbage_for_messages_agree(
    both_kernels: tuple[Any, Any], data: bytes, count: int
) -> None:
    compiled, interpreted = (
        outcome(kernel.batches_from_messages, data, count, NOW_US, 10**6) for kernel in both_kernels
    )
    assert compiled == interpreted


def taken_by(kernel: Any, section: Any, *wanted: int) -> Any:
    polling = kernel.Messages(*wanted, PLACE)
    return polling.take(section), polling.taken()


@settings(max_examples=400)
@given(
    RECORD_LISTS,
    HITS,
    st.integers(0, 12),
    st.integers(-1, 14),
    st.integers(-1, 3_000),
    st.sampled_from([56, 64]),
)
def test_kernels_on_damaged_records_make_the_same_messages(
    both_kernels: tuple[Any, Any],
    records: list[Record],
    hits: list[tuple[int, int]],
    offset_first: int,
    count_max: int,
    bytes_max: int,
    header_bytes: int,
) -> None:
    whole = bytes(both_kernels[1].build(records, None).data)
    section = Section(damaged(whole, hits), len(records), 0, len(records) - 1, records[0].timestamp, None)
    compiled, interpreted = (
        outcome(taken_by, kernel, section, offset_first, count_max, bytes_max, header_bytes)
        for kernel in both_kernels
    )
    assert compiled == interpreted


@settings(max_examples=200)
@given(st.data(), HITS)
def test_kernels_on_records_that_iggy_wrote_and_somebody_changed_agree(
    both_kernels: tuple[Any, Any], data: st.DataObject, hits: list[tuple[int, int]]
) -> None:
    original = data.draw(messages(LONG_HEADER_BYTES))
    batches = both_kernels[1].batches_from_messages(sent(original), len(original), NOW_US, 10**6).batches
    section = Section(damaged(bytes(batches[61:]), hits), len(original), 0, len(original) - 1, 5, None)
    compiled, interpreted = (
        outcome(taken_by, kernel, section, 0, 100, 10**6, LONG_HEADER_BYTES) for kernel in both_kernels
    )
    assert compiled == interpreted
