"""A server under test: where it listens, and its first user, who looks things up and clears."""

import struct
from dataclasses import dataclass, field

from tests.protocols.iggy.answers import read_answer
from tests.protocols.iggy.raw_client import Answered, RawClient, name

GET_USERS, DELETE_USER, GET_TOKENS, DELETE_TOKEN, GET_STREAMS, DELETE_STREAM = 32, 34, 41, 43, 201, 203
PERMANENT = "default"
"""The stream of Kafka's topics, which ours has always."""


@dataclass
class Server:
    address: str
    _client: RawClient | None = field(default=None, init=False)

    def ask(self, code: int, body: bytes = b"") -> Answered:
        if self._client is None:
            self._client = RawClient(self.address)
            self._client.login()
        return self._client.ask(code, body)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def clear(self) -> None:
        """Nothing is left of a play but what cannot go: the first user, and the stream of Kafka's topics."""
        for number, called in self._all(GET_STREAMS):
            if called != PERMANENT:
                self._delete(DELETE_STREAM, name(number))
        for number, called in self._all(GET_USERS):
            if called != "iggy":
                self._delete(DELETE_USER, name(number))
        for _, called in self._all(GET_TOKENS):
            self._delete(DELETE_TOKEN, struct.pack("<B", len(called)) + called.encode())

    def _all(self, code: int) -> list[tuple[int, str]]:
        answer = self.ask(code)
        assert not answer.status, (self.address, answer)
        found = read_answer(code, answer.payload, 0) or {"all": []}
        return [(each.get("id", 0), each["name"]) for each in found["all"]]

    def _delete(self, code: int, body: bytes) -> None:
        answer = self.ask(code, body)
        assert not answer.status, (self.address, answer)
