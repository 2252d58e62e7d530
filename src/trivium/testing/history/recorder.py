"""Writing a history while it happens, from any number of threads.

    with open(path, "wb") as file, Recorder(file) as recorder:
        begun = recorder.begin("kafka-1", Protocol.KAFKA, Send("orders", 0, ("a", "b")))
        ...
        begun.ok(Send("orders", 0, ("a", "b"), offsets=(7, 8)))

Processes that record at the same time each write a file of their own; ``read_history`` merges them, since the
clock is the machine's. What has not ended when the recorder closes is recorded as unknown.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import BinaryIO

from trivium.testing.history.lines import to_line
from trivium.testing.history.operation import Act, Operation, Outcome, Protocol


class Recorder:
    def __init__(self, file: BinaryIO, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[Begun, None] = {}

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def begin(self, process: str, protocol: Protocol, act: Act) -> "Begun":
        """Call it before the first byte leaves."""
        begun = Begun(self, process, protocol, act, self._clock())
        with self._lock:
            self._open[begun] = None
        return begun

    def end(self, begun: "Begun", outcome: Outcome, act: Act) -> None:
        with self._lock:
            if self._open.pop(begun, begun) is begun:
                raise ValueError(f"an operation of {begun.process} ends a second time")
            # The clock is read under the lock: lines are in the order of their ends.
            operation = Operation(begun.process, begun.protocol, outcome, begun.invoke, self._clock(), act)
            self._file.write(to_line(operation))

    def close(self) -> None:
        for begun in list(self._open):
            begun.unknown()
        self._file.flush()


class Begun:
    """An operation under way. It ends once."""

    def __init__(self, recorder: Recorder, process: str, protocol: Protocol, act: Act, invoke: int) -> None:
        self._recorder = recorder
        self.process = process
        self.protocol = protocol
        self.act = act
        self.invoke = invoke

    def ok(self, act: Act | None = None) -> None:
        """``act`` has what the answer told; without it there was nothing to tell."""
        self._recorder.end(self, Outcome.OK, act or self.act)

    def fail(self) -> None:
        """Refused. Only for answers that say so: a connection that ended says nothing."""
        self._recorder.end(self, Outcome.FAIL, self.act)

    def unknown(self) -> None:
        self._recorder.end(self, Outcome.UNKNOWN, self.act)
