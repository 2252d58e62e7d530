"""A broker that says what a test tells it to: a listener on loopback with an answer for each kind of request.

An answer is a response, a function of the request that gives one, or one of the accidents below. A list is
used up one by one, its last answer for ever. What was asked is kept in ``requests``.
"""

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any, TypeVar

from trivium.client.address import Address
from trivium.messages.api import ApiKey, request_class
from trivium.messages.api.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.api.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from trivium.messages.errors import ErrorCode
from trivium.messages.frames import decode_request, encode_response
from trivium.messages.schema import Request, Response
from trivium.messages.version_range import VersionRange
from trivium.wire.framing import KAFKA_LENGTH, Framer, frame
from trivium.wire.limits import FRAME_BYTES_MAX

Q = TypeVar("Q", bound=Request)


class Accident(Enum):
    HANG_UP = auto()
    """The connection ends without an answer."""

    SILENCE = auto()
    """No answer, and the connection stays."""


Answer = Response | Accident | bytes | Callable[[Any], "Response | Accident | bytes"]


class ScriptedBroker:
    """``answers`` by request class: what it has answers for it advertises, in all versions or those given."""

    def __init__(
        self,
        answers: Mapping[type[Request], Answer | list[Answer]],
        *,
        versions: Mapping[type[Request], VersionRange] | None = None,
        node_id: int = 1,
        chunk_bytes: int | None = None,
    ) -> None:
        self.node_id = node_id
        self.requests: list[Request] = []
        self.versions: list[int] = []
        self.connections = 0
        self._offered = dict(versions or {})
        self._answers: dict[type[Request], list[Answer]] = {
            ApiVersionsRequest: [self._api_versions],
            **{kind: answer if isinstance(answer, list) else [answer] for kind, answer in answers.items()},
        }
        self._chunk_bytes = chunk_bytes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> Address:
        host, port = self._listener.getsockname()
        return Address(host, port)

    @property
    def bootstrap(self) -> str:
        return str(self.address)

    def __enter__(self) -> "ScriptedBroker":
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listener, *self._open):
            # Closing alone would not wake the threads that wait on them.
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def asked(self, kind: type[Q]) -> list[Q]:
        """The requests of this kind, in the order of their arrival."""
        return [request for request in self.requests if isinstance(request, kind)]

    def answer(self, kind: type[Request], *answers: Answer) -> None:
        """From now on."""
        with self._lock:
            self._answers[kind] = list(answers)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX)
        with connection:
            while True:
                try:
                    data = connection.recv(1 << 16)
                    if not data:
                        return
                    framer.feed(data)
                    for received in framer.frames():
                        if not self._reply(connection, received):
                            return
                except OSError:
                    return

    def _reply(self, connection: socket.socket, received: bytes | bytearray) -> bool:
        header, request = decode_request(received)
        with self._lock:
            self.requests.append(request)
            self.versions.append(header.request_api_version)
            waiting = self._answers[type(request)]
            answer = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if not isinstance(answer, Response | Accident | bytes):
            answer = answer(request)
        if answer is Accident.HANG_UP:
            return False
        if answer is Accident.SILENCE:
            return True
        if isinstance(answer, Response):
            encoded = encode_response(answer, header.request_api_version, header.correlation_id)
            answer = frame(KAFKA_LENGTH, encoded)
        assert isinstance(answer, bytes)
        step = self._chunk_bytes or len(answer)
        for at in range(0, len(answer), step):
            connection.sendall(answer[at : at + step])
        return True

    def _api_versions(self, request: ApiVersionsRequest) -> ApiVersionsResponse:
        offered = {**{kind: kind.VERSIONS for kind in self._answers}, **self._offered}
        return ApiVersionsResponse(
            error_code=0,
            api_keys=[
                ApiVersion(api_key=kind.API_KEY, min_version=versions.first, max_version=versions.last)
                for kind, versions in offered.items()
            ],
        )


def describing(
    *brokers: ScriptedBroker, leaders: Mapping[str, list[int]] | None = None
) -> Callable[[MetadataRequest], MetadataResponse]:
    """An answer to Metadata: these brokers, and for each topic who leads its partitions (-1: nobody).

    The mapping may be changed afterwards: it is looked at for every answer.
    """
    topics: Mapping[str, list[int]] = {} if leaders is None else leaders

    def answer(request: MetadataRequest) -> MetadataResponse:
        wanted = list(topics) if request.topics is None else [each.name or "" for each in request.topics]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=each.node_id, host=each.address.host, port=each.address.port)
                for each in brokers
            ],
            cluster_id="scripted",
            controller_id=brokers[0].node_id,
            topics=[_described(name, topics.get(name)) for name in wanted],
        )

    return answer


def topic_id_of(name: str) -> bytes:
    return name.encode().ljust(16, b".")[:16]


def _described(name: str, leaders: list[int] | None) -> MetadataResponseTopic:
    if leaders is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return MetadataResponseTopic(error_code=code, name=name, partitions=[])
    return MetadataResponseTopic(
        error_code=0,
        name=name,
        topic_id=topic_id_of(name),
        partitions=[
            MetadataResponsePartition(
                error_code=0 if leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                partition_index=index,
                leader_id=leader,
                leader_epoch=0,
                replica_nodes=[leader],
                isr_nodes=[leader],
            )
            for index, leader in enumerate(leaders)
        ],
    )


def all_requests() -> list[type[Request]]:
    return [request_class(key) for key in ApiKey]
