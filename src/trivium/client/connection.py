"""One connection to one broker: requests out, answers back in the same order, each with a deadline.

A broker answers the requests of a connection one after the other, so several may be under way (mission
003.1): ``send`` does not wait, ``receive`` gives the oldest answer that is still due. ``call`` does both.

``open_connection`` dials, asks for the broker's versions and logs in; TLS and SASL are ``security``'s.

After an error the stream has lost its beat: the connection closes itself and is of no further use.
"""

import select
import socket
from collections import deque
from collections.abc import Mapping
from contextlib import ExitStack
from ssl import SSLSocket
from typing import Final, NamedTuple, TypeVar, cast

from trivium import __version__
from trivium.client.address import Address
from trivium.client.deadline import Deadline
from trivium.client.errors import ClientError, ConnectionLost, TimedOut, Unreachable
from trivium.client.old_forms import in_version, newest_form
from trivium.client.security import PLAINTEXT, Security
from trivium.client.versions import Versions
from trivium.messages.api import api_name
from trivium.messages.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from trivium.messages.codec import decode
from trivium.messages.errors import ErrorCode
from trivium.messages.extensions import EXTENSIONS_TAG
from trivium.messages.frames import request_parts
from trivium.messages.header import ResponseHeader, response_header_version
from trivium.messages.schema import Request, Response
from trivium.wire.buffer import Buffer
from trivium.wire.cursor import INT16, INT32
from trivium.wire.errors import DecodeError, EncodeError
from trivium.wire.framing import KAFKA_LENGTH, Framer, frame
from trivium.wire.limits import FRAME_BYTES_MAX

R = TypeVar("R", bound=Response)

CONNECT_TIMEOUT_S: Final = 10.0
"""For one address: a host that drops packets must not use up the time for the others."""

_RECEIVE_BYTES: Final = 1 << 18
"""Asked of the socket at once: a quarter of a usual fetch, and cheap to allocate."""

_CORRELATION_ID_MAX: Final = 0x7FFF_FFFF


class _Due(NamedTuple):
    """An answer that has not come yet."""

    correlation_id: int
    asked: Request
    answer: type[Response]
    version: int


class Connection:
    """A connected socket that speaks Kafka's protocol."""

    def __init__(self, sock: socket.socket, address: Address, client_id: str) -> None:
        self.address = address
        self.versions = Versions({})
        self._has_negotiated = False
        self._has_answered = False
        """Whether anything was answered beside the versions, which brokers tell before any login."""
        self._socket = sock
        self._client_id = client_id
        self._framer = Framer(KAFKA_LENGTH, FRAME_BYTES_MAX, _room_for)
        self._due: deque[_Due] = deque()
        self._next_correlation_id = 0

    @property
    def in_flight(self) -> int:
        """How many answers are still due."""
        return len(self._due)

    @property
    def is_closed(self) -> bool:
        return self._socket.fileno() < 0

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def call(self, request: Request, answer: type[R], deadline: Deadline) -> R:
        """The answer to ``request``. Nothing else may be under way."""
        assert not self._due, "answers to earlier requests are still due"
        with ExitStack() as undo:
            undo.callback(self.close)  # Also when a person interrupts: nobody will wait for the answer then.
            self.send(request, answer, deadline)
            received = cast("R", self.receive(deadline))
            undo.pop_all()
        return received

    def send(
        self, request: Request, answer: type[Response] | None, deadline: Deadline, version: int | None = None
    ) -> None:
        """Send a request, its answer to be received later; ``None`` for a request that has none (acks 0)."""
        spoken = self.versions.pick(type(request)) if version is None else version
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & _CORRELATION_ID_MAX
        try:
            parts = request_parts(in_version(request, spoken), spoken, correlation_id, self._client_id)
        except EncodeError as error:
            raise ClientError(f"This cannot be said in Kafka's protocol: {error}.") from error
        self._write(frame(KAFKA_LENGTH, *parts), deadline)
        if answer is not None:
            self._due.append(_Due(correlation_id, request, answer, spoken))

    def receive(self, deadline: Deadline) -> Response:
        """The oldest answer that is due."""
        received = self._frame(deadline)
        due = self._due.popleft()
        try:
            answer = self._decode(received, due)
        except DecodeError as error:
            self.close()
            raise ConnectionLost(
                f"The answer of {self.address} to {api_name(due.asked.API_KEY)} makes no sense: {error}."
            ) from error
        self._has_answered = self._has_negotiated
        return answer

    def wait(self, timeout_s: float) -> bool:
        """Whether something has arrived, after at most this long."""
        if self.is_closed:
            return True
        if self._framer.buffered_bytes or self._decrypted_bytes():
            return True
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))

    def _decrypted_bytes(self) -> int:
        """What TLS has for us already, of which the socket knows nothing."""
        return self._socket.pending() if isinstance(self._socket, SSLSocket) else 0

    def negotiate(self, deadline: Deadline) -> None:
        """Learn which versions the broker speaks. If it does not know ours it answers in 0 (KIP-511). One of
        our own says which extensions it has; others pass over the question.
        """
        request = ApiVersionsRequest(client_software_name="trivium", client_software_version=__version__)
        request.unknown_tags = {EXTENSIONS_TAG: b""}
        version = ApiVersionsRequest.VERSIONS.last
        self.send(request, ApiVersionsResponse, deadline, version)
        received = self._frame(deadline)
        due = self._due.popleft()
        try:
            if _is_unsupported_version(received):
                offered = cast("ApiVersionsResponse", self._decode(received, due._replace(version=0)))
                common = Versions.of(offered).pick(ApiVersionsRequest) if offered.api_keys else 0
                self.send(request, ApiVersionsResponse, deadline, common)
                answer = cast("ApiVersionsResponse", self.receive(deadline))
            else:
                answer = cast("ApiVersionsResponse", self._decode(received, due))
        except DecodeError as error:
            self.close()
            raise _not_kafka(self.address, error) from error
        if answer.error_code:
            self.close()
            raise ConnectionLost(f"{self.address} does not say which versions it speaks.")
        self.versions = Versions.of(answer)
        self._has_negotiated = True

    def _decode(self, received: Buffer, due: _Due) -> Response:
        header_version = response_header_version(due.answer, due.version)
        header, position = decode(ResponseHeader, header_version, received)
        if header.correlation_id != due.correlation_id:
            raise DecodeError(f"it belongs to request {header.correlation_id}, not {due.correlation_id}")
        answer, _ = decode(due.answer, due.version, received, position)
        return newest_form(due.asked, answer, due.version)

    def _write(self, data: bytes, deadline: Deadline) -> None:
        try:
            self._socket.settimeout(_timeout_s(deadline))
            self._socket.sendall(data)
        except TimeoutError as error:
            self.close()
            raise TimedOut(f"{self.address} takes no more requests; it is overloaded, or gone.") from error
        except OSError as error:
            raise self._lost(error) from error

    def _receive_some(self) -> int:
        """How many bytes have come; 0 when the broker has closed the connection."""
        room = self._framer.room()
        if room is None:
            data = self._socket.recv(_RECEIVE_BYTES)
            self._framer.feed(data)
            return len(data)
        size_bytes = self._socket.recv_into(room)
        self._framer.filled(size_bytes)
        return size_bytes

    def _frame(self, deadline: Deadline) -> Buffer:
        """The next whole frame."""
        try:
            while (received := self._framer.next_frame()) is None:
                self._socket.settimeout(_timeout_s(deadline))
                if not self._receive_some():
                    raise ConnectionResetError("closed")
        except TimeoutError as error:
            self.close()
            raise TimedOut(f"{self.address} does not answer in time; it is overloaded, or gone.") from error
        except OSError as error:
            raise self._lost(error) from error
        except DecodeError as error:
            self.close()
            raise _not_kafka(self.address, error) from error
        return received

    def _lost(self, error: OSError) -> ClientError:
        self.close()
        ended = f"The connection to {self.address} ended: {error.strerror or 'the broker closed it'}"
        if self._has_answered:
            return ConnectionLost(f"{ended}.")
        if self._has_negotiated:
            return ConnectionLost(f"{ended} without an answer. Perhaps it wants a login (--user).")
        return ConnectionLost(f"{ended} before it said a word; check the port, and whether it wants TLS.")


