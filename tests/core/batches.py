"""Batches as clients send them, for tests of writing and reading."""

from tests.core.fakes import NOW_MS, World
from trivium.core.commands.command import TopicRef
from trivium.core.commands.records import (
    NO_REPLICA,
    Fetch,
    FetchedPart,
    FetchPart,
    Produce,
    ProducedPart,
    ProducePart,
)
from trivium.core.fetch import Fetching
from trivium.core.produce import ACKS_LEADER, Producing
from trivium.records.batch import build_batch, check_batches, iter_records
from trivium.records.record import Record


def batch(
    *values: bytes | None, key: bytes | None = b"k", timestamp: int = NOW_MS, **fields: object
) -> bytes:
    """A batch of these values, one millisecond apart."""
    records = [Record(number, timestamp + number, key, value) for number, value in enumerate(values)]
    return build_batch(records, **fields)  # type: ignore[arg-type]


def writing_world(static: dict[str, str] | None = None) -> World:
    """A world that writes and reads, with a topic ``t`` of two partitions."""
    world = World(static)
    world.add(Producing(world.cluster, world.access, world.timers).routes)
    world.add(Fetching(world.cluster, world.access, world.timers, world.soon).routes)
    world.create_topic("t", 2)
    return world


def produce(
    world: World, records: bytes | None, topic: TopicRef = "t", partition: int = 0, acks: int = ACKS_LEADER
) -> ProducedPart:
    command = Produce([ProducePart(topic, partition, records)], acks, 30_000)
    (result,) = world.execute(command)
    return result


def fetch(
    *parts: FetchPart,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 1 << 20,
    committed: bool = False,
    replica_id: int = NO_REPLICA,
) -> Fetch:
    return Fetch(list(parts), max_wait_ms, min_bytes, max_bytes, committed, replica_id)


def values(part: FetchedPart) -> list[bytes | None]:
    """What a reader gets: every record of every run."""
    return [
        record.value
        for run in part.runs
        for position, _ in check_batches(run)
        for record in iter_records(run, position)
    ]
