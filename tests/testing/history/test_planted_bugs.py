"""The checker is checked: for every anomaly a broker with a bug that makes it, found from what clients saw.

A plant breaks one thing in the broker's process. Actors use it and know nothing, one after the other in one
thread, so that a run is the same every time; then others read everything. Bugs of transactions are planted in
``test_planted_transaction_bugs``.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import pytest

from tests.contract.door import RefusedByDoor
from tests.testing.history.actor import Actor
from tests.testing.history.iggy_peer import IggyPeer
from tests.testing.history.kafka_peer import KafkaPeer
from tests.testing.history.story import Story
from trivium.core import sequences
from trivium.core.faults import Fault, Refused
from trivium.core.groups.offsets import OffsetTable
from trivium.core.ports import Appended, Piece
from trivium.core.streams.membership import _Group
from trivium.protocols.iggy.commands import polling
from trivium.protocols.rustlog import fetch as rustlog_fetch
from trivium.protocols.rustlog import messages
from trivium.records import iggy
from trivium.server.stored_log import StoredLog
from trivium.testing import Broker
from trivium.testing.history import (
    AnomalyKind,
    Assign,
    Poll,
    Protocol,
    Recorder,
    Send,
    Verdict,
    check,
    from_line,
)

TOPIC = "orders"
OPERATIONS = 60
Plant = Callable[[pytest.MonkeyPatch], None]
LISTEN = {f"listen.{protocol.value}": "127.0.0.1:0" for protocol in Protocol}


def every(number: int) -> Callable[[], bool]:
    """True at every so-manieth call."""
    calls = count(1)
    return lambda: next(calls) % number == 0


def is_ours(stored: StoredLog) -> bool:
    return stored.log.name.startswith(TOPIC)


# -- bugs of the log as the broker sees it ---------------------------------------------------------


def acknowledges_without_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    append, now = StoredLog.append, every(5)

    def broken(self: StoredLog, data: Any, batches: Any, leader_epoch: int) -> Appended:
        if is_ours(self) and now():
            records = sum(header.records_count for _, header in batches)
            return Appended(self.log_end_offset, self.log_end_offset + records - 1)
        return append(self, data, batches, leader_epoch)

    monkeypatch.setattr(StoredLog, "append", broken)


def writes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    append, now = StoredLog.append, every(5)

    def broken(self: StoredLog, data: Any, batches: Any, leader_epoch: int) -> Appended:
        if is_ours(self) and now():
            append(self, bytearray(data), batches, leader_epoch)
        return append(self, data, batches, leader_epoch)

    monkeypatch.setattr(StoredLog, "append", broken)


def writes_and_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    append, now = StoredLog.append, every(5)

    def broken(self: StoredLog, data: Any, batches: Any, leader_epoch: int) -> Appended:
        appended = append(self, data, batches, leader_epoch)
        if is_ours(self) and now():
            raise Refused(Fault.STORAGE)
        return appended

    monkeypatch.setattr(StoredLog, "append", broken)


def shows_writes_late(monkeypatch: pytest.MonkeyPatch) -> None:
    append, now = StoredLog.append, every(2)

    def broken(self: StoredLog, data: Any, batches: Any, leader_epoch: int) -> Appended:
        appended = append(self, data, batches, leader_epoch)
        if is_ours(self) and now():
            self.log.high_watermark = appended.base_offset
        return appended

    monkeypatch.setattr(StoredLog, "append", broken)


def writes_what_iggy_sent_after_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Iggy's answer tells no offsets: only readers can see it."""
    append, now = StoredLog.append, every(3)
    held: list[tuple[bytearray, Any, int]] = []

    def broken(self: StoredLog, data: Any, batches: Any, leader_epoch: int) -> Appended:
        if is_ours(self) and not held and b"iggy.origin" in bytes(data) and now():
            held.append((bytearray(data), batches, leader_epoch))
            return Appended(self.log_end_offset, self.log_end_offset)
        appended = append(self, data, batches, leader_epoch)
        if is_ours(self) and held:
            append(self, *held.pop())
        return appended

    monkeypatch.setattr(StoredLog, "append", broken)


