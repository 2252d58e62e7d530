"""Tests against a real Kafka run only when asked for: ``pytest -m interop``."""

import pytest
from tests.interop.kafka import Kafka, Unavailable


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``-m interop`` these tests are not skipped but not selected: nobody asked for Java."""
    if "interop" in config.option.markexpr:
        return
    unasked = [item for item in items if item.get_closest_marker("interop")]
    if unasked:
        config.hook.pytest_deselected(items=unasked)
        items[:] = [item for item in items if item not in unasked]


@pytest.fixture(scope="session")
def kafka() -> Kafka:
    try:
        return Kafka.obtain()
    except Unavailable as reason:
        pytest.skip(str(reason))
