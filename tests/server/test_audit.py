"""The audit trail: what is written, what is sampled, and what becomes of it when the disk takes nothing."""

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from trivium.core.access import Operation, Resource
from trivium.core.caller import Caller
from trivium.server import audit_file
from trivium.server.audit import AuditTrail
from trivium.server.audit_file import PAST_FILES_MAX, AuditFile
from trivium.server.clock import SystemClock

ANN = Caller(principal="User:ann", host="10.0.0.7", client_id="app")


def why(caller: Caller, operation: Operation, resource: Resource, name: str) -> str:
    return "because"


class Trail:
    """What a trail does with some decisions."""

    def __init__(self, path: Path, one_in: int = 3) -> None:
        self.path = path
        self.one_in = one_in
        self.published: list[bytes] = []

    def of(self, *decisions: tuple[Operation, bool]) -> list[dict[str, Any]]:
        asyncio.run(self._run(decisions))
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    async def _run(self, decisions: tuple[tuple[Operation, bool], ...]) -> None:
        trail = AuditTrail(
            asyncio.get_running_loop(),
            SystemClock(),
            AuditFile(self.path),
            self.published.extend,
            self.one_in,
        )
        for operation, is_allowed in decisions:
            trail.decided(ANN, operation, Resource.TOPIC, "orders", is_allowed, why)
        trail.came(ANN, "password", "ann", "invalid credentials")
        await trail.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def test_decision_is_a_line_with_who_where_what_and_why(path: Path) -> None:
    """003.36."""
    trail = Trail(path)
    access, login = trail.of((Operation.WRITE, False))
    assert access.pop("time").endswith("Z")
    assert access == {
        "event": "access",
        "door": "kafka",
        "principal": "User:ann",
        "host": "10.0.0.7",
        "client_id": "app",
        "operation": "WRITE",
        "resource": "TOPIC",
        "name": "orders",
        "allowed": False,
        "why": "because",
    }
    assert (login["event"], login["allowed"], login["why"]) == ("login", False, "invalid credentials")
    assert [json.loads(line)["event"] for line in trail.published] == ["access", "login"]


@pytest.mark.parametrize(("one_in", "expected"), [(0, 1), (1, 10), (3, 4)])
def test_what_is_allowed_all_the_time_is_sampled_and_refusals_are_not(
    path: Path, one_in: int, expected: int
) -> None:
    reads = [(Operation.READ, True)] * 10
    rest = [(Operation.READ, False)] * 5 + [(Operation.DELETE, True)] * 5
    lines = [each for each in Trail(path, one_in).of(*reads, *rest) if each["event"] == "access"]
    assert sum(each["allowed"] and each["operation"] == "READ" for each in lines) == expected
    assert sum(not each["allowed"] for each in lines) == 5
    assert sum(each["operation"] == "DELETE" for each in lines) == 5


def test_file_is_for_its_owner_only(path: Path) -> None:
    """S15."""
    Trail(path).of()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_name_of_a_peer_cannot_make_a_line_of_its_own(path: Path) -> None:
    """S14."""

    async def run() -> None:
        trail = AuditTrail(asyncio.get_running_loop(), SystemClock(), AuditFile(path), None, 1)
        forged = Caller(client_id='x"}\n{"event":"login","allowed":true}\u2028')
        trail.decided(forged, Operation.READ, Resource.TOPIC, "a\nb" * 1_000, False, why)
        await trail.stop()

    asyncio.run(run())
    (line,) = path.read_bytes().splitlines()
    assert json.loads(line)["client_id"].startswith('x"}\n')
    assert len(line) < 3_000


def test_large_file_is_put_aside_and_the_oldest_go(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_file, "FILE_BYTES_MAX", 10)
    file = AuditFile(path)
    for number in range(PAST_FILES_MAX + 3):
        file.append([b"%010d\n" % number])
    file.append([b"last\n"])
    file.close()
    assert path.read_bytes() == b"last\n"
    past = sorted(path.parent.glob("audit.jsonl.*"))
    assert len(past) == PAST_FILES_MAX
    assert (path.parent / "audit.jsonl.1").read_bytes() == b"%010d\n" % (PAST_FILES_MAX + 2)


def test_lines_that_cannot_be_written_are_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        file = AuditFile(path)
        trail = AuditTrail(asyncio.get_running_loop(), SystemClock(), file, None, 1)
        write = file.append

        def full(lines: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(file, "append", full)
        trail.decided(ANN, Operation.READ, Resource.TOPIC, "orders", False, why)
        trail._flush()
        await trail._worker.drain()
        monkeypatch.setattr(file, "append", write)
        await trail.stop()

    asyncio.run(run())
    (line,) = path.read_text().splitlines()
    assert json.loads(line)["event"] == "missing"
    assert json.loads(line)["lines"] == 1
