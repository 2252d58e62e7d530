"""Ranges are cut without losing or doubling an offset."""

from hypothesis import given
from hypothesis import strategies as st

from trivium.client.topology import TopicPartition
from trivium.spark.connector.admission import admit, backlog
from trivium.spark.connector.offsets_json import from_json, to_json
from trivium.spark.connector.ranges import OffsetRange, make_ranges, split_ranges

COUNTS = st.integers(1, 40)
KEYS = st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, 11))
RANGES = st.dictionaries(KEYS, st.tuples(st.integers(0, 1000), COUNTS), max_size=8)


def ranges_of(drawn: dict[TopicPartition, tuple[int, int]]) -> list[OffsetRange]:
    return make_ranges(
        {key: start for key, (start, _) in drawn.items()},
        {key: start + count for key, (start, count) in drawn.items()},
    )


@given(RANGES, st.none() | COUNTS, st.none() | COUNTS)
def test_split_ranges_have_every_offset_once_and_are_as_many_and_as_small_as_asked(
    drawn: dict[TopicPartition, tuple[int, int]], count_min: int | None, size_max: int | None
) -> None:
    whole = ranges_of(drawn)
    parts = split_ranges(whole, count_min, size_max)
    offsets = [(part.key, offset) for part in parts for offset in range(part.offset_start, part.offset_end)]
    assert offsets == [
        (each.key, offset) for each in whole for offset in range(each.offset_start, each.offset_end)
    ]
    assert all(part.size > 0 for part in parts)
    assert len(parts) >= min(count_min or 0, len(offsets))
    assert size_max is None or all(part.size <= size_max for part in parts)


def test_partition_that_has_nothing_has_no_range_and_a_new_one_is_read_from_its_beginning() -> None:
    old, new, gone = (TopicPartition("t", number) for number in range(3))
    assert make_ranges({old: 5, gone: 9}, {old: 5, new: 3, gone: 7}) == [OffsetRange("t", 1, 0, 3)]


@given(RANGES, COUNTS)
def test_admitted_offsets_are_the_limit_and_never_beyond_the_end(
    drawn: dict[TopicPartition, tuple[int, int]], limit: int
) -> None:
    starts = {key: start for key, (start, _) in drawn.items()}
    ends = {key: start + count for key, (start, count) in drawn.items()}
    admitted = admit(starts, ends, limit)
    assert sum(backlog(starts, admitted).values()) == min(limit, sum(backlog(starts, ends).values()))
    assert all(starts[key] <= admitted[key] <= ends[key] for key in ends)


def test_limit_is_split_in_proportion_to_the_backlog() -> None:
    small, large = TopicPartition("t", 0), TopicPartition("t", 1)
    assert admit({small: 10, large: 0}, {small: 110, large: 900}, 100) == {small: 20, large: 90}


def test_partition_that_fell_back_keeps_its_end() -> None:
    """With failOnDataLoss off the stream goes on from there."""
    fallen, other = TopicPartition("t", 0), TopicPartition("t", 1)
    assert admit({fallen: 10, other: 0}, {fallen: 3, other: 50}, 5) == {fallen: 3, other: 5}


@given(st.dictionaries(KEYS, st.integers(0, 99), max_size=12))
def test_offsets_have_one_text_whatever_their_order(positions: dict[TopicPartition, int]) -> None:
    """Spark compares offsets by their text."""
    shuffled = dict(sorted(positions.items(), reverse=True))
    assert repr(to_json(shuffled)) == repr(to_json(positions))
    assert from_json(to_json(positions)) == positions


def test_partitions_of_a_topic_are_in_the_order_of_their_numbers() -> None:
    positions = {TopicPartition("t", number): 1 for number in (10, 9)}
    assert list(to_json(positions)["t"]) == ["9", "10"]
