"""Three spellings of the same requests and answers, told apart by their first byte."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.rustlog.conversation import Door
from trivium.protocols.rustlog import binary_dialect, json_dialect, msgpack_dialect
from trivium.protocols.rustlog import messages as m
from trivium.protocols.rustlog.dialect import Dialect
from trivium.protocols.rustlog.dialects import dialect_of
from trivium.protocols.rustlog.msgpack import pack, unpack
from trivium.protocols.rustlog.objects import ERRORS
from trivium.records import kernel
from trivium.records.batch import check_batches
from trivium.records.control import EndTxnMarker, build_end_txn

DIALECTS: list[Dialect] = [json_dialect, msgpack_dialect, binary_dialect]

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
u32 = st.integers(0, 2**32 - 1)
offsets = st.integers(0, 2**63 - 1)
payloads = st.lists(st.binary(max_size=30), max_size=8)

requests = st.one_of(
    st.builds(m.ProduceRequest, names, u32, payloads),
    st.builds(m.FetchRequest, names, u32, offsets, u32, st.none() | names.filter(bool)),
    st.builds(m.OffsetCommitRequest, names, u32, names, offsets),
    st.builds(m.OffsetFetchRequest, names, u32, names),
    st.builds(m.CreateTopicRequest, names, u32),
    st.builds(m.ListTopicsRequest),
    st.builds(m.DescribeTopicRequest, names),
    st.builds(m.DescribePartitionRequest, names, u32),
    st.builds(m.MetricsRequest),
    st.builds(m.PingRequest),
    st.builds(m.LoginRequest, names, names),
)


def as_object(request: m.Request, bytes_as: Any = list) -> dict[str, Any]:
    fields = request._asdict()
    if isinstance(request, m.ProduceRequest):
        fields["records"] = [bytes_as(payload) for payload in request.records]
    return {type(request).__name__.removesuffix("Request"): fields}


def as_binary(request: m.Request) -> bytes:
    """Written by hand after the layout, so that it does not share a mistake with what reads it."""

    def text(value: str) -> bytes:
        return len(value.encode()).to_bytes(2, "big") + value.encode()

    def number(value: int, size: int = 4) -> bytes:
        return value.to_bytes(size, "big")

    match request:
        case m.ProduceRequest(topic, partition, records):
            blobs = b"".join(number(len(payload)) + payload for payload in records)
            return b"\x01" + text(topic) + number(partition) + number(len(records)) + blobs
        case m.FetchRequest(topic, partition, offset, max_bytes, group_id):
            place = text(group_id or "") + text(topic) + number(partition)
            return b"\x02" + place + number(offset, 8) + number(max_bytes)
        case m.OffsetCommitRequest(topic, partition, group_id, offset):
            return b"\x03" + text(group_id) + text(topic) + number(partition) + number(offset, 8)
        case m.OffsetFetchRequest(topic, partition, group_id):
            return b"\x04" + text(group_id) + text(topic) + number(partition)
        case m.CreateTopicRequest(topic, partitions):
            return b"\x05" + text(topic) + number(partitions)
        case m.ListTopicsRequest():
            return b"\x06"
        case m.DescribeTopicRequest(topic):
            return b"\x07" + text(topic)
        case m.DescribePartitionRequest(topic, partition):
            return b"\x08" + text(topic) + number(partition)
        case m.MetricsRequest():
            return b"\x09"
        case m.PingRequest():
            return b"\xff"
        case m.LoginRequest(username, password):
            return b"\x0b" + text(username) + text(password)


@given(requests)
def test_request_means_the_same_in_every_dialect(request: m.Request) -> None:
    spelled = {
        json_dialect: json.dumps(as_object(request)).encode(),
        msgpack_dialect: pack(as_object(request, bytes)),
        binary_dialect: as_binary(request),
    }
    for dialect, body in spelled.items():
        assert dialect_of(memoryview(body)) is dialect
        assert dialect.read(memoryview(body)) == request


ODD_SPELLINGS = (
    '{"Produce":{"topic":"t","partition":0,"records":[[1,2],[],[255]]}}',
    ' { "Produce" : { "records" : [ [ 1 , 2 ] , [ ] ] , "topic" : "t" , "partition" : 0 } } ',
    '{"Produce":{"records":\n[\t[1,\r\n2]],"topic":"t","partition":0}}',
    '{"Produce":{"topic":"t","partition":0,"rec\\u006frds":[[1]]}}',
    '{"Produce":{"topic":"t","partition":0,"x":{"records":[[1]]},"rec\\u006frds":null}}',
    '{"Produce":{"topic":"t","partition":0,"x":{"records":[[1]]}}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1]],"records":[[2]]}}',
    '{"Produce":{"topic":"\\"records\\":[[9]]","partition":0,"records":[[1]]}}',
    '{"Produce":{"topic":"records","partition":0,"records":[[1]]}}',
    '{"Fetch":{"topic":"t","partition":0,"offset":0,"max_bytes":1,"records":[[1]]}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[01]]}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1,]]}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1]],}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1]]}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1]',
    '{"Produce":{"topic":"t","partition":0,"records":[[256]]}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[1e0]]}}',
    '{"Produce":{"topic":"t","partition":0,"records":[[true]]}}',
    '{"Produce":[{"records":[[1]]}]}',
    '[{"records":[[1]]}]',
)


@pytest.mark.parametrize("text", ODD_SPELLINGS)
def test_json_means_the_same_with_and_without_a_compiled_kernel(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meaning() -> m.Request | str:
        try:
            return json_dialect.read(memoryview(text.encode()))
        except m.Unreadable as error:
            return str(error)

    with_kernel = meaning()
    monkeypatch.setattr(kernel, "compiled", False)
    assert meaning() == with_kernel


@given(st.lists(st.tuples(offsets, st.binary(max_size=20)), max_size=8), offsets)
def test_fetched_records_in_json_are_json_with_and_without_a_compiled_kernel(
    records: list[tuple[int, bytes]], next_offset: int
) -> None:
    response = m.FetchResponse(records, next_offset)
    listed = [{"offset": offset, "payload": list(payload)} for offset, payload in records]
    with pytest.MonkeyPatch.context() as patch:
        for compiled in (kernel.compiled, False):
            patch.setattr(kernel, "compiled", compiled)
            answer = json.loads(bytes(json_dialect.write(response)))
            assert answer == {"Fetch": {"records": listed, "next_offset": next_offset}}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(body=st.binary(max_size=80))
def test_any_bytes_are_a_request_or_unreadable(dialect: Dialect, body: bytes) -> None:
    """S1."""
    with suppress(m.Unreadable):
        dialect.read(memoryview(body))


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@given(payload=st.binary(max_size=300), offset=offsets)
def test_record_in_an_answer_takes_no_more_than_was_said(
    dialect: Dialect, payload: bytes, offset: int
) -> None:
    """004.2: that is how answers are kept within a frame."""
    without = dialect.write(m.FetchResponse([], 0))
    once = dialect.write(m.FetchResponse([(offset, payload)], 0))
    assert len(once) - len(without) <= dialect.record_bytes_max + dialect.byte_bytes_max * len(payload)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("problem", m.Problem)
def test_every_problem_has_words_in_every_dialect(dialect: Dialect, problem: m.Problem) -> None:
    error = m.ErrorResponse(problem, "because {}", "topic{0}", 3)
    assert b"{partition}" not in dialect.write(error)


def test_errors_of_the_document_are_its_words() -> None:
    """004.17."""
    assert (
        ERRORS[m.Problem.PARTITION_NOT_FOUND] == "partition not found: topic={topic}, partition={partition}"
    )
    assert ERRORS[m.Problem.OFFSET_OUT_OF_RANGE] == "offset out of range"
    assert ERRORS[m.Problem.FRAME_TOO_LARGE] == "max frame size exceeded"
    assert ERRORS[m.Problem.UNREADABLE] == "failed to parse request"


def test_dialects_may_be_mixed_on_one_connection() -> None:
    client = Door().connect()
    client.produce(b"\x01", b"")
    assert client.ask_packed("Produce", topic="t", partition=0, records=[b"packed", [3]]) == {
        "offsets": [2, 3]
    }
    assert client.ask_body(b"\x01\0\1t\0\0\0\0\0\0\0\1\0\0\0\3bin") == b"\x01" + bytes(7) + b"\4\0\0\0\1"
    assert client.fetch(0)[0] == [(0, b"\x01"), (1, b""), (2, b"packed"), (3, b"\x03"), (4, b"bin")]
    packed = client.ask_packed("Fetch", topic="t", partition=0, offset=2, max_bytes=6)
    assert packed == {"records": [{"offset": 2, "payload": b"packed"}], "next_offset": 3}


def test_what_begins_like_nothing_is_answered_in_the_dialect_spoken_last() -> None:
    client = Door().connect()
    assert client.ask_body(b"hello").startswith(b'{"Error"')
    client.ask_body(b"\xff")
    assert client.ask_body(b"hello").startswith(b"\xfe")
    client.ask_packed("Ping")
    error = unpack(memoryview(client.ask_body(b"hello")))
    assert error["Error"]["message"] == "failed to parse request"
    client.ask("Ping")
    assert client.ask_body(b"").startswith(b'{"Error"')


def test_packed_record_that_is_true_is_refused() -> None:
    client = Door().connect()
    body = pack({"Produce": {"topic": "t", "partition": 0, "records": [[True]]}})
    assert b"failed to parse request" in client.ask_body(body)


def test_binary_answer_ends_where_offsets_have_a_gap() -> None:
    """Its records have no offsets: they are counted back from the next one."""
    client = Door().connect()
    client.produce(b"a", b"b")
    held = bytearray(build_end_txn(EndTxnMarker(True, 0), producer_id=7, producer_epoch=0, timestamp=0))
    client.world.log("t").append(held, check_batches(held), 0)
    client.produce(b"c")
    fetch = b"\x02\0\0\0\1t" + bytes(4) + b"%s" + b"\0\0\x10\0"
    first = client.ask_body(fetch % (0).to_bytes(8, "big"))
    assert first == b"\x02\0\0\0\2\0\0\0\1a\0\0\0\1b" + (2).to_bytes(8, "big")
    second = client.ask_body(fetch % (2).to_bytes(8, "big"))
    assert second == b"\x02\0\0\0\1\0\0\0\1c" + (4).to_bytes(8, "big")
