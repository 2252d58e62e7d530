"""Iggy's messages at the door: what is refused and why, what a poll gives, and the checksum.

Mission 002.25, 002.29; promises S1, S2. What becomes of what is in ``test_iggy_mapping``.
"""

import struct
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.iggy_messages import (
    ENTRY,
    Message,
    UserHeader,
    indexed,
    polled,
    sent,
    spelled,
    user_headers_block,
)
from trivium.records.batch import build_batch, check_batches, iter_batches, iter_records, stamp
from trivium.records.compression import Compression
from trivium.records.control import EndTxnMarker, build_end_txn
from trivium.records.iggy import (
    LONG_HEADER_BYTES,
    SHORT_HEADER_BYTES,
    BadMessages,
    Flaw,
    Kind,
    PolledMessages,
    batches_from_messages,
    messages_from_batches,
    place_of,
)
from trivium.records.record import Record
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import (
    IGGY_HEADER_FIELD_BYTES_MAX,
    IGGY_PAYLOAD_BYTES_MAX,
    IGGY_USER_HEADERS_BYTES_MAX,
)

NOW_US = 1_700_000_000_000_001
PLACE = place_of(bytes(16), 0)
ORIGIN = "iggy.origin"


def send(data: Buffer, count: int = 1) -> bytearray:
    return batches_from_messages(data, count, now_us=NOW_US).batches


def flaw_of(data: Buffer, count: int = 1) -> Flaw:
    with pytest.raises(BadMessages) as refused:
        send(data, count)
    assert isinstance(refused.value, DecodeError)
    return refused.value.flaw


def poll(*runs: Buffer, **wanted: Any) -> PolledMessages:
    defaults: dict[str, Any] = {
        "aborted": (),
        "offset_first": 0,
        "count_max": 1_000,
        "header_bytes": LONG_HEADER_BYTES,
    }
    return messages_from_batches(runs, place=PLACE, **(defaults | wanted))


def offsets(taken: PolledMessages) -> list[int]:
    found = [message.offset for message in polled(taken.data)]
    assert taken.count == len(found)
    assert taken.offset_last == (found[-1] if found else -1)
    return found


# What a client may not send ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1])
def test_no_messages_are_refused(kernel: Any, count: int) -> None:
    assert flaw_of(sent([Message()]), count) is Flaw.COUNT
    assert flaw_of(b"", count) is Flaw.COUNT


@pytest.mark.parametrize("count", [2, 3, 2**32 - 1, 2**62])
def test_count_that_the_bytes_cannot_hold_is_refused(kernel: Any, count: int) -> None:
    assert flaw_of(sent([Message()]), count) is Flaw.INDEX


@pytest.mark.parametrize(
    ("entry", "flaw"),
    [
        ((1, 71, 0), Flaw.INDEX_OFFSET),
        ((0, 71, 1), Flaw.INDEX_TIMESTAMP),
        ((0, 143, 0), Flaw.INDEX),
        ((0, 2**32 - 1, 0), Flaw.INDEX),
        ((0, 55, 0), Flaw.TOO_SMALL),
        ((0, 72, 0), Flaw.SIZE),
        ((0, 70, 0), Flaw.SIZE),
    ],
)
def test_first_of_two_index_entries_that_lies_is_refused(
    kernel: Any, entry: tuple[int, int, int], flaw: Flaw
) -> None:
    data = sent([Message(), Message()])
    assert len(spelled(Message())) == 71
    assert flaw_of(ENTRY.pack(*entry) + data[ENTRY.size :], 2) is flaw


def test_index_that_runs_backwards_is_refused(kernel: Any) -> None:
    data = sent([Message(), Message(), Message()])
    lie = data[: ENTRY.size] + ENTRY.pack(0, 60, 0) + data[2 * ENTRY.size :]
    assert flaw_of(lie, 3) is Flaw.INDEX_ORDER


