"""The form of a dialect: how RustLog's requests and responses are spelled inside of a frame."""

from typing import Protocol

from trivium.protocols.rustlog.messages import Request, Response
from trivium.wire.buffer import Buffer


class Dialect(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def tells_offsets(self) -> bool:
        """Whether each fetched record comes with its offset. Else they are counted back from
        ``next_offset``, and an answer must end where offsets have a gap.
        """
        ...

    @property
    def record_bytes_max(self) -> int:
        """What a fetched record takes in an answer besides its payload, at most."""
        ...

    @property
    def byte_bytes_max(self) -> int:
        """What a byte of payload takes there, at most."""
        ...

    def read(self, body: memoryview) -> Request:
        """``Unreadable`` for whatever cannot be read. Nothing of the result lies in ``body``."""
        ...

    def write(self, response: Response) -> Buffer: ...
