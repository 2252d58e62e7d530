"""The console's port: HTTP in its smallest form, from people, machines and others (S5, S18)."""

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from trivium.server import console
from trivium.server.console import HEAD_BYTES_MAX, Console, Page, sentence


async def hello() -> Page:
    return sentence(200, "hello")


async def talk(*sent: bytes) -> bytes:
    """Everything that a console with one page answers to these bytes."""
    return await with_console(lambda port: exchange(port, *sent))


async def with_console(visit: Callable[[int], Awaitable[bytes]]) -> bytes:
    loop = asyncio.get_running_loop()
    served = Console(loop, {"/hello": hello})
    sock = socket.create_server(("127.0.0.1", 0))
    await served.serve([sock])
    try:
        return await visit(sock.getsockname()[1])
    finally:
        served.close()


async def exchange(port: int, *sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for data in sent:
        writer.write(data)
        await asyncio.sleep(0)
    answer = await asyncio.wait_for(reader.read(), 20)
    writer.close()
    return answer


def test_page_that_exists_is_answered_and_the_connection_closed() -> None:
    answer = asyncio.run(talk(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Length: 6" in head
    assert b"Connection: close" in head
    assert body == b"hello\n"


def test_page_with_a_query_in_pieces_is_answered() -> None:
    answer = asyncio.run(talk(b"GET /hel", b"lo?x=1 HTTP/1.0\r\n", b"\r\n"))
    assert answer.endswith(b"hello\n")


def test_head_request_is_answered_without_a_body() -> None:
    answer = asyncio.run(talk(b"HEAD /hello HTTP/1.1\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /nothing HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /hello HTTP/1.1\r\n\r\n", b"405"),
        (b"\x00\x00\x00\x1a\x00\x12\x00\x04\r\n\r\n", b"400"),
        (b"GET /hello\r\n\r\n", b"400"),
        (b"GET /hello HTTP/1.1\r\n" + b"X: y\r\n" * HEAD_BYTES_MAX, b"431"),
    ],
)
def test_request_that_is_wrong_gets_its_status(sent: bytes, status: bytes) -> None:
    assert asyncio.run(talk(sent)).split(b" ")[1] == status


def test_visitor_that_says_nothing_is_closed_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "REQUEST_SECONDS_MAX", 0.05)

    async def silent(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    assert asyncio.run(with_console(silent)) == b""


def test_visitors_beyond_the_limit_are_told_to_come_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "CONNECTIONS_MAX", 1)

    async def two(port: int) -> bytes:
        _, first = await asyncio.open_connection("127.0.0.1", port)
        answer = await exchange(port)
        first.close()
        return answer

    assert asyncio.run(with_console(two)).startswith(b"HTTP/1.1 503")
