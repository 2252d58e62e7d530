"""Percentiles within the precision that the histogram promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.cli.latency import LatencyHistogram


def test_percentiles_of_nothing_are_nothing() -> None:
    assert LatencyHistogram().percentile_s(99) == 0


@given(
    st.lists(st.floats(1e-6, 100), min_size=1, max_size=300), st.sampled_from([0.1, 50, 90, 99, 99.9, 100])
)
def test_percentile_is_right_within_two_percent(times: list[float], percent: float) -> None:
    histogram = LatencyHistogram()
    for seconds in times:
        histogram.add(seconds)
    rank = max(1, -(-len(times) * percent // 100))
    exact = sorted(times)[int(rank) - 1]
    assert exact <= histogram.percentile_s(percent) * (1 + 1e-9)
    assert histogram.percentile_s(percent) == pytest.approx(exact, rel=0.021)
    assert histogram.percentile_s(100) == max(times)


def test_measurements_of_a_batch_count_for_each_record() -> None:
    histogram = LatencyHistogram()
    histogram.add(0.001, 99)
    histogram.add(1.0)
    assert histogram.count == 100
    assert histogram.percentile_s(99) == pytest.approx(0.001, rel=0.021)
    assert histogram.percentile_s(99.5) == 1.0
