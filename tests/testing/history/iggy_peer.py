"""Recording through Iggy's protocol, as clients of 0.8 speak it. Its answer to a send tells no offsets."""

import struct
from dataclasses import replace
from random import Random

from tests.contract.iggy_door import IggyClient
from tests.protocols.iggy.answers import Fields, read_answer
from tests.protocols.iggy.raw_client import (
    OFFSET,
    consumer,
    member,
    message,
    optional_partition,
    poll,
    send,
    text,
    to_partition,
)
from tests.protocols.iggy.raw_client import name as identifier
from tests.testing.history.payload import payload_of, value_of
from trivium.testing.history import Commit, Committed, Poll, Record, Send

COUNT = 500
_POLL, _SEND, _STORE_OFFSET = 100, 101, 121
_GET_GROUP, _CREATE_GROUP, _JOIN_GROUP, _LEAVE_GROUP = 600, 602, 604, 605
_GROUP_EXISTS = 5004
_STREAM = "default"
_STRING, _UNSIGNED_8 = 2, 9
_HEADER_BYTES = 64


class IggyPeer(IggyClient):
    def send(self, send_: Send, choice: Random) -> Send:
        messages = (
            message(
                payload_of(value),
                message_id=choice.choice((0, choice.getrandbits(128))),
                headers=choice.choice((b"", _user_headers(value, choice.randrange(256)))),
            )
            for value in send_.values
        )
        self._ask(_SEND, send(_STREAM, send_.topic, to_partition(send_.partition), *messages))
        return send_

    def poll(self, poll_: Poll) -> Poll:
        body = poll(consumer(), _STREAM, poll_.topic, poll_.partition, (OFFSET, poll_.offset), COUNT)
        answer = read_answer(_POLL, self._ask(_POLL, body), _HEADER_BYTES)
        assert answer is not None
        records = tuple(map(_shown, answer["messages"]))
        # Of an empty partition and of one with one message the answer tells the same: no end is known then.
        last: int = answer["offset_last"]
        return replace(
            poll_,
            records=records,
            next=records[-1].offset + 1 if records else poll_.offset,
            stable=last + 1 if last else None,
        )

    def store_offset(self, commit: Commit) -> None:
        """Only a member may, and only for partitions that it has."""
        self.join(commit.group, commit.topic)
        place = identifier(_STREAM) + identifier(commit.topic)
        try:
            where = member(commit.group) + place + optional_partition(commit.partition)
            self._ask(_STORE_OFFSET, where + struct.pack("<Q", commit.offset - 1))
        finally:
            self._ask(_LEAVE_GROUP, place + identifier(commit.group))

    def join(self, group: str, topic: str) -> None:
        place = identifier(_STREAM) + identifier(topic)
        self._ask(_CREATE_GROUP, place + text(group), allowed=_GROUP_EXISTS)
        self._ask(_JOIN_GROUP, place + identifier(group))

    def members(self, group: str, topic: str) -> dict[int, list[int]]:
        """The partitions of each member, by its number."""
        body = identifier(_STREAM) + identifier(topic) + identifier(group)
        answer = read_answer(_GET_GROUP, self._ask(_GET_GROUP, body), _HEADER_BYTES)
        assert answer is not None
        return {each["id"]: each["partitions"] for each in answer["members"]}

    def stored_offset(self, committed: Committed) -> Committed:
        return replace(
            committed, offset=self.committed(committed.group, committed.topic, committed.partition)
        )


def _user_headers(value: str, number: int) -> bytes:
    """``kafka.key``, which is the record's key, and one number."""
    key = value.encode()
    return b"".join(
        struct.pack("<BI", _STRING, len(name)) + name + struct.pack("<BI", kind, len(data)) + data
        for name, kind, data in ((b"kafka.key", _STRING, key), (b"number", _UNSIGNED_8, bytes([number])))
    )


def _shown(found: Fields) -> Record:
    headers = [(key.decode(), value.hex()) for _, key, _, value in found["headers"]]
    keys = [("key", value) for name, value in headers if name == "kafka.key"]
    others = [header for header in headers if header[0] != "kafka.key"]
    return Record(found["offset"], value_of(found["payload"]), found["timestamp"] // 1_000, (*keys, *others))
