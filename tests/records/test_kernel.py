"""The kernel against itself (compiled and interpreted must agree on any input) and against lies.

Mission 001.24, 001.27, 003.17; promises S1, S2. In the compiled kernel a missed check is a crash of the
whole test run, so the inputs here are as wrong as we can make them.
"""

import copy
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.records.arbitrary import RECORD_LISTS
from trivium.records.batch import build_batch, check_batch, seal
from trivium.records.compression import Compression
from trivium.records.header import LOG_APPEND_TIME_BIT
from trivium.records.record import Blobs, Record, RowColumns, Section
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.limits import RECORD_HEADERS_MAX

INT64 = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.sampled_from([-1, 0, 1, 2, 2**31 - 1, 2**31, 2**63 - 1, -(2**63)]) | st.integers(-3, 40)


def section_of(data: bytes, count: int = 1, **fields: Any) -> Section:
    known = {
        "base_offset": 0,
        "last_offset_delta": max(count - 1, 0),
        "base_timestamp": 0,
        "append_timestamp": None,
    }
    return Section(data, count, **(known | fields))


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result as a plain value, or the class and text of what was raised."""
    try:
        result = function(*arguments)
        return result if isinstance(result, tuple | int | None) else list(result)
    except (DecodeError, EncodeError, ValueError, OverflowError) as error:
        return type(error), str(error)


def damaged(data: bytes, hits: list[tuple[int, int]]) -> bytes:
    changed = bytearray(data)
    for position, byte in hits:
        if changed:
            changed[position % len(changed)] = byte
    return bytes(changed)


HITS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=3)
SECTIONS = st.builds(
    Section,
    data=st.binary(max_size=60),
    records_count=NUMBERS,
    base_offset=NUMBERS,
    last_offset_delta=NUMBERS,
    base_timestamp=INT64,
    append_timestamp=st.none() | INT64,
)


@settings(max_examples=400)
@given(RECORD_LISTS, HITS, INT64, st.none() | INT64, st.integers(-1, 15), st.binary(max_size=14))
def test_kernels_on_damaged_records_agree(
    both_kernels: tuple[Any, Any],
    records: list[Record],
    hits: list[tuple[int, int]],
    base_timestamp: int,
    append_timestamp: int | None,
    last_offset_delta: int,
    keep: bytes,
) -> None:
    compiled, interpreted = both_kernels
    data = damaged(bytes(interpreted.build(records, None).data), hits)
    section = Section(data, len(records), 7, last_offset_delta, base_timestamp, append_timestamp)
    agree_on(compiled, interpreted, section, keep, records[0].timestamp)


@settings(max_examples=400)
@given(SECTIONS, st.binary(max_size=8), INT64)
def test_kernels_on_garbage_agree(
    both_kernels: tuple[Any, Any], section: Section, keep: bytes, timestamp: int
) -> None:
    agree_on(*both_kernels, section, keep, timestamp)


def agree_on(compiled: Any, interpreted: Any, section: Section, keep: bytes, timestamp: int) -> None:
    for name, arguments in [
        ("parse", ()),
        ("scan_keys", ()),
        ("find_latest", ()),
        ("find_timestamp", (timestamp,)),
        ("check", (True,)),
        ("check", (False,)),
        ("retain", (keep, None)),
        ("retain", (keep, timestamp)),
        ("retain", (b"\x01" * section.records_count if 0 <= section.records_count < 100 else b"", timestamp)),
    ]:
        expected = outcome(getattr(interpreted, name), section, *arguments)
        assert outcome(getattr(compiled, name), section, *arguments) == expected, name
    for compression in (Compression.NONE, Compression.GZIP):
        batch = sealed(section, compression)
        for wanted in ((), (True, False, False), (False, True, False), (False, False, True)):
            columns = [
                outcome(kernel.to_columns, batch * 2, [0, len(batch)], *wanted)
                for kernel in (compiled, interpreted)
            ]
            assert columns[0] == columns[1]


def sealed(section: Section, compression: Compression) -> bytes:
    """The section in a batch whose checksum is right, as far as a header can hold its numbers."""
    append_time = section.append_timestamp
    header = check_batch(build_batch([Record(0, 0, None, None)]))._replace(
        base_offset=section.base_offset,
        attributes=0 if append_time is None else LOG_APPEND_TIME_BIT,
        last_offset_delta=max(-(2**31), min(section.last_offset_delta, 2**31 - 1)),
        base_timestamp=section.base_timestamp,
        max_timestamp=section.base_timestamp if append_time is None else append_time,
        records_count=max(-(2**31), min(section.records_count, 2**31 - 1)),
    )
    return seal(header, section.data, compression)


@given(
    st.lists(st.tuples(INT64, st.none() | st.binary(max_size=300)), min_size=1, max_size=5), st.none() | INT64
)
def test_kernels_build_the_same_bytes(
    both_kernels: tuple[Any, Any], pairs: list[tuple[int, bytes | None]], base: int | None
) -> None:
    records = [Record(0, timestamp, blob, blob, (("n" * 70, blob),)) for timestamp, blob in pairs]
    compiled, interpreted = both_kernels
    assert outcome(compiled.build, records, base) == outcome(interpreted.build, records, base)


@settings(max_examples=400)
@given(RECORD_LISTS, HITS, st.integers(-70, 400), st.sampled_from([bytes, bytearray, memoryview]))
def test_kernels_on_damaged_batches_agree(
    both_kernels: tuple[Any, Any],
    records: list[Record],
    hits: list[tuple[int, int]],
    position: int,
    kind: Callable[[bytes], Any],
) -> None:
    buffer = kind(damaged(build_batch(records) + build_batch(records), hits))
    compiled, interpreted = both_kernels
    for name, arguments in [
        ("read_header", (position,)),
        ("check_batch", (position,)),
        ("check_batches", ()),
        ("walk_batches", ()),
        ("sound_run", (0, -1, position, 4_000, 2**62)),
        ("sound_run", (len(records), position, 2 * len(records), position, 2**62)),
        ("sound_run", (0, 0, 0, -(2**63), position)),
    ]:
        expected = outcome(getattr(interpreted, name), buffer, *arguments)
        assert outcome(getattr(compiled, name), buffer, *arguments) == expected, name


@given(RECORD_LISTS, NUMBERS, NUMBERS, st.integers(-2, 200))
def test_kernels_stamp_the_same_bytes(
    both_kernels: tuple[Any, Any], records: list[Record], offset: int, epoch: int, at: int
) -> None:
    compiled, interpreted = both_kernels
    data = build_batch(records)
    pieces = memoryview(bytearray(data)), memoryview(bytearray(data))
    batches = [*interpreted.check_batches(data), (at, interpreted.read_header(data, 0))]
    for given_batches in (batches[:1], batches):
        results = [
            outcome(kernel.stamp_all, piece, given_batches, offset, epoch)
            for kernel, piece in zip((compiled, interpreted), pieces, strict=True)
        ]
        assert results[0] == results[1]
        assert pieces[0] == pieces[1]


BLOBS = st.builds(
    Blobs,
    validity=st.none() | st.binary(max_size=3),
    offsets=st.lists(st.integers(-2, 12), max_size=8).map(
        lambda numbers: b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)
    )
    | st.binary(max_size=30),
    data=st.binary(max_size=12),
    first=st.integers(-1, 9),
)


@settings(max_examples=400)
@given(
    st.tuples(BLOBS, BLOBS, BLOBS, BLOBS, BLOBS),
    st.binary(max_size=40),
    st.integers(-2, 5),
    st.integers(0, 60),
)
def test_kernels_on_arrow_columns_that_lie_agree(
    both_kernels: tuple[Any, Any], blobs: tuple[Blobs, ...], timestamps: bytes, row: int, size_bytes_max: int
) -> None:
    columns = RowColumns._make((*blobs, timestamps))
    compiled, interpreted = both_kernels
    expected = outcome(interpreted.from_columns, columns, row, size_bytes_max)
    assert outcome(compiled.from_columns, columns, row, size_bytes_max) == expected


def offsets_of(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, "little", signed=True) for number in numbers)


FINE = Blobs(None, offsets_of(0, 1, 2), b"ab")
NO_HEADERS = {
    "header_ends": Blobs(None, offsets_of(0, 0, 0), b""),
    "header_names": FINE,
    "header_values": FINE,
}


@pytest.mark.parametrize(
    "lie",
    [
        Blobs(None, offsets_of(0, 1, 3), b"ab"),
        Blobs(None, offsets_of(0, 2, 1), b"ab"),
        Blobs(None, offsets_of(-1, 1, 2), b"ab"),
        Blobs(None, offsets_of(0, 1), b"ab"),
        Blobs(b"", offsets_of(0, 1, 2), b"ab"),
        Blobs(None, offsets_of(0, 1, 2), b"ab", first=1),
        Blobs(None, offsets_of(0, 1, 2), b"ab", first=-1),
    ],
)
def test_arrow_column_that_lies_is_an_encode_error(kernel: Any, lie: Blobs) -> None:
    columns = RowColumns(keys=FINE, values=FINE, timestamps=bytes(16), **NO_HEADERS)
    assert kernel.from_columns(columns, 0, 1_000).records_count == 2
    for lying in (columns._replace(keys=lie), columns._replace(values=lie)):
        with pytest.raises(EncodeError):
            kernel.from_columns(lying, 0, 1_000)


def test_arrow_headers_beyond_their_columns_are_an_encode_error(kernel: Any) -> None:
    headers = NO_HEADERS | {"header_ends": Blobs(None, offsets_of(0, 1, 3), b"")}
    with pytest.raises(EncodeError):
        kernel.from_columns(RowColumns(keys=FINE, values=FINE, timestamps=bytes(16), **headers), 0, 1_000)


@pytest.mark.parametrize("row", [-1, 2, 2**40])
def test_arrow_row_that_is_not_there_is_an_encode_error(kernel: Any, row: int) -> None:
    columns = RowColumns(keys=FINE, values=FINE, timestamps=bytes(16), **NO_HEADERS)
    with pytest.raises(EncodeError, match="no row"):
        kernel.from_columns(columns, row, 1_000)


@pytest.mark.parametrize(
    ("spelled", "delta"),
    [
        ("00", 0),
        ("01", -1),
        ("02", 1),
        ("7f", -64),
        ("8001", 64),
        ("ffff03", -32_768),
        ("feffffffffffffffff01", 2**63 - 1),
        ("fdffffffffffffffff01", -(2**63) + 1),
    ],
)
def test_varlong_of_known_bytes_is_its_value(kernel: Any, spelled: str, delta: int) -> None:
    body = b"\x00" + bytes.fromhex(spelled) + b"\x00\x01\x01\x00"
    (record,) = kernel.parse(section_of(bytes([2 * len(body)]) + body))
    assert record == Record(0, delta, None, None)
    assert kernel.build([record], 0).data == bytes([2 * len(body)]) + body


@pytest.mark.parametrize("spelled", ["80" * 10 + "00", "ff" * 9 + "02", "ff" * 11])
def test_varlong_of_more_than_64_bits_is_refused(kernel: Any, spelled: str) -> None:
    body = b"\x00" + bytes.fromhex(spelled) + b"\x00\x01\x01\x00"
    with pytest.raises(DecodeError, match="too many bits"):
        list(kernel.parse(section_of(bytes([2 * len(body)]) + body)))


@pytest.mark.parametrize("spelled", ["8080808080" + "00", "8080808010", "ffffffffff"])
def test_varint_of_more_than_32_bits_is_refused(kernel: Any, spelled: str) -> None:
    """Mission 001.27: one to five bytes."""
    body = b"\x00\x00" + bytes.fromhex(spelled) + b"\x01\x01\x00"
    with pytest.raises(DecodeError, match="too many bits"):
        list(kernel.parse(section_of(bytes([2 * len(body)]) + body)))


@pytest.mark.parametrize("spelled", ["80", ""])
def test_number_that_the_record_cuts_off_is_refused(kernel: Any, spelled: str) -> None:
    body = b"\x00" + bytes.fromhex(spelled)
    with pytest.raises(DecodeError, match="within a number"):
        list(kernel.parse(section_of(bytes([2 * len(body)]) + body + bytes(10))))


@pytest.mark.parametrize("extra", [b"\x00", bytes(20)])
def test_bytes_after_the_last_record_are_refused(kernel: Any, extra: bytes) -> None:
    data = bytes(kernel.build([Record(0, 0, b"k", b"v")], 0).data)
    with pytest.raises(DecodeError, match="follow the last record"):
        list(kernel.parse(section_of(data + extra)))


@pytest.mark.parametrize("headers", [b"\x00", b"\x02\x02n\x02v"])
def test_bytes_left_within_a_record_are_refused(kernel: Any, headers: bytes) -> None:
    body = b"\x00\x00\x00\x01\x01" + headers + b"\x00"
    with pytest.raises(DecodeError, match="too many"):
        list(kernel.parse(section_of(zigzag(len(body)) + body)))


LIES = [-2, -(2**31), 2**31 - 1, 1_000, 5]


def zigzag(value: int) -> bytes:
    number = value << 1 if value >= 0 else (-value << 1) - 1
    spelled = bytearray()
    while number >= 0x80:
        spelled.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*spelled, number])


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("place", ["record", "key", "value", "headers", "header name", "header value"])
def test_lying_length_is_refused_without_memory(kernel: Any, place: str, lie: int) -> None:
    """S2: every length of a record, and the count of its headers."""
    true = {"key": 1, "value": 1, "headers": 1, "header name": 1, "header value": 1}
    lengths = {name: zigzag(lie if name == place else length) for name, length in true.items()}
    body = (
        b"\x00\x00\x00"
        + lengths["key"]
        + b"k"
        + lengths["value"]
        + b"v"
        + lengths["headers"]
        + lengths["header name"]
        + b"n"
        + lengths["header value"]
        + b"h"
    )
    data = zigzag(lie if place == "record" else len(body)) + body
    tracemalloc.start()
    for read in (
        kernel.parse,
        kernel.scan_keys,
        lambda section: kernel.to_columns(sealed(section, Compression.NONE), [0]),
    ):
        with pytest.raises(DecodeError):
            list(read(section_of(data)))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 100_000


@pytest.mark.parametrize("lengths", [(-2, -1), (-1, -2)])
def test_length_below_minus_one_is_refused(kernel: Any, lengths: tuple[int, int]) -> None:
    """-1 is null; less is damage, although nothing would be read for it."""
    body = b"\x00\x00\x00" + zigzag(lengths[0]) + zigzag(lengths[1]) + b"\x00"
    with pytest.raises(DecodeError, match="-2 bytes"):
        list(kernel.parse(section_of(zigzag(len(body)) + body)))


@pytest.mark.parametrize("tail", [b"\x04v", b"\x02v\x02\x02n\x04v"])
def test_length_one_more_than_the_record_holds_is_refused(kernel: Any, tail: bytes) -> None:
    """As value and as header value. The next record's first byte is there, and not to be taken."""
    body = b"\x00\x00\x00\x01" + tail
    with pytest.raises(DecodeError, match=r"2 bytes at \d+, where 1 remain"):
        list(kernel.parse(section_of(zigzag(len(body)) + body + bytes(20))))


