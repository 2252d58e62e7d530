"""Group commit on a loop: who waits is told when it is durable, whichever way the sync goes."""

import asyncio
import errno
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from tests.log.log_of import NOW, append, open_directory
from trivium.log.directory import LogDirectory
from trivium.log.faults import DirectoryOffline, LogError
from trivium.log.files import RealFile, RealFiles
from trivium.log.partition_log import PartitionLog
from trivium.log.settings import LogSettings
from trivium.server.committer import Committer

SECONDS_MAX = 60


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[LogDirectory]:
    directory = open_directory(RealFiles(), str(tmp_path / "data"))
    for number in range(3):
        append(directory.create("orders", number, UUID(int=1), LogSettings(), NOW), b"first")
    yield directory
    if not directory.is_offline:
        directory.close()


def with_committer(directory: LogDirectory, scenario: Callable[[Committer], Awaitable[None]]) -> None:
    async def run() -> None:
        committer = Committer(asyncio.get_running_loop(), directory.commit, "test")
        try:
            await asyncio.wait_for(scenario(committer), SECONDS_MAX)
            await asyncio.wait_for(committer.drain(), SECONDS_MAX)
        finally:
            committer.close()

    asyncio.run(run())


def durable(committer: Committer, log: PartitionLog) -> "asyncio.Future[LogError | None]":
    told: asyncio.Future[LogError | None] = asyncio.get_running_loop().create_future()
    committer.wait_for(log, told.set_result)
    return told


def test_everybody_is_told_whatever_a_sync_has_to_do(directory: LogDirectory) -> None:
    """First syncs with names, then growth alone, then a sealed segment, of several logs at a time."""
    logs = list(directory.logs.values())

    async def scenario(committer: Committer) -> None:
        for turn in range(30):
            waiting = []
            for log in logs:
                append(log, b"%d" % turn)
                if turn == 20:
                    log.roll(NOW)
                waiting.append((log, log.log_end_offset, durable(committer, log)))
            for log, offset_end, told in waiting:
                assert await told is None
                assert log.recovery_point >= offset_end

    with_committer(directory, scenario)
    assert [log.recovery_point for log in logs] == [31] * 3


def test_files_that_only_grew_are_synced_by_their_descriptors(
    directory: LogDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = directory.logs["orders", 0]
    log.sync()

    def refuse(_file: RealFile) -> None:
        raise AssertionError("not by a thread of Python")

    async def scenario(committer: Committer) -> None:
        for number in range(10):
            append(log, b"%d" % number)
            assert await durable(committer, log) is None
            assert log.recovery_point == log.log_end_offset
        assert committer.durations.count == 10

    with monkeypatch.context() as patch:
        patch.setattr(RealFile, "sync", refuse)
        with_committer(directory, scenario)


def test_sync_by_the_loop_itself_waits_for_what_is_in_line(directory: LogDirectory) -> None:
    """R4: a stop or a truncation may want the log durable while rounds are under way; they take turns."""
    log = directory.logs["orders", 0]
    log.sync()

    async def scenario(committer: Committer) -> None:
        for number in range(20):
            append(log, b"%d" % number)
            told = durable(committer, log)
            await asyncio.sleep(0)
            append(log, b"more")
            log.sync()
            assert log.recovery_point == log.log_end_offset
            assert await told is None

    with_committer(directory, scenario)


def test_sync_of_another_thread_gets_its_turn_while_rounds_never_end(directory: LogDirectory) -> None:
    log = directory.logs["orders", 0]
    log.sync()
    other = threading.Thread(target=log.sync_names)

    async def scenario(committer: Committer) -> None:
        number = 0
        while not number or other.is_alive():
            # There is always one more round before the last has been answered.
            append(log, b"%d" % number)
            told = durable(committer, log)
            if not number:
                await asyncio.sleep(0)
                other.start()
            number += 1
            await asyncio.sleep(0)
        assert await told is None

    with_committer(directory, scenario)
    other.join(SECONDS_MAX)


def test_sync_that_fails_in_line_acknowledges_nobody_ever_again(
    directory: LogDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4"""
    log, other = directory.logs["orders", 0], directory.logs["orders", 1]
    for each in (log, other):
        each.sync()
    ends = os.pipe()

    async def scenario(committer: Committer) -> None:
        with monkeypatch.context() as patch:
            # What is no file cannot be synced.
            patch.setattr(RealFile, "descriptor", property(lambda _file: ends[0]))
            append(log, b"lost")
            first = durable(committer, log)
            await asyncio.sleep(0)
            append(log, b"lost, too")
            second = durable(committer, log)
            for told in (first, second):
                assert isinstance(await told, DirectoryOffline)
        assert isinstance(await durable(committer, other), DirectoryOffline)

    with_committer(directory, scenario)
    for end in ends:
        os.close(end)
    assert log.recovery_point == 1
    reason = directory.health.reason
    assert reason is not None
    assert os.strerror(errno.EINVAL) in str(reason)
