"""One broker for the tests that need nothing special of it, and every client in turn."""

from collections.abc import Callable

import pytest

from tests.clients.clients import CLIENTS, Client


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    make: Callable[[], Client] = request.param
    return make()
