"""UUIDs as people see them: Kafka prints the 16 bytes in URL-safe base64 without padding, 22 characters.

Inside Trivium a UUID is always its 16 raw bytes; this text appears in files (``partition.metadata``,
``meta.properties``), in the console and in the command line.
"""

import base64
import binascii
from typing import Final

from trivium.wire.errors import DecodeError, EncodeError

ZERO_UUID: Final = bytes(16)
"""No UUID: Kafka's way to leave the field empty."""

UUID_TEXT_CHARS: Final = 22


def uuid_to_text(uuid: bytes) -> str:
    if len(uuid) != 16:
        raise EncodeError(f"a UUID has 16 bytes, not {len(uuid)}")
    return base64.urlsafe_b64encode(uuid).decode()[:UUID_TEXT_CHARS]


def uuid_from_text(text: str) -> bytes:
    """Padded text is taken as well, as Kafka takes it: other tools write it."""
    text = text.removesuffix("==")
    if len(text) != UUID_TEXT_CHARS:
        raise DecodeError(f"a UUID is {UUID_TEXT_CHARS} characters of base64, not {len(text)}")
    try:
        uuid = base64.b64decode(text.encode("ascii") + b"==", altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError) as error:
        raise DecodeError(f"{text!r} is not a UUID in base64") from error
    # The last character holds two spare bits: a text that sets them would have a twin.
    if len(uuid) != 16 or uuid_to_text(uuid) != text:
        raise DecodeError(f"{text!r} is not a UUID in base64 as Kafka writes it")
    return uuid
