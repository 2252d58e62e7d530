"""What a decoder may raise: ``DecodeError``, and nothing else, whatever the bytes."""


class DecodeError(ValueError):
    """The bytes are not what they claim to be. The message says what was expected, and where."""


class EncodeError(ValueError):
    """A value has no place on the wire: too long, out of range, or unknown to that version."""
