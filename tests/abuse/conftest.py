"""One city for the tests of a module: those that change it come last, or put it back."""

from collections.abc import Iterator

import pytest

from tests.abuse.city import City


@pytest.fixture(scope="module")
def city() -> Iterator[City]:
    made = City()
    yield made
    made.close()
