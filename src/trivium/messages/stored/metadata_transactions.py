"""Records that hold the metadata log together: its own transactions, and the beat of an idle controller."""

from trivium.messages.schema import Message, field
from trivium.messages.types import String


class BeginTransactionRecord(Message, key=23, versions="0", flexible="0+"):
    name: String | None = field(default=None, tag=0)


class EndTransactionRecord(Message, key=24, versions="0", flexible="0+"):
    pass


class AbortTransactionRecord(Message, key=25, versions="0", flexible="0+"):
    reason: String | None = field(default=None, tag=0)


class NoOpRecord(Message, key=20, versions="0", flexible="0+"):
    pass
