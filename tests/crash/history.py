"""A seeded life of a log directory, and what must be true of it after a crash.

``Life`` drives a ``LogDirectory`` through appends, syncs, rolls, retention, compaction, deletions of
records and topics, truncations, checkpoints and clean restarts, all chosen by one seed, and keeps a model
of what it was told: which records were written where, which of them a sync made durable, which deletions were
acknowledged. After a crash ``check`` opens the directory and holds it against the model:

- durable records are all there, in order, equal to the byte; nothing else is, except written ones that
  were not durable yet, and of those only a beginning (after a power loss) or all (after a kill);
- nothing is corrupt, deleted topics stay away, deleted records stay hidden;
- opening a second time changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from tests.log.log_of import NOW, batch
from trivium.log.cleaner import compact
from trivium.log.compaction_plan import plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.files import Files
from trivium.log.partition_log import PartitionLog
from trivium.log.producers import OpenTransaction
from trivium.log.retention import expire
from trivium.log.settings import LogSettings
from trivium.records.batch import iter_records
from trivium.records.control import EndTxnMarker, build_end_txn

ROOT = "/data"
PLAIN = LogSettings(segment_bytes=900, index_interval_bytes=150, retention_ms=40_000)
COMPACTED = LogSettings(
    segment_bytes=700,
    index_interval_bytes=150,
    compact=True,
    delete=False,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=5_000,
)
Written = tuple[bytes | None, bytes | None]
"""Key and value of a record; (None, None) stands for a marker."""


def settings_for(topic: str) -> LogSettings:
    return COMPACTED if topic.startswith("state") else PLAIN


@dataclass
class Partition:
    """What the model knows of one partition."""

    written: list[Written] = field(default_factory=list)
    durable_end: int = 0
    log_start: int = 0
    exists: bool = True
    transactional: dict[int, int] = field(default_factory=dict)
    """Offset to producer, of the records that were written in a transaction."""
    aborted: dict[int, int] = field(default_factory=dict)
    """Offset of a record in an aborted transaction to the offset of the marker that says so."""
    being_cut: bool = False
    """A truncation was under way: the log may end anywhere between its old and its new end."""
    doubtful: bool = False
    """A deletion was under way: the partition may be there or not."""


class Life:
    def __init__(self, seed: int, files: Files, root: str = ROOT) -> None:
        self.random = Random(seed)
        self.files = files
        self.root = root
        self.now_ms = NOW
        self.model: dict[tuple[str, int], Partition] = {}
        self.directory: LogDirectory | None = None
        self.step = 0

    # -- living ----------------------------------------------------------------------------------

    def open(self) -> LogDirectory:
        self.directory = LogDirectory.open(
            self.files,
            self.root,
            node_id=1,
            cluster_id="crash-test",
            new_id=lambda: UUID(int=self.step + 1),
            settings_for=settings_for,
            now_ms=self.now_ms,
        )
        return self.directory

    def run(self, steps: int) -> None:
        """Open the directory and live for so many steps; ends early when the disk does."""
        self.open()
        for _ in range(steps):
            self.step += 1
            self.now_ms += self.random.randrange(2_000)
            self._act()

    def _act(self) -> None:
        directory = self.directory
        assert directory is not None
        if len(directory.logs) < 2:
            return self._create()
        actions: list[tuple[int, Callable[[], None]]] = [
            (50, self._append),
            (18, self._sync),
            (5, self._roll),
            (4, self._expire),
            (6, self._compact),
            (3, self._delete_records),
            (2, self._truncate),
            (4, self._overlapping_syncs),
            (4, directory.write_checkpoints),
            (2, self._restart),
            (3, self._create),
            (2, self._delete_topic),
        ]
        weights = [weight for weight, _action in actions]
        return self.random.choices([action for _weight, action in actions], weights)[0]()

    def _pick(self) -> tuple[Partition, PartitionLog]:
        assert self.directory is not None
        key = self.random.choice(sorted(self.directory.logs))
        return self.model[key], self.directory.logs[key]

    def _append(self) -> None:
        partition, log = self._pick()
        open_transactions = log.producers.open_transactions
        if open_transactions and self.random.random() < 0.4:
            return self._end_transaction(partition, log, open_transactions[0])
        records: list[tuple[bytes, bytes | None]] = []
        for number in range(self.random.randrange(1, 5)):
            key = b"k%d" % self.random.randrange(8)
            value = b"%d.%d-" % (self.step, number) + b"x" * self.random.randrange(90)
            records.append((key, None if self.random.random() < 0.1 else value))
        fields: dict[str, object] = {}
        if self.random.random() < 0.3:
            fields = {
                "producer_id": self.random.randrange(3),
                "producer_epoch": 0,
                "base_sequence": self.step,
            }
            fields["transactional"] = self.random.random() < 0.5 or any(
                txn.producer_id == fields["producer_id"] for txn in open_transactions
            )
        data = batch(*records, timestamp=self.now_ms, **fields)
        if fields.get("transactional"):
            offsets = range(len(partition.written), len(partition.written) + len(records))
            partition.transactional.update(dict.fromkeys(offsets, int(str(fields["producer_id"]))))
        partition.written.extend(records)
        log.append(data, leader_epoch=self.step // 100, now_ms=self.now_ms)
        log.advance_high_watermark(log.log_end_offset)
        return None

    def _end_transaction(self, partition: Partition, log: PartitionLog, txn: OpenTransaction) -> None:
        marker = EndTxnMarker(self.random.random() < 0.5, 0)
        data = build_end_txn(marker, producer_id=txn.producer_id, producer_epoch=0, timestamp=self.now_ms)
        if marker.aborted:
            marker_offset = len(partition.written)
            for offset, producer_id in partition.transactional.items():
                if producer_id == txn.producer_id and offset >= txn.first_offset:
                    partition.aborted[offset] = marker_offset
        partition.written.append((None, None))
        log.append(bytearray(data), leader_epoch=self.step // 100, now_ms=self.now_ms)
        log.advance_high_watermark(log.log_end_offset)

    def _sync(self) -> None:
        partition, log = self._pick()
        log.sync()
        partition.durable_end = log.log_end_offset

    def _overlapping_syncs(self) -> None:
        """A sync that is under way while the log goes on, and a second one that begins and ends inside it."""
        partition, log = self._pick()
        pending, offset_end = log.begin_sync(), log.log_end_offset
        for _ in range(self.random.randrange(3)):
            self._append()
        if self.random.random() < 0.5:
            log.roll(self.now_ms)
        if self.random.random() < 0.5:
            log.sync()
            partition.durable_end = log.log_end_offset
        if pending is not None:
            pending.run()
            log.finish_sync(pending)
            partition.durable_end = max(partition.durable_end, offset_end)

    def _truncate(self) -> None:
        """Only of logs that do not compact: there nothing may be missing afterwards."""
        partition, log = self._pick()
        assert self.directory is not None
        if log.settings.compact or log.log_end_offset == log.log_start_offset:
            return
        offset = self.random.randrange(log.log_start_offset, log.log_end_offset)
        topic, _, number = log.name.rpartition("-")
        # Batches have four records at most, and one that straddles the offset goes as a whole.
        partition.durable_end = min(partition.durable_end, max(0, offset - 3))
        partition.log_start = min(partition.log_start, max(0, offset - 3))
        partition.being_cut = True
        self.directory.truncate(topic, int(number), offset)
        partition.being_cut = False
        forget_from(partition, log.log_end_offset)
        partition.durable_end = min(log.recovery_point, log.log_end_offset)

    def _roll(self) -> None:
        self._pick()[1].roll(self.now_ms)

    def _expire(self) -> None:
        expire(self._pick()[1], self.now_ms)

    def _compact(self) -> None:
        _partition, log = self._pick()
        plan = plan_compaction(log, self.now_ms)
        if plan is not None:
            assert self.directory is not None
            self.directory.install(compact(self.files, plan, self.now_ms))

    def _delete_records(self) -> None:
        partition, log = self._pick()
        limit = min(log.recovery_point, log.log_end_offset)
        if limit > log.log_start_offset:
            log.advance_log_start(self.random.randrange(log.log_start_offset, limit) + 1)
            assert self.directory is not None
            self.directory.write_checkpoints()
            partition.log_start = log.log_start_offset

    def _restart(self) -> None:
        assert self.directory is not None
        self.directory.close()
        for key, log in self.directory.logs.items():
            self.model[key].durable_end = log.log_end_offset
        self.open()

    def _create(self) -> None:
        assert self.directory is not None
        topic = self.random.choice(["plain", "state"]) + f"-{self.random.randrange(4)}"
        if (topic, 0) not in self.directory.logs:
            self.model[topic, 0] = Partition(doubtful=True)
            self.directory.create(topic, 0, UUID(int=self.step + 1), settings_for(topic), self.now_ms)
            self.model[topic, 0].doubtful = False

    def _delete_topic(self) -> None:
        assert self.directory is not None
        if len(self.directory.logs) > 2:
            key = self.random.choice(sorted(self.directory.logs))
            self.model[key].doubtful = True
            self.directory.delete(*key, UUID(int=self.step + 1))
            self.model[key] = Partition(exists=False)

    # -- judging ---------------------------------------------------------------------------------

    def check(self, files: Files, *, killed: bool) -> LogDirectory:
        """Open what the crash left, hold it against the model, and go on from there."""
        self.files = files
        directory = self.open()
        for key, partition in sorted(self.model.items()):
            log = directory.logs.get(key)
            if log is None:
                assert not partition.exists or partition.doubtful, f"{key} is gone"
                self.model[key] = Partition(exists=False)
                continue
            assert partition.exists or partition.doubtful, f"{key} came back"
            if partition.doubtful:
                # Made or deleted at the moment of the crash: whatever is left of it is all right.
                del self.model[key]
                directory.delete(*key, UUID(int=1))
                continue
            check_partition(partition, log, killed=killed)
        return directory


def forget_from(partition: Partition, offset_end: int) -> None:
    """The records from there on are gone, and with them what their markers said."""
    del partition.written[offset_end:]
    partition.transactional = {at: pid for at, pid in partition.transactional.items() if at < offset_end}
    partition.aborted = {at: marker for at, marker in partition.aborted.items() if marker < offset_end}


def found_in(log: PartitionLog) -> dict[int, Written]:
    """Every record that a reader finds from the log's start on, by offset."""
    found: dict[int, Written] = {}
    for each in log.batches(log.log_start_offset):
        for record in iter_records(each.data):
            if record.offset >= log.log_start_offset:
                found[record.offset] = (None, None) if each.header.is_control else (record.key, record.value)
    return found


