"""A node and its directories: what it makes of them at a start, and when one of them is slow or fails."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.server.troubled_files import TroubledFiles
from tests.server.wire import Peer
from trivium.client.cluster import Cluster as ClientCluster
from trivium.client.offsets import delete_records
from trivium.client.topology import TopicPartition
from trivium.core.metadata import MetadataImage
from trivium.log.faults import Corrupt, DirectoryRefused
from trivium.log.files import RealFiles
from trivium.messages.api import ApiKey
from trivium.messages.api.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from trivium.server.metadata_store import load
from trivium.testing import Broker, contents
from trivium.testing.broker_settings import configuration
from trivium.testing.disk import FakeDisk
from trivium.testing.node_thread import NodeThread

SECONDS_MAX = 30
LOOP_THREAD = "trivium broker"
NOW_MS = 1_750_000_000_000
EAGER = {
    "log_flush_offset_checkpoint_interval_ms": "50",
    "log_initial_task_delay_ms": "0",
    "log_retention_check_interval_ms": "50",
    "log_cleaner_backoff_ms": "50",
}
"""Settings of a node that keeps things in order all the time."""


def image_of(data: Path) -> MetadataImage:
    return load(RealFiles(), [str(data)], 0).image


def eventually(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


# -- the start -------------------------------------------------------------------------------------


def test_new_node_keeps_the_books_of_a_kraft_cluster(tmp_path: Path) -> None:
    with Broker(tmp_path / "data") as broker:
        port = int(broker.bootstrap.rpartition(":")[2])
    image = image_of(tmp_path / "data")
    assert image.features.levels["metadata.version"] == 30
    registered = image.brokers.by_id[1]
    assert registered.listeners["PLAINTEXT"].port == port
    assert len(registered.directories) == 1
    assert registered.is_fenced, "it has said goodbye"


def test_broker_that_runs_is_not_fenced_and_its_epoch_grows(tmp_path: Path) -> None:
    epochs = []
    with Broker(tmp_path / "data") as broker:
        for _ in range(3):
            broker.kill()
            registered = image_of(tmp_path / "data").brokers.by_id[1]
            assert not registered.is_fenced
            epochs.append(registered.broker_epoch)
            broker.start()
    assert epochs == sorted(set(epochs))


def leader_epochs(data: Path) -> list[int]:
    return [partition.leader_epoch for partition in image_of(data).topics.by_name["t"].partitions.values()]


def test_clean_stop_keeps_the_leader_epochs_and_a_kill_begins_new_ones(tmp_path: Path) -> None:
    """KIP-320: a client that has seen records which the crash took can find out."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        broker.create_topic("t", 2)
        broker.restart()
        assert leader_epochs(data) == [0, 0]
        broker.kill()
        broker.start()
        assert leader_epochs(data) == [1, 1]
        broker.produce("t", [b"in the new epoch"], partition=0)
        broker.restart()
        assert [record.value for record in broker.records("t")] == [b"in the new epoch"]
    assert leader_epochs(data) == [1, 1]


def test_metadata_log_that_was_emptied_is_no_new_node(tmp_path: Path) -> None:
    """Topics, users and rights would be forgotten, and the first password be the one that everybody knows."""
    with Broker(tmp_path) as broker:
        broker.create_topic("orders")
        broker.produce("orders", ["kept"])
    directory = tmp_path / "__cluster_metadata-0"
    for file in directory.glob("*.log"):
        file.write_bytes(b"")
    with pytest.raises(Exception, match=r"is empty, and there are partitions that it should tell of"):
        Broker(tmp_path).start()
    assert [path.stat().st_size for path in directory.glob("*.log")] == [0], "nothing was begun"
    shutil.rmtree(directory)
    with Broker(tmp_path) as broker:
        assert broker.topics() == {}
    assert (tmp_path / "orders-0" / f"{0:020d}.log").stat().st_size > 0