def passes_over_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    read, now = StoredLog.read, every(5)

    def broken(self: StoredLog, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        if is_ours(self) and now():
            offset = read(self, offset, 1, committed=committed).offset_next
        return read(self, offset, max_bytes, committed=committed)

    monkeypatch.setattr(StoredLog, "read", broken)


def ends_reading_at_offset_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    read = StoredLog.read

    def broken(self: StoredLog, offset: int, max_bytes: int, *, committed: bool) -> Piece:
        if is_ours(self) and offset >= 10:
            return Piece((), offset, (), 0)
        return read(self, offset, 1, committed=committed)

    monkeypatch.setattr(StoredLog, "read", broken)


def edge_that_falls(name: str) -> Plant:
    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        edge, now = getattr(StoredLog, name).fget, every(9)

        def broken(self: StoredLog) -> int:
            offset: int = edge(self)
            return max(offset - 1, 0) if is_ours(self) and now() else offset

        monkeypatch.setattr(StoredLog, name, property(broken))

    return plant


def start_that_rises_and_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    now = every(9)
    monkeypatch.setattr(StoredLog, "log_start_offset", property(lambda self: int(is_ours(self) and now())))


# -- bugs elsewhere --------------------------------------------------------------------------------


def forgets_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    put, now = OffsetTable.put, every(2)
    monkeypatch.setattr(OffsetTable, "put", lambda *args: None if now() else put(*args))


def tells_iggy_another_time(monkeypatch: pytest.MonkeyPatch) -> None:
    read = iggy.messages_from_batches

    def broken(*args: Any, **fields: Any) -> Any:
        found = read(*args, **fields)
        data = bytearray(found.data)
        if data:
            data[35] ^= 1  # Behind checksum, id and offset, in the fourth byte of the microseconds.
        return replace(found, data=data)

    monkeypatch.setattr(polling, "messages_from_batches", broken)


def sends_rustlog_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then: whoever was always sent back would never come to the end."""
    answer, now = messages.FetchResponse, every(3)
    monkeypatch.setattr(
        rustlog_fetch,
        "FetchResponse",
        lambda records, next_offset: answer(records, next_offset - bool(records and now())),
    )


KAFKA, IGGY, RUSTLOG = Protocol.KAFKA, Protocol.IGGY, Protocol.RUSTLOG
ALL = (KAFKA, RUSTLOG)

PLANTS: list[tuple[AnomalyKind, Plant, Sequence[Protocol]]] = [
    (AnomalyKind.LOST_WRITE, acknowledges_without_writing, ALL),
    (AnomalyKind.TWO_VALUES, acknowledges_without_writing, (KAFKA,)),
    (AnomalyKind.TWO_OFFSETS, writes_twice, ALL),
    (AnomalyKind.ABORTED_READ, writes_and_refuses, ALL),
    (AnomalyKind.MISSED_READ, shows_writes_late, ALL),
    (AnomalyKind.NON_MONOTONIC_SEND, writes_what_iggy_sent_after_the_next, (KAFKA, IGGY)),
    (AnomalyKind.SKIPPED_POLL, passes_over_a_batch, ALL),
    (AnomalyKind.UNSEEN, ends_reading_at_offset_ten, (KAFKA,)),
    (AnomalyKind.WATERMARK_REGRESSION, edge_that_falls("high_watermark"), ALL),
    (AnomalyKind.STABLE_REGRESSION, edge_that_falls("last_stable_offset"), ALL),
    (AnomalyKind.START_REGRESSION, start_that_rises_and_falls, (KAFKA,)),
    (AnomalyKind.OFFSET_REGRESSION, forgets_commits, ALL),
    (AnomalyKind.PROTOCOLS_DISAGREE, tells_iggy_another_time, (KAFKA, IGGY)),
    (AnomalyKind.NON_MONOTONIC_POLL, sends_rustlog_back, ALL),
]


def judged(protocols: Sequence[Protocol]) -> Verdict:
    """What the checker says to a broker that actors of these protocols have used."""
    file, choice = io.BytesIO(), Random(7)
    with Broker(settings=LISTEN) as broker, Recorder(file) as recorder:
        broker.create_topic(TOPIC, 1)

        def connected(name: str, protocol: Protocol) -> Actor:
            actor = Actor(name, protocol, recorder, "7", [(TOPIC, 0)], "readers")
            actor.connect(broker.address(protocol.value))
            return actor

        actors = [connected(protocol.value, protocol) for protocol in protocols]
        for _ in range(OPERATIONS):
            choice.choice(actors).act()
        readers = [connected(f"{protocol.value}-reader", protocol) for protocol in protocols]
        for reader in readers:
            reader.read_to_the_end()
        for actor in (*actors, *readers):
            actor.disconnect()
    return check(from_line(line, number) for number, line in enumerate(file.getvalue().splitlines(), 1))


def test_checker_with_a_sound_broker_finds_nothing() -> None:
    assert str(judged(tuple(Protocol))).endswith("no anomaly")


@pytest.mark.parametrize(
    ("kind", "plant", "protocols"), PLANTS, ids=[kind.name.lower() for kind, *_ in PLANTS]
)
def test_checker_with_a_planted_bug_finds_its_anomaly(
    kind: AnomalyKind, plant: Plant, protocols: Sequence[Protocol], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    verdict = judged(protocols)
    assert kind in verdict.counts, str(verdict)


# -- epochs and members ----------------------------------------------------------------------------


def accepted_epochs(broker: Broker, epochs: Sequence[int]) -> Verdict:
    """One producer that sends with these epochs, one after the other."""
    story = Story()
    broker.create_topic(TOPIC, 1)
    peer = KafkaPeer(broker.bootstrap)
    for number, epoch in enumerate(epochs):
        send = Send(TOPIC, 0, (str(number),), producer="4", epoch=epoch)
        try:
            story.ok("a", peer.send(send, Random(7)))
        except RefusedByDoor:
            story.fail("a", send)
    story.ok("b", peer.poll(Poll(TOPIC, 0, 0)))
    peer.wire.socket.close()
    return check(story.operations)


def test_checker_with_a_broker_that_knows_no_epochs_finds_a_stale_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Broker() as broker:
        assert accepted_epochs(broker, (0, 1, 0)).is_clean
    for check_of_sequences in ("_check_epoch", "_check_sequence"):
        monkeypatch.setattr(sequences, check_of_sequences, lambda _facts, _header: None)
    with Broker() as broker:
        assert AnomalyKind.STALE_EPOCH in accepted_epochs(broker, (0, 1, 0)).counts


def assigned(broker: Broker) -> Verdict:
    """Two members of one group, and what the broker says that each of them has."""
    story = Story()
    broker.create_topic(TOPIC, 3)
    first, second = (IggyPeer(broker.address("iggy")) for _ in range(2))
    for peer in (first, second):
        peer.join("readers", TOPIC)
    for number, partitions in first.members("readers", TOPIC).items():
        owned = tuple((TOPIC, each) for each in partitions)
        story.ok(f"member {number}", Assign("readers", 1, owned), "iggy")
    for peer in (first, second):
        peer.wire.socket.close()
    assert len(story.operations) == 2
    return check(story.operations)


def test_checker_with_a_broker_that_deals_partitions_twice_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with Broker(settings=LISTEN) as broker:
        assert assigned(broker).is_clean

    def share_everything(group: _Group, partitions: int) -> None:
        group.dealt = partitions
        for member in group.members.values():
            member.share = list(range(partitions))

    monkeypatch.setattr(_Group, "_share", share_everything)
    with Broker(settings=LISTEN) as broker:
        assert AnomalyKind.DOUBLE_ASSIGNMENT in assigned(broker).counts