def test_record_with_no_length_of_its_own_is_refused(kernel: Any) -> None:
    """A record of zero bytes has not even attributes; the next record's bytes are not its own."""
    with pytest.raises(DecodeError):
        list(kernel.parse(section_of(b"\x00" + bytes(6))))


@pytest.mark.parametrize("count", [-(2**63), -1, 2, 3, 2**31, 2**63 - 1])
def test_count_that_the_bytes_cannot_hold_is_refused(kernel: Any, count: int) -> None:
    data = bytes(kernel.build([Record(0, 0, None, None)], 0).data)
    with pytest.raises(DecodeError, match="records in 7 bytes"):
        list(kernel.parse(section_of(data, count, last_offset_delta=10)))


@pytest.mark.parametrize(("deltas", "last"), [([0, 0], 5), ([1, 0], 5), ([0, 6], 5), ([-1, 0], 5)])
def test_offset_deltas_that_do_not_rise_within_the_batch_are_refused(
    kernel: Any, deltas: list[int], last: int
) -> None:
    data = b"".join(b"\x0c\x00\x00" + zigzag(delta) + b"\x01\x01\x00" for delta in deltas)
    with pytest.raises(DecodeError, match="offset delta"):
        list(kernel.parse(section_of(data, len(deltas), last_offset_delta=last)))


