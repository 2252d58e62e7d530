"""Frames in, frames out: a session over the administration of a broker, on logs in memory."""

import struct
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from tests.core.fakes import World
from trivium.core.access import Access
from trivium.core.broker import Broker
from trivium.core.cluster_facts import ClusterFacts
from trivium.core.configs import Configs
from trivium.core.log_directories import LogDirectories
from trivium.core.placement import Placement
from trivium.core.topic_creation import TopicCreation
from trivium.core.topic_deletion import TopicDeletion
from trivium.core.topics import TopicDirectory
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.apis import APIS
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.server.loggers import PythonLoggers

HERE = Endpoint("broker.example", 9092)
_LENGTH = struct.Struct(">i")


class Administrator:
    """``ask`` is answered as over a connection. ``world`` is what lies behind."""

    def __init__(self, access: Access | None = None, static: Mapping[str, str] | None = None) -> None:
        self.world = world = World(static)
        cluster, settings, rights = world.cluster, world.settings, access or world.access
        creation = TopicCreation(cluster, settings, rights, _ids(), world.timers)
        broker = Broker(
            rights,
            [
                creation.routes,
                TopicDirectory(cluster, settings, rights, creation).routes,
                TopicDeletion(cluster, settings, rights, world.timers).routes,
                Configs(cluster, settings, rights, PythonLoggers()).routes,
                Placement(cluster).routes,
                LogDirectories(cluster, settings).routes,
                ClusterFacts(cluster, settings, rights).routes,
            ],
        )
        self._session = KafkaSession(KafkaProtocol(broker), "127.0.0.1", HERE, lambda: None)
        self._correlation_id = 0

    def ask(self, request: Request, version: int) -> Any:
        self._correlation_id += 1
        frame = encode_request(request, version, self._correlation_id, "administrator")
        self.send(_LENGTH.pack(len(frame)) + frame)
        answer = b"".join(self._session.data_to_send())
        (size,) = _LENGTH.unpack_from(answer)
        assert size == len(answer) - _LENGTH.size
        header, response = decode_response(request.API_KEY, version, answer[_LENGTH.size :])
        assert header.correlation_id == self._correlation_id
        return response

    def send(self, data: bytes) -> None:
        scratch = memoryview(bytearray(1 << 16))
        while data:
            space = self._session.space(scratch)
            count = min(len(space), len(data))
            space[:count] = data[:count]
            self._session.received(count, scratch)
            data = data[count:]


def versions(request: type[Request]) -> range:
    """All versions that are served of a request's API."""
    api = APIS[request.API_KEY]
    return range(api.version_min, api.version_last + 1)


def _ids() -> Callable[[], bytes]:
    numbers = count(1)
    return lambda: next(numbers).to_bytes(16, "big")
