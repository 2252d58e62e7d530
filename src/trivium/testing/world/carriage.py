"""How requests get from a link into the broker, and answers back: as bytes, or as they are.

``Bytes`` is the whole way of a real client: frames, the Kafka session, both codecs. ``Messages`` leaves out
what has proofs of its own (``tests/messages``, ``tests/protocols``), a quarter of the work: a request is
handed to its API as a message, and so is the answer. A seed gives the same history either way; one in
``BYTES_EVERY`` goes by bytes.

Answers leave in the order of their requests, as with every ``Conversation``.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.messages.frames import decode_response, encode_request
from trivium.messages.schema import Request, Response
from trivium.protocols.kafka.api import Answer, Api, Call, Endpoint, NoAnswer
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.session import KafkaSession
from trivium.wire.cursor import INT32

HERE: Final = Endpoint("broker", 9092)
HOST: Final = "client"
BYTES_EVERY: Final = 7
"""Prime to all that profiles choose by their seed."""
FRAME_BYTES_MAX: Final = 1 << 20
_SCRATCH: Final = memoryview(bytearray(FRAME_BYTES_MAX))
"""Where all sessions receive, as all connections of a node do."""


class Carriage(Protocol):
    """One connection as the broker sees it."""

    def receive(self, request: Request, version: int) -> None:
        """``DecodeError``: the connection is over."""
        ...

    def take_answers(self) -> Sequence[Response]:
        """What is ready to leave."""
        ...

    def close(self) -> None:
        """The client has gone."""
        ...


NewCarriage = Callable[[KafkaProtocol, str, Callable[[], None]], Carriage]
"""For a client of this id; calls back when answers come up later than their requests."""


class Bytes:
    def __init__(self, protocol: KafkaProtocol, client_id: str, wake: Callable[[], None]) -> None:
        self._client_id = client_id
        self._session = KafkaSession(protocol, HOST, HERE, wake)

        self._asked: deque[tuple[int, int]] = deque()

    def receive(self, request: Request, version: int) -> None:
        self._asked.append((request.API_KEY, version))
        frame = encode_request(request, version, 0, self._client_id)
        data, session = INT32.pack(len(frame)) + frame, self._session
        session.space(_SCRATCH)[: len(data)] = data
        session.received(len(data), _SCRATCH)

    def take_answers(self) -> list[Response]:
        data, at, answers = b"".join(self._session.data_to_send()), 0, []
        while at < len(data):
            begin = at + INT32.size
            at = begin + INT32.unpack_from(data, at)[0]
            answers.append(decode_response(*self._asked.popleft(), data[begin:at])[1])
        self._session.proceed()  # raises what has failed since then
        return answers

    def close(self) -> None:
        self._session.close()


class Messages:
    def __init__(self, protocol: KafkaProtocol, client_id: str, wake: Callable[[], None]) -> None:
        self.protocol = protocol
        self.caller = Caller(host=HOST, client_id=client_id)
        self._wake = wake
        self._turns: deque[_Turn] = deque()
        self._ready: list[Response] = []
        self._is_receiving = False
        self.is_closed = False

    def receive(self, request: Request, version: int) -> None:
        api = self.protocol.apis[request.API_KEY]
        turn = _Turn(self, api, request, version)
        self._turns.append(turn)
        self._is_receiving = True
        command = api.to_command(request, turn)
        if isinstance(command, Command):
            self.protocol.engine.execute(command, self.caller, turn.reply)
        else:
            turn.give(command)
        self._is_receiving = False

    def answered(self) -> None:
        turns = self._turns
        while turns and (answer := turns[0].answer) is not None:
            self._ready.append(answer)
            turns.popleft()
        if self._ready and not self._is_receiving:
            self._wake()

    def take_answers(self) -> list[Response]:
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        self.is_closed = True
        self.caller.presence.leave()
        self._turns.clear()
        self._ready.clear()


class _Turn(Call):
    """One request on its way, and the place of its answer in the queue."""

    __slots__ = ("_api", "_carriage", "answer")

    def __init__(self, carriage: Messages, api: Api, request: Request, version: int) -> None:
        self.request = request
        self.version = version
        self.caller = carriage.caller
        self.protocol = carriage.protocol
        self.here = HERE
        self.state = None
        self._carriage = carriage
        self._api = api
        self.answer: Response | None = None

    def reply(self, result: Any) -> None:
        if not self._carriage.is_closed:
            answer = self._api.to_response(result, self)
            assert not isinstance(answer, NoAnswer), "clients of a world want answers"
            self.give(answer)

    def give(self, answer: Answer) -> None:
        assert not isinstance(answer, bytes), "bytes are the commonest answers, and have a message, too"
        self.answer = answer
        self._carriage.answered()
