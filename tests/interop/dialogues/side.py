"""One of the two brokers in one play: its connections, its stand-ins, and what it has answered."""

import select
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

from tests.interop.dialogues.allowed import CLOSED, SILENT, WAITS
from tests.interop.dialogues.plain import plain
from tests.interop.dialogues.stand_ins import StandIns
from tests.interop.dialogues.step import Step
from tests.server.wire import Peer

from trivium.messages.api import ApiKey
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.frames import decode_response, encode_request

ANSWER_SECONDS = 10
"""What is asked without anybody to wait for is answered by then."""
WAITING_SECONDS = 0.25
"""What has not been answered by then waits for another member, or for records."""
SETTLING_SECONDS = 0.1

MAY_WAIT = frozenset((ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.FETCH, ApiKey.SHARE_FETCH))


def _has_ended(connection: socket.socket) -> bool:
    """Whether the broker has closed it since its last answer, as it does after what it could not refuse."""
    readable, _, _ = select.select([connection], [], [], 0)
    try:
        return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
    except ConnectionError:
        return True


@dataclass
class _Open:
    peer: Peer
    asked: Step | None = None


class Side:
    def __init__(self, bootstrap: str, prefix: str) -> None:
        self._bootstrap = bootstrap
        self._open: dict[int, _Open] = {}
        self.stand_ins = StandIns(prefix, self._find_topic_id)

    def close(self) -> None:
        for each in self._open.values():
            each.peer.socket.close()

    def free_peer(self, wanted: int) -> int:
        """The connection that was wanted, or the next on which nobody waits."""
        while wanted in self._open and self._open[wanted].asked is not None:
            wanted += 1
        return wanted

    def ask(self, step: Step, peer: int, seconds: float) -> Any:
        """The plain answer, or ``WAITS``, or ``CLOSED``."""
        if peer not in self._open:
            self._open[peer] = _Open(Peer(self._bootstrap))
        connection = self._open[peer]
        if _has_ended(connection.peer.socket):
            return self._lost(peer)
        connection.asked = step
        frame = self._frame(step)
        try:
            connection.peer.socket.sendall(struct.pack(">i", len(frame)) + frame)
        except ConnectionError:
            return self._lost(peer)
        if not step.is_answered:
            connection.asked = None
            return SILENT
        return self.hear(peer, seconds)

    def settle(self, step: Step, peer: int) -> None:
        """Ask until the answer is as it is to be, or has never been for long."""
        assert step.until is not None
        deadline = time.monotonic() + ANSWER_SECONDS
        while not step.until(self.ask(step, peer, ANSWER_SECONDS)) and time.monotonic() < deadline:
            time.sleep(SETTLING_SECONDS)

    def hear(self, peer: int, seconds: float) -> Any:
        connection = self._open[peer]
        step = connection.asked
        assert step is not None
        readable, _, _ = select.select([connection.peer.socket], [], [], seconds)
        if not readable:
            return WAITS
        try:
            frame = connection.peer.frame()
        except (EOFError, ConnectionError):
            return self._lost(peer)
        connection.asked = None
        key, version = step.header or (step.key, step.version)
        answer = decode_response(key, version, frame)[1]
        if key == step.key:
            self.stand_ins.note_share_session(step.request, answer)
        return plain(answer, self.stand_ins)

    def _lost(self, peer: int) -> str:
        self._open.pop(peer).peer.socket.close()
        return CLOSED

    def waiting(self) -> list[int]:
        return [peer for peer, connection in self._open.items() if connection.asked is not None]

    def _frame(self, step: Step) -> bytes:
        request = self.stand_ins.sent(step.request)
        frame = encode_request(request, step.version, 1, "peer")
        if step.header is not None:
            frame = struct.pack(">hh", *step.header) + frame[4:]
        return frame[: len(frame) - step.cut] if step.cut else frame

    def _find_topic_id(self, name: str) -> bytes | None:
        with Peer(self._bootstrap) as peer:
            request = MetadataRequest(
                topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
            )
            peer.ask(request, 12)
            found: Any = peer.answer(ApiKey.METADATA, 12)[1]
        return None if found.topics[0].error_code else bytes(found.topics[0].topic_id)
