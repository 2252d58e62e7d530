"""A node in the test's own loop: what it reports when a directory fails, and what a failed start leaves."""

import asyncio
import errno
import logging
import socket
from pathlib import Path
from typing import cast

import pytest

from tests.server.wire import PRODUCE_VERSION, Peer, create_topic, produce
from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode
from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.loading import load
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.node import Node


def node_on(directory: Path, **flags: str) -> Node:
    listen = {f"listen.{each}": "127.0.0.1:0" for each in ("kafka", "iggy", "rustlog", "console")}
    return Node(load(None, {}, {"data": str(directory), **listen, **flags}))


def test_node_whose_directory_fails_says_so_everywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4: refused with Kafka's code, an event, and not ready."""
    monkeypatch.setattr(events, "_told", {})

    async def scenario() -> int:
        node = node_on(tmp_path)
        await node.start()
        try:
            assert node.reasons_not_ready() == []
            bootstrap = str(node.addresses[Protocol.KAFKA][0])
            await asyncio.to_thread(create_topic, bootstrap, "doomed")
            failure = OSError(errno.EIO, "Input/output error")
            node.store.directories[0].health.fail(failure, "sync of doomed-0")
            (reason,) = node.reasons_not_ready()
            assert str(tmp_path) in reason
            assert "Input/output error" in reason
            return await asyncio.to_thread(produce_once, bootstrap)
        finally:
            await node.stop()

    with caplog.at_level(logging.ERROR, "trivium"):
        assert asyncio.run(scenario()) == ErrorCode.KAFKA_STORAGE_ERROR
    assert [record.message for record in caplog.records] == ["directory offline"]


def produce_once(bootstrap: str) -> int:
    with Peer(bootstrap) as peer:
        peer.ask(produce("doomed", b"x"), PRODUCE_VERSION)
        _, answer = peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        code: int = answer.responses[0].partition_responses[0].error_code  # type: ignore[attr-defined]
        return code


def test_start_that_fails_leaves_ports_and_directory_free(tmp_path: Path) -> None:
    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            busy = f"127.0.0.1:{taken.getsockname()[1]}"
            with pytest.raises(CannotListen):
                await node_on(tmp_path, **{"listen.console": busy}).start()
        node = node_on(tmp_path, **{"listen.console": busy})
        await node.start()
        await node.stop()

    asyncio.run(scenario())


def test_end_waits_for_nobody_who_comes_in_late(tmp_path: Path) -> None:
    """Who had knocked before the doors were closed becomes a connection while the others are dropped."""

    async def scenario() -> None:
        node = node_on(tmp_path)
        await node.start()
        opened = cast(dict[object, None], node.connections.open)

        class Late:
            def drop(self) -> None:
                del opened[self]

        class Early:
            def drop(self) -> None:
                del opened[self]
                opened[Late()] = None

        opened[Early()] = None
        await asyncio.wait_for(node.abandon(), 60)
        assert not opened

    asyncio.run(scenario())


def test_start_on_every_interface_listens_on_every_family(tmp_path: Path) -> None:
    async def scenario() -> None:
        node = node_on(tmp_path, **{"listen.kafka": ":0", "access.anonymous": "allow"})
        await node.start()
        try:
            port = node.addresses[Protocol.KAFKA][0].port
            served = await asyncio.to_thread(lambda: Peer(f"127.0.0.1:{port}").is_served())
            assert served
        finally:
            await node.stop()

    asyncio.run(scenario())
