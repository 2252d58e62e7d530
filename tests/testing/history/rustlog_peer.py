"""Recording through RustLog's protocol, in the JSON of its document. It shows payloads and nothing else."""

from dataclasses import replace
from random import Random

from tests.contract.rustlog_door import RustLogClient
from tests.testing.history.payload import payload_of, value_of
from trivium.testing.history import Commit, Committed, Poll, Record, Send

FETCH_BYTES = 1 << 17


class RustLogPeer(RustLogClient):
    def send(self, send: Send, choice: Random) -> Send:
        records = [list(payload_of(value)) for value in send.values]
        answer = self._ask("Produce", topic=send.topic, partition=send.partition, records=records)
        return replace(send, offsets=tuple(answer["offsets"]))

    def poll(self, poll: Poll) -> Poll:
        answer = self._ask(
            "Fetch", topic=poll.topic, partition=poll.partition, offset=poll.offset, max_bytes=FETCH_BYTES
        )
        records = tuple(
            Record(record["offset"], value_of(bytes(record["payload"]))) for record in answer["records"]
        )
        # Without records the next offset is the end of what committed readers see.
        stable = None if records else answer["next_offset"]
        return replace(poll, records=records, next=answer["next_offset"], stable=stable)

    def store_offset(self, commit: Commit) -> None:
        self.commit(commit.group, commit.topic, commit.partition, commit.offset)

    def stored_offset(self, committed: Committed) -> Committed:
        return replace(
            committed, offset=self.committed(committed.group, committed.topic, committed.partition)
        )