def test_topic_made_and_deleted_leaves_no_directory_and_no_stray(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Broker(data) as broker:
        broker.create_topic("t", 2)
        broker.produce("t", [b"a"])
        delete_topic(broker.bootstrap, "t")
        broker.create_topic("t", 1)
        broker.restart()
        assert broker.records("t") == []
    assert [path.name for path in data.iterdir() if path.is_dir() and path.name.startswith("t-")] == ["t-0"]


def delete_topic(bootstrap: str, name: str) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    client.delete_topics([name])[name].result(SECONDS_MAX)


def test_directory_of_an_unknown_topic_is_left_alone_and_gives_way_to_a_new_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Broker(data) as broker:
        broker.create_topic("t", 1)
        broker.produce("t", [b"old"])
    shutil.copytree(data / "t-0", tmp_path / "kept")
    with Broker(data) as broker:
        delete_topic(broker.bootstrap, "t")
    shutil.copytree(tmp_path / "kept", data / "t-0")
    with Broker(data) as broker:
        assert "t" not in broker.topics()
        assert (data / "t-0" / f"{0:020d}.log").read_bytes()
        broker.create_topic("t", 1)
        assert broker.records("t") == []
        broker.produce("t", [b"new"])
        broker.restart()
        assert [record.value for record in broker.records("t")] == [b"new"]
    (stray,) = data.glob("t-0.*-stray")
    assert (stray / f"{0:020d}.log").read_bytes() == (tmp_path / "kept" / f"{0:020d}.log").read_bytes()


def test_damaged_metadata_is_one_sentence_and_nothing_is_touched(tmp_path: Path) -> None:
    """R7: a broker with half of its topics would be worse than none."""
    data = tmp_path / "data"
    with Broker(data) as broker:
        broker.create_topic("t", 1)
    log = data / "__cluster_metadata-0" / f"{0:020d}.log"
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file()}
    with pytest.raises(Corrupt, match="__cluster_metadata-0 is corrupt from offset"):
        Broker(data).start()
    assert {path: path.read_bytes() for path in data.rglob("*") if path.is_file()} == before


def test_node_id_of_the_directory_counts_and_another_one_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Broker(data, settings={"node.id": "0"}):
        pass
    with Broker(data):
        assert (data / "meta.properties").read_text().count("node.id=0") == 1
    with pytest.raises(DirectoryRefused, match="belongs to node 0, this is node 5"):
        Broker(data, settings={"node.id": "5"}).start()


def test_metadata_may_lie_in_a_directory_of_its_own(tmp_path: Path) -> None:
    settings = {"metadata.log.dir": str(tmp_path / "metadata")}
    with Broker(tmp_path / "data", settings=settings) as broker:
        broker.create_topic("t", 5)
        broker.produce("t", [b"a"], partition=0)
        broker.restart()
        assert [record.value for record in broker.records("t")] == [b"a"]
    assert (tmp_path / "metadata" / "__cluster_metadata-0").is_dir()
    assert not list((tmp_path / "metadata").glob("t-*"))
    assert not (tmp_path / "data" / "__cluster_metadata-0").exists()


def test_directory_that_cannot_be_opened_takes_only_its_own_partitions_along(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with Broker([one, two]) as broker:
        broker.create_topic("t", 4)
        for number in range(4):
            broker.produce("t", [b"%d" % number], partition=number)
    lost = {int(path.name.rpartition("-")[2]) for path in two.glob("t-*")}
    assert len(lost) == 2
    two.rename(tmp_path / "away")
    two.write_text("a file is no directory")
    with Broker([one, two]) as broker:
        leaders = leaders_of(broker.bootstrap)
        assert {number for number, leader in leaders.items() if leader < 0} == lost
        for number in range(4):
            assert produce_error(broker.bootstrap, number) == (
                KafkaError.LEADER_NOT_AVAILABLE if number in lost else None
            )
    two.unlink()
    (tmp_path / "away").rename(two)
    with Broker([one, two]) as broker:
        assert all(leader == 1 for leader in leaders_of(broker.bootstrap).values())
        assert {b"0", b"1", b"2", b"3"} <= {record.value for record in broker.records("t")}


def leaders_of(bootstrap: str) -> dict[int, int]:
    metadata = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2}).list_topics(
        "t", timeout=SECONDS_MAX
    )
    return {number: partition.leader for number, partition in metadata.topics["t"].partitions.items()}


def produce_error(bootstrap: str, partition: int) -> int | None:
    """The code that a producer gets in the end."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "message.timeout.ms": 1500, "retries": 0, "log_level": 2}
    )
    heard: list[KafkaError | None] = []
    try:
        producer.produce("t", b"x", partition=partition, on_delivery=lambda error, _m: heard.append(error))
        assert producer.flush(SECONDS_MAX) == 0
    except KafkaException as exception:
        heard.append(exception.args[0])
    last = heard[-1]
    if last is None:
        return None
    # librdkafka holds records of a partition without a leader back until they have waited too long.
    return KafkaError.LEADER_NOT_AVAILABLE if last.code() == KafkaError._MSG_TIMED_OUT else last.code()


# -- slow and failing disks ------------------------------------------------------------------------


@contextmanager
def node_on(files: TroubledFiles, paths: list[Path], **settings: str) -> Iterator[str]:
    """A node on these files; its address."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    thread = NodeThread(configuration(tuple(paths), named, None), files, lambda _node, _loop: None)
    node = thread.start()
    try:
        (addresses,) = node.addresses.values()
        yield str(addresses[0])
    finally:
        files.go_on()
        thread.stop()


