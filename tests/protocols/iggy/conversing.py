"""An Iggy session without a socket, on a core made of memory: bytes in, statuses out."""

import struct

from tests.core.inhabited import InhabitedWorld
from trivium.protocols.iggy.client import Endpoint
from trivium.protocols.iggy.protocol import IggyProtocol
from trivium.protocols.iggy.session import IggySession

_HEAD = struct.Struct("<II")


class Conversing:
    def __init__(self, world: InhabitedWorld) -> None:
        protocol = IggyProtocol(world.broker, world.clock, world.timers, now_us=lambda: 0)
        self.session = IggySession(protocol, "10.0.0.7", 1234, Endpoint("broker", 8090), lambda: None)
        self._scratch = memoryview(bytearray(64 << 10))

    def statuses(self, data: bytes) -> list[int]:
        """Of the answers that have come by now."""
        answers = self.answer(data)
        found = []
        while answers:
            status, size_bytes = _HEAD.unpack_from(answers)
            found.append(status)
            answers = answers[_HEAD.size + size_bytes :]
        return found

    def answer(self, data: bytes) -> bytes:
        """All that has come by now."""
        while data:
            space = self.session.space(self._scratch)
            count = min(len(data), len(space))
            space[:count] = data[:count]
            self.session.received(count, self._scratch)
            data = data[count:]
        return b"".join(map(bytes, self.session.data_to_send()))
