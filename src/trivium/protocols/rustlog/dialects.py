"""Which dialect a frame is in, told by its first byte: any mixture may come on one connection.

    { [ " and white space     JSON
    80-8f, de, df             MessagePack: a map
    01-09, 0b, ff             the binary form of RustLog's own broker, and our login in it

What begins like none of them is answered in the dialect that the peer has spoken last; before it has spoken
any, in JSON, which the document has.
"""

from types import MappingProxyType
from typing import Final

from trivium.protocols.rustlog import binary_dialect, json_dialect, msgpack_dialect
from trivium.protocols.rustlog.dialect import Dialect

FIRST_SPOKEN: Final[Dialect] = json_dialect

_TAB: Final = 0x09
"""White space to JSON, a request of one byte in the binary form."""

_BY_FIRST_BYTE: Final = MappingProxyType(
    dict.fromkeys(b'{[" \n\r', json_dialect)
    | dict.fromkeys((*range(0x80, 0x90), 0xDE, 0xDF), msgpack_dialect)
    | dict.fromkeys(binary_dialect.TYPES, binary_dialect)
)


def dialect_of(body: memoryview) -> Dialect | None:
    """None if the frame begins like nothing that is spoken here."""
    if not body:
        return None
    if body[0] == _TAB and len(body) > 1:
        return json_dialect
    found: Dialect | None = _BY_FIRST_BYTE.get(body[0])
    return found
