"""The audit trail: who came in, and what each was allowed or not, one line of JSON for each decision.

    {"time":"…","event":"access","door":"kafka","principal":"User:ann","host":"10.0.0.7","client_id":"app",
     "operation":"WRITE","resource":"TOPIC","name":"orders","allowed":false,"why":"no list allows it"}

Everything that is refused is written, and every login. What clients are allowed to do all the time (reading,
writing, describing) is written the first time for each principal, and then once in so many times
(``audit.allowed-one-in``). Nothing waits for it: lines are put together and written in a thread. If they come
faster than the disk takes them, or it takes none, they are counted, and the trail says how many are missing.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from trivium.core.acls.entry import Operation
from trivium.core.audit import Reason
from trivium.core.caller import Caller
from trivium.core.rights import Resource
from trivium.server.audit_file import AuditFile
from trivium.server.clock import SystemClock
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.worker import Worker

FLUSH_SECONDS: Final = 0.2
"""So long a line waits for others to be written with it."""
WAITING_MAX: Final = 50_000
"""Lines that wait for the disk; those beyond are counted and lost."""
SAMPLES_MAX: Final = 10_000
"""Principals, with their operations, whose uses are counted."""
NAME_CHARS_MAX: Final = 300
"""Of a name that comes from a peer."""

FREQUENT: Final = frozenset(
    (
        Operation.READ,
        Operation.WRITE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    )
)
"""What clients do all the time: sampled, where it is allowed."""

Publish = Callable[[Sequence[bytes]], None]
"""Lines for the topic of the audit."""


class AuditTrail:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: SystemClock,
        file: AuditFile | None,
        publish: Publish | None,
        one_in: int,
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._file = file
        self._publish = publish
        self._one_in = one_in
        self._uses: dict[tuple[str, Operation], int] = {}
        self._waiting: list[dict[str, Any]] = []
        self._lost = 0
        self._is_due = False
        self._worker = Worker(loop, "audit")

    # -- what it is told ---------------------------------------------------------------------------

    def decided(
        self,
        caller: Caller,
        operation: Operation,
        resource: Resource,
        name: str,
        is_allowed: bool,
        reason: Reason,
    ) -> None:
        if is_allowed and operation in FREQUENT and not self._is_sampled(caller.principal, operation):
            return
        self._note(
            "access",
            caller,
            operation=operation.name,
            resource=resource.name,
            name=name[:NAME_CHARS_MAX],
            allowed=is_allowed,
            why=reason(caller, operation, resource, name),
        )

    def came(self, caller: Caller, method: str, claimed: str, why_not: str | None) -> None:
        self._note(
            "login",
            caller,
            method=method,
            name=claimed[:NAME_CHARS_MAX],
            allowed=why_not is None,
            why=why_not or "the proof is right",
        )

    def _is_sampled(self, principal: str, operation: Operation) -> bool:
        key = (principal, operation)
        count = self._uses.get(key, 0)
        if not count and len(self._uses) >= SAMPLES_MAX:
            self._uses.clear()
        self._uses[key] = count + 1
        return count == 0 or (self._one_in > 0 and count % self._one_in == 0)

    def _note(self, event: str, caller: Caller, **facts: Any) -> None:
        if len(self._waiting) >= WAITING_MAX:
            self._lost += 1
            return
        self._waiting.append(
            {
                "time": self._clock.wall_ms(),
                "event": event,
                "door": caller.protocol,
                "principal": caller.principal,
                "host": caller.host,
                "client_id": caller.client_id[:NAME_CHARS_MAX],
                **facts,
            }
        )
        if not self._is_due:
            self._is_due = True
            self._loop.call_later(FLUSH_SECONDS, self._flush)

    # -- what it does with it ----------------------------------------------------------------------

    def _flush(self) -> None:
        noted, self._waiting = self._waiting, []
        lost, self._lost = self._lost, 0
        if lost:
            noted.append({"time": self._clock.wall_ms(), "event": "missing", "lines": lost})
        errand = Errand(partial(self._broken_off, len(noted)))
        errand.hold(self._rest)
        if noted:
            errand.go(self._worker.run, lambda: self._written(noted), partial(self._finish, errand))
        else:
            errand.end()

    def _written(self, noted: list[dict[str, Any]]) -> tuple[list[bytes], str | None]:
        """In a thread: the lines, and why they could not be written."""
        lines = [_line(each) for each in noted]
        try:
            if self._file is not None:
                self._file.append(lines)
        except OSError as error:
            return lines, error.strerror or str(error)
        return lines, None

    def _finish(self, errand: Errand, result: tuple[list[bytes], str | None]) -> None:
        lines, why_not = result
        if why_not is not None:
            self._lost += len(lines)
            events.seldom("audit not written", reason=why_not, lines=len(lines))
        if self._publish is not None:
            self._publish(lines)
        errand.end()

    def _broken_off(self, lines: int, error: Exception) -> None:
        self._lost += lines
        report("writing the audit trail", error, "with the next lines", lines=lines)

    def _rest(self) -> None:
        self._is_due = bool(self._waiting)
        if self._is_due:
            self._loop.call_later(FLUSH_SECONDS, self._flush)

    async def stop(self) -> None:
        """Write what waits, while the log still takes it."""
        await self._worker.drain()
        self._flush()
        await self._worker.drain()
        self._worker.close()
        if self._file is not None:
            self._file.close()


def _line(noted: dict[str, Any]) -> bytes:
    moment = datetime.fromtimestamp(noted["time"] / 1000, UTC)
    noted["time"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps(noted, separators=(",", ":")).encode() + b"\n"
