"""Ranges of offsets, against a plain set of numbers."""

from hypothesis import given
from hypothesis import strategies as st

from trivium.testing.history.ranges import Ranges

_RANGE = st.tuples(st.integers(0, 20), st.integers(0, 20))


@given(st.lists(_RANGE, max_size=12), _RANGE)
def test_ranges_after_any_additions_hold_what_a_set_holds(
    added: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    ranges, model = Ranges(), set[int]()
    for start, end in added:
        ranges.add(start, end)
        model |= set(range(start, end))
    assert ranges.has_all(*asked) == model.issuperset(range(*asked))
    assert [offset for offset in range(22) if offset in ranges] == sorted(model)