def test_last_index_entry_may_say_less_than_there_is(kernel: Any) -> None:
    """Iggy's servers give the last message all that is left, so some clients do not care."""
    data = ENTRY.pack(0, 0, 0) + spelled(Message(b"whole"))
    assert [record.value for record in iter_records(send(data))] == [b"whole"]


@pytest.mark.parametrize("cut", [1, 7, 8, 70])
def test_messages_that_end_early_are_refused(kernel: Any, cut: int) -> None:
    assert flaw_of(sent([Message(), Message()])[:-cut], 2) is Flaw.INDEX


@pytest.mark.parametrize(("at", "flaw"), [(48, Flaw.SIZE), (52, Flaw.SIZE), (56, Flaw.RESERVED)])
def test_message_whose_own_lengths_lie_is_refused(kernel: Any, at: int, flaw: Flaw) -> None:
    message = bytearray(spelled(Message()))
    message[at] += 3
    assert flaw_of(indexed([bytes(message)])) is flaw


def test_messages_of_two_header_sizes_are_refused(kernel: Any) -> None:
    mixed = [spelled(Message(), LONG_HEADER_BYTES), spelled(Message(), SHORT_HEADER_BYTES)]
    assert flaw_of(indexed(mixed), 2) is Flaw.SIZE


@pytest.mark.parametrize(("at", "length_max", "flaw"), [
    (52, IGGY_PAYLOAD_BYTES_MAX, Flaw.PAYLOAD_TOO_BIG),
    (48, IGGY_USER_HEADERS_BYTES_MAX, Flaw.HEADERS_TOO_BIG),
])  # fmt: skip
def test_length_above_its_limit_is_refused_before_the_bytes_are_there(
    kernel: Any, at: int, length_max: int, flaw: Flaw
) -> None:
    for length, found in [(length_max + 1, flaw), (length_max, Flaw.SIZE), (2**32 - 1, flaw)]:
        message = bytearray(spelled(Message()))
        struct.pack_into("<I", message, at, length)
        assert flaw_of(indexed([bytes(message)])) is found


def test_payload_of_the_largest_size_is_taken(kernel: Any) -> None:
    payload = bytes(IGGY_PAYLOAD_BYTES_MAX)
    (record,) = iter_records(send(sent([Message(payload)])))
    assert record.value == payload


def test_user_headers_of_the_largest_size_are_taken(kernel: Any) -> None:
    header = UserHeader(b"key", b"v" * 245)  # 258 bytes
    headers = [header] * 387 + [UserHeader(b"key", b"v" * 141)]
    assert len(user_headers_block(headers, LONG_HEADER_BYTES)) == IGGY_USER_HEADERS_BYTES_MAX
    (record,) = iter_records(send(sent([Message(headers=tuple(headers))])))
    assert len(record.headers) == 388 + 2


@pytest.mark.parametrize("kind", [0, 16, 255])
def test_kind_that_nobody_has_given_out_is_refused(kernel: Any, kind: int) -> None:
    assert flaw_of(sent([Message(headers=(UserHeader(b"k", b"v", kind),))])) is Flaw.HEADER_KIND
    assert flaw_of(sent([Message(headers=(UserHeader(b"k", b"v", 1, kind),))])) is Flaw.HEADER_KIND


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind > Kind.STRING])
def test_number_that_has_not_its_size_is_refused(kernel: Any, kind: Kind) -> None:
    wrong = bytes(3)
    assert flaw_of(sent([Message(headers=(UserHeader(b"k", wrong, kind),))])) is Flaw.HEADER_VALUE
    assert flaw_of(sent([Message(headers=(UserHeader(wrong, b"v", 1, kind),))])) is Flaw.HEADER_KEY


