"""Names of new streams and groups, which a 0.5 client may give a number besides.

    0.5          number u32, 0 for any | name
    0.6 - 0.8    name

Both end with the body, so the length in front of the name tells which one it is. A name has no NUL bytes and
the numbers that clients choose have, so the newer layout is tried first.
"""

from trivium.protocols.iggy.body import Body
from trivium.protocols.iggy.exchange import Call

_NUMBER_BYTES = 4


def read_numbered_name(body: Body, call: Call) -> tuple[str, int | None]:
    """The name, and the number that it shall have if the client has chosen one."""
    if not call.client.dialect.shown_counting(_is_numbered(body.ahead)):
        return body.name(), None
    number = body.u32()
    return body.name(), call.number(number) if number else None


def _is_numbered(ahead: memoryview) -> bool | None:
    """Whether this is the layout of 0.5; None if it is neither."""
    size = len(ahead)
    if size and ahead[0] == size - 1 and 0 not in bytes(ahead[1:]):
        return False
    if size > _NUMBER_BYTES and ahead[_NUMBER_BYTES] == size - _NUMBER_BYTES - 1:
        return True
    return None