def test_header_without_a_name_is_refused(kernel: Any) -> None:
    body = b"\x00\x00\x00\x01\x01\x02" + zigzag(-1) + zigzag(-1)
    with pytest.raises(DecodeError, match="name"):
        list(kernel.parse(section_of(zigzag(len(body)) + body)))


def test_more_headers_than_allowed_are_refused(kernel: Any) -> None:
    """Each of them would be an object: `RECORD_HEADERS_MAX` says how many a record may have."""
    for count in (RECORD_HEADERS_MAX, RECORD_HEADERS_MAX + 1):
        body = b"\x00\x00\x00\x01\x01" + zigzag(count) + b"\x00\x01" * count
        section = section_of(zigzag(len(body)) + body)
        if count == RECORD_HEADERS_MAX:
            assert len(next(kernel.parse(section)).headers) == count
        else:
            with pytest.raises(DecodeError, match="headers"):
                next(kernel.parse(section))


def test_timestamp_that_leaves_64_bits_is_refused(kernel: Any) -> None:
    data = b"\x0c\x00\x02\x00\x01\x01\x00"
    assert next(kernel.parse(section_of(data, base_timestamp=2**63 - 2))).timestamp == 2**63 - 1
    with pytest.raises(DecodeError, match="64 bits"):
        next(kernel.parse(section_of(data, base_timestamp=2**63 - 1)))


