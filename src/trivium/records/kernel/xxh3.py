"""XXH3-64, the checksum of Iggy's messages, as its specification gives it: numbers, secret and steps."""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.integers import BITS_32, u64_at

XXH_LANE_0 = cython.declare(cython.ulonglong, 0xC2B2AE3D)
XXH_LANE_1 = cython.declare(cython.ulonglong, 0x9E3779B185EBCA87)
XXH_LANE_2 = cython.declare(cython.ulonglong, 0xC2B2AE3D27D4EB4F)
XXH_LANE_3 = cython.declare(cython.ulonglong, 0x165667B19E3779F9)
XXH_LANE_4 = cython.declare(cython.ulonglong, 0x85EBCA77C2B2AE63)
XXH_LANE_5 = cython.declare(cython.ulonglong, 0x85EBCA77)
XXH_LANE_6 = cython.declare(cython.ulonglong, 0x27D4EB2F165667C5)
XXH_LANE_7 = cython.declare(cython.ulonglong, 0x9E3779B1)
XXH_MIX = cython.declare(cython.ulonglong, 0x165667919E3779F9)
XXH_SECRET = cython.declare(
    bytes,
    bytes.fromhex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
        "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
        "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
        "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
        "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
        "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
    ),
)


@cython.cfunc
@cython.exceptval(-1, check=True)
def xxh3_64(p: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.ulonglong:
    """XXH3-64 without a seed, of 17 bytes or more: a message without its checksum has at least 48."""
    secret: cython.p_const_uchar = XXH_SECRET
    end: cython.Py_ssize_t = start + length
    i: cython.Py_ssize_t
    result: cython.ulonglong = length
    result = wrapped(result * XXH_LANE_1)
    if length <= 128:
        for i in range((length - 1) // 32 + 1):
            result += mixed(p, start + 16 * i, secret, 32 * i)
            result += mixed(p, end - 16 * i - 16, secret, 32 * i + 16)
        return avalanche(wrapped(result))
    if length <= 240:
        for i in range(8):
            result += mixed(p, start + 16 * i, secret, 16 * i)
        result = avalanche(wrapped(result))
        for i in range(8, length // 16):
            result += mixed(p, start + 16 * i, secret, 16 * i - 125)
        return avalanche(wrapped(result + mixed(p, end - 16, secret, 119)))
    result += merged_lanes(p, start, length, secret, 0, XXH_LANE_0, XXH_LANE_1)
    result += merged_lanes(p, start, length, secret, 2, XXH_LANE_2, XXH_LANE_3)
    result += merged_lanes(p, start, length, secret, 4, XXH_LANE_4, XXH_LANE_5)
    result += merged_lanes(p, start, length, secret, 6, XXH_LANE_6, XXH_LANE_7)
    return avalanche(wrapped(result))


@cython.cfunc
@cython.exceptval(check=False)
def merged_lanes(
    p: cython.p_const_uchar,
    start: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    secret: cython.p_const_uchar,
    lane: cython.Py_ssize_t,
    even: cython.ulonglong,
    odd: cython.ulonglong,
) -> cython.ulonglong:
    """What two neighbouring lanes of a long input add to its hash: lanes meet only within such a pair.

    The input is a row of stripes of 64 bytes, 8 for each of the eight lanes. After 16 of them the lanes are
    scrambled; the last 64 bytes are one more stripe, whether they overlap the one before or not.
    """
    stripes: cython.Py_ssize_t = (length - 1) // 64
    n: cython.Py_ssize_t
    at: cython.Py_ssize_t = start + 8 * lane
    key_at: cython.Py_ssize_t
    first: cython.ulonglong
    second: cython.ulonglong
    first_key: cython.ulonglong
    second_key: cython.ulonglong
    for n in range(stripes + 1):
        key_at = 8 * (n & 15) + 8 * lane
        if n == stripes:
            at, key_at = start + length - 64 + 8 * lane, 121 + 8 * lane
        first = u64_at(p, at)
        second = u64_at(p, at + 8)
        first_key = first ^ u64_at(secret, key_at)
        second_key = second ^ u64_at(secret, key_at + 8)
        even = wrapped(even + second + (first_key & BITS_32) * (first_key >> 32))
        odd = wrapped(odd + first + (second_key & BITS_32) * (second_key >> 32))
        if n & 15 == 15 and n < stripes:
            even = wrapped((even ^ (even >> 47) ^ u64_at(secret, 128 + 8 * lane)) * XXH_LANE_7)
            odd = wrapped((odd ^ (odd >> 47) ^ u64_at(secret, 136 + 8 * lane)) * XXH_LANE_7)
        at += 64
    return folded_product(even ^ u64_at(secret, 11 + 8 * lane), odd ^ u64_at(secret, 19 + 8 * lane))


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def mixed(
    p: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    secret: cython.p_const_uchar,
    secret_at: cython.Py_ssize_t,
) -> cython.ulonglong:
    return folded_product(
        u64_at(p, at) ^ u64_at(secret, secret_at), u64_at(p, at + 8) ^ u64_at(secret, secret_at + 8)
    )


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def avalanche(number: cython.ulonglong) -> cython.ulonglong:
    number ^= number >> 37
    number = wrapped(number * XXH_MIX)
    return number ^ (number >> 32)


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def folded_product(a: cython.ulonglong, b: cython.ulonglong) -> cython.ulonglong:
    """Both halves of the 128 bits of ``a * b``, one exclusive-or the other."""
    if not cython.compiled:
        return (a * b & 0xFFFFFFFFFFFFFFFF) ^ (a * b >> 64)
    a_low: cython.ulonglong = a & BITS_32
    a_high: cython.ulonglong = a >> 32
    b_low: cython.ulonglong = b & BITS_32
    b_high: cython.ulonglong = b >> 32
    low: cython.ulonglong = a_low * b_low
    cross: cython.ulonglong = (low >> 32) + (a_high * b_low & BITS_32) + a_low * b_high
    high: cython.ulonglong = (a_high * b_low >> 32) + (cross >> 32) + a_high * b_high
    return ((cross << 32) | (low & BITS_32)) ^ high


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def wrapped(number: cython.ulonglong) -> cython.ulonglong:
    """Where C's integers wrap around and Python's grow: hashing wants the wrapping."""
    return number if cython.compiled else number & 0xFFFFFFFFFFFFFFFF