def create_topic(
    bootstrap: str, partitions: int, name: str = "t", config: Mapping[str, str] | None = None
) -> None:
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 2})
    topic = NewTopic(name, partitions, 1, config=dict(config or {}))
    client.create_topics([topic])[name].result(SECONDS_MAX)


def test_slow_disk_stops_neither_the_loop_nor_another_disk(tmp_path: Path) -> None:
    """R9: while one directory syncs for ever, the other acknowledges, and questions are answered."""
    one, two = tmp_path / "one", tmp_path / "two"
    files = TroubledFiles(f"{two}/")
    with node_on(files, [one, two], log_flush_offset_checkpoint_interval_ms="100") as bootstrap:
        create_topic(bootstrap, 4)
        eventually(lambda: len(list(two.glob("t-*"))) == 2)
        slow = int(next(two.glob("t-*")).name.rpartition("-")[2])
        quick = int(next(one.glob("t-*")).name.rpartition("-")[2])
        files.stall()
        # One connection is answered in order, so each has its own.
        waiting, going = (Producer({"bootstrap.servers": bootstrap, "log_level": 2}) for _ in range(2))
        waiting.produce("t", b"x", partition=slow)
        waiting.poll(0)
        assert files.is_stalled.wait(SECONDS_MAX)
        for _ in range(20):
            going.produce("t", b"x", partition=quick)
            assert going.flush(SECONDS_MAX) == 0
        assert leaders_of(bootstrap)
        assert len(waiting) == 1
        files.go_on()
        assert waiting.flush(SECONDS_MAX) == 0


def test_loop_never_waits_for_a_disk_in_everyday_work(tmp_path: Path) -> None:
    """R9: topics made and deleted, first records, deleted records, checkpoints: others do the syncs."""
    files = TroubledFiles(f"{tmp_path}/")
    settings = EAGER | {"log_segment_delete_delay_ms": "0"}
    with node_on(files, [tmp_path / "data"], **settings) as bootstrap:
        files.syncs.clear()
        create_topic(bootstrap, 20)
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 2})
        for number in range(20):
            producer.produce("t", b"x", partition=number)
        assert producer.flush(SECONDS_MAX) == 0
        with ClientCluster.connect(bootstrap) as cluster:
            delete_records(cluster, {TopicPartition("t", number): 1 for number in range(20)})
        delete_topic(bootstrap, "t")
        eventually(lambda: not list((tmp_path / "data").glob("t-*")))
        assert files.syncs
        assert syncs_of_the_loop(files) == []


def test_loop_never_waits_for_a_disk_that_rolls_expires_and_compacts(tmp_path: Path) -> None:
    """R9: segments begin, grow too old and are exchanged, with the snapshots of their producers."""
    files = TroubledFiles(f"{tmp_path}/")
    with node_on(files, [tmp_path], **EAGER) as bootstrap:
        policies = {"old": {"retention.ms": "1000"}, "state": {"cleanup.policy": "compact"}}
        for name, policy in policies.items():
            create_topic(bootstrap, 1, name, {"segment.ms": "1", "min.cleanable.dirty.ratio": "0"} | policy)
        files.syncs.clear()
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 2, "enable.idempotence": True})
        for number in range(5):
            for name in policies:
                producer.produce(name, b"%d" % number, b"key", timestamp=NOW_MS + 10 * number)
            assert producer.flush(SECONDS_MAX) == 0
        eventually(lambda: live_segments(tmp_path / "old-0") == 1)
        eventually(lambda: live_segments(tmp_path / "state-0") <= 2)
        eventually(lambda: read_all(bootstrap, "state") == [b"4"])
        assert {Path(path).suffix for _, path in files.syncs} >= {".log", ".snapshot", ".cleaned"}
        assert syncs_of_the_loop(files) == []


def test_loop_never_waits_for_a_disk_when_a_partition_moves(tmp_path: Path) -> None:
    """R9: neither for the copy, nor when that takes the place of the original."""
    one, two = tmp_path / "one", tmp_path / "two"
    files = TroubledFiles(f"{tmp_path}/")
    with node_on(files, [one, two], **EAGER) as bootstrap:
        create_topic(bootstrap, 1)
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 2})
        producer.produce("t", b"x")
        assert producer.flush(SECONDS_MAX) == 0
        for _ in range(3):
            files.syncs.clear()
            source, target = (one, two) if (one / "t-0").is_dir() else (two, one)
            move_partition(bootstrap, target)
            eventually(lambda target=target: (target / "t-0").is_dir())  # type: ignore[misc]
            eventually(lambda source=source: not (source / "t-0").is_dir())  # type: ignore[misc]
            assert any(path.startswith(f"{target}/") for _, path in files.syncs)
            assert syncs_of_the_loop(files) == []
        assert read_all(bootstrap) == [b"x"]


