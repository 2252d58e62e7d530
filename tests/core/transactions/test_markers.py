"""Markers by hand: what brokers send each other, and administrators to end what nobody else can (R14)."""

import pytest

from tests.core.batches import batch, fetch
from tests.core.transactions.coordinated import Client, Coordinated
from trivium.core.commands.records import FetchPart, Produce, ProducePart
from trivium.core.commands.transactions import AddedPart, MarkersToWrite, WriteMarkers
from trivium.core.faults import Fault
from trivium.core.produce import ACKS_ALL


def write(world: Coordinated, marker: MarkersToWrite) -> list[Fault | None]:
    [parts] = world.execute(WriteMarkers([marker]))
    return [part.fault for part in parts]


def writing(world: Coordinated) -> Client:
    client = world.init()
    assert client.send(b"v").fault is None
    return client


@pytest.mark.parametrize("commits", [True, False])
def test_marker_ends_a_transaction_that_hangs(commits: bool) -> None:
    """As ``kafka-transactions abort`` does it: with the epoch that the partition has seen."""
    world = Coordinated()
    client = writing(world)
    assert write(world, MarkersToWrite(client.producer_id, 0, commits, 0, [("t", 0)])) == [None]
    assert world.committed() == ([b"v"] if commits else [])
    assert world.log().last_stable_offset == 2


def test_marker_in_the_topic_of_groups_decides_about_their_offsets() -> None:
    world = Coordinated()
    client = world.init()
    client.commit_offset(5)
    marker = MarkersToWrite(client.producer_id, 1, True, 0, [("__consumer_offsets", 0)])
    assert write(world, marker) == [None]
    assert world.offset(require_stable=True).offset == 5


@pytest.mark.parametrize(
    ("epoch", "coordinator_epoch", "is_strict", "fault"),
    [
        (1, 7, False, Fault.INVALID_PRODUCER_EPOCH),
        (2, 2, False, Fault.TRANSACTION_COORDINATOR_FENCED),
        (2, 3, False, None),
        (3, 3, True, None),
    ],
)
def test_marker_that_is_older_than_what_is_there_is_refused(
    epoch: int, coordinator_epoch: int, is_strict: bool, fault: Fault | None
) -> None:
    world = Coordinated()
    client = world.init()
    assert write(world, MarkersToWrite(client.producer_id, 2, True, 3, [("t", 0)])) == [None]
    marker = MarkersToWrite(client.producer_id, epoch, False, coordinator_epoch, [("t", 0)], is_strict)
    end = world.log().log_end_offset
    assert write(world, marker) == [fault]
    assert world.log().log_end_offset == end + (fault is None)


def test_strict_marker_must_be_newer_than_every_record_and_is_not_written_twice() -> None:
    """KIP-1228."""
    world = Coordinated()
    client = writing(world)
    marker = MarkersToWrite(client.producer_id, 0, True, 0, [("t", 0)], is_strict=True)
    assert write(world, marker) == [Fault.INVALID_PRODUCER_EPOCH]
    newer = marker._replace(producer_epoch=1)
    assert write(world, newer) == [None]
    assert write(world, newer) == [None]
    assert world.markers() == [(client.producer_id, 1)]


def test_strict_marker_is_written_behind_records_of_its_epoch_that_are_of_no_transaction() -> None:
    """They leave nothing open that it could end, and Kafka writes it."""
    world = Coordinated()
    client = world.init()
    assert client.add(0) == [None]
    loose = batch(b"v", producer_id=client.producer_id, producer_epoch=1, base_sequence=0)
    (result,) = world.execute(Produce([ProducePart("t", 0, loose)], ACKS_ALL, 30_000, None, False))
    assert result.fault is None
    assert client.end(commits=False).fault is None
    assert world.markers() == [(client.producer_id, 1)]


def test_markers_are_answered_one_by_one() -> None:
    world = Coordinated()
    command = WriteMarkers(
        [
            MarkersToWrite(4, 0, True, 0, [("t", 0), ("t", 9), ("unknown", 0)]),
            MarkersToWrite(5, 0, False, 0, [("t", 1)]),
        ]
    )
    assert world.execute(command) == [
        [
            AddedPart("t", 0),
            AddedPart("t", 9, Fault.UNKNOWN_TOPIC),
            AddedPart("unknown", 0, Fault.UNKNOWN_TOPIC),
        ],
        [AddedPart("t", 1)],
    ]
    assert world.execute(WriteMarkers([])) == []


def test_marker_wakes_a_reader_that_waits_for_the_decision() -> None:
    """Its bytes are few, and what it lets through may be much."""
    world = Coordinated()
    client = writing(world)
    waiting = world.submit(
        fetch(FetchPart("t", 0, 0, 1 << 20), committed=True, max_wait_ms=5_000, min_bytes=100)
    )
    client.end(commits=True)
    world.world.turn()
    assert len(waiting) == 1
