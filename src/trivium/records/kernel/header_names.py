"""The headers that carry what only one side has: which names they bear, and which others are free.

A record has headers for what only Iggy has, a message has user headers for what only Kafka has (what becomes
of what: docs/one-truth.md). Both directions ask here whether a name is such a one.
"""

from __future__ import annotations

from trivium.records.kernel import cython
from trivium.records.kernel.text import begins, equals, is_text
from trivium.records.message import KIND_BYTES, LONG_HEADER_BYTES, Kind
from trivium.wire.limits import IGGY_HEADER_FIELD_BYTES_MAX

# What other modules define are Python's numbers; compared with for every header, these are C's.
LONG_HEAD = cython.declare(cython.longlong, LONG_HEADER_BYTES)
"""The size of a message's header from which on the keys of user headers have kinds."""
FIELD_BYTES_MAX = cython.declare(cython.longlong, IGGY_HEADER_FIELD_BYTES_MAX)
RAW = cython.declare(cython.longlong, Kind.RAW.value)
STRING = cython.declare(cython.longlong, Kind.STRING.value)
BOOL = cython.declare(cython.longlong, Kind.BOOL.value)
NATURAL_BYTES = cython.declare(bytes, KIND_BYTES)

# Headers of a record for what only Iggy has.
IGGY_PREFIX = cython.declare(bytes, b"iggy.")
ID = cython.declare(bytes, b"iggy.id")
ORIGIN = cython.declare(bytes, b"iggy.origin")
MICROSECONDS = cython.declare(bytes, b"iggy.us")
TYPES = cython.declare(bytes, b"iggy.types")
ESCAPE = cython.declare(bytes, b"iggy.key.")

# User headers of a message for what only Kafka has.
KAFKA_PREFIX = cython.declare(bytes, b"kafka.")
KEY = cython.declare(bytes, b"kafka.key")
KEY_PIECE = cython.declare(bytes, b"kafka.key.")
EMPTY_KEY = cython.declare(bytes, b"kafka.key.empty")
REST = cython.declare(bytes, b"kafka.headers")
REST_PIECE = cython.declare(bytes, b"kafka.headers.")
TOMBSTONE = cython.declare(bytes, b"kafka.tombstone")
YES = cython.declare(bytes, b"\x01")

PLAIN_TYPE = cython.declare(cython.longlong, Kind.STRING << 4 | Kind.RAW)
"""Key and value of a user header about which ``iggy.types`` says nothing."""


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def is_kafkas_own(p: cython.p_const_uchar, at: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.bint:
    """Whether a name is one under which Iggy's clients are shown what Iggy has no place for."""
    return begins(p, at, length, KAFKA_PREFIX) and (
        equals(p, at, length, TOMBSTONE)
        or equals(p, at, length, KEY)
        or begins(p, at, length, KEY_PIECE)
        or equals(p, at, length, REST)
        or begins(p, at, length, REST_PIECE)
    )


@cython.cfunc
@cython.exceptval(-1, check=True)
def is_plain(
    p: cython.p_const_uchar,
    name_at: cython.Py_ssize_t,
    name_length: cython.Py_ssize_t,
    value_length: cython.Py_ssize_t,
) -> cython.bint:
    """Whether a record's header is a user header as it stands."""
    return (
        1 <= name_length <= FIELD_BYTES_MAX
        and 1 <= value_length <= FIELD_BYTES_MAX
        and not begins(p, name_at, name_length, IGGY_PREFIX)
        and not is_kafkas_own(p, name_at, name_length)
        and is_text(p, name_at, name_length)
    )


@cython.cfunc
@cython.inline
@cython.exceptval(-1, check=True)
def fits(kind: cython.longlong, length: cython.longlong) -> cython.bint:
    """Whether a key or a value of this kind may have this many bytes."""
    sizes: cython.p_const_uchar = NATURAL_BYTES
    if not 1 <= kind <= 15 or not 1 <= length <= FIELD_BYTES_MAX:
        return False
    size_bytes: cython.longlong = sizes[kind]
    return size_bytes in (0, length)
