"""Text that lies among other bytes: compared, and checked to be text, where it lies."""

from __future__ import annotations

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.libc.string import memcmp


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def begins(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t, prefix: bytes
) -> cython.bint:
    """Whether the ``length`` bytes begin with ``prefix``."""
    size_bytes: cython.Py_ssize_t = len(prefix)
    wanted: cython.p_const_uchar = prefix
    i: cython.Py_ssize_t
    if length < size_bytes:
        return False
    for i in range(size_bytes):  # noqa: SIM110 - a generator has no place in C
        if p[at + i] != wanted[i]:
            return False
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def equals(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t, text: bytes
) -> cython.bint:
    """Whether the ``length`` bytes are ``text``."""
    return length == len(text) and begins(p, at, length, text)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def are_same(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, other_at: cython.Py_ssize_t, length: cython.Py_ssize_t
) -> cython.bint:
    """Whether so many bytes are the same in two places."""
    if not cython.compiled:
        return bool(p[at : at + length] == p[other_at : other_at + length])
    same: cython.bint = memcmp(p + at, p + other_at, length) == 0
    return same


@cython.cfunc
@cython.exceptval(check=False)
def is_text(p: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.bint:
    """Whether the bytes are UTF-8, in its one correct spelling: clients on both sides insist on it."""
    end: cython.Py_ssize_t = at + length
    byte: cython.longlong
    more: cython.Py_ssize_t
    low: cython.longlong
    high: cython.longlong
    i: cython.Py_ssize_t
    while at < end:
        byte = p[at]
        at += 1
        if byte < 0x80:
            continue
        low, high = 0x80, 0xBF
        if 0xC2 <= byte <= 0xDF:
            more = 1
        elif 0xE0 <= byte <= 0xEF:
            more = 2
            low = 0xA0 if byte == 0xE0 else low
            high = 0x9F if byte == 0xED else high
        elif 0xF0 <= byte <= 0xF4:
            more = 3
            low = 0x90 if byte == 0xF0 else low
            high = 0x8F if byte == 0xF4 else high
        else:
            return False
        if more > end - at or not low <= p[at] <= high:
            return False
        for i in range(1, more):
            if p[at + i] & 0xC0 != 0x80:
                return False
        at += more
    return True


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def hex_digit(byte: cython.longlong) -> cython.longlong:
    """The value of a lower-case digit, or -1."""
    if ord("0") <= byte <= ord("9"):
        return byte - ord("0")
    return byte - ord("a") + 10 if ord("a") <= byte <= ord("f") else -1
