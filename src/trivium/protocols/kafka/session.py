"""One Kafka connection as a state machine over bytes; its verbs and its order are those of every
``Conversation`` (mission 001.49).

- A request that cannot be read ends the connection (``DecodeError``), as with Kafka: nothing behind it
  can be trusted. So does one that failed and wants no answer. An unknown version of ApiVersions is
  answered in version 0 instead (KIP-511, mission 001.9).
- What a peer that has gone was waiting for is not encoded.
- Who has to log in does that first (``login``).
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.sasl import SaslStep
from trivium.core.quotas.limits import Budget
from trivium.messages.api import ApiKey, api_name
from trivium.messages.codec import decode, encode, encode_onto
from trivium.messages.header import RequestHeader
from trivium.protocols.certified import certified
from trivium.protocols.conversation import Conversation
from trivium.protocols.kafka.api import Answer, Api, Call, Endpoint, NoAnswer
from trivium.protocols.kafka.apis import api_versions
from trivium.protocols.kafka.login import Login, Sasl
from trivium.protocols.kafka.protocol import KafkaProtocol
from trivium.protocols.kafka.throttling import throttled
from trivium.wire.buffer import Buffer
from trivium.wire.errors import DecodeError
from trivium.wire.framing import KAFKA_LENGTH
from trivium.wire.limits import FRAME_BYTES_MAX_BEFORE_LOGIN
from trivium.wire.receiving import Receiver

_REQUEST_HEAD: Final = struct.Struct(">hhih")
"""API key, version, correlation id, length of the client id: the same in all request headers."""
_HEAD: Final = struct.Struct(">ii")
_TAGGED_HEAD: Final = struct.Struct(">iix")
"""Length and correlation id of an answer, without tagged fields and with none of them."""
_LENGTH_BYTES: Final = 4
_NO_TAGS: Final = 0
_TAGGED_REQUEST_HEADER: Final = 2


_BUDGETS: Final[Mapping[int, Budget]] = {
    ApiKey.PRODUCE: Budget.PRODUCE,
    ApiKey.SHARE_FETCH: Budget.FETCH,
}
"""What is counted by its bytes: of a request that writes, of an answer that is read. The records of a share
group are acquired when they are read, and so not kept back as others are (``Withholding``)."""


class _Answer(Call):
    """One request on its way, and the place of its answer in the queue."""

    __slots__ = (
        "_api",
        "_begun",
        "_correlation_id",
        "_session",
        "frame_bytes",
        "parts",
        "request_bytes",
        "size_bytes",
    )

    def __init__(
        self,
        session: "KafkaSession",
        api: Api,
        version: int,
        correlation_id: int,
        own_bytes: int,
    ) -> None:
        protocol = session.protocol
        self.request = None
        self.version = version
        self.caller = session.caller
        self.protocol = protocol
        self.here = session.here
        self.state = None
        self._session = session
        self._api = api
        self._correlation_id = correlation_id
        self._begun = protocol.meter.begin()
        self.request_bytes = own_bytes
        """Memory that the request has to itself."""
        self.frame_bytes = 0
        self.parts: list[Buffer] | None = None
        self.size_bytes = 0

    @property
    def name(self) -> str:
        return f"{api_name(self._api.key)} v{self.version}"

    def introduce(self, software_name: str, software_version: str) -> None:
        self._session.caller = replace(
            self.caller, software_name=software_name, software_version=software_version
        )

    def fetch_bytes_max(self, asked: int) -> int:
        budgets = self._session.budgets
        if budgets is None or not budgets.are_set:
            return asked
        at_once_max = budgets.at_once_max(self.caller, Budget.FETCH)
        return asked if at_once_max is None else min(asked, at_once_max)

    @property
    def login(self) -> Login | None:
        return self._session.login

    def wait_for_login(self) -> None:
        self._session.pause()

    def login_judged(self, step: SaslStep, reason: str | None) -> None:
        self._session.login_judged(step, reason)

    def reply(self, result: Any) -> None:
        api, session = self._api, self._session
        if session.is_closed:
            return
        try:
            withholding = api.withholding if session.is_budgeted else None
            if withholding is not None and session.withholds(withholding.size_bytes(result)):
                self.give(withholding.empty(self))
                return
            answer: Answer | NoAnswer | None = None if api.form is None else api.form(result, self)
            if answer is None:
                answer = api.to_response(result, self)
            self._leave(answer)
        except Exception as error:  # noqa: BLE001  as ``attempt`` does it, at no cost
            session.failed(self.name, error)

    def conclude(self, answer: Answer | NoAnswer) -> None:
        if not self._session.is_closed:
            self._session.attempt(self, self._leave, answer)

    def _leave(self, answer: Answer | NoAnswer) -> None:
        if isinstance(answer, NoAnswer):
            self._keep_silent(answer)
        else:
            self.give(answer)

    def give(self, answer: Answer) -> None:
        if self._session.is_budgeted:
            answer = self._settled(answer)
        head = _TAGGED_HEAD if self.version >= self._api.tagged_answer_since else _HEAD
        if isinstance(answer, bytes):
            size_bytes = len(answer) + head.size
            self.parts = [head.pack(size_bytes - _LENGTH_BYTES, self._correlation_id) + answer]
            self.protocol.meter.end(self._api.key, self._begun, None)
        else:
            parts: list[Buffer] = [b""]
            encode_onto(parts, answer, self.version)
            size_bytes = sum(map(len, parts)) + head.size
            parts[0] = head.pack(size_bytes - _LENGTH_BYTES, self._correlation_id)
            self.parts = parts
            self.protocol.meter.end(self._api.key, self._begun, answer)
        self.size_bytes = size_bytes
        self._session.answered()

    def _settled(self, answer: Answer) -> Answer:
        """The answer with what the client must wait for it, if it has used more than it may."""
        budget = _BUDGETS.get(self._api.key)
        amount = self.frame_bytes
        if budget is Budget.FETCH and not isinstance(answer, bytes):
            amount = len(encode(answer, self.version))
        wait_ms = self._session.settle(budget, amount)
        return throttled(answer, self._api.key, self.version, wait_ms) if wait_ms else answer

    def _keep_silent(self, answer: NoAnswer) -> None:
        self._session.settle(_BUDGETS.get(self._api.key), self.frame_bytes)
        self.parts = []
        self.protocol.meter.end(self._api.key, self._begun, None)
        self._session.answered()
        if answer is NoAnswer.HANG_UP:
            self._session.hang_up(self)


class _BareAnswer:
    """The same for a message of a SASL mechanism that came without a header, and is answered so."""

    __slots__ = ("_session", "parts", "request_bytes", "size_bytes")
    name: Final = "a login without headers"

    def __init__(self, session: "KafkaSession", own_bytes: int) -> None:
        self._session = session
        self.request_bytes = own_bytes
        self.parts: list[Buffer] | None = None
        self.size_bytes = 0

    def reply(self, step: SaslStep) -> None:
        if not self._session.is_closed:
            self._session.attempt(self, self._give, step)

    def _give(self, step: SaslStep) -> None:
        session = self._session
        assert session.login is not None
        reason = session.login.judged(step)
        session.login_judged(step, reason)
        session.login.lifetime_ms(step, is_known=False)
        answer = b"" if reason is not None else KAFKA_LENGTH.pack(len(step.answer)) + step.answer
        self.parts = [answer]
        self.size_bytes = len(answer)
        session.answered()


class KafkaSession(Conversation[_Answer | _BareAnswer]):
    def __init__(
        self,
        protocol: KafkaProtocol,
        host: str,
        here: Endpoint,
        wake: Callable[[], None],
        *,
        certified_name: str | None = None,
        sasl: Sasl | None = None,
    ) -> None:
        """``certified_name`` is who the peer has shown to be by a certificate; ``DecodeError`` if that user
        may not come in. ``sasl`` is how it may log in here.
        """
        super().__init__(
            Receiver(KAFKA_LENGTH, protocol.frame_bytes_max), protocol.requests_in_flight_max, wake
        )
        self.protocol = protocol
        self.here = here
        """How this client reaches this broker."""
        self.caller = certified(Caller(host=host, presence=self.presence), certified_name, protocol.engine)
        self._client_id = b""
        """The client id of the caller, as it came."""
        self._failed_silently: _Answer | None = None
        self.login = None if sasl is None else Login(sasl, protocol.now_ms)
        self._why_ending: str | None = None
        if sasl is not None and sasl.is_required:
            self._receiver.bytes_max = min(FRAME_BYTES_MAX_BEFORE_LOGIN, protocol.frame_bytes_max)

    # -- logging in ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Begin nothing more: who asks may be somebody else soon."""
        self._requests_in_flight_max = 0

    def login_judged(self, step: SaslStep, reason: str | None) -> None:
        if reason is not None:
            self._why_ending = reason  # and nothing is begun any more
            return
        self._requests_in_flight_max = self.protocol.requests_in_flight_max
        if step.logged_in is not None:
            self.caller = step.logged_in.become(self.caller)
            self._receiver.bytes_max = self.protocol.frame_bytes_max

    def received(self, count: int, scratch: memoryview) -> None:
        super().received(count, scratch)
        self._end_if_over()

    def proceed(self) -> None:
        super().proceed()
        self._end_if_over()

    def _end_if_over(self) -> None:
        if self._why_ending is not None and not self._turns:
            raise DecodeError(self._why_ending)
        failed = self._failed_silently
        if failed is not None and failed not in self._turns:
            raise DecodeError(f"a request failed that wants no answer: {failed.name}")

    def close(self) -> None:
        super().close()
        self._failed_silently = None  # it holds this session in return

    def _begin_bare(self, login: Login, frame: memoryview, own_bytes: int) -> None:
        command = login.judge(bytes(frame))
        if command is None:
            raise DecodeError("a message of a SASL mechanism that nobody waits for")
        answer = _BareAnswer(self, own_bytes)
        self._queue(answer)
        self.pause()
        self.protocol.engine.execute(command, self.caller, answer.reply)

    # -- one request -----------------------------------------------------------------------------

    def hang_up(self, answer: _Answer) -> None:
        """A request has failed whose client can be told in no other way: begin nothing more, and end when all
        that was asked before it has been answered.
        """
        self._failed_silently = answer
        self.pause()
        if not self._is_receiving:
            self._wake()

    def _begin(self, frame: memoryview, own_bytes: int) -> None:
        login = self.login
        if login is not None and login.takes_frames:
            self._begin_bare(login, frame, own_bytes)
            return
        if len(frame) < _REQUEST_HEAD.size:
            raise DecodeError(f"a request of {len(frame)} bytes")
        key, version, correlation_id, client_id_bytes = _REQUEST_HEAD.unpack_from(frame)
        if login is not None and not login.admits(key):
            raise DecodeError(f"API key {key} is asked for before a login")
        api = self.protocol.apis.get(key)
        if api is None:
            raise DecodeError(f"API key {key} is not served here")
        if not api.version_min <= version <= api.version_last:
            if key != ApiKey.API_VERSIONS:
                raise DecodeError(f"{api_name(key)} is not served in version {version}")
            answer = _Answer(self, api, 0, correlation_id, 0)
            self._queue(answer)
            answer.give(api_versions.unsupported())
            return
        at = self._read_client_id(frame, client_id_bytes)
        if version >= api.flexible_since:
            at = _skip_tags(frame, at)
        answer = _Answer(self, api, version, correlation_id, own_bytes)
        answer.frame_bytes = len(frame)
        try:
            self._ask(api, answer, frame, at)
        except DecodeError:
            raise
        except Exception as error:  # noqa: BLE001  as ``attempt`` does it, at no cost
            self.failed(answer.name, error)

    def _ask(self, api: Api, answer: _Answer, frame: memoryview, at: int) -> None:
        command: Command[Any] | Answer | None = None
        if api.shortcut is not None:
            command = api.shortcut(frame, at, answer)
        if command is None:
            answer.request, _ = decode(api.request, answer.version, frame, at)
            self._queue(answer)
            command = api.to_command(answer.request, answer)
        else:
            self._queue(answer)
        if isinstance(command, Command):
            self.protocol.engine.execute(command, self.caller, answer.reply)
        else:
            answer.give(command)

    def _read_client_id(self, frame: memoryview, client_id_bytes: int) -> int:
        """Take note of who asks, nearly always the same as before; the position behind the client id."""
        at = _REQUEST_HEAD.size + max(client_id_bytes, 0)
        if client_id_bytes < -1 or at > len(frame):
            raise DecodeError(f"a client id of {client_id_bytes} bytes")
        if frame[_REQUEST_HEAD.size : at] != self._client_id:
            client_id = bytes(frame[_REQUEST_HEAD.size : at])
            try:
                self.caller = replace(self.caller, client_id=client_id.decode())
            except UnicodeDecodeError as error:
                raise DecodeError("a client id that is not UTF-8") from error
            self._client_id = client_id
        return at


def _skip_tags(frame: memoryview, at: int) -> int:
    """The position behind the tagged fields of a request header; nobody has given any a meaning yet."""
    if at < len(frame) and frame[at] == _NO_TAGS:
        return at + 1
    return decode(RequestHeader, _TAGGED_REQUEST_HEADER, frame)[1]
