"""The dialogue that was recorded with RustLog 0.1.0, held with us (issue: layouts equal, its defects not).

``golden/rustlog/real.jsonl`` has the frames in both directions, in order, on one broker that begins empty.
"""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.protocols.rustlog.conversation import Door

RECORDING = Path(__file__).parents[2] / "golden" / "rustlog" / "real.jsonl"


class Exchange(NamedTuple):
    note: str
    request: bytes
    response: bytes


def recorded() -> list[Exchange]:
    frames = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    pairs = zip(frames[::2], frames[1::2], strict=True)
    return [
        Exchange(request["note"], bytes.fromhex(request["hex"]), bytes.fromhex(response["hex"]))
        for request, response in pairs
    ]


BETTER = {
    "fetch beyond the end": "0000000d02000000000000000000000003",
    "group fetch, nothing committed": "0000001f0200000003000000016100000002626200000003636363"
    "0000000000000003",
    "offset commit, unknown topic": "000000020300",
    "describe topic": "000000290700066f7264657273000000020000000200000000000000000000000300000001"
    "0000000000000000",
    "describe partition": "000000150800066f7264657273000000000000000000000003",
}
"""Where RustLog's broker is wrong and we are not: the end that it names is whatever was asked for, a group
that has committed nothing gets nothing, an offset is kept for a topic that is not there, and the next offsets
are always 0. The layout is the recorded one."""


def test_recorded_requests_get_the_recorded_answers() -> None:
    door = Door()
    door.groups.delete_topic("t")
    client = door.connect()
    seen = set()
    for exchange in recorded():
        client.feed(exchange.request)
        (answer,) = client.bodies()
        frame = len(answer).to_bytes(4, "big") + answer
        if exchange.note in ("metrics", "JSON as in the document"):
            seen.add(exchange.note)
        elif exchange.note in BETTER:
            seen.add(exchange.note)
            assert frame == bytes.fromhex(BETTER[exchange.note]), exchange.note
            assert frame != exchange.response, f"{exchange.note}: no difference any more"
        else:
            assert frame == exchange.response, exchange.note
    assert seen == {*BETTER, "metrics", "JSON as in the document"}


def test_metrics_have_the_recorded_layout_and_names() -> None:
    exchange = next(each for each in recorded() if each.note == "metrics")
    client = Door().connect()
    client.feed(exchange.request)
    (answer,) = client.bodies()
    assert answer[0] == exchange.response[4]
    assert int.from_bytes(answer[1:5], "big") == len(answer) - 5
    names = {line.split()[0] for line in answer[5:].decode().splitlines() if not line.startswith("#")}
    theirs = {line.split()[0] for line in exchange.response[9:].decode().splitlines() if line[:1] != "#"}
    assert names <= theirs


def test_json_of_the_document_is_read_where_the_recorded_broker_refuses_it() -> None:
    exchange = next(each for each in recorded() if each.note == "JSON as in the document")
    client = Door().connect()
    client.world.create_topic("orders", 1)
    client.feed(exchange.request)
    assert client.answers() == [{"Fetch": {"records": [], "next_offset": 0}}]


@pytest.mark.parametrize("exchange", recorded(), ids=lambda exchange: exchange.note)
def test_recorded_request_that_is_cut_short_is_refused(exchange: Exchange) -> None:
    """S1, at every byte."""
    body = exchange.request[4:]
    if body[:1] == b"{":
        return
    for size in range(1, len(body)):
        client = Door().connect()
        answer = client.ask_body(body[:size])
        assert answer[:3] == b"\xfe\x00\x02", f"{exchange.note} cut to {size}"
        assert b"truncated" in answer
