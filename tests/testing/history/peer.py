"""What a recording client can do through any protocol: acts in, the same acts with what the answer told out.

Topics are named as Kafka names them. A refusal is raised as ``RefusedByDoor``; a connection that ends, as
what the socket raises.
"""

from random import Random
from typing import Protocol

from tests.contract.door import Wire
from trivium.testing.history import Commit, Committed, Poll, Send


class Peer(Protocol):
    wire: Wire

    def send(self, send: Send, choice: Random, /) -> Send:
        """``choice`` decides what the history does not say: acks, compression, keys, headers."""
        ...

    def poll(self, poll: Poll, /) -> Poll: ...
    def store_offset(self, commit: Commit, /) -> None: ...
    def stored_offset(self, committed: Committed, /) -> Committed: ...
