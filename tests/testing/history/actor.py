"""One process of a mixed load: sends, polls and commits as its seed says, and records what it was told.

It outlives its connections. What was under way when one ended is unknown and is never tried again, and a
reader goes on where it has stopped.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from tests.contract.door import RefusedByDoor
from tests.testing.history.iggy_peer import IggyPeer
from tests.testing.history.kafka_peer import KafkaPeer
from tests.testing.history.peer import Peer
from tests.testing.history.rustlog_peer import RustLogPeer
from trivium.testing.history import Begun, Commit, Committed, Poll, Protocol, Recorder, Send
from trivium.testing.history.operation import Act, Place

VALUES_MAX = 30
"""Of one send."""

PEERS: dict[Protocol, Callable[[str], Peer]] = {
    Protocol.KAFKA: KafkaPeer,
    Protocol.IGGY: IggyPeer,
    Protocol.RUSTLOG: RustLogPeer,
}

CONNECTION_ENDED = (OSError, EOFError)


class Actor:
    def __init__(
        self, name: str, protocol: Protocol, recorder: Recorder, seed: str, places: list[Place], group: str
    ) -> None:
        self.name = name
        self.protocol = protocol
        self._recorder = recorder
        self._choice = Random(f"{seed} {name}")
        self._places = places
        self._group = group
        self._positions = dict.fromkeys(places, 0)
        self._sent = 0
        self._peer: Peer | None = None

    def connect(self, address: str) -> None:
        self._peer = PEERS[self.protocol](address)

    def disconnect(self) -> None:
        if self._peer is not None:
            self._peer.wire.socket.close()

    def act(self) -> None:
        """One operation. Raises what ends the connection."""
        assert self._peer is not None
        (deed,) = self._choice.choices(
            (self._send, self._poll, self._commit, self._read_offset), (50, 34, 8, 8)
        )
        deed(self._peer, self._choice.choice(self._places))

    def read_to_the_end(self) -> None:
        """All that lies behind its positions, in every partition."""
        assert self._peer is not None
        for place in self._places:
            while self._poll(self._peer, place):
                pass

    def _send(self, peer: Peer, place: Place) -> None:
        names = range(self._sent, self._sent + self._choice.randint(1, VALUES_MAX))
        self._sent = names.stop
        send = Send(*place, tuple(f"{self.name}.{number}" for number in names))
        with self._recorded(send) as begun:
            begun.ok(peer.send(send, self._choice))

    def _poll(self, peer: Peer, place: Place) -> bool:
        """Whether there was anything."""
        poll = Poll(*place, self._positions[place])
        with self._recorded(poll) as begun:
            answer = peer.poll(poll)
            assert answer.next is not None
            self._positions[place] = answer.next
            begun.ok(answer)
            return bool(answer.records)
        return False

    def _commit(self, peer: Peer, place: Place) -> None:
        # Iggy has no word for a group that has read nothing.
        if self._positions[place]:
            commit = Commit(self._group, *place, self._positions[place])
            with self._recorded(commit) as begun:
                peer.store_offset(commit)
                begun.ok()

    def _read_offset(self, peer: Peer, place: Place) -> None:
        committed = Committed(self._group, *place)
        with self._recorded(committed) as begun:
            begun.ok(peer.stored_offset(committed))

    @contextmanager
    def _recorded(self, act: Act) -> Iterator[Begun]:
        begun = self._recorder.begin(self.name, self.protocol, act)
        try:
            yield begun
        except RefusedByDoor:
            begun.fail()
        except CONNECTION_ENDED:
            begun.unknown()
            raise
