"""Integers of a fixed size, read and written at places that the caller has checked.

A number of more than 31 bits in the text of a function would be an object of Python: such numbers have names.
"""

from __future__ import annotations

from trivium.records.kernel import cython

if cython.compiled:
    from cython.cimports.libc.string import memcpy
    from cython.cimports.trivium.records.kernel.machine import PY_LITTLE_ENDIAN, lowest_bit

INT32_MAX = cython.declare(cython.longlong, 0x7FFFFFFF)
INT64_MAX = cython.declare(cython.longlong, 0x7FFFFFFFFFFFFFFF)
BITS_32 = cython.declare(cython.longlong, 0xFFFFFFFF)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def big_endian(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, size_bytes: cython.longlong
) -> cython.longlong:
    """A signed integer of up to 8 bytes."""
    if not cython.compiled:
        return int.from_bytes(p[at : at + size_bytes], "big", signed=True)
    number: cython.ulonglong = 0
    i: cython.longlong
    for i in range(size_bytes):
        number = (number << 8) | p[at + i]
    return sign_extended(number, size_bytes)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def little_endian(
    p: cython.p_const_uchar, at: cython.Py_ssize_t, size_bytes: cython.longlong
) -> cython.longlong:
    """A signed integer of up to 8 bytes."""
    if not cython.compiled:
        return int.from_bytes(p[at : at + size_bytes], "little", signed=True)
    number: cython.ulonglong = 0
    byte: cython.ulonglong
    i: cython.longlong
    for i in range(size_bytes):
        byte = p[at + i]
        number |= byte << (8 * i)
    return sign_extended(number, size_bytes)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def sign_extended(number: cython.ulonglong, size_bytes: cython.longlong) -> cython.longlong:
    """What the low bytes mean as a signed number; only where compiled, as C's shifts are needed for it."""
    unused_bits: cython.longlong = 64 - 8 * size_bytes
    signed: cython.longlong = cython.cast(cython.longlong, number << unused_bits)
    return signed >> unused_bits


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def u32_at(p: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.longlong:
    """Little-endian, as everything of Iggy's."""
    number: cython.uint = 0
    if cython.compiled and PY_LITTLE_ENDIAN:
        memcpy(cython.address(number), p + at, 4)
        return number
    return little_endian(p, at, 4) & BITS_32


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def u64_at(p: cython.p_const_uchar, at: cython.Py_ssize_t) -> cython.ulonglong:
    """Little-endian, as everything of Iggy's."""
    if not cython.compiled:
        return int.from_bytes(p[at : at + 8], "little")
    number: cython.ulonglong = 0
    if PY_LITTLE_ENDIAN:
        memcpy(cython.address(number), p + at, 8)
    else:
        number = cython.cast(cython.ulonglong, little_endian(p, at, 8))
    return number


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def put_big_endian(
    p: cython.p_uchar, at: cython.Py_ssize_t, value: cython.longlong, size_bytes: cython.longlong
) -> cython.void:
    """A number that is not negative."""
    i: cython.longlong
    for i in range(size_bytes):
        p[at + i] = (value >> (8 * (size_bytes - 1 - i))) & 0xFF


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def trailing_zeros(number: cython.ulonglong) -> cython.longlong:
    """The place of the lowest bit that is set; there must be one."""
    return lowest_bit(number) if cython.compiled else (number & -number).bit_length() - 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def wrapped(number: cython.ulonglong) -> cython.ulonglong:
    """Where C's integers wrap around and Python's grow: hashing wants the wrapping."""
    return number if cython.compiled else number & 0xFFFFFFFFFFFFFFFF
