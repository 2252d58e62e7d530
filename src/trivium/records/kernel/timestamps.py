"""Timestamps in milliseconds, kept within 64 bits whatever is done to them."""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.integers import INT64_MAX
from trivium.wire.errors import EncodeError


@cython.cfunc
@cython.inline
@cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
def difference(timestamp: cython.longlong, base: cython.longlong) -> cython.longlong:
    """A timestamp as a batch stores it: counted from the base of all its records."""
    if timestamp > INT64_MAX + base if base < 0 else timestamp < base - INT64_MAX:
        raise EncodeError(f"timestamps {base} and {timestamp} are too far apart for one batch")
    return timestamp - base


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def microseconds(timestamp: cython.longlong) -> cython.longlong:
    """Milliseconds as microseconds; what would leave 64 bits (in 292,000 years) stays at their end."""
    if timestamp > INT64_MAX // 1000:
        return INT64_MAX
    if timestamp < -(INT64_MAX // 1000):
        return -INT64_MAX
    return timestamp * 1000
