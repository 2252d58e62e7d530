"""One of the two servers in one play: its connections, what it has given out, and what it has answered."""

import struct
from typing import Any

from tests.interop.iggy.dialogues.allowed import CLOSED, LOGINS, WAITS
from tests.interop.iggy.dialogues.bodies import Writer
from tests.interop.iggy.dialogues.plain import plain
from tests.interop.iggy.dialogues.server import Server
from tests.interop.iggy.dialogues.step import Step
from tests.interop.iggy.dialogues.values import Moment
from tests.protocols.iggy.answers import read_answer
from tests.protocols.iggy.raw_client import RawClient

ANSWER_SECONDS = 5
"""What has not been answered by then never is."""
UNKNOWN = 4_000_000_000
"""The number of what is not there."""
GETS = {"stream": 200, "topic": 300, "group": 600, "user": 31}
GET_ME = 20


class Side:
    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: dict[int, RawClient] = {}
        self._logins: dict[int, Step] = {}
        """What each connection has last logged in with."""
        self._moments: set[int] = set()
        self._tokens: dict[str, str] = {}

    def close(self) -> None:
        for each in self._open.values():
            each.close()

    def ask(self, step: Step) -> Any:
        """The plain answer, or ``WAITS``, or ``CLOSED``."""
        body = step.damage.done_to(Writer(self).body(step.command, step.values))
        code = step.command.code if step.damage.code is None else step.damage.code
        client = self._client(step.peer)
        try:
            status, payload = client.ask(code, body)
        except TimeoutError:
            self._forget(step.peer)
            return WAITS
        except ConnectionError:
            self._forget(step.peer)
            return CLOSED
        if status:
            return {"code": status}
        fields = read_answer(code, payload, client.header_bytes)
        self._learn(step, fields)
        return {"code": 0, **plain(step.name, fields)}

    def begin_anew(self, peer: int) -> None:
        """On another connection, as the user that was there."""
        self._forget(peer)
        if peer in self._logins:
            self.ask(self._logins[peer])

    def _client(self, peer: int) -> RawClient:
        if peer not in self._open:
            self._open[peer] = RawClient(self._server.address)
            self._open[peer].socket.settimeout(ANSWER_SECONDS)
        return self._open[peer]

    def _forget(self, peer: int) -> None:
        if peer in self._open:
            self._open.pop(peer).close()

    def _learn(self, step: Step, fields: Any) -> None:
        if step.name in LOGINS:
            self._logins[step.peer] = step
        if step.name == "CREATE_TOKEN":
            self._tokens[step.values["name"]] = fields["token"]
        if step.name == "POLL_MESSAGES":
            self._moments |= {each["timestamp"] for each in fields["messages"]}

    # -- what stands for it in a step (``bodies.Known``) ---------------------------------------------

    def number(self, kind: str, name: str, place: bytes) -> int:
        body = place + b"\x02" + struct.pack("<B", len(name.encode())) + name.encode()
        status, payload = self._server.ask(GETS[kind], body)
        return int(read_answer(GETS[kind], payload, 0)["id"]) if payload and not status else UNKNOWN  # type: ignore[index]

    def moment(self, moment: Moment) -> int:
        """Counted from the first on; of a play that has polled nothing, one long ago."""
        told = sorted(self._moments)
        return (told[moment.number % len(told)] if told else 1) + moment.later_us

    def token(self, name: str) -> str:
        return self._tokens.get(name, "unknown")

    def client(self, peer: int) -> int:
        status, payload = self._client(peer).ask(GET_ME)
        return int(struct.unpack_from("<I", payload)[0]) if not status else UNKNOWN
