"""A world that writes and reads, with everything that the data APIs need behind a session."""

from itertools import count

from tests.core.batches import writing_world
from tests.core.fakes import World
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.core.list_offsets import Offsets
from trivium.core.producer_ids import Producers
from trivium.core.telemetry import Telemetry

TELEMETRY_BYTES_MAX = 1_000


def data_world() -> World:
    """Topic ``t`` with two partitions; ids of clients are 1, 2, 3, ..."""
    world = writing_world()
    numbers = count(1)

    def new_id() -> bytes:
        return b"id" + next(numbers).to_bytes(14, "big")

    world.add(Offsets(world.cluster, world.access).routes)
    world.add(Producers(world.cluster, world.access).routes)
    world.add(Telemetry(world.cluster, new_id, TELEMETRY_BYTES_MAX).routes)
    return world


def conversation_with(world: World) -> Conversation:
    return Conversation(protocol_of(world))


def topic_id(world: World, name: str = "t") -> bytes:
    return world.image.topics.by_name[name].topic_id
