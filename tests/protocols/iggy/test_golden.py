"""Recorded dialogues of real Iggy clients with real servers, played to our broker (002.3-002.30).

Our answers must have the recorded status and layout, and the recorded values wherever a client could tell the
difference. What may differ is named here, and nowhere else.
"""

from collections import defaultdict, deque
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.protocols.iggy.answers import read_answer
from tests.protocols.iggy.raw_client import RawClient
from tests.protocols.iggy.recording import Exchange, Translation, exchanges
from trivium.testing import Broker

VARYING = {
    "created": "the clock of the server",
    "timestamp": "the clock of the server",
    "expires": "the clock of the server, and how long a token lives from there",
    "checksum": "covers the timestamp",
    "size": "bytes on disk: records are smaller than messages, and batches have headers",
    "address": "the port that the client got",
    "token": "random",
    "segments": "a new topic has its first segment at once; Iggy 0.8 makes it later",
    "archive": "what is in a ZIP",
    "nodes": "addresses",
    "members": "numbers of connections in 0.5; dealt by other rules",
}
"""Fields whose values no two servers share."""

DIALOGUES = [
    ("w5", "apache-iggy 0.5.0", "iggy-server 0.5.0", "0.5"),
    ("w5", "hand-made frames", "iggy-server 0.5.0", "0.5"),
    ("w6", "apache-iggy 0.6.0", "iggy-server 0.8.0", "0.6"),
    ("w6", "org.apache.iggy:iggy 0.6.0 (Java)", "iggy-server 0.8.0", "0.6"),
    ("w7", "apache-iggy 0.7.0", "iggy-server 0.8.0", "0.7"),
    ("w7", "org.apache.iggy:iggy 0.7.0 (Java)", "iggy-server 0.8.0", "0.7"),
    ("w8", "apache-iggy 0.8.0", "iggy-server 0.8.0", "0.8"),
    ("w8", "hand-made frames", "iggy-server 0.8.0", "0.8"),
    ("w8", "org.apache.iggy:iggy 0.8.0 (Java)", "iggy-server 0.8.0", "0.8"),
    ("w8", "apache-iggy 0.8.1.dev4", "iggy-server 0.8.0", "0.8"),
]

SHORT: Final = 56
LONG: Final = 64
STATS, SEND, GET_STREAMS = 10, 101, 201
DEFAULT_STREAM = "default"
"""It is always there, and no recorded server has it."""

PINNED = ("hand-made frames",)
"""Clients that do not say what they are."""

CHOSEN_IDS_MAX = 1 << 32
"""Message ids that a recorded client has chosen are small; those that a server makes are random."""

OURS: dict[str, dict[str, str]] = {
    "w5": {
        "get stats before login": "nothing is told to somebody who has not logged in, as in 0.7 and 0.8",
        "get stream before login": "the same",
        "login without version and context": "clients from before 0.5 are let in",
        "get clients": "connections that the recording leaves open are closed here",
        "delete more partitions": "refused, as in 0.8: a mistake should not cost all records",
        "get topic after deleting too many": "the same",
        "trailing byte after GET_STREAM": "the same",
        "poll partition": "keys go where they go in 0.6 to 0.8, so that equal keys meet",
        "group poll": "the same",
        "get consumer offset by its hash": "a name and a number that is its hash are two consumers here",
        "group offset": "0.5 looks for it in the wrong table",
        "get consumer group, t": "partitions are dealt in another order",
        "get consumer group, four": "two of the members have joined on connections that were not recorded",
        "purge topic, body of 6 bytes": "short names are names, too",
    },
    "w8": {
        "login without version and context": "clients from before 0.5 are let in",
        "get clients": "connections that the recording leaves open are closed here",
        "get topic after": "0.8 forgets to resolve defaults when a topic is updated",
        "get topics (send_binary_request)": "the same",
        "trailing byte after GET_STREAM": "the same",
        "alice reads a stream": "the same",
        "get consumer offset by its hash": "a name and a number that is its hash are two consumers here",
        "get me": "0.8 forgets who a client is that has sent messages",
        "get consumer group, t": "partitions are dealt in another order",
        "group poll of": "the same; and one member has joined on a connection that was not recorded",
        "get consumer group, four": "two of the members have joined on connections that were not recorded",
        "get consumer group with members": "the same",
        "poll after purge and send": "0.8 hides the first messages after a purge",
    },
}
"""Answers that differ, by what the recording calls them (or how that begins), and why."""

ABOUT_MESSAGES = (100, 101, 120, 121, 122, 200, 300)
WITNESSES = {
    ("w6", "apache-iggy 0.6.0"): ("w7", "apache-iggy 0.7.0"),
    ("w6", "org.apache.iggy:iggy 0.6.0 (Java)"): ("w7", "org.apache.iggy:iggy 0.7.0 (Java)"),
}
"""The recorded server took no messages with headers of 56 bytes, and answered to 0.6 as if there were none.
The same script was recorded with 0.7: what that client was told about messages, 0.6 must be told, too."""

VARYING_BY_WITNESS = {
    "origin": "the clock of the client",
    "headers": "Java's client of 0.6 announces user headers and leaves them out",
    "expiry": "Python's client of 0.6 passes no option on",
    "size_limit": "the same",
}
"""Fields that the two clients have sent differently."""


