"""Records written through one door, read through another: docs/one-truth.md as properties.

Mission X.1 to X.6. Every property holds for the compiled and for the interpreted kernel.
"""

import random
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records.arbitrary import COMPRESSIONS, RECORDS, TIMESTAMPS
from tests.records.iggy_messages import TRICKY_NAMES, Message, UserHeader, messages, polled, sent
from trivium.records.batch import build_batch, iter_batches, iter_records
from trivium.records.compression import Compression
from trivium.records.iggy import (
    LONG_HEADER_BYTES,
    SHORT_HEADER_BYTES,
    Kind,
    batches_from_messages,
    messages_from_batches,
    place_of,
)
from trivium.records.record import Header, Record

NOW_US = 1_750_000_000_123_456
PLACE = place_of(bytes(16), 3)
OWN = {"iggy.id", "iggy.origin", "iggy.us", "iggy.types"}

GENERATIONS = pytest.mark.parametrize("header_bytes", [SHORT_HEADER_BYTES, LONG_HEADER_BYTES])


def produced(sent_messages: Sequence[Message], header_bytes: int = LONG_HEADER_BYTES) -> bytearray:
    data = sent(sent_messages, header_bytes)
    taken = batches_from_messages(data, len(sent_messages), now_us=NOW_US)
    assert taken.header_bytes == header_bytes
    return taken.batches


def poll(batches: bytes | bytearray, header_bytes: int = LONG_HEADER_BYTES) -> list[Message]:
    return polled(
        messages_from_batches(
            [batches], aborted=(), offset_first=0, count_max=1_000, header_bytes=header_bytes, place=PLACE
        ).data,
        header_bytes,
    )


def consumed(batches: bytes | bytearray) -> list[Record]:
    return [record for at, _ in iter_batches(batches) for record in iter_records(batches, at)]


def users(headers: Iterable[Header]) -> list[Header]:
    return [header for header in headers if header[0] not in OWN]


@GENERATIONS
@settings(max_examples=300)
@given(st.data())
def test_messages_sent_by_iggy_come_back_equal_to_iggy(
    kernel: Any, header_bytes: int, data: st.DataObject
) -> None:
    """X.3: payload, id, origin, typed user headers, and the microseconds of the server's time."""
    original = data.draw(messages(header_bytes))
    returned = poll(produced(original, header_bytes), header_bytes)
    assert [message.offset for message in returned] == list(range(len(original)))
    for before, after in zip(original, returned, strict=True):
        assert after.payload == before.payload
        assert after.origin_us == before.origin_us
        assert after.timestamp_us == NOW_US
        assert after.id == before.id or before.id == bytes(16)
        # Clients keep user headers in maps: their order has no meaning, and Kafka's own come first.
        assert sorted(after.headers) == sorted(before.headers)