def check_partition(partition: Partition, log: PartitionLog, *, killed: bool) -> None:
    """One partition against its model; afterwards the model says what is there."""
    assert log.corruption is None, str(log.corruption)
    end = log.log_end_offset
    assert partition.durable_end <= end <= len(partition.written), (
        f"{log.name} ends at {end}; durable to {partition.durable_end}, written to {len(partition.written)}"
    )
    if killed and not partition.being_cut:
        # The last append may have been under way; everything before it is in the page cache.
        assert end >= len(partition.written) - 4
    assert log.log_start_offset >= partition.log_start, f"{log.name}: deleted records came back"
    found = found_in(log)
    for offset, record in found.items():
        assert record == partition.written[offset], f"{log.name}: another record at offset {offset}"
    if log.settings.compact:
        _check_compacted(partition, log, found)
    else:
        assert list(found) == list(range(log.log_start_offset, end)), f"{log.name}: records are missing"
    _check_transactions(partition, log, found)
    forget_from(partition, end)
    partition.being_cut = False
    partition.durable_end = min(partition.durable_end, end)
    partition.log_start = log.log_start_offset


def _check_compacted(partition: Partition, log: PartitionLog, found: dict[int, Written]) -> None:
    """The last record of every key that counts is there, unless it is a tombstone."""
    last: dict[bytes, int] = {}
    for offset in range(log.log_start_offset, log.log_end_offset):
        key = partition.written[offset][0]
        if key is not None and offset not in partition.aborted:
            last[key] = offset
    for key, offset in last.items():
        present = offset in found or partition.written[offset][1] is None
        assert present, f"{log.name}: key {key!r} lost offset {offset}"


def _check_transactions(partition: Partition, log: PartitionLog, found: dict[int, Written]) -> None:
    """Readers of committed records are told of every aborted transaction, and of no other."""
    for offset, producer_id in partition.transactional.items():
        if offset not in found:
            continue
        told = any(
            txn.producer_id == producer_id and txn.first_offset <= offset <= txn.last_offset
            for txn in log.aborted_transactions(offset, offset + 1)
        )
        aborted = partition.aborted.get(offset, log.log_end_offset) < log.log_end_offset
        assert told == aborted, f"{log.name}: offset {offset} aborted: {aborted}, readers are told {told}"
