"""Arrays of bytes in JSON, as RustLog's clients spell them: ``[[98,121],[]]``."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.records.kernel import cython
from trivium.records.kernel.writer import Writer
from trivium.wire.errors import DecodeError


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
    count: cython.Py_ssize_t = 0
    value: cython.longlong
    digits_at: cython.Py_ssize_t
    writer.position = 0
    if at >= end or p[at] != ord("["):
        raise DecodeError("no array of numbers")
    at = after_space(p, at + 1, end)
    if at < end and p[at] == ord("]"):
        return at + 1
    while True:
        value = 0
        digits_at = at
        while at < end and ord("0") <= p[at] <= ord("9") and at - digits_at < 3:
            value = 10 * value + p[at] - ord("0")
            at += 1
        if at == digits_at or value > 255 or (at - digits_at > 1 and p[digits_at] == ord("0")):
            raise DecodeError("no number from 0 to 255")
        out[count] = value
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
def after_space(p: cython.p_const_uchar, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while at < end and (p[at] == ord(" ") or p[at] == ord("\n") or p[at] == ord("\r") or p[at] == ord("\t")):
        at += 1
    return at


def json_from_bytes(records: Sequence[tuple[int, bytes]]) -> bytearray:
    """Offsets and payloads as ``{"offset":1,"payload":[98,121]}``, with commas between."""
    writer: Writer = Writer(64)
    payload: bytes
    p: cython.p_const_uchar
    out: cython.p_uchar
    at: cython.Py_ssize_t
    i: cython.Py_ssize_t
    byte: cython.longlong
    for offset, payload in records:
        head: bytes = b'{"offset":%d,"payload":[' % offset
        writer.reserve(len(head) + 4 * len(payload) + 4)
        writer.copy(head, 0, len(head))
        p = payload
        out = writer.p
        at = writer.position
        for i in range(len(payload)):
            byte = p[i]
            if byte >= 100:
                out[at] = ord("0") + byte // 100
                at += 1
            if byte >= 10:
                out[at] = ord("0") + byte // 10 % 10
                at += 1
            out[at] = ord("0") + byte % 10
            out[at + 1] = ord(",")
            at += 2
        writer.position = at - 1 if payload else at
        writer.copy(b"]},", 0, 3)
    if writer.position:
        writer.position -= 1
    return writer.taken()
