"""A client and a Kafka session, without a socket between them: frames in, frames out."""

import struct
from typing import Any, TypeVar

from tests.core.fakes import World
from trivium.core.broker import Broker
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request, Response
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession

HERE = Endpoint("broker.example", 9092)
CLIENT_HOST = "10.0.0.7"
CLIENT_ID = "client"
_LENGTH = struct.Struct(">i")
R = TypeVar("R", bound=Response)


class Conversation:
    """One connection. ``ask`` for what is answered at once; ``send`` and ``answers`` for the rest."""

    def __init__(self, protocol: KafkaProtocol) -> None:
        self.session = KafkaSession(protocol, CLIENT_HOST, HERE, lambda: None)
        self._scratch = memoryview(bytearray(1 << 20))
        self._sent: list[tuple[int, int]] = []
        """Key and version of each request that has no answer yet."""
        self._received = bytearray()

    def send(self, request: Request, version: int) -> None:
        frame = encode_request(request, version, len(self._sent), CLIENT_ID)
        self._sent.append((request.API_KEY, version))
        data = _LENGTH.pack(len(frame)) + frame
        self.session.space(self._scratch)[: len(data)] = data
        self.session.received(len(data), self._scratch)

    def answers(self) -> list[Any]:
        """What has come back since the last call, in the order of the requests."""
        for part in self.session.data_to_send():
            self._received += part
        found = []
        while self._received:
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            key, version = self._sent.pop(0)
            _, answer = decode_response(key, version, bytes(self._received[_LENGTH.size : end]))
            del self._received[:end]
            found.append(answer)
        assert self.session._failure is None
        return found

    def ask(self, request: Request, version: int, answer: type[R]) -> R:
        self.send(request, version)
        [only] = self.answers()
        assert isinstance(only, answer)
        return only


def protocol_of(world: World) -> KafkaProtocol:
    """The protocol on a broker made of the routes that were added to the world."""
    return KafkaProtocol(Broker(world.access, [world.routes]))
