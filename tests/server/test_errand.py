"""A mistake of ours in what is done beside the requests: it is told, and the work goes on with its next turn.

Each test makes one mistake (``loose``) in work of one kind and looks whether that work is done all the same,
later or for the next who asks.
"""

import asyncio
import gc
import logging
import sys
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from tests.core.fakes import NOW_MS
from tests.core.mistakes import Mistakes, asking, loose
from tests.log.log_of import NOW, append, open_directory
from tests.server.storage_world import MINUTE_MS, StorageWorld, records, write
from tests.server.test_audit import ANN, why
from tests.server.test_bearer_tokens import Bearers as TokenBearers
from tests.server.test_bearer_tokens import Issuer, serving, with_bearers
from tests.server.test_metadata_store import MetadataLife, topic_records
from tests.server.test_patience import Scene
from trivium.core.acls.entry import Operation
from trivium.core.faults import Fault
from trivium.core.rights import Resource
from trivium.log import directory as log_directory
from trivium.log.commit import Round
from trivium.log.compaction_plan import plan_compaction
from trivium.log.faults import DirectoryOffline, LogError
from trivium.log.files import RealFiles
from trivium.log.future import FutureLog
from trivium.log.metadata_snapshots import list_snapshots
from trivium.log.segment import Extent, Segment
from trivium.log.settings import LogSettings
from trivium.server import bearer_tokens, kerberos, maintenance, metadata_store, stored_log
from trivium.server.audit import AuditTrail
from trivium.server.audit_file import AuditFile
from trivium.server.clock import SystemClock
from trivium.server.committer import Committer
from trivium.server.connection import Connection
from trivium.server.errand import Errand
from trivium.server.event_log import TextLines, events
from trivium.server.kerberos import Keytab, KeytabTickets
from trivium.server.moving import SWITCH_BYTES_MAX
from trivium.server.storage import RETRY_MS
from trivium.server.worker import Worker
from trivium.testing.disk import FakeDisk

SECONDS_MAX = 60
HOUR_MS = 60 * MINUTE_MS
COMPACTED = LogSettings(compact=True, delete=False, segment_ms=MINUTE_MS, min_cleanable_dirty_ratio=0.0)
TWO = ["/one", "/two"]


