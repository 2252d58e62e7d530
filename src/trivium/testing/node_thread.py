"""A node in a thread with a loop of its own, so that it can live inside anybody's process.

    thread = NodeThread(configuration, files, prepare)
    thread.start()                serving, or whatever kept it from that is raised here
    thread.stop() or kill()       the thread has ended when they return

One object is one life of a node; the next life is a new object.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from enum import Enum, auto
from typing import Final

from trivium.log.files import Files
from trivium.server.configuration.configuration import Configuration
from trivium.server.node import Node

START_SECONDS_MAX: Final = 30
"""After that something is wrong with the machine, and a test should say so."""


class _End(Enum):
    STOPPED = auto()
    KILLED = auto()


class NodeThread:
    def __init__(
        self,
        configuration: Configuration,
        files: Files,
        prepare: Callable[[Node, asyncio.AbstractEventLoop], None],
    ) -> None:
        """``prepare`` is called in the thread, before the first client is heard."""
        self._configuration = configuration
        self._files = files
        self._prepare = prepare
        self._loop = _new_loop()
        self._started: Future[Node] = Future()
        self._end: asyncio.Future[_End] = self._loop.create_future()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="trivium broker", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> Node:
        self._thread.start()
        with ExitStack() as undo:
            undo.callback(self._finish, _End.KILLED)
            node = self._started.result(START_SECONDS_MAX)
            undo.pop_all()
        return node

    def stop(self) -> None:
        """Answer what is under way, and leave the log in order."""
        self._finish(_End.STOPPED)
        if self._failure is not None:
            raise self._failure

    def kill(self) -> None:
        """Leave everything as it is at this moment."""
        self._finish(_End.KILLED)

    def _finish(self, end: _End) -> None:
        def tell() -> None:
            if not self._end.done():
                self._end.set_result(end)

        if self.is_alive:
            with suppress(RuntimeError):  # It is about to end by itself, and its loop has ended already.
                self._loop.call_soon_threadsafe(tell)
            self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001  (it belongs to the test, in whose thread it is raised)
            if self._started.done():
                self._failure = error
            else:
                self._started.set_exception(error)
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _serve(self) -> None:
        node = Node(self._configuration, self._files)
        await node.start()
        self._prepare(node, self._loop)
        self._started.set_result(node)
        if await self._end is _End.KILLED:
            await node.abandon()
        else:
            await node.stop()


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's; Python's own where there is none."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
