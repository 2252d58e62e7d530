"""Loggers of this process in Kafka's words."""

import logging
from collections.abc import Iterator

import pytest

from trivium.server.loggers import PythonLoggers


@pytest.fixture(autouse=True)
def levels_are_put_back() -> Iterator[None]:
    ours, below = logging.getLogger("trivium"), logging.getLogger("trivium.server")
    before = ours.level, below.level
    yield
    ours.setLevel(before[0])
    below.setLevel(before[1])


def test_root_is_the_logger_above_all_of_ours_and_not_pythons() -> None:
    python_level = logging.getLogger().level
    loggers = PythonLoggers()
    loggers.set_level("root", "ERROR")
    levels = loggers.levels()
    assert levels["root"] == levels["trivium"] == levels["trivium.server"] == "ERROR"
    assert logging.getLogger().level == python_level


def test_logger_without_a_level_of_its_own_follows_the_root() -> None:
    loggers = PythonLoggers()
    loggers.set_level("root", "WARN")
    loggers.set_level("trivium.server", "TRACE")
    assert loggers.levels()["trivium.server"] == "DEBUG"
    loggers.set_level("trivium.server", None)
    assert loggers.levels()["trivium.server"] == "WARN"