@pytest.fixture(autouse=True)
def lines(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    monkeypatch.setattr(events, "_told", {})  # what another test has caused is no news to this one
    caplog.set_level(logging.ERROR, logger="trivium")
    return caplog


def told(lines: pytest.LogCaptureFixture) -> list[str]:
    """The first line of each event, without its time."""
    formatted = [TextLines().format(record).splitlines()[0] for record in lines.records]
    return [line.split(maxsplit=2)[2] for line in formatted]


def break_once(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, call: int = 1) -> None:
    whole = getattr(owner, name)
    calls: list[object] = []

    def broken_once(*arguments: Any, **named: Any) -> Any:
        calls.append(arguments)
        return loose() if len(calls) == call else whole(*arguments, **named)

    monkeypatch.setattr(owner, name, broken_once)


def in_a_loop(scenario: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await asyncio.wait_for(scenario(), SECONDS_MAX)

    asyncio.run(run())


# -- an errand -------------------------------------------------------------------------------------


def test_errand_broken_off_in_a_thread_lets_go_of_what_it_holds_and_tells_who_begins_again() -> None:
    async def scenario() -> None:
        worker = Worker(asyncio.get_running_loop(), "test")
        happened: list[str] = []
        errand = Errand(lambda error: happened.append(str(error)))
        errand.hold(happened.append, "first")
        errand.hold(happened.append, "second")
        errand.go(worker.run, loose, happened.append)
        await worker.drain()
        worker.close()
        assert happened == ["second", "first", "a bolt is loose"]

    in_a_loop(scenario)


def test_errand_for_somebody_is_that_callers_mistake_also_after_its_end() -> None:
    caller, held = Mistakes(), ["held"]
    with asking(caller, "LogIn"):
        errand = Errand()
    errand.hold(held.clear)

    def end_and_break() -> None:
        errand.end()
        loose()

    errand.go(end_and_break)
    assert (caller.found, held) == ([("LogIn", "a bolt is loose")], [])


def test_errand_that_is_over_hears_of_nothing() -> None:
    heard: list[Exception] = []
    errand = Errand(heard.append)
    errand.end()
    with pytest.raises(RuntimeError):
        errand.go(loose)
    assert heard == []


def test_errand_that_is_over_is_gone_with_all_that_it_held_without_a_garbage_collector() -> None:
    """Each sync is one, and what waits for it is not small."""

    class Held:
        def hear(self, _error: Exception) -> None: ...

    held = Held()
    errand = Errand(held.hear)
    errand.go(lambda: None)
    errand.end()
    is_gone = weakref.ref(held)
    gc.disable()
    try:
        del errand, held
        assert is_gone() is None
    finally:
        gc.enable()


def test_job_for_which_there_is_no_thread_is_not_done_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gave it has heard that nothing comes of it, and may have begun again."""

    def no_thread(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    async def scenario() -> None:
        worker = Worker(asyncio.get_running_loop(), "test")
        happened: list[str] = []
        errand = Errand(lambda error: happened.append(str(error)))
        with monkeypatch.context() as few_threads:
            few_threads.setattr(Thread, "start", no_thread)
            errand.go(worker.run, lambda: "first", happened.append)
        await worker.drain()
        worker.run(lambda: "second", happened.append)
        await worker.drain()
        worker.close()
        assert happened == ["can't start new thread", "second"]

    in_a_loop(scenario)


def test_mistake_while_an_errand_lets_go_keeps_nothing_else_held_and_nobody_unheard() -> None:
    heard: list[str] = []
    errand = Errand(lambda error: heard.append(str(error)))
    errand.hold(heard.append, "let go")
    errand.hold(loose)
    with pytest.raises(RuntimeError):
        errand.go(lambda: loose())
    assert heard == ["let go", "a bolt is loose"]


# -- who comes in ----------------------------------------------------------------------------------


def tickets() -> KeytabTickets:
    library = SimpleNamespace(exceptions=SimpleNamespace(GSSError=OSError))
    keytab = SimpleNamespace(gssapi=library, credentials=None)
    return KeytabTickets(asyncio.get_running_loop(), cast(Keytab, keytab))


def test_mistake_in_a_ticket_takes_no_place_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kerberos, "WAITING_MAX", 1)

    async def scenario() -> None:
        asked, caller, answer = tickets(), Mistakes(), asyncio.get_running_loop().create_future()
        with asking(caller, "LogIn"):
            asked.wrap(SimpleNamespace(wrap=lambda *_: loose()), b"", answer.set_result)
        await asked._worker.drain()
        wrapped = SimpleNamespace(wrap=lambda message, _: SimpleNamespace(message=message))
        asked.wrap(wrapped, b"mine", answer.set_result)
        assert await answer == b"mine"
        assert caller.found == [("LogIn", "a bolt is loose")]
        asked.close()

    in_a_loop(scenario)


def test_mistake_in_reading_keys_of_tokens_leaves_them_to_the_next_token(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(bearer_tokens, "RELOAD_SECONDS_MIN", 0.0)
    break_once(monkeypatch, bearer_tokens, "_read_keys")
    issuer = Issuer("one")
    with serving(issuer) as (url, _endpoint):

        async def scenario(bearers: TokenBearers) -> None:
            assert await bearers.ask(issuer.token(sub="ann")) is None
            assert (await bearers.ask(issuer.token(sub="ann")))["sub"] == "ann"

        with_bearers(url, scenario)
    (line,) = told(lines)
    assert line.startswith("reading the keys of tokens broken off by a mistake in Trivium  source=")
    assert 'again="in 0 s, for the next token of a key that is not known"' in line


def test_url_that_does_not_speak_http_leaves_the_keys_to_the_next_token(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async def hang_up(_reader: object, writer: asyncio.StreamWriter) -> None:
            writer.write(b"this is no answer\r\n")
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}/keys"
        assert await asyncio.to_thread(bearer_tokens._read_keys, url) is None
        server.close()

    in_a_loop(scenario)
    assert [record.getMessage() for record in lines.records] == [
        "the keys of tokens cannot be read; those known before count"
    ]


def test_mistake_in_a_token_takes_no_place_from_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearer_tokens, "WAITING_MAX", 1)
    break_once(monkeypatch, bearer_tokens, "_verified")
    issuer = Issuer("one")
    with serving(issuer) as (url, _endpoint):

        async def scenario(bearers: TokenBearers) -> None:
            with asking(Mistakes(), "LogIn"):
                bearers.ask(issuer.token(sub="ann"))
            while bearers.tokens._waiting:
                await asyncio.sleep(0.001)
            await bearers.tokens._checker.drain()
            assert (await bearers.ask(issuer.token(sub="ann")))["sub"] == "ann"

        with_bearers(url, scenario)


def test_mistake_in_writing_the_audit_trail_loses_those_lines_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setattr("trivium.server.audit.FLUSH_SECONDS", 0.0)

    async def scenario() -> None:
        file = AuditFile(path)
        break_once(monkeypatch, file, "append")
        trail = AuditTrail(asyncio.get_running_loop(), SystemClock(), file, None, 1)
        for name in ("first", "second"):
            trail.decided(ANN, Operation.READ, Resource.TOPIC, name, False, why)
            while trail._is_due:
                await asyncio.sleep(0.001)
        await trail.stop()

    in_a_loop(scenario)
    written = path.read_text()
    assert '"name":"second"' in written
    assert '"event":"missing","lines":1' in written
    assert told(lines) == [
        'writing the audit trail broken off by a mistake in Trivium  lines=1 again="with the next lines" '
        'error="RuntimeError: a bolt is loose"'
    ]


# -- logs ------------------------------------------------------------------------------------------


def dirty(world: StorageWorld, topic: str) -> Any:
    log = world.log(topic)
    for number in range(5):
        write(log, (b"k", b"%d" % number), timestamp=NOW_MS + number * 2 * MINUTE_MS)
    log.when_durable(lambda _fault: None)
    return log


@pytest.mark.parametrize("name", ["plan_compaction", "compact", "install"])
def test_mistake_in_a_compaction_lets_others_go_first_and_the_same_log_afterwards(
    name: str, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    first, second = dirty(world, "first"), dirty(world, "second")
    break_once(monkeypatch, maintenance, name)
    world.maintenance.start()
    world.pass_time(maintenance.AFTER_MISTAKE_MS)
    assert (len(records(first)), len(records(second))) == (5, 2)
    world.pass_time(MINUTE_MS)
    assert len(records(first)) == 2
    assert told(lines) == [
        'compaction broken off by a mistake in Trivium  of=first-0 again="in 60 s" '
        'error="RuntimeError: a bolt is loose"'
    ]


def test_compaction_that_cannot_open_all_of_a_log_holds_none_of_it_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    log = dirty(world, "state").log
    plan = plan_compaction(log, NOW_MS + HOUR_MS)
    assert plan is not None
    break_once(monkeypatch, Segment, "pin", call=2)
    with pytest.raises(RuntimeError):
        plan.pin()
    plan.segments[0].retire()
    assert plan.segments[0]._file is None


def test_log_whose_compaction_was_broken_off_can_be_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld(FakeDisk(), TWO, settings=COMPACTED)
    dirty(world, "state")
    break_once(monkeypatch, maintenance, "install")
    world.maintenance.start()
    world.pass_time(MINUTE_MS)
    home = world.store.home("state", 0).path
    (target,) = (path for path in TWO if path != home)
    heard: list[Fault | None] = []
    world.storage.move("state", 0, target, heard.append)
    assert heard == [None]


def test_mistake_in_looking_for_work_is_no_end_of_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld(FakeDisk(), settings=COMPACTED)
    log = dirty(world, "state")
    break_once(monkeypatch, world.maintenance, "_plans")
    world.maintenance.start()
    world.pass_time(3 * MINUTE_MS)
    assert len(records(log)) == 2


def test_mistake_in_retention_of_one_log_leaves_it_to_the_next_turn_and_the_others_are_done(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(retention_ms=1))
    logs = [world.log("first"), world.log("second")]
    for log in logs:
        write(log, b"old", timestamp=NOW_MS)
    break_once(monkeypatch, maintenance, "expiring")
    world.maintenance.start()
    world.pass_time(MINUTE_MS)
    assert [len(records(log)) for log in logs] == [1, 0]
    world.pass_time(5 * MINUTE_MS)
    assert [len(records(log)) for log in logs] == [0, 0]
    assert told(lines) == [
        'retention broken off by a mistake in Trivium  of=first-0 again="in 300 s" '
        'error="RuntimeError: a bolt is loose"'
    ]


def test_mistake_between_two_logs_is_no_end_of_retention(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings(retention_ms=1))
    log = world.log()
    write(log, b"old", timestamp=NOW_MS)
    break_once(monkeypatch, world.maintenance, "_logs")
    world.maintenance.start()
    world.pass_time(3 * MINUTE_MS)
    assert records(log) == []


def test_mistake_in_a_checkpoint_leaves_it_to_the_next_turn(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    world = StorageWorld(FakeDisk(), settings=LogSettings())
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    log.when_durable(lambda _fault: None)
    begun: list[object] = []
    break_once(monkeypatch, log_directory.LogDirectory, "begin_checkpoints")
    monkeypatch.setattr(log_directory.LogDirectory, "finish_checkpoints", lambda *_: begun.append(_))
    world.maintenance.start()
    world.pass_time(2 * MINUTE_MS)
    assert begun
    assert told(lines) == [
        'a checkpoint broken off by a mistake in Trivium  of=/data again="in 60 s" '
        'error="RuntimeError: a bolt is loose"'
    ]


@pytest.mark.parametrize("name", ["write_snapshot", "list_snapshots"])
def test_mistake_in_a_snapshot_of_the_metadata_leaves_it_to_the_next_look(
    name: str, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    break_once(monkeypatch, metadata_store, name)
    life.commit(*topic_records("first", 1))
    life.store.sum_up()
    life.commit(*topic_records("second", 2))
    life.clock.advance(60_000)
    life.store.look()
    assert list_snapshots(disk, life.log.directory)[-1].offset == life.log.log_end_offset
    assert told(lines) == [
        "a snapshot of the metadata broken off by a mistake in Trivium  "
        'again="within 10 s, if it is still due" error="RuntimeError: a bolt is loose"'
    ]


def test_mistake_in_making_a_partition_lets_others_go_first(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    disk = FakeDisk()
    world = StorageWorld(disk)
    break_once(monkeypatch, world.store, "create")
    for number in range(2):
        world.storage.create("orders", number, bytes(16))
    world.pass_time(2 * RETRY_MS)
    assert all(disk.is_directory(f"/data/orders-{number}") for number in range(2))
    assert told(lines) == [
        'making a partition broken off by a mistake in Trivium  again="in 5 s, after others" '
        'error="RuntimeError: a bolt is loose"'
    ]


@pytest.mark.parametrize("name", ["copy", "switch"])
def test_mistake_in_a_move_is_told_to_who_has_asked_and_the_next_one_is_done(
    name: str, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    world = StorageWorld(FakeDisk(), TWO)
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    home = world.store.home("orders", 0).path
    (target,) = (path for path in TWO if path != home)
    break_once(monkeypatch, FutureLog, name)
    heard: list[Fault | None] = []
    world.storage.move("orders", 0, target, heard.append)
    assert (heard, log.home.path) == ([Fault.STORAGE], home)
    world.storage.move("orders", 0, target, heard.append)
    assert (heard[1:], log.home.path) == ([None], target)
    assert told(lines) == [
        "moving a partition broken off by a mistake in Trivium  partition=orders-0 "
        'again="when it is asked for" error="RuntimeError: a bolt is loose"'
    ]


def test_mistake_is_told_also_after_very_many_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld(FakeDisk(), TWO)
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    (target,) = (path for path in TWO if path != world.store.home("orders", 0).path)
    monkeypatch.setattr(FutureLog, "missing_bytes", SWITCH_BYTES_MAX + 1)
    heard: list[Fault | None] = []
    world.worker.holds = True
    world.storage.move("orders", 0, target, heard.append)
    for _ in range(sys.getrecursionlimit()):
        world.worker.step()
    break_once(monkeypatch, FutureLog, "copy")
    world.worker.step()
    assert heard == [Fault.STORAGE]
    assert not [each for each in world.storage.directories() if each.arriving]


def test_mistake_in_a_far_read_holds_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    world = StorageWorld(FakeDisk())
    log = world.log()
    write(log, b"a", timestamp=NOW_MS)
    monkeypatch.setattr(Extent, "is_near", property(lambda _: False))
    break_once(monkeypatch, stored_log, "_bring")
    caller, came = Mistakes(), ["far"]
    with asking(caller, "Fetch"):
        log.summon(0, 1_000, came.clear)
    assert (caller.found, came) == ([("Fetch", "a bolt is loose")], ["far"])
    segment = log.log.active
    segment.retire()
    assert segment._file is None


# -- syncs and connections -------------------------------------------------------------------------


def test_mistake_in_a_sync_takes_the_directory_offline_and_leaves_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    directory = open_directory(RealFiles(), str(tmp_path / "data"))
    log = directory.create("orders", 0, UUID(int=1), LogSettings(), NOW)
    break_once(monkeypatch, Round, "run")

    async def scenario() -> None:
        committer = Committer(asyncio.get_running_loop(), directory.commit, "/data")
        for _ in range(2):
            heard: asyncio.Future[LogError | None] = asyncio.get_running_loop().create_future()
            if not directory.is_offline:
                append(log, b"first")
            committer.wait_for(log, heard.set_result)
            assert isinstance(await heard, DirectoryOffline)
        await committer.drain()
        committer.close()

    in_a_loop(scenario)
    assert told(lines) == [
        "a sync broken off by a mistake in Trivium  directory=/data "
        'again="after the next start, which recovers the directory" error="RuntimeError: a bolt is loose"'
    ]


def test_mistake_in_a_round_of_the_patrol_is_not_its_last(
    monkeypatch: pytest.MonkeyPatch, lines: pytest.LogCaptureFixture
) -> None:
    scene = Scene()
    due: list[Callable[[], None]] = []
    monkeypatch.setattr(scene.loop, "call_later", lambda _seconds, call: due.append(call))
    patrol = scene.connection._all.guard
    patrol.opened(scene.connection)
    break_once(monkeypatch, Connection, "due")
    due.pop()()
    due.pop()()
    assert len(due) == 1
    assert told(lines) == [
        'going round the connections broken off by a mistake in Trivium  again="in 3 s" '
        'error="RuntimeError: a bolt is loose"'
    ]
