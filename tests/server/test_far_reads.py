"""Records that are on the disk and not in memory: whoever wants them waits, and nobody else (R9)."""

import os
import threading
from pathlib import Path

import pytest

from tests.server.wire import FETCH_VERSION, PRODUCE_VERSION, Peer, create_topic, fetch, produce
from trivium.log.files import SAMPLE_EVERY_BYTES, RealFile, RealFiles
from trivium.messages.api import ApiKey
from trivium.testing.broker import Broker

SECONDS_MAX = 20
VALUE = b"a record that has left memory"


def test_reader_of_far_records_waits_while_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_read, is_reading = threading.Event(), threading.Event()
    loop_thread: list[int] = []

    def is_near(self: RealFile, size_bytes: int, position: int) -> bool:
        loop_thread.append(threading.get_ident())
        return "far-0" not in self.path

    plain_read = RealFile.read

    def read(self: RealFile, size_bytes: int, position: int) -> bytes:
        if loop_thread and threading.get_ident() != loop_thread[0] and "far-0" in self.path:
            is_reading.set()
            assert may_read.wait(SECONDS_MAX)
        return plain_read(self, size_bytes, position)

    with Broker(tmp_path) as broker:
        for topic in ("far", "near"):
            create_topic(broker.bootstrap, topic)
        with Peer(broker.bootstrap) as patient, Peer(broker.bootstrap) as busy:
            patient.ask(produce("far", VALUE), PRODUCE_VERSION)
            patient.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
            monkeypatch.setattr(RealFile, "is_near", is_near)
            monkeypatch.setattr(RealFile, "read", read)
            asked = patient.ask(fetch("far", max_wait_ms=0), FETCH_VERSION)
            assert is_reading.wait(SECONDS_MAX)
            for _ in range(10):
                busy.ask(produce("near", b"x"), PRODUCE_VERSION)
                busy.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
            may_read.set()
            frame = patient.frame()
            assert int.from_bytes(frame[:4]) == asked
            assert VALUE in frame


def test_file_that_has_left_memory_is_far_until_it_is_read(tmp_path: Path) -> None:
    if not hasattr(os, "RWF_NOWAIT"):
        pytest.skip("this system does not tell what is in memory")
    path = tmp_path / "file"
    path.write_bytes(bytes(4 * SAMPLE_EVERY_BYTES))
    file = RealFiles().open(str(path))
    file.sync()
    size_bytes = file.size()
    assert file.is_near(size_bytes, 0)
    with path.open("rb") as other:
        os.posix_fadvise(other.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    if file.is_near(size_bytes, 0):
        pytest.skip("this file system keeps everything in memory")
    file.read(size_bytes, 0)
    assert file.is_near(size_bytes, 0)
    assert file.is_near(1, size_bytes - 1)
    file.close()
    assert file.is_near(1, 0), "that it cannot be read is told by reading"
