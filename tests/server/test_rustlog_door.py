"""RustLog's door on a real broker: announced, counted, watched, and closed when told so."""

import logging
import urllib.request
from pathlib import Path

import pytest

from tests.contract.rustlog_door import RustLogClient
from tests.server.serving import Served
from trivium.protocols.rustlog.slow_consumer import SLOW_CONSUMER_LAG
from trivium.testing import Broker


def test_serve_announces_the_door_and_keeps_offsets_over_a_kill(tmp_path: Path) -> None:
    """004.11; R1 through this door."""
    with Served(tmp_path, "--rustlog", "127.0.0.1:0") as served:
        address = served.ready["rustlog"]
        client = RustLogClient(address)
        client.create_topic("t", 1)
        client.produce("t", 0, [b"a", b"b"])
        client.commit("g", "t", 0, 1)
        client.wire.socket.close()
        served.kill()
        assert f"rustlog   {address}" in served.greeting
        served.start()
        client = RustLogClient(served.ready["rustlog"])
        assert client.fetch("t", 0, 0) == [(0, b"a"), (1, b"b")]
        assert client.committed("g", "t", 0) == 1
        client.wire.socket.close()


def test_door_that_is_off_is_not_announced(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        assert "rustlog" not in served.ready
        served.stop()
        assert "rustlog" not in served.greeting


def test_metrics_have_the_requests_and_errors_of_the_door() -> None:
    with Broker(settings={"listen.rustlog": "127.0.0.1:0", "listen.console": "127.0.0.1:0"}) as broker:
        client = RustLogClient(broker.address("rustlog"))
        client.ping()
        with pytest.raises(Exception, match="partition not found"):
            client.fetch("nope", 0, 0)
        client.wire.socket.close()
        with urllib.request.urlopen(f"http://{broker.address('console')}/metrics") as page:
            text = page.read().decode()
    assert 'trivium_request_seconds_count{api="Ping",protocol="rustlog"} 1.0' in text
    assert 'trivium_errors_total{api="Fetch",error="PARTITION_NOT_FOUND",protocol="rustlog"} 1.0' in text


def test_group_far_behind_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with Broker(settings={"listen.rustlog": "127.0.0.1:0"}) as broker:
        client = RustLogClient(broker.address("rustlog"))
        client.create_topic("t", 1)
        client.produce("t", 0, [b"x"] * (SLOW_CONSUMER_LAG + 2))
        with caplog.at_level(logging.WARNING, logger="trivium"):
            client._ask("Fetch", topic="t", partition=0, offset=0, max_bytes=1, group_id="late")
        client.wire.socket.close()
    (line,) = [record for record in caplog.records if record.getMessage() == "slow consumer"]
    assert line.fields["group"] == "late"  # type: ignore[attr-defined]
    assert line.fields["lag"] == SLOW_CONSUMER_LAG + 1  # type: ignore[attr-defined]


def test_rate_of_a_consumer_is_a_setting() -> None:
    with Broker(
        settings={"listen.rustlog": "127.0.0.1:0", "limits.rustlog-consumer-bytes-per-second": 0}
    ) as broker:
        client = RustLogClient(broker.address("rustlog"))
        client.create_topic("t", 1)
        client.produce("t", 0, [bytes(500_000)])
        for _ in range(30):
            client._ask("Fetch", topic="t", partition=0, offset=0, max_bytes=1, group_id="g")
        assert "throttled_consumers_total 0\n" in client._ask("Metrics")["text"]
        client.wire.socket.close()
