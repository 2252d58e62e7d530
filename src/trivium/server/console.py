"""The console's port, as far as machines ask there: ``/metrics``, ``/health``, ``/ready``.

    /metrics   what Prometheus reads
    /health    200 as long as the node's loop turns
    /ready     200 when clients are served from every directory; else 503 and a sentence for each reason

HTTP/1.1 in its smallest useful form: GET and HEAD, one request on a connection, a bounded head, a deadline.
No request changes anything. The pages know nothing of HTTP, so that a web console can serve them as well.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, cast

HEAD_BYTES_MAX: Final = 8 << 10
"""A request line and its headers."""

REQUEST_SECONDS_MAX: Final = 10.0
"""From the connection to the end of the head, and again to the last byte of the answer taken."""

CONNECTIONS_MAX: Final = 64
"""Open at the same time; more are turned away with 503."""

_REASONS: Final = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_TEXT: Final = "text/plain; charset=utf-8"
METRICS_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"


class Page(NamedTuple):
    status: int
    body: bytes
    content_type: str = _TEXT


def sentence(status: int, text: str) -> Page:
    return Page(status, text.encode() + b"\n")


Pages = dict[str, Callable[[], Awaitable[Page]]]


class Console:
    """The pages by path, and the connections that ask for them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pages: Pages) -> None:
        self._loop = loop
        self._pages = pages
        self._open: set[ConsoleConnection] = set()
        self._servers: list[asyncio.Server] = []

    async def serve(self, sockets: list[socket.socket], tls: ssl.SSLContext | None = None) -> None:
        for sock in sockets:
            self._servers.append(
                await self._loop.create_server(
                    lambda: ConsoleConnection(self._loop, self),
                    sock=sock,
                    ssl=tls,
                    ssl_handshake_timeout=None if tls is None else REQUEST_SECONDS_MAX,
                )
            )

    def close(self) -> None:
        for server in self._servers:
            server.close()
        for connection in list(self._open):
            connection.drop()

    def entered(self, connection: "ConsoleConnection") -> bool:
        """Whether there is room for one more."""
        if len(self._open) >= CONNECTIONS_MAX:
            return False
        self._open.add(connection)
        return True

    def left(self, connection: "ConsoleConnection") -> None:
        self._open.discard(connection)

    async def answer(self, head: bytes) -> Page:
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            return sentence(400, "This is no HTTP/1.1 request.")
        method, target, _ = words
        if method not in ("GET", "HEAD"):
            return Page(405, b"Only GET and HEAD are served here.\n")
        page = self._pages.get(target.partition("?")[0])
        if page is None:
            return sentence(404, f"There is no such page; there are {', '.join(sorted(self._pages))}.")
        return await page()


class ConsoleConnection(asyncio.Protocol):
    def __init__(self, loop: asyncio.AbstractEventLoop, console: Console) -> None:
        self._loop = loop
        self._console = console
        self._head = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._deadline = self._loop.call_later(REQUEST_SECONDS_MAX, self.drop)
        if not self._console.entered(self):
            self._send(sentence(503, "Too many connections; try again."), with_body=True)

    def connection_lost(self, exc: Exception | None) -> None:
        self._console.left(self)
        if self._deadline is not None:
            self._deadline.cancel()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        if self._task is not None or self._transport.is_closing():
            return
        self._head += data
        if b"\r\n\r\n" in self._head:
            self._task = self._loop.create_task(self._respond(bytes(self._head)))
        elif len(self._head) > HEAD_BYTES_MAX:
            self._send(
                sentence(431, f"A request may have {HEAD_BYTES_MAX} bytes of headers."), with_body=True
            )

    def eof_received(self) -> bool:
        # An encrypted connection cannot be half closed.
        return self._task is not None and self._transport.get_extra_info("sslcontext") is None

    def drop(self) -> None:
        self._transport.abort()

    async def _respond(self, head: bytes) -> None:
        page = await self._console.answer(head)
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._loop.call_later(REQUEST_SECONDS_MAX, self.drop)
        self._send(page, with_body=not head.startswith(b"HEAD "))

    def _send(self, page: Page, *, with_body: bool) -> None:
        lines = [
            f"HTTP/1.1 {page.status} {_REASONS[page.status]}",
            f"Content-Type: {page.content_type}",
            f"Content-Length: {len(page.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        ]
        if page.status == 405:
            lines.append("Allow: GET, HEAD")
        head = "\r\n".join([*lines, "", ""]).encode()
        self._transport.write(head + page.body if with_body else head)
        self._transport.close()