def move_partition(bootstrap: str, target: Path) -> None:
    topic = AlterReplicaLogDirTopic(name="t", partitions=[0])
    request = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=str(target), topics=[topic])])
    with Peer(bootstrap) as peer:
        peer.ask(request, 2)
        _, answer = peer.answer(ApiKey.ALTER_REPLICA_LOG_DIRS, 2)
    assert isinstance(answer, AlterReplicaLogDirsResponse)
    assert answer.results[0].partitions[0].error_code == 0


def live_segments(partition: Path) -> int:
    return len(list(partition.glob("*.log")))


def syncs_of_the_loop(files: TroubledFiles) -> list[str]:
    return [path for thread, path in files.syncs if thread == LOOP_THREAD]


def test_disk_that_fails_under_load_is_offline_and_the_others_go_on(tmp_path: Path) -> None:
    """R4: no ack after a failed sync; whoever waits is told; the metadata names no leader."""
    one, two = tmp_path / "one", tmp_path / "two"
    files = TroubledFiles(f"{two}/")
    with node_on(files, [one, two]) as bootstrap:
        create_topic(bootstrap, 4)
        eventually(lambda: len(list(two.glob("t-*"))) == 2)
        lost = {int(path.name.rpartition("-")[2]) for path in two.glob("t-*")}
        files.fail()
        for number in sorted(lost):
            assert produce_error(bootstrap, number) is not None
        eventually(lambda: {n for n, leader in leaders_of(bootstrap).items() if leader < 0} == lost)
        for number in set(range(4)) - lost:
            assert produce_error(bootstrap, number) is None
    with Broker([one, two]) as broker:
        assert all(leader == 1 for leader in leaders_of(broker.bootstrap).values())


def test_no_thread_is_left_after_a_stop(tmp_path: Path) -> None:
    before = threading.active_count()
    with Broker([tmp_path / "one", tmp_path / "two"]) as broker:
        broker.create_topic("t", 4)
        broker.produce("t", [b"a"])
    assert threading.active_count() <= before


# -- a full disk -----------------------------------------------------------------------------------


@pytest.fixture
def small_disk() -> FakeDisk:
    """A disk that can be filled, with a stopped node's topic on it."""
    disk = FakeDisk()
    with node_in_memory(disk) as bootstrap:
        create_topic(bootstrap, 1)
        producer = Producer({"bootstrap.servers": bootstrap, "log_level": 2})
        producer.produce("t", b"kept")
        assert producer.flush(SECONDS_MAX) == 0
    return disk


@contextmanager
def node_in_memory(disk: FakeDisk) -> Iterator[str]:
    thread = NodeThread(configuration((Path("/data"),), {}, None), disk, lambda _node, _loop: None)
    node = thread.start()
    try:
        (addresses,) = node.addresses.values()
        yield str(addresses[0])
    finally:
        disk.fill(None)
        thread.stop()


def test_node_started_on_a_full_disk_serves_what_is_there(small_disk: FakeDisk) -> None:
    """R5."""
    small_disk.fill()
    with node_in_memory(small_disk) as bootstrap:
        assert leaders_of(bootstrap) == {0: 1}
        assert read_all(bootstrap) == [b"kept"]
        assert produce_error(bootstrap, 0) is not None
        small_disk.fill(None)
        assert produce_error(bootstrap, 0) is None


def read_all(bootstrap: str, topic: str = "t") -> list[bytes | None]:
    with ClientCluster.connect(bootstrap) as cluster:
        return [record.value for record in contents.read(cluster, topic)]


@pytest.mark.parametrize("free_bytes", [0, 110])
def test_new_node_on_a_full_disk_is_refused_in_a_sentence_and_can_be_tried_again(free_bytes: int) -> None:
    """Without room for the directory's properties, or for the first partition after them."""
    disk = FakeDisk()
    for room_bytes in (free_bytes, 10):
        disk.fill(room_bytes)
        with pytest.raises(DirectoryRefused, match=r"[Nn]o space left"):
            NodeThread(configuration((Path("/data"),), {}, None), disk, lambda _node, _loop: None).start()
    disk.fill(None)
    with node_in_memory(disk) as bootstrap:
        create_topic(bootstrap, 1)
