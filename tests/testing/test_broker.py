"""The broker that people put into their tests: quick, clean, and the same in every place it is used from."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trivium.client.errors import Refused
from trivium.testing import Broker
from trivium.testing.broker import NotRunning


def values(broker: Broker, topic: str) -> list[bytes | None]:
    return [record.value for record in broker.records(topic)]


def test_broker_serves_what_was_produced() -> None:
    with Broker() as broker:
        broker.create_topic("t", partitions=2, configs={"retention.ms": -1})
        broker.produce("t", ["a", None], partition=1, headers=[("h", b"1")], timestamp_ms=1_000)
        broker.produce("t", [("k", b"b")], partition=0)
        found = broker.records("t")
        assert broker.topics() == {"t": 2}
    assert [(record.partition, record.offset, record.key, record.value) for record in found] == [
        (0, 0, b"k", b"b"),
        (1, 0, None, b"a"),
        (1, 1, None, None),
    ]
    assert (found[1].timestamp, found[1].headers) == (1_000, (("h", b"1"),))


def test_broker_in_memory_touches_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Broker() as broker:
        broker.produce("t", ["a"])
        assert list(tmp_path.iterdir()) == []
        assert broker.directories == ()
    assert list(tmp_path.iterdir()) == []
    assert not Path("/memory").exists()


@pytest.mark.parametrize("on_disk", [False, True])
def test_broker_after_a_restart_has_its_address_and_its_records(tmp_path: Path, on_disk: bool) -> None:
    with Broker(tmp_path / "data" if on_disk else None) as broker:
        address = broker.bootstrap
        broker.produce("t", ["a"])
        broker.restart()
        broker.produce("t", ["b"])
        assert broker.bootstrap == address
        assert values(broker, "t") == [b"a", b"b"]


@pytest.mark.parametrize("on_disk", [False, True])
def test_broker_that_was_killed_recovers_what_was_acknowledged(tmp_path: Path, on_disk: bool) -> None:
    """R1, and the directory is as kill -9 leaves it: without the mark of a clean stop."""
    data = tmp_path / "data" if on_disk else None
    with Broker(data) as broker:
        broker.produce("t", ["a", "b"])
        broker.kill()
        assert not broker.is_running
        assert data is None or not (data / ".kafka_cleanshutdown").exists()
        broker.start()
        assert values(broker, "t") == [b"a", b"b"]
    assert data is None or (data / ".kafka_cleanshutdown").exists()


def test_broker_that_is_down_keeps_its_port_for_itself() -> None:
    with Broker() as broker:
        host, _, port = broker.bootstrap.rpartition(":")
        for end in (broker.stop, broker.kill):
            end()
            with socket.socket() as somebody, pytest.raises(OSError, match="in use"):
                somebody.bind((host, int(port)))
            with socket.socket() as client, pytest.raises(ConnectionRefusedError):
                client.connect((host, int(port)))
            broker.start()
    with socket.socket() as somebody:
        somebody.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        somebody.bind((host, int(port)))


def test_broker_on_a_directory_leaves_it_to_the_next(tmp_path: Path) -> None:
    with Broker(tmp_path) as broker:
        broker.produce("t", ["a"])
    with Broker(str(tmp_path)) as broker:
        assert values(broker, "t") == [b"a"]


def test_broker_spreads_its_topics_over_several_directories(tmp_path: Path) -> None:
    directories = [tmp_path / "one", tmp_path / "two"]
    with Broker(directories) as broker:
        broker.create_topic("t", partitions=4)
        for partition in range(4):
            broker.produce("t", ["a"], partition=partition)
        broker.restart()
        assert len(values(broker, "t")) == 4
    assert [len(list(directory.glob("t-*"))) for directory in directories] == [2, 2]


def test_two_brokers_on_one_directory_are_refused_with_a_sentence(tmp_path: Path) -> None:
    with Broker(tmp_path), pytest.raises(Exception, match="in use by another broker"):
        Broker(tmp_path).start()


def test_brokers_live_side_by_side() -> None:
    with Broker() as one, Broker() as other:
        one.produce("t", ["one"])
        other.produce("t", ["other"])
        assert one.bootstrap != other.bootstrap
        assert values(one, "t") == [b"one"]
        assert values(other, "t") == [b"other"]


def test_settings_are_taken_by_name_and_by_keyword() -> None:
    with Broker(settings={"num.partitions": 3}, auto_create_topics_enable=False) as broker:
        broker.create_topic("t")
        assert broker.topics() == {"t": 3}
        with pytest.raises(Refused, match="There is no topic missing"):
            broker.produce("missing", ["a"])


def test_faults_stay_over_a_restart() -> None:
    with Broker() as broker:
        fault = broker.faults.error("CreateTopics", "POLICY_VIOLATION")
        for lives in (1, 2):
            with pytest.raises(Refused, match="A test asked for this error"):
                broker.create_topic("t")
            assert fault.fired == lives
            broker.restart()
        broker.faults.clear()
        broker.create_topic("t")


def test_broker_that_does_not_run_says_so() -> None:
    broker = Broker()
    with pytest.raises(NotRunning, match="start it first"):
        _ = broker.bootstrap
    with broker:
        pass
    with pytest.raises(NotRunning, match="not running"):
        broker.topics()


def test_broker_that_cannot_start_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("not a log directory")
    threads = threading.active_count()
    with pytest.raises(Exception, match=r"letter\.txt is there\); choose an empty one"):
        Broker(tmp_path).start()
    assert threading.active_count() == threads


def test_brokers_leave_no_thread_and_no_descriptor_behind(tmp_path: Path) -> None:
    def live(data: Path | None) -> None:
        with Broker(data) as broker:
            broker.produce("t", ["a"])
            broker.restart()
            broker.kill()
            broker.start()

    live(tmp_path / "0")
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    for number in range(3):
        live(None)
        live(tmp_path / str(number))
    # What clients of other tests let go of meanwhile is no business of this one.
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_broker_is_stopped_when_the_test_fails() -> None:
    broker = Broker()
    with pytest.raises(ZeroDivisionError), broker:
        _ = 1 / 0
    assert not broker.is_running


def test_broker_serves_a_test_that_runs_in_a_loop() -> None:
    async def scenario(broker: Broker) -> list[bytes | None]:
        await asyncio.to_thread(broker.produce, "t", ["a"])
        await asyncio.to_thread(broker.restart)
        return await asyncio.to_thread(values, broker, "t")

    with Broker() as broker:
        assert asyncio.run(scenario(broker)) == [b"a"]


@pytest.mark.parametrize("without", ["", "uvloop"])
def test_process_that_forgets_its_broker_ends_all_the_same(without: str) -> None:
    """In a process of its own; also without uvloop, which not every Python has."""
    script = f"""
import sys
if {without!r}:
    sys.modules[{without!r}] = None
from trivium.testing import Broker
broker = Broker()
broker.start()
broker.produce("t", ["a"])
broker.kill()
broker.start()
print(broker.records("t")[0].value)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("b'a'\n", "", 0)
