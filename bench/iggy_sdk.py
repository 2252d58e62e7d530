"""Run by the Python of Iggy's own client: one measurement, its result as a line of JSON.

    iggy_sdk.py ADDRESS STREAM TOPIC send BYTES BATCHES     seconds to send them
    iggy_sdk.py ADDRESS STREAM TOPIC poll BYTES BATCHES     seconds to poll them
    iggy_sdk.py ADDRESS STREAM TOPIC one BYTES REQUESTS     median milliseconds of a send of one message

Batches are of 1,000 messages, made before the clock runs.
"""

import asyncio
import json
import os
import sys
import time

from apache_iggy import IggyClient, PollingStrategy, SendMessage

BATCH_MESSAGES = 1_000


async def main() -> None:
    address, stream, topic, what, size, count = sys.argv[1:]
    client = IggyClient(address)
    await client.connect()
    await client.login_user("iggy", "iggy")
    measured = await {"send": send, "poll": poll, "one": one}[what](
        client, stream, topic, int(size), int(count)
    )
    print(json.dumps(measured), flush=True)


async def send(client: IggyClient, stream: str, topic: str, size: int, count: int) -> float:
    batch = [SendMessage(os.urandom(size)) for _ in range(BATCH_MESSAGES)]
    begun = time.perf_counter()
    for _ in range(count):
        await client.send_messages(stream, topic, 0, batch)
    return time.perf_counter() - begun


async def poll(client: IggyClient, stream: str, topic: str, size: int, count: int) -> float:
    begun = time.perf_counter()
    for number in range(count):
        strategy = PollingStrategy.Offset(value=number * BATCH_MESSAGES)
        messages = await client.poll_messages(stream, topic, 0, strategy, BATCH_MESSAGES, False)
        assert len(messages) == BATCH_MESSAGES
    return time.perf_counter() - begun


async def one(client: IggyClient, stream: str, topic: str, size: int, count: int) -> float:
    message = [SendMessage(os.urandom(size))]
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        await client.send_messages(stream, topic, 0, message)
        times.append(time.perf_counter() - begun)
    return sorted(times)[count // 2] * 1_000


asyncio.run(main())
# The client's threads outlive the interpreter, and sometimes abort the process when they find it gone.
os._exit(0)