@settings(max_examples=200)
@given(messages(LONG_HEADER_BYTES))
def test_payloads_sent_by_iggy_are_values_for_kafka_and_rustlog(kernel: Any, original: list[Message]) -> None:
    """RustLog shows the value alone; a missing one is an empty payload."""
    records = consumed(produced(original))
    assert [record.value or b"" for record in records] == [message.payload for message in original]
    assert [record.timestamp for record in records] == [NOW_US // 1000] * len(original)
    for record in records:
        for name, _ in record.headers:
            name.encode("utf-8")  # Python's Kafka clients fail on a name that is not UTF-8.


FREE_NAMES = st.sampled_from([name.decode() for name in TRICKY_NAMES if not name.startswith(b"iggy.")]) | (
    st.binary(max_size=12).map(lambda name: name.decode("utf-8", "surrogateescape"))
)
LONG_BLOBS = st.integers(250, 3_000).map(lambda size_bytes: bytes(range(256)) * 12 + b"." * size_bytes)
KAFKA_HEADERS: st.SearchStrategy[tuple[Header, ...]] = st.lists(
    st.tuples(
        FREE_NAMES.filter(lambda name: not name.startswith("iggy.")) | st.just("n" * 300),
        st.none() | st.binary(max_size=20) | LONG_BLOBS,
    ),
    max_size=5,
).map(tuple)
KEYS = st.none() | st.binary(max_size=40) | LONG_BLOBS
KAFKA_RECORDS = st.lists(
    st.builds(Record, st.just(0), TIMESTAMPS, KEYS, st.none() | st.binary(max_size=40), KAFKA_HEADERS),
    min_size=1,
    max_size=5,
)


@GENERATIONS
@settings(max_examples=300)
@given(KAFKA_RECORDS, COMPRESSIONS, st.randoms(use_true_random=False))
def test_records_of_kafka_that_iggy_sends_on_are_equal_to_kafka(
    kernel: Any,
    header_bytes: int,
    records: list[Record],
    compression: Compression,
    shuffle: random.Random,
) -> None:
    """X.2: key, value and headers, also where Iggy's clients hand the user headers on in another order."""
    shown = poll(build_batch(records, compression=compression), header_bytes)
    assert [message.payload for message in shown] == [record.value or b"" for record in records]
    returned = consumed(produced(shown, header_bytes))
    for before, after in zip(records, returned, strict=True):
        assert (after.key, after.value) == (before.key, before.value)
        assert users(after.headers) == list(before.headers)
    shuffled = [
        message._replace(headers=tuple(shuffle.sample(message.headers, len(message.headers))))
        for message in shown
    ]
    for before, after in zip(records, consumed(produced(shuffled, header_bytes)), strict=True):
        assert (after.key, after.value) == (before.key, before.value)
        assert sorted(map(repr, users(after.headers))) == sorted(map(repr, before.headers))


@GENERATIONS
@settings(max_examples=200)
@given(
    st.lists(RECORDS, min_size=1, max_size=4),
    st.lists(
        st.tuples(
            st.sampled_from([name.decode() for name in TRICKY_NAMES]),
            st.none()
            | st.binary(max_size=20)
            | st.sampled_from([bytes(16), b"\0\x07", b"\x21\x21", b"\x26"]),
        ),
        max_size=6,
    ),
)
def test_record_with_any_headers_is_shown_whole_to_iggy(
    kernel: Any, header_bytes: int, records: list[Record], extra: list[Header]
) -> None:
    """Also where a Kafka client writes Iggy's own headers, rightly or wrongly: every message can be read."""
    written = [record._replace(headers=(*record.headers, *extra)) for record in records]
    shown = poll(build_batch(written), header_bytes)
    assert [message.payload for message in shown] == [record.value or b"" for record in written]
    assert poll(produced(shown, header_bytes), header_bytes)  # And sent on.


ESCAPES = [
    ((UserHeader(b"trace", b"abc"),), None, {"trace": b"abc"}, None),
    ((UserHeader(b"n", b"\x2a", Kind.UINT8),), None, {"n": b"\x2a"}, "29"),
    ((UserHeader(b"n", b"x", Kind.STRING), UserHeader(b"m", b"y")), None, {"n": b"x", "m": b"y"}, "2221"),
    ((UserHeader(b"kafka.key", b"k"),), b"k", {}, None),
    ((UserHeader(b"kafka.key", b"k", Kind.STRING),), b"k", {}, "22"),
    ((UserHeader(b"kafka.key.empty", b"\x01", Kind.BOOL),), b"", {}, None),
    ((UserHeader(b"kafka.key.7", b"k"),), None, {"iggy.key.kafka.key.7": b"k"}, None),
    ((UserHeader(b"iggy.id", b"k"),), None, {"iggy.key.iggy.id": b"k"}, None),
    ((UserHeader(b"\x07\0\0\0", b"k", Kind.RAW, Kind.UINT32),), None, {"iggy.key.07000000": b"k"}, "b1"),
    (
        (UserHeader(b"kafka.tombstone", b"\x01", Kind.BOOL),),
        None,
        {"iggy.key.kafka.tombstone": b"\x01"},
        "23",
    ),
]


@pytest.mark.parametrize(("user_headers", "key", "headers", "types"), ESCAPES)
def test_user_headers_of_iggy_are_key_and_headers_of_kafka(
    kernel: Any,
    user_headers: tuple[UserHeader, ...],
    key: bytes | None,
    headers: dict[str, bytes],
    types: str,
) -> None:
    (record,) = consumed(produced([Message(headers=user_headers)]))
    assert record.key == key
    assert dict(users(record.headers)) == headers
    assert dict(record.headers).get("iggy.types") == (types and bytes.fromhex(types))


def test_message_in_kafka_has_iggys_own_in_headers(kernel: Any) -> None:
    identity = bytes(range(16))
    (record,) = consumed(produced([Message(b"hi", id=identity, origin_us=1_700_000_000_000_001)]))
    assert record == Record(
        0,
        1_750_000_000_123,
        None,
        b"hi",
        (
            ("iggy.id", identity),
            ("iggy.origin", (1_700_000_000_000_001).to_bytes(8, "big")),
            ("iggy.us", (456).to_bytes(2, "big")),
        ),
    )


SHOWN = [
    (Record(0, 5, None, b"v"), []),
    (Record(0, 5, b"k", b"v"), [UserHeader(b"kafka.key", b"k")]),
    (Record(0, 5, b"", b"v"), [UserHeader(b"kafka.key.empty", b"\x01", Kind.BOOL)]),
    (
        Record(0, 5, b"k" * 600, b"v"),
        [
            UserHeader(b"kafka.key", b"k" * 255),
            UserHeader(b"kafka.key.1", b"k" * 255),
            UserHeader(b"kafka.key.2", b"k" * 90),
        ],
    ),
    (Record(0, 5, None, None), [UserHeader(b"kafka.tombstone", b"\x01", Kind.BOOL)]),
    (Record(0, 5, None, b"v", (("h", b"x"),)), [UserHeader(b"h", b"x")]),
    (Record(0, 5, None, b"v", (("h", b"1"), ("h", b"2"))), [UserHeader(b"h", b"1"), UserHeader(b"h", b"2")]),
    (
        Record(0, 5, None, b"v", (("a", b"1"), ("null", None))),
        [UserHeader(b"a", b"1"), UserHeader(b"kafka.headers", b"\x02\x08null\x01")],
    ),
    (Record(0, 5, None, b"v", (("\udcff", b"x"),)), [UserHeader(b"kafka.headers", b"\x00\x02\xff\x02x")]),
    (Record(0, 5, None, b"v", (("iggy.id", b"x"),)), [UserHeader(b"kafka.headers", b"\x00\x0eiggy.id\x02x")]),
]


@GENERATIONS
@pytest.mark.parametrize(("record", "user_headers"), SHOWN)
def test_record_of_kafka_is_shown_to_iggy_with_user_headers(
    kernel: Any, header_bytes: int, record: Record, user_headers: list[UserHeader]
) -> None:
    (message,) = poll(build_batch([record]), header_bytes)
    assert list(message.headers) == user_headers
    assert (message.timestamp_us, message.origin_us) == (5_000, 5_000)


def test_key_with_a_kind_is_text_for_clients_that_know_no_kinds(kernel: Any) -> None:
    batches = produced([Message(headers=(UserHeader(b"\x07\0", b"x", Kind.STRING, Kind.INT16),))])
    (message,) = poll(batches, SHORT_HEADER_BYTES)
    assert message.headers == (UserHeader(b"iggy.key.0700", b"x", Kind.STRING),)
    (message,) = poll(batches, LONG_HEADER_BYTES)
    assert message.headers == (UserHeader(b"\x07\0", b"x", Kind.STRING, Kind.INT16),)


def test_types_that_do_not_fit_the_headers_are_a_header_like_others(kernel: Any) -> None:
    """A Kafka client may change a header and keep the types: nothing is taken at the wrong word."""
    record = Record(0, 5, None, b"v", (("iggy.types", b"\x27"), ("n", b"not eight bytes")))
    (message,) = poll(build_batch([record]))
    assert message.headers[0] == UserHeader(b"n", b"not eight bytes")
    assert [header.key for header in message.headers] == [b"n", b"kafka.headers"]


UNSOUND = {
    "a header that could travel by itself": b"\x00\x02h\x02x",
    "a place beyond all headers": b"\x04\x02h\x01",
    "two headers in one place": b"\x00\x02h\x01\x00\x02g\x01",
    "a name that is Iggy's": b"\x00\x0eiggy.id\x01",
    "a header that ends early": b"\x00\x02h",
    "no header": b"\x00",
}


@pytest.mark.parametrize("forged", UNSOUND.values(), ids=UNSOUND.keys())
def test_forged_headers_of_kafka_are_an_ordinary_user_header(kernel: Any, forged: bytes) -> None:
    """Taken at their word they would come back as something else, or have no place to go."""
    user_headers = (UserHeader(b"kafka.headers", forged),)
    batches = produced([Message(headers=user_headers)])
    (record,) = consumed(batches)
    assert users(record.headers) == [("iggy.key.kafka.headers", forged)]
    (message,) = poll(batches)
    assert message.headers == user_headers


def test_second_of_two_ids_is_a_header_like_others(kernel: Any) -> None:
    first, second = bytes(range(16)), bytes(range(16, 32))
    record = Record(0, 5, None, b"v", (("iggy.id", first), ("iggy.id", second)))
    (message,) = poll(build_batch([record]))
    assert message.id == first
    assert message.headers == (UserHeader(b"kafka.headers", b"\x00\x0eiggy.id\x20" + second),)


def test_id_of_a_record_without_one_tells_its_place(kernel: Any) -> None:
    """It is the same at every poll, and no other record of any partition has it."""
    batch = build_batch([Record(0, 5, None, b"v")] * 2)
    ids = [message.id for message in poll(batch)]
    assert ids == [message.id for message in poll(batch)]
    assert len(set(ids)) == 2
    assert all(identity[6] >> 4 == 8 and identity[8] >> 6 == 2 for identity in ids)  # RFC 9562, version 8
    assert ids[1][9:] == (1).to_bytes(7, "big")
    assert place_of(bytes(16), 3) not in (place_of(bytes(16), 4), place_of(bytes(15) + b"\1", 3))


@pytest.mark.parametrize(("timestamp", "shown"), [(-1, 0), (2**62, 2**63 - 1), (7, 7_456)])
def test_time_that_iggy_cannot_say_is_the_nearest_that_it_can(
    kernel: Any, timestamp: int, shown: int
) -> None:
    record = Record(0, timestamp, None, b"v", (("iggy.us", (456).to_bytes(2, "big")),))
    (message,) = poll(build_batch([record]))
    assert message.timestamp_us == shown
