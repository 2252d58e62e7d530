"""Recordings of real systems for the tests in this folder."""

from collections.abc import Iterator

import pytest
from tests.golden.recording import Recording, names, unpack

from trivium.log.directory import LogDirectory


@pytest.fixture(scope="session", params=names("clean", "killed"))
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A directory that Kafka wrote. Shared by all tests: look at it, copy it, never change it."""
    return unpack(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="session")
def directory(recording: Recording) -> Iterator[LogDirectory]:
    """The same, opened without changing it. Shared too: for reading only."""
    opened = recording.open()
    yield opened
    opened.close()
