"""Arrays of bytes in JSON, as RustLog's clients spell them: ``[[98,121],[]]``.

How many digits a byte has is different from one to the next, and a processor that guesses wrong loses more
time than the number takes. So lengths are calculated here and not decided upon, wherever there are many.
"""

from __future__ import annotations

from collections.abc import Sequence

from trivium.records.kernel import cython
from trivium.records.kernel.integers import BITS_32, trailing_zeros, u32_at, u64_at, wrapped
from trivium.records.kernel.writer import Writer
from trivium.wire.errors import DecodeError

if cython.compiled:
    from cython.cimports.libc.string import memcpy

NUMBERS = cython.declare(bytes, b"".join((b"%d," % byte).ljust(4, b"\0") for byte in range(256)))
"""Every byte as its number and a comma, in four bytes each."""
NUMBER_LENGTHS = cython.declare(bytes, bytes(len(b"%d," % byte) for byte in range(256)))
HEAD_BYTES_MAX = cython.declare(cython.Py_ssize_t, 48)
"""What a record has besides its payload, with an offset of 64 bits."""
EIGHT_COMMAS = cython.declare(cython.ulonglong, 0x2C2C2C2C2C2C2C2C)
EIGHT_ONES = cython.declare(cython.ulonglong, 0x0101010101010101)
EIGHT_TOP_BITS = cython.declare(cython.ulonglong, 0x8080808080808080)