def open_connection(
    address: Address, client_id: str, deadline: Deadline, security: Security = PLAINTEXT
) -> Connection:
    """A connection that knows the broker's versions, and whose broker knows who this is."""
    connection = Connection(security.wrap(_dial(address, deadline), address), address, client_id)
    try:
        connection.negotiate(deadline)
        security.log_in(connection, deadline)
    except ClientError:
        connection.close()
        raise
    return connection


def arrived(connections: Mapping[int, Connection], wait_s: float) -> list[int]:
    """On which of these connections something has arrived, after at most ``wait_s``."""
    there = [number for number, connection in connections.items() if connection.wait(0)]
    if not there and wait_s > 0 and connections:
        poll = select.poll()
        for connection in connections.values():
            poll.register(connection.fileno(), select.POLLIN)
        poll.poll(wait_s * 1000)
        there = [number for number, connection in connections.items() if connection.wait(0)]
    return there


def _dial(address: Address, deadline: Deadline) -> socket.socket:
    try:
        sock = socket.create_connection(address, _timeout_s(deadline.within(CONNECT_TIMEOUT_S)))
    except ConnectionRefusedError as error:
        raise Unreachable(
            f"Nothing listens at {address}; start a broker with 'trivium serve', or name another by --broker."
        ) from error
    except socket.gaierror as error:
        raise Unreachable(
            f"The host {address.host} is not known: {error.strerror}; check its name."
        ) from error
    except TimeoutError as error:
        raise Unreachable(f"{address} does not answer; check the address and the network between.") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable(
            f"{address} cannot be reached: {getattr(error, 'strerror', None) or error}."
        ) from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)  # finds peers that vanished (mission 003.2)
    return sock


def _room_for(size_bytes: int) -> bytearray:
    """For a large answer. Who never gets one, as most commands, does not wait for the kernel to be loaded."""
    from trivium.records.kernel import room_for

    return room_for(size_bytes)


def _timeout_s(deadline: Deadline) -> float:
    """For a socket, to which 0 would mean not to wait at all, and to say so by another error."""
    return max(deadline.remaining_s, 0.001)


def _is_unsupported_version(received: Buffer) -> bool:
    """Whether the answer to ApiVersions is the one in version 0 that only says so."""
    if len(received) < INT32.size + INT16.size:
        return False
    code: int = INT16.unpack_from(received, INT32.size)[0]
    return code == ErrorCode.UNSUPPORTED_VERSION


def _not_kafka(address: Address, error: DecodeError) -> ConnectionLost:
    return ConnectionLost(
        f"What {address} sends is not Kafka's protocol ({error}); check the port, and whether it wants TLS."
    )