def test_parse_makes_records_one_at_a_time(kernel: Any) -> None:
    """S1: the smallest records are 7 bytes each, and more than 100 as objects."""
    data = b"".join(b"\x0c\x00\x00" + zigzag(delta) + b"\x01\x01\x00" for delta in range(60))
    data += b"".join(b"\x0e\x00\x00" + zigzag(delta) + b"\x01\x01\x00" for delta in range(64, 5_000))
    section = section_of(data, 4_996, last_offset_delta=5_000)
    tracemalloc.start()
    count = sum(1 for _ in kernel.parse(section))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (count, peak_bytes < 100_000) == (4_996, True)  # other threads of this process count too


def test_parsed_records_that_are_kept_stay_as_they_were(kernel: Any) -> None:
    """The compiled kernel fills a record anew once nobody has it any more, and not before."""
    records = [Record(n, n, b"k%d" % n, b"v%d" % n, (("h", b"%d" % n),)) for n in range(40)]
    section = section_of(bytes(kernel.build(records, 0).data), len(records))
    kept = [record for record in kernel.parse(section) if record.offset % 3 == 0]
    assert kept == records[::3]
    assert list(kernel.parse(section)) == records
    cursor = kernel.parse(section)
    assert [next(cursor), next(cursor), next(cursor)] == records[:3]
    values = [record.value for record in kernel.parse(section)]
    assert values == [record.value for record in records]


