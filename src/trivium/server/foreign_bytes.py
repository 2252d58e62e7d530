"""What somebody may have connected with who was not meant to: told from the first bytes, for the log."""

from typing import Final

_FOREIGN: Final = (
    (b"\x16\x03", "a TLS handshake; this port speaks plaintext"),
    (b"GET ", "an HTTP request"),
    (b"POST", "an HTTP request"),
    (b"HEAD", "an HTTP request"),
    (b"PUT ", "an HTTP request"),
    (b"OPTI", "an HTTP request"),
    (b"PRI ", "an HTTP/2 request"),
    (b"SSH-", "an SSH client"),
)


def looks_like(first_bytes: bytes) -> str | None:
    """What somebody may have connected with who was not meant to."""
    return next((what for start, what in _FOREIGN if first_bytes.startswith(start)), None)
