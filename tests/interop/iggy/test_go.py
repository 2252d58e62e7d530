"""Iggy's Go client of 0.8, which says the same word at login as Rust's of 0.6, where nothing has been set."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable
from tests.interop.iggy.puppets import PUPPETS
from tests.interop.kafka import Unavailable
from tests.interop.puppets import Kind, Puppet

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def go() -> Kind:
    kind = PUPPETS["iggy-go-0.8.0"]
    try:
        kind.prepare()
    except Unavailable as reason:
        pytest.skip(str(reason))
    return kind


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Restartable]:
    with Restartable(tmp_path, "--iggy", "127.0.0.1:0") as served:
        assert isinstance(served, Restartable)
        yield served


@pytest.fixture
def sender(go: Kind, broker: Restartable, tmp_path: Path) -> Iterator[Puppet]:
    with Puppet(go, broker.ready["iggy"], tmp_path) as client:
        client.ask("login", "iggy", "iggy")
        client.ask("create-stream", "shop")
        client.ask("create-topic", "shop", "orders", 1)
        client.ask("send", "shop", "orders", "partition:0", 0, 3)
        yield client


@pytest.fixture
def reader(go: Kind, broker: Restartable, tmp_path: Path) -> Iterator[Puppet]:
    with Puppet(go, broker.ready["iggy"], tmp_path) as client:
        yield client


def test_go_that_only_polls_reads_after_a_login_with_a_token(sender: Puppet, reader: Puppet) -> None:
    reader.ask("login-token", sender.ask("create-token", "reader"))
    assert _payloads(reader) == ["message 0", "message 1", "message 2"]


def test_go_that_has_sent_reads_after_a_login_with_a_password(sender: Puppet, reader: Puppet) -> None:
    reader.ask("login", "iggy", "iggy")
    reader.ask("send", "shop", "orders", "partition:0", 3, 1)
    assert _payloads(reader) == ["message 0", "message 1", "message 2", "message 3"]


def _payloads(client: Puppet) -> list[str]:
    polled = client.ask("poll", "shop", "orders", 0, "consumer:1", "first", 10, "keep")
    return [message[3] for message in polled[2]]
