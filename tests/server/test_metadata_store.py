"""The metadata log is read whole or not at all, and summed up before it grows too far (R2, R3, R6, R7)."""

import contextlib
from copy import deepcopy
from random import Random
from uuid import UUID

import pytest

from tests.core.fakes import NOW_MS, FakeClock, MemoryStorage
from tests.server.inline import InlineCommitter, InlineWorker, stored_log
from trivium.core.cluster import Cluster
from trivium.core.metadata import MetadataImage
from trivium.core.metadata_configs import ConfigType
from trivium.core.metadata_snapshot import VersionedRecord
from trivium.core.partition import Rules
from trivium.log.directory import LogDirectory
from trivium.log.faults import Corrupt
from trivium.log.files import Files
from trivium.log.metadata_log import METADATA_DIRECTORY
from trivium.log.metadata_snapshots import list_snapshots, write_snapshot
from trivium.log.names import METADATA_TOPIC, MetadataSnapshot, metadata_snapshot
from trivium.log.settings import LogSettings
from trivium.messages.stored.control_records import (
    ControlRecordType,
    KRaftVersionRecord,
    encode_control_key,
    encode_control_value,
)
from trivium.messages.stored.metadata_topics import (
    ConfigRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from trivium.records.record import Record
from trivium.server.metadata_store import Loaded, MetadataStore, SnapshotRules, load
from trivium.testing.disk import FakeDisk, PowerLoss

DIRECTORY = f"/data/{METADATA_DIRECTORY}"
RULES = SnapshotRules(bytes_between=2_000, interval_ms=60_000, retention_bytes=4_000, retention_ms=-1)
SEEDS = range(4)
STEPS = 40
POINTS = 25
"""Of each history, so many of its about 190 points are tried."""


class MetadataLife:
    """A cluster whose metadata lies on a disk, from one start to its end."""

    def __init__(self, files: Files, rules: SnapshotRules = RULES, loaded: Loaded | None = None) -> None:
        self.clock = FakeClock()
        self.worker = InlineWorker()
        self.committer = InlineCommitter()
        self.loaded = loaded or load(files, ["/data"], NOW_MS)
        self.image = self.loaded.image
        self.directory = LogDirectory.open(
            files,
            "/data",
            node_id=1,
            cluster_id="test",
            new_id=lambda: UUID(int=1),
            settings_for=lambda _topic: LogSettings(delete=False),
            now_ms=NOW_MS,
        )
        log = self.directory.logs.get((METADATA_TOPIC, 0))
        if log is None:
            log = self.directory.create(METADATA_TOPIC, 0, UUID(int=1), LogSettings(delete=False), NOW_MS)
        self.log = log
        self.stored = stored_log(log, self.directory, self.clock, self.worker, self.committer)
        self.store = MetadataStore(files, self.stored, self.loaded, rules, self.worker.as_worker, self.clock)
        self.cluster = Cluster(
            node_id=1,
            cluster_id="test",
            image=self.image,
            metadata_log=self.stored,
            storage=MemoryStorage(),
            clock=self.clock,
            rules_for=lambda _topic: RULES_OF_A_TOPIC,
        )
        self.durable = deepcopy(self.image)
        """The image as of the last commit that was confirmed."""
        self.possible = [self.durable]
        """And those that came after it: a crash may keep any of them."""

    def commit(self, *records: VersionedRecord) -> None:
        def confirmed(fault: object) -> None:
            assert fault is None
            self.durable = deepcopy(self.image)
            self.possible = [self.durable]

        self.possible = [self.durable, _after(self.durable, records)]
        self.cluster.commit(records, confirmed)

    def live(self, random: Random, steps: int) -> None:
        for _ in range(steps):
            self.clock.advance(random.randrange(10_000))
            names = list(self.image.topics.by_name)
            if names and random.random() < 0.4:
                topic = self.image.topics.by_name[random.choice(names)]
                if random.random() < 0.5:
                    self.commit((RemoveTopicRecord(topic_id=topic.topic_id), 0))
                else:
                    self.commit(config(topic.name, str(random.random())))
            else:
                number = random.randrange(1 << 30)
                self.commit(*topic_records(f"topic-{number}", number))
            self.store.look()


RULES_OF_A_TOPIC = Rules(
    max_message_bytes=1 << 20,
    append_time=False,
    timestamp_before_max_ms=1 << 60,
    timestamp_after_max_ms=1 << 60,
    compression="producer",
    compacted=False,
    min_insync_replicas=1,
    durable=True,
)


def _after(image: MetadataImage, records: "tuple[VersionedRecord, ...]") -> MetadataImage:
    after = deepcopy(image)
    for record, _ in records:
        after.replay(record)
    return after


def topic_records(name: str, number: int) -> list[VersionedRecord]:
    topic_id = (number + 1).to_bytes(16, "big")
    partition = PartitionRecord(
        partition_id=0,
        topic_id=topic_id,
        replicas=[1],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        directories=[bytes(16)],
    )
    return [(TopicRecord(name=name, topic_id=topic_id), 0), (partition, 1)]


def config(topic: str, value: str) -> VersionedRecord:
    return (
        ConfigRecord(resource_type=ConfigType.TOPIC, resource_name=topic, name="x", value=value),
        0,
    )


def image_on(disk: FakeDisk) -> MetadataImage:
    return load(disk, ["/data"], NOW_MS).image


# -- summing up ------------------------------------------------------------------------------------


def test_log_that_has_grown_is_summed_up_and_its_beginning_goes() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.live(Random(1), 200)
    snapshots = list_snapshots(disk, DIRECTORY)
    assert snapshots
    assert life.log.log_start_offset > 0
    assert life.stored.size_bytes < 2 * RULES.retention_bytes
    assert image_on(disk) == life.image


def test_log_without_new_records_is_not_summed_up_again() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.commit(*topic_records("a", 1))
    life.clock.advance(RULES.interval_ms)
    life.store.look()
    before = list_snapshots(disk, DIRECTORY)
    assert before == [MetadataSnapshot(2, 1)]
    life.clock.advance(RULES.interval_ms)
    life.store.look()
    assert list_snapshots(disk, DIRECTORY) == before


def test_log_is_summed_up_after_a_while_even_if_little_was_written() -> None:
    life = MetadataLife(FakeDisk())
    life.commit(*topic_records("a", 1))
    life.clock.advance(RULES.interval_ms - 1)
    life.store.look()
    assert life.log.segments[0].size_bytes
    life.clock.advance(1)
    life.store.look()
    assert len(life.log.segments) == 1
    assert life.log.log_start_offset == 2


def test_jump_of_the_wall_clock_sums_nothing_up() -> None:
    """R10."""
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.commit(*topic_records("a", 1))
    life.clock.jump(10 * RULES.interval_ms)
    life.store.look()
    assert list_snapshots(disk, DIRECTORY) == []


def test_old_snapshots_stay_as_long_as_there_is_room() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk, RULES._replace(retention_bytes=-1))
    life.live(Random(1), 100)
    snapshots = list_snapshots(disk, DIRECTORY)
    assert len(snapshots) > 2
    assert life.log.log_start_offset == snapshots[0].offset


