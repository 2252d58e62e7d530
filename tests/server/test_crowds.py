"""Many peers at once: what they cost a node in memory, and that nobody else notices them (S3, S5, S6)."""

import resource
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.server.serving import Served
from tests.server.wire import FETCH_VERSION, PRODUCE_VERSION, Peer, create_topic, fetch, produce
from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic

MEGABYTE = 1 << 20


@pytest.fixture(autouse=True, scope="module")
def many_descriptors() -> None:
    """A test holds the other end of every connection."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def is_healthy(served: Served, topic: str) -> bool:
    """Whether somebody who comes now can write and read."""
    with Peer(served.bootstrap) as peer:
        peer.ask(produce(topic, b"well", acks=-1), PRODUCE_VERSION)
        _, answer = peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        part = answer.responses[0].partition_responses[0]  # type: ignore[attr-defined]
        peer.ask(fetch(topic, offset=part.base_offset), FETCH_VERSION)
        return not part.error_code and b"well" in peer.frame()


def test_node_that_nobody_uses_is_small(tmp_path: Path) -> None:
    with Served(tmp_path) as served, Peer(served.bootstrap) as peer:
        assert peer.is_served()
        assert served.resident_bytes <= 64 * MEGABYTE


def test_connections_that_announce_99_megabytes_cost_nothing_and_disturb_nobody(tmp_path: Path) -> None:
    with Served(tmp_path) as served, ExitStack() as crowd:
        create_topic(served.bootstrap, "calm")
        assert is_healthy(served, "calm")
        before_bytes = served.resident_bytes
        for _ in range(500):
            peer = crowd.enter_context(Peer(served.bootstrap))
            peer.socket.sendall(struct.pack(">i", 99 * MEGABYTE) + bytes(100))
        assert is_healthy(served, "calm")
        assert served.resident_bytes - before_bytes <= 30 * MEGABYTE


def test_a_thousand_idle_connections_cost_30_megabytes_at_most(tmp_path: Path) -> None:
    with Served(tmp_path) as served, ExitStack() as crowd:
        create_topic(served.bootstrap, "calm")
        assert is_healthy(served, "calm")
        before_bytes = served.resident_bytes
        for _ in range(1_000):
            assert crowd.enter_context(Peer(served.bootstrap)).is_served()
        assert served.resident_bytes - before_bytes <= 30 * MEGABYTE
        assert is_healthy(served, "calm")


def test_connections_that_come_and_go_leave_nothing_behind(tmp_path: Path) -> None:
    """A storm of reconnects, some in the middle of a request, some while they wait for records."""
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "calm")
        for _ in range(300):
            with Peer(served.bootstrap) as peer:
                assert peer.is_served()
        before_bytes = served.resident_bytes
        for number in range(1_500):
            with Peer(served.bootstrap) as peer:
                if number % 3 == 0:
                    peer.socket.sendall(struct.pack(">i", 50 * MEGABYTE) + bytes(20_000))
                elif number % 3 == 1:
                    peer.ask(fetch("calm", max_wait_ms=2**31 - 1), FETCH_VERSION)
                else:
                    assert peer.is_served()
        assert is_healthy(served, "calm")
        assert served.resident_bytes - before_bytes <= 10 * MEGABYTE


def test_node_with_few_descriptors_keeps_some_for_the_log(tmp_path: Path) -> None:
    """Peers beyond what the process may have open wait; who is in is served, and the log can open files."""
    with Served(tmp_path, descriptors_max=200) as served, Peer(served.bootstrap) as early:
        assert early.is_served()
        with ExitStack() as crowd:
            for _ in range(250):
                crowd.enter_context(Peer(served.bootstrap))
            for number in range(20):
                early.ask(MetadataRequest(topics=[MetadataRequestTopic(name=f"late-{number}")]), 1)
                early.frame()
            early.ask(produce("late-19", b"well", acks=-1), PRODUCE_VERSION)
            _, answer = early.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
            assert not answer.responses[0].partition_responses[0].error_code  # type: ignore[attr-defined]
            assert "not accepting connections" in served.log_text
        assert is_healthy(served, "late-19")
