"""Run by the Python of an SDK, of any generation: what a user does on the first day, in two sittings.

    smoke.py ADDRESS NAME FIRST_PARTITION begin     make a stream and a topic, send, poll, read as a group
    smoke.py ADDRESS NAME FIRST_PARTITION resume    after a restart of the broker: everything is there

It knows nothing of the tests around it: every sentence is an assertion, and it is silent when all is well.
"""

import asyncio
import inspect
import os
import sys
from datetime import timedelta
from typing import Any

from apache_iggy import AutoCommit, IggyClient, PollingStrategy, SendMessage

TOPIC = "events"
SECONDS_MAX = 30


async def connect(address: str) -> Any:
    client = IggyClient(address)
    await client.connect()
    await client.ping()
    await client.login_user("iggy", "iggy")
    return client


async def begin(client: Any, name: str, first: int) -> None:
    await client.create_stream(name)
    stream = await client.get_stream(name)
    assert (stream.name, stream.topics_count) == (name, 0)
    await client.create_topic(name, TOPIC, partitions_count=2)
    topic = await client.get_topic(name, TOPIC)
    assert (topic.name, topic.partitions_count, topic.messages_count) == (TOPIC, 2, 0)
    await send(client, name, first, range(10))
    polled = await client.poll_messages(name, TOPIC, first, PollingStrategy.First(), 100, False)
    assert [message.payload().decode() for message in polled] == [payload(number) for number in range(10)]
    assert [message.offset() for message in polled] == list(range(10))
    polled = await client.poll_messages(name, TOPIC, first, PollingStrategy.Offset(value=4), 3, False)
    assert [message.offset() for message in polled] == [4, 5, 6]
    polled = await client.poll_messages(name, TOPIC, first, PollingStrategy.Last(), 2, False)
    assert [message.offset() for message in polled] == [8, 9]
    assert await read_as_group(client, name, first, 10) == list(range(10))


async def resume(client: Any, name: str, first: int) -> None:
    stream = await client.get_stream(name)
    assert (stream.name, stream.topics_count) == (name, 1)
    topic = await client.get_topic(name, TOPIC)
    assert topic.messages_count == 10
    await send(client, name, first, range(10, 15))
    assert await read_as_group(client, name, first, 5) == list(range(10, 15)), "the group reads on"


async def send(client: Any, name: str, partition: int, numbers: range) -> None:
    await client.send_messages(name, TOPIC, partition, [SendMessage(payload(each)) for each in numbers])


def payload(number: int) -> str:
    return f"message {number}"


async def read_as_group(client: Any, name: str, partition: int, count: int) -> list[int]:
    """The offsets of the next messages of the group, each committed."""
    consumer = client.consumer_group(
        "readers",
        name,
        TOPIC,
        partition,
        PollingStrategy.Next(),
        100,
        auto_commit=AutoCommit.Disabled(),
        poll_interval=timedelta(milliseconds=50),
    )
    if inspect.isawaitable(consumer):
        consumer = await consumer
    offsets: list[int] = []
    stop = asyncio.Event()

    async def take(message: Any) -> None:
        offsets.append(message.offset())
        if len(offsets) >= count:
            stop.set()

    await asyncio.wait_for(consumer.consume_messages(take, stop), SECONDS_MAX)
    await consumer.store_offset(offsets[-1], partition)
    return offsets


async def main() -> None:
    address, name, first, sitting = sys.argv[1:]
    client = await connect(address)
    await {"begin": begin, "resume": resume}[sitting](client, name, int(first))


asyncio.run(main())
# The client's threads outlive the interpreter, and sometimes abort the process when they find it gone.
os._exit(0)