@pytest.mark.parametrize(("file", "client", "server", "generation"), DIALOGUES)
def test_answers_to_a_recorded_dialogue_have_the_recorded_layout(
    file: str, client: str, server: str, generation: str, tmp_path: Path
) -> None:
    header_bytes = SHORT if generation in ("0.5", "0.6") else LONG
    settings = {
        "listen.iggy": "127.0.0.1:0",
        "iggy.generation": generation if client in PINNED else "auto",
    }
    with Broker(tmp_path, settings) as broker:
        play = Play(broker.address("iggy"), header_bytes, file)
        found = list(play.differences(witnessed(file, client, server)))
    assert found == []


class Witnessed(NamedTuple):
    """A request that was recorded, and the answer that is right."""

    played: Exchange
    answered: Exchange | None
    """None if there is no telling."""
    header_bytes: int
    """Of messages in the right answer."""
    varying: Container[str] = VARYING


def witnessed(file: str, client: str, server: str) -> list[Witnessed]:
    dialogue = exchanges(file, client, server)
    if (file, client) not in WITNESSES:
        return [Witnessed(each, each, SHORT if file == "w5" else LONG) for each in dialogue]
    answers: dict[tuple[int, str], deque[Exchange]] = defaultdict(deque)
    for each in exchanges(*WITNESSES[file, client], server):
        answers[each.code, each.note].append(each)
    sent_from = next(at for at, each in enumerate(dialogue) if each.code == SEND)
    found = [Witnessed(each, each, LONG) for each in dialogue]
    for at, each in enumerate(dialogue[sent_from:], sent_from):
        if each.code in ABOUT_MESSAGES:
            said = answers[each.code, each.note]
            answered = said.popleft() if said else None
            found[at] = Witnessed(each, answered, LONG, VARYING | VARYING_BY_WITNESS)
    return found


class Play:
    """One dialogue, over as many connections as it was recorded from."""

    def __init__(self, address: str, header_bytes: int, file: str) -> None:
        self._address = address
        self._file = file
        self._header_bytes = header_bytes
        self._connections: dict[int, RawClient] = {}
        self._translation = Translation()

    def differences(self, dialogue: list[Witnessed]) -> Iterator[str]:
        last = {witnessed.played.connection: at for at, witnessed in enumerate(dialogue)}
        for at, witnessed in enumerate(dialogue):
            each = witnessed.played
            client = self._connection(each)
            status, payload = client.ask_raw(self._translation.request(each))
            if status == each.status == 0:
                self._translation.learn(each, payload, self._header_bytes)
            if not self._is_different(each):
                for difference in self._compare(witnessed, status, payload):
                    yield f"{each.name} [{each.note}] on {each.connection}: {difference}"
            if last[each.connection] == at:
                self._connections.pop(each.connection).close()

    def _connection(self, first: Exchange) -> RawClient:
        client = self._connections.get(first.connection)
        if client is None:
            client = self._connections[first.connection] = RawClient(self._address)
            if first.was_preceded and first.code not in (1, 38):
                # What was recorded before, as on other connections: a login.
                client.login()
        return client

    def _is_different(self, recorded: Exchange) -> bool:
        return any(recorded.note.startswith(name) for name in OURS.get(self._file, ()))

    def _compare(self, witnessed: Witnessed, status: int, payload: bytes) -> Iterator[str]:
        recorded = witnessed.answered
        if recorded is None:
            return
        if recorded.status is None:
            if status == 0:
                yield "accepted what the recorded server has closed the connection for"
        elif status != recorded.status:
            yield f"status {status}, recorded is {recorded.status}"
        elif status == 0:
            theirs = read_answer(recorded.code, recorded.payload, witnessed.header_bytes)
            ours = read_answer(recorded.code, payload, self._header_bytes)
            if recorded.code == STATS:
                # Figures of two machines; a client of 0.8 finds more of them.
                if theirs is None or ours is None or not theirs.keys() <= ours.keys():
                    yield f"figures are missing: {ours}"
                return
            if recorded.code == GET_STREAMS and ours is not None:
                ours["all"] = [each for each in ours["all"] if each["name"] != DEFAULT_STREAM]
            expected = self._translation.answer(recorded.code, theirs)
            yield from unequal(expected, ours, "", witnessed.varying)


def unequal(theirs: Any, ours: Any, path: str, varying: Container[str]) -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in theirs.keys() | ours.keys():
            if name not in varying:
                yield from unequal(theirs.get(name), ours.get(name), f"{path}.{name}", varying)
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for at, (one, other) in enumerate(zip(in_order(theirs), in_order(ours), strict=True)):
            yield from unequal(one, other, f"{path}[{at}]", varying)
    elif path.endswith(".message_id") and theirs > CHOSEN_IDS_MAX:
        return
    elif theirs != ours:
        yield f"{path} is {ours!r}, recorded is {theirs!r}"


def in_order(items: list[Any]) -> list[Any]:
    """What has a number of its own, by it: recorded servers list some things in no order."""
    if items and isinstance(items[0], dict) and "payload" not in items[0]:
        return sorted(items, key=lambda item: (item.get("id", 0), item.get("name", "")))
    return items
