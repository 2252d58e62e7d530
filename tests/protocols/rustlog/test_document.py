"""``docs/rustlog.md`` is held to what the door does: its client works as it stands, its tables are whole."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.protocols.rustlog.conversation import Door
from trivium.protocols.rustlog import protocol
from trivium.protocols.rustlog.messages import Problem
from trivium.protocols.rustlog.objects import ERRORS
from trivium.protocols.rustlog.requests import CARRY_OUT
from trivium.protocols.rustlog.slow_consumer import SLOW_CONSUMER_LAG
from trivium.testing import Broker
from trivium.wire.limits import RUSTLOG_FRAME_BYTES_MAX

DOCUMENT = (Path(__file__).parents[3] / "docs" / "rustlog.md").read_text()


def test_client_of_the_document_works_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    client, session = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(client.split("\n\n", 1)[1].strip().splitlines()) <= 11
    with Broker(settings={"listen.rustlog": "127.0.0.1:0"}) as broker:
        port = broker.address("rustlog").rpartition(":")[2]
        names: dict[str, Any] = {}
        exec(client.replace("7070", port) + session, names)
        assert capsys.readouterr().out == "0 first\n1 second\n"
        again = names["log"].ask(
            "Fetch", topic="orders", partition=0, offset=0, max_bytes=9, group_id="billing"
        )
        assert again == {"Fetch": {"records": [], "next_offset": 2}}
        names["log"].stream.close()


def test_every_request_stands_in_the_document_and_no_other() -> None:
    rows = re.findall(r"^\| `([A-Z]\w+)` \|", DOCUMENT, re.MULTILINE)
    assert rows == [name for name, _ in CARRY_OUT.values()]


def test_errors_of_the_document_are_those_that_are_told() -> None:
    for problem, words in ERRORS.items():
        if problem is not Problem.OTHER:
            assert words.split("{")[0].rstrip() in DOCUMENT


def test_limits_of_the_document_are_those_in_force() -> None:
    assert f"{RUSTLOG_FRAME_BYTES_MAX:,} bytes at most" in DOCUMENT
    assert f"| fetches among them | {protocol.FETCHES_IN_FLIGHT_MAX};" in DOCUMENT
    assert f"| requests in flight, one connection | {protocol.REQUESTS_IN_FLIGHT_MAX} |" in DOCUMENT
    assert f"more than {SLOW_CONSUMER_LAG:,} records" in DOCUMENT
    assert protocol.CONSUMER_BYTES_PER_SECOND == 10 << 20
    assert "10 MB; faster ones" in DOCUMENT


def test_budgets_of_the_door_are_those_of_the_document_unless_told_otherwise() -> None:
    assert Door().protocol.fetches_in_flight_max == protocol.FETCHES_IN_FLIGHT_MAX
    assert Door().protocol.consumer_bytes_per_second == protocol.CONSUMER_BYTES_PER_SECOND