@pytest.mark.parametrize("size_bytes", [0, IGGY_HEADER_FIELD_BYTES_MAX, IGGY_HEADER_FIELD_BYTES_MAX + 1])
def test_key_or_value_of_a_size_that_clients_do_not_take_is_refused(kernel: Any, size_bytes: int) -> None:
    for header, flaw in [
        (UserHeader(b"k" * size_bytes, b"v"), Flaw.HEADER_KEY),
        (UserHeader(b"k", b"v" * size_bytes), Flaw.HEADER_VALUE),
    ]:
        data = sent([Message(headers=(header,))])
        if size_bytes == IGGY_HEADER_FIELD_BYTES_MAX:
            assert send(data)
        else:
            assert flaw_of(data) is flaw


@pytest.mark.parametrize("key", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"a\xe2\x82"])
def test_key_that_is_not_text_is_refused(kernel: Any, key: bytes) -> None:
    assert flaw_of(sent([Message(headers=(UserHeader(key, b"v"),))])) is Flaw.HEADER_KEY


@given(st.binary(min_size=1, max_size=6))
def test_key_is_text_if_python_says_so(kernel: Any, key: bytes) -> None:
    try:
        key.decode()
    except UnicodeDecodeError:
        assert flaw_of(sent([Message(headers=(UserHeader(key, b"v"),))])) is Flaw.HEADER_KEY
    else:
        assert send(sent([Message(headers=(UserHeader(key, b"v"),))]))


@pytest.mark.parametrize("kept", range(1, 12))
def test_user_headers_that_end_early_are_refused(kernel: Any, kept: int) -> None:
    block = user_headers_block([UserHeader(b"k", b"v")], LONG_HEADER_BYTES)
    assert len(block) == 12
    message = spelled(Message())[:-7] + b"payload" + block[:kept]
    message = message[:48] + struct.pack("<I", kept) + message[52:]
    assert flaw_of(indexed([message])) in (Flaw.HEADER_KEY, Flaw.HEADER_KIND, Flaw.HEADER_VALUE)


def test_refused_messages_take_no_memory(kernel: Any) -> None:
    """S2: what is allocated follows from the bytes that came, not from the numbers in them."""
    data = sent([Message(), Message()])[:-1]
    tracemalloc.start()
    assert flaw_of(data, 2) is Flaw.INDEX
    assert flaw_of(data, 2**31) is Flaw.INDEX
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 100_000


