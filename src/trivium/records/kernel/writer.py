"""Writes bytes: whatever the kernel makes grows in a ``Writer``.

Its smallest steps write into room that the caller has reserved, and say so; all others see to it themselves.
The layout of a record and its headers is drawn in ``cursor``.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.integers import INT32_MAX, big_endian
from trivium.wire.errors import EncodeError

if cython.compiled:
    from cython.cimports.cpython.bytearray import PyByteArray_Resize
    from cython.cimports.libc.string import memcpy
    from cython.cimports.trivium.records.kernel.machine import PY_LITTLE_ENDIAN

VARINT_BYTES_MAX = cython.declare(cython.Py_ssize_t, 10)
"""For a number of 64 bits, 7 a byte."""


@cython.final
@cython.cclass
class Writer:
    """Appends to a block of bytes that grows before it is written to, never after."""

    data: bytearray
    p: cython.p_uchar
    position: cython.Py_ssize_t
    capacity: cython.Py_ssize_t

    def __init__(self, capacity: int) -> None:
        self.data = bytearray()
        self.position = 0
        self.capacity = 0
        self.reserve(max(capacity, 64))

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def reserve(self, size_bytes: cython.Py_ssize_t) -> cython.bint:
        """Make room for ``size_bytes`` more."""
        if size_bytes <= self.capacity - self.position:
            return True
        return self.grow(size_bytes)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def grow(self, size_bytes: cython.Py_ssize_t) -> cython.bint:
        grown: cython.Py_ssize_t = self.capacity + max(size_bytes, self.capacity)
        if cython.compiled:
            # Python's own ways to grow fill the new room with zeros, which costs as much as the records.
            PyByteArray_Resize(self.data, grown)
        else:
            self.data.extend(bytes(grown - self.capacity))
        self.p = self.data
        self.capacity = grown
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def varint(self, value: cython.longlong) -> cython.void:
        """A zigzag number, into room that the caller has reserved: 10 bytes at most."""
        number: cython.ulonglong = zigzag(value)
        while number >= 0x80:
            self.p[self.position] = (number & 0x7F) | 0x80
            self.position += 1
            number >>= 7
        self.p[self.position] = number
        self.position += 1

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def copy(
        self, source: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
    ) -> cython.void:
        """``length`` bytes of ``source``, into room that the caller has reserved."""
        if cython.compiled:
            memcpy(self.p + self.position, source + start, length)
        else:
            self.data[self.position : self.position + length] = source[start : start + length]
        self.position += length

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def int32(self, value: cython.longlong) -> cython.bint:
        """The low 32 bits of ``value``, little-endian, as Arrow has them."""
        self.reserve(4)
        self.put_uint32(self.position, value)
        self.position += 4
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def int32s(self, value: cython.longlong, count: cython.Py_ssize_t) -> cython.bint:
        """The same ``int32`` so many times."""
        i: cython.Py_ssize_t
        self.reserve(4 * count)
        for i in range(count):
            self.put_uint32(self.position + 4 * i, value)
        self.position += 4 * count
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def int64(self, value: cython.longlong) -> cython.bint:
        """Little-endian, as Arrow has them."""
        self.reserve(8)
        self.put_uint64(self.position, cython.cast(cython.ulonglong, value))
        self.position += 8
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def put_uint32(self, at: cython.Py_ssize_t, value: cython.longlong) -> cython.void:
        """The low 32 bits, little-endian, into room that the caller has reserved."""
        low: cython.uint
        i: cython.Py_ssize_t
        if cython.compiled and PY_LITTLE_ENDIAN:
            low = cython.cast(cython.uint, value)
            memcpy(self.p + at, cython.address(low), 4)
            return
        for i in range(4):
            self.p[at + i] = (value >> (8 * i)) & 0xFF

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def put_uint64(self, at: cython.Py_ssize_t, value: cython.ulonglong) -> cython.void:
        """Little-endian, into room that the caller has reserved."""
        i: cython.Py_ssize_t
        if cython.compiled and PY_LITTLE_ENDIAN:
            memcpy(self.p + at, cython.address(value), 8)
            return
        for i in range(8):
            self.p[at + i] = (value >> (8 * i)) & 0xFF

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def reversed_copy(
        self, source: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t
    ) -> cython.void:
        """A number in the other byte order, into room that the caller has reserved."""
        i: cython.Py_ssize_t
        if cython.compiled and length == 8:
            # One instruction, where the loop would be eight.
            self.put_uint64(self.position, cython.cast(cython.ulonglong, big_endian(source, start, 8)))
        else:
            for i in range(length):
                self.p[self.position + i] = source[start + length - 1 - i]
        self.position += length

    @cython.cfunc
    @cython.exceptval(check=False)
    def hex_byte(self, byte: cython.longlong) -> cython.void:
        """Two lower-case digits, into room that the caller has reserved."""
        digit: cython.longlong = byte >> 4
        self.p[self.position] = digit + (ord("0") if digit < 10 else ord("a") - 10)
        digit = byte & 15
        self.p[self.position + 1] = digit + (ord("0") if digit < 10 else ord("a") - 10)
        self.position += 2

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def decimal(self, number: cython.longlong) -> cython.bint:
        """A number that is not negative, as text."""
        scale: cython.longlong = 1
        while number // scale >= 10:
            scale *= 10
        self.reserve(20)
        while scale > 0:
            self.p[self.position] = ord("0") + number // scale % 10
            self.position += 1
            scale //= 10
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def record(
        self,
        timestamp_delta: cython.longlong,
        offset_delta: cython.longlong,
        key: cython.p_const_uchar,
        key_at: cython.Py_ssize_t,
        key_length: cython.Py_ssize_t,
        value: cython.p_const_uchar,
        value_at: cython.Py_ssize_t,
        value_length: cython.Py_ssize_t,
        headers_count: cython.Py_ssize_t,
        headers: cython.p_const_uchar,
        headers_bytes: cython.Py_ssize_t,
    ) -> cython.bint:
        """A whole record; the length -1 is a key or a value of null. Its headers have been written before."""
        body_bytes: cython.Py_ssize_t = (
            1
            + varint_bytes(timestamp_delta)
            + varint_bytes(offset_delta)
            + varint_bytes(key_length)
            + max(key_length, 0)
            + varint_bytes(value_length)
            + max(value_length, 0)
            + varint_bytes(headers_count)
            + headers_bytes
        )
        if body_bytes > INT32_MAX:
            raise EncodeError(f"no record may have {body_bytes} bytes")
        self.reserve(VARINT_BYTES_MAX + body_bytes)
        self.varint(body_bytes)
        self.p[self.position] = 0  # Attributes.
        self.position += 1
        self.varint(timestamp_delta)
        self.varint(offset_delta)
        self.varint(key_length)
        self.copy(key, key_at, max(key_length, 0))
        self.varint(value_length)
        self.copy(value, value_at, max(value_length, 0))
        self.varint(headers_count)
        self.copy(headers, 0, headers_bytes)
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def header(
        self,
        name: cython.p_const_uchar,
        name_at: cython.Py_ssize_t,
        name_length: cython.Py_ssize_t,
        value: cython.p_const_uchar,
        value_at: cython.Py_ssize_t,
        value_length: cython.Py_ssize_t,
    ) -> cython.bint:
        """A header of a record; the length -1 is a value of null."""
        self.reserve(2 * VARINT_BYTES_MAX + name_length + max(value_length, 0))
        self.varint(name_length)
        self.copy(name, name_at, name_length)
        self.varint(value_length)
        self.copy(value, value_at, max(value_length, 0))
        return True

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1, check=True)
    def open_header(self, name: bytes, value_length: cython.Py_ssize_t) -> cython.bint:
        """A header of a record up to its value, for which there is room."""
        self.reserve(2 * VARINT_BYTES_MAX + len(name) + value_length)
        self.varint(len(name))
        self.copy(name, 0, len(name))
        self.varint(value_length)
        return True

    @cython.cfunc
    @cython.inline
    def taken(self) -> bytearray:
        """What was written. It is the writer's own block: nothing may be written after it."""
        del self.data[self.position :]
        return self.data


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def zigzag(value: cython.longlong) -> cython.ulonglong:
    number: cython.ulonglong
    if value >= 0:
        number = value
        return number << 1
    number = -1 - value
    return (number << 1) | 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def varint_bytes(value: cython.longlong) -> cython.Py_ssize_t:
    number: cython.ulonglong = zigzag(value)
    size_bytes: cython.Py_ssize_t = 1
    while number >= 0x80:
        number >>= 7
        size_bytes += 1
    return size_bytes