def test_parsed_record_is_a_record_in_every_way(kernel: Any) -> None:
    """It is not made by its constructor when compiled; nobody must notice."""
    record = Record(0, 5, b"k", b"v", (("h", None),))
    (parsed,) = kernel.parse(section_of(bytes(kernel.build([record], 0).data)))
    assert type(parsed) is Record
    assert (parsed, hash(parsed), len(parsed)) == (record, hash(record), 5)
    assert parsed in {record}
    assert parsed._replace(key=None).key is None


def test_cursor_cannot_be_copied_when_compiled(both_kernels: tuple[Any, Any]) -> None:
    """A copy's pointer would outlive the bytes it points to."""
    compiled, _ = both_kernels
    with pytest.raises(TypeError):
        copy.copy(compiled.parse(section_of(b"", 0)))


def test_section_that_is_not_bytes_is_a_type_error_when_compiled(both_kernels: tuple[Any, Any]) -> None:
    """A pointer into a bytearray would dangle once somebody resizes it."""
    compiled, _ = both_kernels
    with pytest.raises(TypeError):
        compiled.parse(section_of(bytearray(7)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "record", [None, (), (0, 1), [0, 0, None, None, ()], (0, 0, "text", None, ()), "12345"]
)
def test_build_of_what_is_no_record_raises_and_does_not_crash(kernel: Any, record: Any) -> None:
    if kernel.compiled or not isinstance(record, list):
        with pytest.raises((TypeError, IndexError, SystemError, ValueError)):
            kernel.build([record], None)