# Batches ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_messages_in_any_buffer_are_one_sound_batch(kernel: Any, kind: Callable[[bytes], Buffer]) -> None:
    batches = send(kind(sent([Message(b"one"), Message(b"two")])), 2)
    ((_, header),) = check_batches(batches)
    assert (header.records_count, header.producer_id, header.leader_epoch) == (2, -1, -1)
    assert (header.base_timestamp, header.max_timestamp) == (NOW_US // 1000, NOW_US // 1000)


@pytest.mark.parametrize(("batch_bytes_max", "sizes"), [(10_000, [6]), (350, [2, 2, 2]), (1, [1] * 6)])
def test_messages_too_many_for_one_batch_make_several(
    kernel: Any, batch_bytes_max: int, sizes: list[int]
) -> None:
    original = [Message(b"%d" % number * 100) for number in range(6)]
    taken = batches_from_messages(sent(original), 6, now_us=NOW_US, batch_bytes_max=batch_bytes_max)
    found = list(iter_batches(taken.batches))
    assert [header.records_count for _, header in found] == sizes
    values = [record.value for at, _ in found for record in iter_records(taken.batches, at)]
    assert values == [message.payload for message in original]
    if batch_bytes_max > 1:
        assert all(header.size_bytes <= batch_bytes_max for _, header in found)


KEYED = Message(b"x", (UserHeader(b"kafka.key", b"key"),))
TITLED = Message(b"x", (UserHeader(b"title", b"text", Kind.STRING),))

UNLIKE = {
    "alike": [Message(b"x" * 100)],
    "without payload": [Message(b"")],
    "longer and shorter": [Message(b"x" * size) for size in (63, 64, 65, 0, 64)],
    "with ids here and there": [Message(b"x", id=bytes(15) + b"7"), Message(b"x"), Message(b"x")],
    "with keys here and there": [Message(b"x"), KEYED, Message(b"x"), Message(b"x")],
    "with user headers here and there": [Message(b"x"), TITLED, Message(b"x"), Message(b"x")],
}


@pytest.mark.parametrize("now_us", [NOW_US, NOW_US // 1000 * 1000])
@pytest.mark.parametrize("batch_bytes_max", [10_000, 10**6])
@pytest.mark.parametrize("cycle", UNLIKE.values(), ids=UNLIKE)
def test_each_of_many_messages_becomes_what_it_does_alone(
    kernel: Any, cycle: list[Message], batch_bytes_max: int, now_us: int
) -> None:
    """Up to offsets that take three bytes: most records are made after the model of the one before."""
    count = 8_200
    original = [cycle[number % len(cycle)]._replace(origin_us=number * 1_000_003) for number in range(count)]
    taken = batches_from_messages(sent(original), count, now_us=now_us, batch_bytes_max=batch_bytes_max)
    found = check_batches(taken.batches)
    assert taken.headers == found
    assert all(header.size_bytes <= batch_bytes_max for _, header in found)
    records = [record for at, _ in found for record in iter_records(taken.batches, at)]
    alone = [alone_of(message, now_us) for message in cycle]
    for number, (record, message) in enumerate(zip(records, original, strict=True)):
        expected = alone[number % len(cycle)]
        origin = (ORIGIN, message.origin_us.to_bytes(8, "big"))
        headers = tuple(origin if header[0] == ORIGIN else header for header in expected.headers)
        assert record == expected._replace(offset=record.offset, headers=headers)
    assert [record.offset for record in records] == [
        delta for _, header in found for delta in range(header.records_count)
    ]


def alone_of(message: Message, now_us: int) -> Record:
    ((at, _),) = check_batches(batch := batches_from_messages(sent([message]), 1, now_us=now_us).batches)
    (record,) = iter_records(batch, at)
    return record


def test_clock_before_1970_is_an_encode_error(kernel: Any) -> None:
    with pytest.raises(EncodeError, match="clock"):
        batches_from_messages(sent([Message()]), 1, now_us=-1)


# Polls ------------------------------------------------------------------------------------------------------


class Aborted(NamedTuple):
    producer_id: int
    first_offset: int


def batch(base_offset: int, count: int, **fields: Any) -> bytes:
    return build_batch([Record(0, 5, None, b"v" * 10)] * count, base_offset=base_offset, **fields)


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_poll_within_batches_begins_and_ends_where_asked(kernel: Any, compression: Compression) -> None:
    runs = [batch(0, 5, compression=compression), batch(5, 5, compression=compression)]
    taken = poll(*runs, offset_first=3, count_max=4)
    assert (offsets(taken), taken.offset_next) == ([3, 4, 5, 6], 7)
    taken = poll(b"".join(runs), offset_first=3)
    assert (offsets(taken), taken.offset_next) == ([3, 4, 5, 6, 7, 8, 9], 10)


def test_poll_of_nothing_has_no_messages(kernel: Any) -> None:
    assert poll(offset_first=7) == PolledMessages(bytearray(), 0, -1, 7)
    assert poll(batch(0, 2), count_max=0).count == 0
    assert poll(batch(0, 2), offset_first=2) == PolledMessages(bytearray(), 0, -1, 2)


def test_poll_of_compacted_records_keeps_their_offsets(kernel: Any) -> None:
    """X.1: offsets are those of the log, gaps and all."""
    whole = bytearray(batch(0, 1) + batch(7, 2))
    stamp(whole, 0, 3, 0)
    assert offsets(poll(whole)) == [3, 7, 8]


def test_poll_gives_one_message_however_large_and_stops_at_its_bytes(kernel: Any) -> None:
    size_bytes = LONG_HEADER_BYTES + 10
    for bytes_max, count in [(0, 1), (size_bytes, 1), (2 * size_bytes - 1, 1), (2 * size_bytes, 2)]:
        taken = poll(batch(0, 5), bytes_max=bytes_max)
        assert (taken.count, taken.offset_next) == (count, count)


def test_poll_leaves_out_control_records_and_aborted_transactions(kernel: Any) -> None:
    """X.5: producer 1 aborts, producer 2 commits, producer 1 writes again; markers are nobody's messages."""

    def marker(base_offset: int, producer_id: int, committed: bool) -> bytes:
        return build_end_txn(
            EndTxnMarker(committed, 0),
            producer_id=producer_id,
            producer_epoch=0,
            timestamp=5,
            base_offset=base_offset,
        )

    runs = [
        batch(0, 2, producer_id=1, producer_epoch=0, base_sequence=0, transactional=True)
        + batch(2, 1, producer_id=2, producer_epoch=0, base_sequence=0, transactional=True),
        batch(3, 1, producer_id=1, producer_epoch=0, base_sequence=2, transactional=True)
        + marker(4, 1, committed=False)
        + batch(5, 1, producer_id=1, producer_epoch=0, base_sequence=3, transactional=True),
        marker(6, 2, committed=True) + batch(7, 1) + marker(8, 1, committed=True),
    ]
    taken = poll(*runs, aborted=[Aborted(1, 0)])
    assert (offsets(taken), taken.offset_next) == ([2, 5, 7], 9)


def test_poll_of_records_with_the_logs_own_time_shows_that(kernel: Any) -> None:
    """The microseconds of the sender's broker say nothing about a time that another clock has given."""
    record = Record(0, 5, None, b"v", (("iggy.us", b"\x01\x00"),))
    (message,) = polled(poll(build_batch([record], timestamp_type=1)).data)  # type: ignore[arg-type]
    assert message.timestamp_us == 5_000


@pytest.mark.parametrize("wanted", [{"header_bytes": 60}, {"header_bytes": 0}, {"place": b"short"}])
def test_poll_for_nobody_is_an_encode_error(kernel: Any, wanted: dict[str, Any]) -> None:
    with pytest.raises(EncodeError):
        kernel.Messages(0, 1, 1, wanted.get("header_bytes", 64), wanted.get("place", PLACE))


def test_poll_of_unlike_messages_in_one_batch_gives_each_its_own(kernel: Any) -> None:
    """Neighbours that look alike are read by the place of the one before; these do so only now and then."""
    trace = (UserHeader(b"trace", b"0af7"),)
    like_a_clock = (UserHeader(b"iggy.origin", bytes(8)),)
    mixed = [
        Message(b"", origin_us=1),
        Message(b"b" * 300, origin_us=2**63 + 5),
        Message(b"c", id=bytes(range(16)), origin_us=3),
        Message(b"d", id=bytes(range(1, 17)), origin_us=4),
        Message(b"e", origin_us=5),
        Message(b"f", trace, origin_us=6),
        Message(b"g", like_a_clock, origin_us=7),
        Message(b"h", origin_us=8),
        Message(b"i", origin_us=0),
    ]
    for now_us in (NOW_US, NOW_US - 1):  # With microseconds, and without.
        batches = batches_from_messages(sent(mixed), len(mixed), now_us=now_us).batches
        shown = polled(poll(batches).data)
        assert [(each.payload, each.headers, each.origin_us) for each in shown] == [
            (each.payload, each.headers, each.origin_us) for each in mixed
        ]
        assert [each.id for each in shown[2:4]] == [each.id for each in mixed[2:4]]
        assert {each.timestamp_us for each in shown} == {now_us}


def test_poll_of_records_whose_microseconds_lie_shows_milliseconds(kernel: Any) -> None:
    records = [
        Record(number, 5, None, b"v", (("iggy.origin", bytes(7) + b"\x09"), ("iggy.us", us)))
        for number, us in enumerate([b"\x00\x07", b"\x00\x00", b"\x03\xe8", b"\x03\xe7"])
    ]
    shown = polled(poll(build_batch(records)).data)
    assert [each.timestamp_us for each in shown] == [5_007, 5_000, 5_000, 5_999]


def test_sent_batches_have_the_headers_that_a_check_finds(kernel: Any) -> None:
    """They are written without being checked again."""
    many = [Message(b"v" * 400_000)] * 6
    made = batches_from_messages(sent(many), len(many), now_us=NOW_US)
    assert len(made.headers) > 2
    assert list(made.headers) == check_batches(made.batches)


@pytest.mark.parametrize(
    ("at", "byte", "why"),
    [
        (8, 0x10, "batch"),
        (11, 0xFF, "bytes long"),
        (16, 1, "format"),
        (60, 9, "records in"),
        (61, 0x02, "ends within a number"),
        (64, 0x7F, "offset delta"),
    ],
    ids=["length", "longer than there is", "magic", "count", "record", "offset"],
)
def test_poll_of_batches_that_contradict_themselves_is_a_decode_error(
    kernel: Any, at: int, byte: int, why: str
) -> None:
    """Whoever reads the log has checked the checksum; whatever the bytes say, nothing is read beyond them."""
    hurt = bytearray(batch(0, 3))
    hurt[at] = byte
    with pytest.raises(DecodeError, match=why):
        poll(hurt)


# The checksum -----------------------------------------------------------------------------------------------

CHECKSUMS = {
    # payload bytes: (56-byte header, 64-byte header), by the reference implementation of XXH3
    0: (0x15CF5CED3730856E, 0x4F9BBA3AD2B95DE1),
    2: (0x4517C9E480EC3784, 0xC8542ABA6C9533E8),
    73: (0x4AF556EEA497E390, 0x21DFFC7DCC51BCDB),
    80: (0x94BA11611EDA40CD, 0xCEA364525C64F2DB),
    81: (0x37AEF55D0AE46BF1, 0xBD70DD1FF139F26B),
    100: (0x3642E63005B860AF, 0x9ECCA7CEB24F35EE),
    184: (0x136051F478AFFCB1, 0x3F03E25C01CDBF2C),
    185: (0xDFF8BB2DD1B60398, 0xB24A8CD7B5D13E49),
    192: (0xFD437390F5FDE9EF, 0x60CFC642992FB2BB),
    193: (0x0939C69987EAB31E, 0x91A5B2D86AA89DEA),
    961: (0x1B6CF79E351C1732, 0xB9331977F324F8D9),
    968: (0xEAB27ED94365A82B, 0x774D182F845ACFD9),
    969: (0xA231E119AD7A1011, 0xEB4CEB8FD8ECD89C),
    976: (0xA2940D27136399B7, 0xA8B6640B55CCE5C5),
    977: (0x310206ECDB8C1090, 0x435F4016FDB8BC6B),
    1985: (0xBC707B0ACB88B539, 0x5DDB0227E08805DB),
    1993: (0xC1FEBCD9DA4F829D, 0xAC2648D99F5913F7),
    2001: (0x1F69F3ACC615A8D2, 0x502D50F97715B7D7),
    5000: (0x7097432D5354E4D9, 0x0756FE8A6D75AF9D),
}


@pytest.mark.parametrize("payload_bytes", CHECKSUMS)
def test_checksum_is_xxh3_of_all_that_follows_it(kernel: Any, payload_bytes: int) -> None:
    """Every way that XXH3 goes by length: up to 128 and 240 bytes, stripes, blocks of 1,024."""
    payload = b"hi" if payload_bytes == 2 else bytes(number % 251 for number in range(payload_bytes))
    message = Message(payload, id=(1).to_bytes(16, "little"), origin_us=1_700_000_000_000_000)
    for header_bytes, checksum in zip(
        (SHORT_HEADER_BYTES, LONG_HEADER_BYTES), CHECKSUMS[payload_bytes], strict=True
    ):
        taken = poll(send(sent([message])), header_bytes=header_bytes)
        (shown,) = polled(taken.data, header_bytes)
        assert shown.checksum == checksum
