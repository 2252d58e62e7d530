"""XXH3-64, the checksum of Iggy's messages, as its specification gives it: numbers, secret and steps."""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.integers import BITS_32, u64_at, wrapped

if cython.compiled:
    from cython.cimports.libc.string import memcpy
    from cython.cimports.trivium.records.kernel.machine import (
        MULTIPLIES_LANES,
        PY_LITTLE_ENDIAN,
        EightLanes,
        add_stripes,
        folded_128_bits,
    )

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
    return avalanche(wrapped(result + merged_lanes(p, start, length, secret)))


@cython.cfunc
@cython.exceptval(check=False)
def merged_lanes(
    p: cython.p_const_uchar, start: cython.Py_ssize_t, length: cython.Py_ssize_t, secret: cython.p_const_uchar
) -> cython.ulonglong:
    """What a long input adds to its hash.

    It is a row of stripes of 64 bytes, 8 for each of the eight lanes. After 16 of them the lanes are
    scrambled; the last 64 bytes are one more stripe, whether they overlap the one before or not.
    """
    products: EightLanes = [
        XXH_LANE_0,
        XXH_LANE_1,
        XXH_LANE_2,
        XXH_LANE_3,
        XXH_LANE_4,
        XXH_LANE_5,
        XXH_LANE_6,
        XXH_LANE_7,
    ]
    sums: EightLanes = [0, 0, 0, 0, 0, 0, 0, 0]
    stripes: cython.Py_ssize_t = (length - 1) // 64
    at: cython.Py_ssize_t = start
    i: cython.Py_ssize_t
    result: cython.ulonglong = 0
    while stripes >= 16:
        take_stripes(products, sums, p, at, 16, secret, 0)
        scramble(products, sums, secret)
        at += 16 * 64
        stripes -= 16
    take_stripes(products, sums, p, at, stripes, secret, 0)
    take_stripes(products, sums, p, start + length - 64, 1, secret, 121)
    for i in range(0, 8, 2):
        result += folded_product(
            wrapped(products[i] + sums[i + 1]) ^ u64_at(secret, 11 + 8 * i),
            wrapped(products[i + 1] + sums[i]) ^ u64_at(secret, 19 + 8 * i),
        )
    return wrapped(result)


@cython.cfunc
@cython.exceptval(check=False)
def take_stripes(
    all_products: cython.p_ulonglong,
    all_sums: cython.p_ulonglong,
    p: cython.p_const_uchar,
    at: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    secret: cython.p_const_uchar,
    secret_at: cython.Py_ssize_t,
) -> cython.void:
    """Add stripes to the lanes, each with a key that lies 8 bytes after the one before.

    To a lane goes a product of its own bytes, and its neighbour's bytes as they are. The two are added up
    apart, in arrays that nothing else points to: so several lanes can be done at a time.
    """
    if cython.compiled and MULTIPLIES_LANES:
        add_stripes(all_products, all_sums, p + at, secret + secret_at, count)
        return
    products: EightLanes = [0, 0, 0, 0, 0, 0, 0, 0]
    sums: EightLanes = [0, 0, 0, 0, 0, 0, 0, 0]
    stripe: EightLanes = [0, 0, 0, 0, 0, 0, 0, 0]
    keys: EightLanes = [0, 0, 0, 0, 0, 0, 0, 0]
    key: cython.ulonglong
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for i in range(8):
        products[i] = all_products[i]
        sums[i] = all_sums[i]
    for n in range(count):
        if cython.compiled and PY_LITTLE_ENDIAN:
            memcpy(stripe, p + at + 64 * n, 64)
            memcpy(keys, secret + secret_at + 8 * n, 64)
        else:
            for i in range(8):
                stripe[i] = u64_at(p, at + 64 * n + 8 * i)
                keys[i] = u64_at(secret, secret_at + 8 * n + 8 * i)
        for i in range(8):
            key = stripe[i] ^ keys[i]
            sums[i] = wrapped(sums[i] + stripe[i])
            products[i] = wrapped(products[i] + (key & BITS_32) * (key >> 32))
    for i in range(8):
        all_products[i] = products[i]
        all_sums[i] = sums[i]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def scramble(
    products: cython.p_ulonglong, sums: cython.p_ulonglong, secret: cython.p_const_uchar
) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(8):
        products[i] = wrapped(products[i] + sums[i ^ 1])
        products[i] ^= (products[i] >> 47) ^ u64_at(secret, 128 + 8 * i)
        products[i] = wrapped(products[i] * XXH_LANE_7)
    for i in range(8):
        sums[i] = 0


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
    folded: cython.ulonglong = folded_128_bits(a, b)
    return folded