def test_old_snapshot_goes_when_it_has_been_old_for_long_enough() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk, RULES._replace(retention_bytes=-1, retention_ms=5 * RULES.interval_ms))
    for number in range(10):
        life.commit(*topic_records(f"t{number}", number))
        life.clock.advance(RULES.interval_ms)
        life.store.look()
    assert 5 <= len(list_snapshots(disk, DIRECTORY)) <= 7


def test_snapshot_waits_for_the_records_that_it_sums_up() -> None:
    """A snapshot beyond the end of its log would look like lost records after a power loss."""
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.commit(*topic_records("a", 1))
    life.committer.holds = True
    life.store.sum_up()
    assert list_snapshots(disk, DIRECTORY) == []
    life.committer.release()
    assert list_snapshots(disk, DIRECTORY) == [MetadataSnapshot(2, 1)]


def test_snapshot_is_of_the_moment_it_was_begun() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.commit(*topic_records("a", 1))
    life.worker.holds = True
    life.store.sum_up()
    life.commit(*topic_records("b", 2))
    life.worker.release()
    assert list_snapshots(disk, DIRECTORY) == [MetadataSnapshot(2, 1)]
    assert image_on(disk) == life.image
    assert len(life.image.topics) == 2


def test_voters_of_a_quorum_are_repeated_in_every_snapshot() -> None:
    """A Kafka with dynamic voters would not know itself without them (KIP-853)."""
    disk = FakeDisk()
    MetadataLife(disk).directory.close()
    version = KRaftVersionRecord(version=0, kraft_version=1)
    voters = Record(
        0, NOW_MS, encode_control_key(ControlRecordType.KRAFT_VERSION), encode_control_value(version, 0)
    )
    write_snapshot(disk, DIRECTORY, MetadataSnapshot(0, 0), [], quorum=[voters], now_ms=NOW_MS)
    life = MetadataLife(disk)
    life.live(Random(3), 100)
    assert list_snapshots(disk, DIRECTORY)[0].offset > 0
    assert [record.value for record in load(disk, ["/data"], NOW_MS).quorum] == [voters.value]


# -- crashes ---------------------------------------------------------------------------------------


def changes_of(seed: int) -> int:
    disk = FakeDisk()
    MetadataLife(disk).live(Random(seed), STEPS)
    return disk.faults.changes


@pytest.mark.parametrize("seed", SEEDS)
def test_metadata_after_a_power_loss_at_any_change_is_what_was_confirmed(seed: int) -> None:
    random = Random(100 + seed)
    for nth in random.sample(range(1, changes_of(seed)), POINTS):
        disk = FakeDisk()
        disk.stop_at(nth, PowerLoss, halfway=random.random() < 0.5)
        life: MetadataLife | None = None
        with contextlib.suppress(PowerLoss):
            life = MetadataLife(disk)
            life.live(Random(seed), STEPS)
        crashed = disk.crash(random)
        found = image_on(crashed)
        if life is None:
            assert found == MetadataImage(), f"seed {seed}, crash before change {nth}"
        else:
            assert found in life.possible, f"seed {seed}, crash before change {nth}"
        again = MetadataLife(crashed)
        assert again.image == found
        again.live(Random(seed + 1), 3)
        assert image_on(crashed) == again.image


# -- damage ----------------------------------------------------------------------------------------


def test_damaged_snapshot_is_one_sentence_and_no_half_picture() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    life.live(Random(1), 60)
    life.directory.close()
    path = f"{DIRECTORY}/{metadata_snapshot(*list_snapshots(disk, DIRECTORY)[-1])}"
    size, found = len(disk.tree()[path]), 0
    for position in range(0, size, 97):
        damaged = FakeDisk(disk.tree())
        damaged.flip(path, position, 3)
        try:
            # The first bytes of a batch are not under its checksum; some of them say nothing here.
            assert image_on(damaged) == life.image
        except Corrupt:
            found += 1
    assert found > 0.9 * size / 97


def test_record_that_contradicts_the_others_is_named() -> None:
    disk = FakeDisk()
    life = MetadataLife(disk)
    for number in (1, 2):
        life.image.topics.by_name.clear()
        life.cluster.commit(topic_records("a", number), lambda _fault: None)
    life.directory.close()
    with pytest.raises(Corrupt, match="at offset 2: topic a is created twice"):
        load(disk, ["/data"], NOW_MS)