def bytes_from_json(text: bytes, start: int, arrays_max: int) -> tuple[list[bytes], int]:
    """The arrays of numbers within the array that begins at ``start``, each as bytes, and where it ends.

    ``DecodeError`` for anything else there, and for more than ``arrays_max`` of them.
    """
    p: cython.p_const_uchar = text
    end: cython.Py_ssize_t = len(text)
    at: cython.Py_ssize_t = after_space(p, start, end)
    if at >= end or p[at] != ord("["):
        raise DecodeError("no array")
    at = after_space(p, at + 1, end)
    arrays: list[bytes] = []
    if at < end and p[at] == ord("]"):
        return arrays, at + 1
    # A number takes two bytes with what is behind it: no array has more of them.
    writer: Writer = Writer((end - at) // 2 + 1)
    while len(arrays) < arrays_max:
        at = byte_array(p, at, end, writer)
        arrays.append(bytes(writer.p[0 : writer.position]))
        at = after_space(p, at, end)
        if at < end and p[at] == ord("]"):
            return arrays, at + 1
        if at >= end or p[at] != ord(","):
            raise DecodeError("an array that does not end")
        at = after_space(p, at + 1, end)
    raise DecodeError(f"more than {arrays_max} arrays")


@cython.cfunc
@cython.exceptval(-1, check=True)
def byte_array(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, end: cython.Py_ssize_t, writer: Writer
) -> cython.Py_ssize_t:
    """Read one array of numbers from 0 to 255 into ``writer``, which has room for it; where it ends."""
    # Names of their own for what a loop over every byte uses: the compiler keeps them in registers.
    out: cython.p_uchar = writer.p
    numbers: cython.p_const_uchar = NUMBERS
    count: cython.Py_ssize_t = 0
    size_bytes: cython.Py_ssize_t
    writer.position = 0
    if at >= end or p[at] != ord("["):
        raise DecodeError("no array of numbers")
    at = after_space(p, at + 1, end)
    if at < end and p[at] == ord("]"):
        return at + 1
    while True:
        size_bytes = two_numbers(p, at, end, numbers, out, count)
        if size_bytes > 0:
            at += size_bytes
            count += 2
            continue
        at = any_number(p, at, end, out, count)
        count += 1
        at = after_space(p, at, end)
        if at < end and p[at] == ord("]"):
            writer.position = count
            return at + 1
        if at >= end or p[at] != ord(","):
            raise DecodeError("an array of numbers that does not end")
        at = after_space(p, at + 1, end)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def two_numbers(
    p: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    numbers: cython.p_const_uchar,
    out: cython.p_uchar,
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Read two numbers with a comma behind each, and no space, into their places; how much that was, or 0."""
    if end - at < 8:
        return 0
    text: cython.ulonglong = u64_at(p, at)
    # A byte that is a comma becomes 0, and the lowest such byte gets its top bit set. Others may, wrongly, if
    # they follow it; then what they seem to end is not spelled like any number.
    commas: cython.ulonglong = text ^ EIGHT_COMMAS
    commas = wrapped(commas - EIGHT_ONES) & ~commas & EIGHT_TOP_BITS
    later: cython.ulonglong = commas & (commas - 1) if commas else 0
    if not later:
        return 0
    first_length: cython.longlong = trailing_zeros(commas) >> 3
    second_at: cython.longlong = first_length + 1
    second_length: cython.longlong = (trailing_zeros(later) >> 3) - second_at
    if first_length > 3 or second_length > 3:
        return 0
    first: cython.longlong = value_of_digits(text, first_length)
    second: cython.longlong = value_of_digits(text >> (8 * second_at), second_length)
    # Their values are right if they are spelled like this.
    if ((text ^ u32_at(numbers, 4 * first)) << (24 - 8 * first_length)) & BITS_32 or (
        (text >> (8 * second_at) ^ u32_at(numbers, 4 * second)) << (24 - 8 * second_length)
    ) & BITS_32:
        return 0
    out[count] = first
    out[count + 1] = second
    return second_at + second_length + 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def value_of_digits(text: cython.ulonglong, length: cython.longlong) -> cython.longlong:
    """The value of ``length`` digits, up to three, in the lowest bytes; of anything else, some byte."""
    # Moved so that the last digit is in byte 3: times 1, 10 and 100 it and those before it meet there.
    digits: cython.ulonglong = (text << (32 - 8 * length)) & 0x0F0F0F0F
    return ((digits * 0x640A01) >> 24) & 0xFF


@cython.cfunc
@cython.exceptval(-1, check=True)
def any_number(
    p: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    out: cython.p_uchar,
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Read a number from 0 to 255 into its place, whatever follows it; where it ends."""
    digits_at: cython.Py_ssize_t = at
    value: cython.longlong = 0
    while at < end and ord("0") <= p[at] <= ord("9") and at - digits_at < 3:
        value = 10 * value + p[at] - ord("0")
        at += 1
    if at == digits_at or value > 255 or (at - digits_at > 1 and p[digits_at] == ord("0")):
        raise DecodeError("no number from 0 to 255")
    out[count] = value
    return at


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def after_space(p: cython.p_const_uchar, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while at < end and (p[at] == ord(" ") or p[at] == ord("\n") or p[at] == ord("\r") or p[at] == ord("\t")):
        at += 1
    return at


def json_from_bytes(records: Sequence[tuple[int, bytes]], begin: bytes, end: bytes) -> bytearray:
    """Offsets and payloads as ``{"offset":1,"payload":[98,121]}``, with commas between and text around."""
    payload_bytes: cython.Py_ssize_t = 0
    payload: bytes
    for _offset, payload in records:
        payload_bytes += len(payload)
    writer: Writer = Writer(len(begin) + HEAD_BYTES_MAX * len(records) + 4 * payload_bytes + len(end))
    writer.copy(begin, 0, len(begin))
    p: cython.p_const_uchar
    out: cython.p_uchar
    at: cython.Py_ssize_t
    i: cython.Py_ssize_t
    numbers: cython.p_const_uchar = NUMBERS
    lengths: cython.p_const_uchar = NUMBER_LENGTHS
    for offset, payload in records:
        head: bytes = b'{"offset":%d,"payload":[' % offset
        writer.reserve(len(head) + 4 * len(payload) + 4)
        writer.copy(head, 0, len(head))
        p = payload
        out = writer.p
        at = writer.position
        for i in range(len(payload)):
            if cython.compiled:
                memcpy(out + at, numbers + 4 * p[i], 4)
            else:
                out[at : at + 4] = numbers[4 * p[i] : 4 * p[i] + 4]
            at += lengths[p[i]]
        writer.position = at - 1 if payload else at
        writer.copy(b"]},", 0, 3)
    if records:
        writer.position -= 1
    writer.reserve(len(end))
    writer.copy(end, 0, len(end))
    return writer.taken()
