"""Reading topics in a world: polls of the checker, by Fetch requests."""

from collections.abc import Callable, Generator
from typing import Any, Final

from trivium.client.visibility import find_batches
from trivium.messages.api.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from trivium.messages.schema import Request
from trivium.records.batch import iter_records
from trivium.testing.history.operation import Poll, Record
from trivium.testing.world.peer import Life, Walker
from trivium.testing.world.world import World

VERSION: Final = 12
"""The last one that names topics."""
PIECE_BYTES: Final = 1 << 19


def fetch_request(topic: str, partition: int, offset: int) -> FetchRequest:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=PIECE_BYTES)
    return FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=PIECE_BYTES,
        isolation_level=1,
        topics=[FetchTopic(topic=topic, partitions=[asked])],
    )


def seen(data: PartitionData, offset: int) -> tuple[tuple[Record, ...], int]:
    """The records that a reader of committed ones is left with, and where it reads on."""
    records: list[Record] = []
    run = bytes(data.records or b"")
    for position, header, is_visible in find_batches(run, data.aborted_transactions or ()):
        if is_visible:
            records += [
                Record(record.offset, (record.value or b"").decode())
                for record in iter_records(run, position)
                if record.offset >= offset
            ]
        offset = max(offset, header.offset_end)
    return tuple(records), offset


def poll(
    walker: Walker, topic: str, partition: int, offset: int, *, tells_ends: bool
) -> Generator[tuple[Request, int], Any, int]:
    """One poll; where to go on. ``tells_ends`` only when no crash can take back what was shown: watermarks
    count what is written, and not only what is synced.
    """
    begun = walker.world.story.begin(walker.name, Poll(topic, partition, offset))
    answer = yield fetch_request(topic, partition, offset), VERSION
    data = None if answer is None else answer.responses[0].partitions[0]
    if data is None or data.error_code:
        begun.unknown()
        return offset
    records, offset_next = seen(data, offset)
    ends = (data.high_watermark, data.last_stable_offset) if tells_ends else (None, None)
    begun.ok(
        Poll(topic, partition, offset, next=offset_next, records=records, watermark=ends[0], stable=ends[1])
    )
    return offset_next


def follow(topic: str, partition: int) -> Callable[[Walker], Life]:
    """The life of a reader that follows a partition while the others write."""

    def live(walker: Walker) -> Life:
        offset = 0
        while walker.world.goes_on:
            offset = yield from poll(walker, topic, partition, offset, tells_ends=False)
            yield walker.world.random.randint(50, 400)

    return live


class Ends:
    """What a world holds when it has come to rest."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.values: dict[tuple[str, int], list[str]] = {}
        self.hanging: list[str] = []
        """Partitions whose readers of committed records never get to the end."""
        readers = [
            Walker(world, "last reader", self._read(topic, partition))
            for topic, partitions in world.topics.items()
            for partition in range(partitions)
        ]
        world.run_until(lambda: all(reader.is_done for reader in readers))

    def _read(self, topic: str, partition: int) -> Callable[[Walker], Life]:
        def live(walker: Walker) -> Life:
            begun = walker.world.story.begin(walker.name, Poll(topic, partition, 0))
            data, records, offset_next = None, list[Record](), 0
            # A broker may answer piece by piece, and each piece ends where a segment does.
            while data is None or data.error_code or offset_next < data.last_stable_offset:
                answer = yield fetch_request(topic, partition, offset_next), VERSION
                data = None if answer is None else answer.responses[0].partitions[0]
                if data is not None and not data.error_code:
                    found, offset_next = seen(data, offset_next)
                    records += found
            begun.ok(
                Poll(
                    topic,
                    partition,
                    0,
                    next=offset_next,
                    records=tuple(records),
                    seeks=True,
                    watermark=data.high_watermark,
                    stable=data.last_stable_offset,
                )
            )
            self.values[topic, partition] = [record.value for record in records]
            if data.last_stable_offset < data.high_watermark:
                self.hanging.append(f"{topic}-{partition}")

        return live
