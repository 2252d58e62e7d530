"""Keeping the logs in order, beside everything else: retention, compaction, checkpoints, snapshots.

Each kind of work has its interval. What touches logs runs on the loop in slices of a few milliseconds; what
is slow, and every wait for a disk, is left to a thread (``worker``, ``housekeeping``). Retention and
compaction of one log take turns: what one of them has begun, the other leaves alone. An idle node wakes up a
few times a minute, looks at numbers, and sleeps on.

Each turn of a work is an errand: a mistake in it is told, and the work has its next turn all the same.

Deadlines are of the monotonic clock (R10). How old a record is follows the wall clock: it is records that
carry it.
"""

from collections.abc import Callable, Iterator
from functools import partial

from trivium.core.ports import Clock
from trivium.core.timers import Timer, Timers
from trivium.log.checkpoint import TopicPartition
from trivium.log.checkpoints import Summary
from trivium.log.cleaner import Compaction, compact, discard, install
from trivium.log.compaction_plan import Plan, plan_compaction
from trivium.log.directory import LogDirectory
from trivium.log.faults import LogError, Stopped
from trivium.log.files import Files
from trivium.log.names import METADATA_TOPIC
from trivium.log.partition_log import PartitionLog
from trivium.log.retention import expiring
from trivium.log.staged import Staged
from trivium.log.store import LogStore
from trivium.server.committer import Committer
from trivium.server.errand import Errand, report
from trivium.server.event_log import events
from trivium.server.housekeeping import Housekeeping
from trivium.server.metadata_store import LOOK_MS, MetadataStore
from trivium.server.moving import Moving
from trivium.server.worker import Worker

SLICE_MS = 5
"""So long one kind of work goes on before the loop has its turn."""
PAUSE_MS = 1
AFTER_MISTAKE_MS = 60_000
"""Before what a mistake has broken off is tried again."""
AFTER_MISTAKE = f"in {AFTER_MISTAKE_MS // 1000} s"

Number = Callable[[str], int]
"""A broker setting by its name; asked anew each time, for it may change while the broker runs."""

Turn = Callable[[Errand], None]
"""Of a work: it ends its errand, and asks for the next turn."""


class Maintenance:
    def __init__(
        self,
        files: Files,
        store: LogStore,
        committers: "dict[str, Committer]",
        housekeeping: Housekeeping,
        moving: Moving,
        metadata: MetadataStore,
        cleaner: Worker,
        clock: Clock,
        timers: Timers,
        setting: Number,
    ) -> None:
        self._files = files
        self._store = store
        self._committers = committers
        self._housekeeping = housekeeping
        self._moving = moving
        self._metadata = metadata
        self._cleaner = cleaner
        self._clock = clock
        self._timers = timers
        self._setting = setting
        self._pending: dict[str, Timer] = {}
        self._checkpointed: dict[LogDirectory, Summary] = {}
        self._in_work: set[PartitionLog] = set()
        """Logs that retention or compaction is at."""
        self._put_off: dict[PartitionLog, int] = {}
        """Logs whose compaction a mistake has broken off, and until when others are compacted first."""
        self._is_stopped = False

    def start(self) -> None:
        first_ms = self._setting("log.initial.task.delay.ms")
        self._later("retention", first_ms, self._retain)
        self._later("checkpoints", first_ms, self._checkpoint)
        self._later("snapshots", LOOK_MS, self._sum_up)
        if self._setting("log.cleaner.enable"):
            self._later("compaction", self._setting("log.cleaner.backoff.ms"), self._clean)

    def stop(self) -> None:
        """Begin nothing more. A compaction gives up soon, other work in threads comes to its end."""
        self._is_stopped = True
        for timer in self._pending.values():
            timer.cancel()

    def _later(self, name: str, delay_ms: int, turn: Turn) -> None:
        self._after(name, delay_ms, partial(self._begin, name, turn))

    def _after(self, name: str, delay_ms: int, action: Callable[[], None]) -> None:
        if not self._is_stopped:
            self._pending[name] = self._timers.after(max(PAUSE_MS, delay_ms), action)

    def _begin(self, name: str, turn: Turn) -> None:
        errand = Errand(partial(self._broken_off, name, turn))
        errand.go(turn, errand)

    def _broken_off(self, name: str, turn: Turn, error: Exception) -> None:
        report(name, error, AFTER_MISTAKE)
        self._later(name, AFTER_MISTAKE_MS, turn)

    def _in_slices(self, name: str, steps: Iterator[None], errand: Errand, done: Callable[[], None]) -> None:
        """Take steps while time allows and go on after a pause."""
        until_ms = self._clock.monotonic_ms() + SLICE_MS
        for _ in steps:
            if self._clock.monotonic_ms() >= until_ms:
                go_on = partial(self._in_slices, name, steps, errand, done)
                self._after(name, PAUSE_MS, partial(errand.go, go_on))
                return
        done()

    def _logs(self) -> Iterator[tuple[TopicPartition, PartitionLog, LogDirectory]]:
        """Every log that is in use and serves, as long as it does."""
        for key in list(self._store):
            log = self._store.get(*key)
            if log is None or key[0] == METADATA_TOPIC:
                continue
            home = self._store.home(*key)
            if not home.is_offline:
                yield key, log, home

    # -- retention -------------------------------------------------------------------------------

    def _retain(self, turn: Errand) -> None:
        pause_ms = self._setting("log.retention.check.interval.ms")

        def done() -> None:
            turn.end()
            self._later("retention", pause_ms, self._retain)

        self._in_slices("retention", self._retention_steps(pause_ms), turn, done)

    def _retention_steps(self, pause_ms: int) -> Iterator[None]:
        for _key, log, _home in self._logs():
            if log not in self._in_work:
                errand = Errand(partial(_report, "retention", log.name, f"in {pause_ms // 1000} s"))
                errand.go(self._begin_retention, log, errand)
            yield

    def _begin_retention(self, log: PartitionLog, errand: Errand) -> None:
        self._in_work.add(log)
        errand.hold(self._in_work.discard, log)
        retention = self._retention(log, self._clock.wall_ms())
        self._housekeeping.carry_out(retention, partial(self._retained, log, errand))

    def _retention(self, log: PartitionLog, now_ms: int) -> Staged[None]:
        log.expire_producers(now_ms)
        if self._is_due_to_roll(log, now_ms):
            log.roll(now_ms)
        expired = yield from expiring(log, now_ms)
        if expired.segments:
            self._housekeeping.remove_segments(log, [segment.base_offset for segment in expired.dropped])
            events.info(
                "segments expired", partition=log.name, segments=expired.segments, bytes=expired.size_bytes
            )

    def _retained(self, log: PartitionLog, errand: Errand, error: LogError | None) -> None:
        errand.end()
        if error is not None:
            events.seldom("retention failed", log.name, partition=log.name, reason=str(error))

    def _is_due_to_roll(self, log: PartitionLog, now_ms: int) -> bool:
        """Records roll a segment by time when they come. Where none come, compaction would wait for ever."""
        active = log.active
        if not log.settings.compact or not active.size_bytes:
            return False
        first_ms = active.first_timestamp
        return first_ms >= 0 and now_ms - first_ms > active.roll_ms

    # -- compaction ------------------------------------------------------------------------------

    def _clean(self, turn: Errand) -> None:
        """Find the dirtiest log and clean it; then look again at once, for there may be others."""
        plans = self._plans()
        turn.end()
        if not plans:
            self._later("compaction", self._setting("log.cleaner.backoff.ms"), self._clean)
            return
        plan = max(plans, key=lambda plan: plan.dirty_ratio)
        errand = Errand(partial(self._compaction_broken_off, plan.log))
        errand.go(self._begin_compaction, plan, errand)

    def _begin_compaction(self, plan: Plan, errand: Errand) -> None:
        try:
            plan.pin()
        except LogError as error:
            self._cleaned(plan, errand, error)
            return
        self._in_work.add(plan.log)
        errand.hold(self._in_work.discard, plan.log)
        reading = Errand()
        reading.hold(plan.release)
        now_ms = self._clock.wall_ms()

        def compacted(result: Compaction | LogError) -> None:
            reading.end()
            self._take(plan, errand, result)

        reading.go(self._cleaner.run, lambda: self._compacted(plan, now_ms), compacted)

    def _compaction_broken_off(self, log: PartitionLog, error: Exception) -> None:
        self._put_off_compaction(log, error)
        self._later("compaction", self._setting("log.cleaner.backoff.ms"), self._clean)

    def _put_off_compaction(self, log: PartitionLog, error: Exception) -> None:
        _report("compaction", log.name, AFTER_MISTAKE, error)
        self._put_off[log] = self._clock.monotonic_ms() + AFTER_MISTAKE_MS

    def _plans(self) -> list[Plan]:
        """For every log that is worth compacting now."""
        now_ms = self._clock.monotonic_ms()
        self._put_off = {log: until_ms for log, until_ms in self._put_off.items() if until_ms > now_ms}
        plans: list[Plan] = []
        for key, log, _home in self._logs():
            if not log.settings.compact or len(log.segments) < 2:
                continue
            if log in self._in_work or log in self._put_off or self._moving.is_moving(key):
                continue
            Errand(partial(self._put_off_compaction, log)).go(self._plan, log, plans)
        return plans

    def _plan(self, log: PartitionLog, plans: list[Plan]) -> None:
        try:
            plan = plan_compaction(log, self._clock.wall_ms())
        except LogError as error:
            events.seldom("compaction failed", log.name, partition=log.name, reason=str(error))
        else:
            if plan is not None:
                plans.append(plan)

    def _compacted(self, plan: Plan, now_ms: int) -> Compaction | LogError:
        """In a thread."""
        try:
            return compact(self._files, plan, now_ms, lambda: self._is_stopped)
        except LogError as error:
            return error

    def _take(self, plan: Plan, errand: Errand, result: Compaction | LogError) -> None:
        """Let what was cleaned take its place, if that is still wanted there."""
        key = self._key_of(plan.log)
        if isinstance(result, LogError):
            self._cleaned(plan, errand, result)
        elif key is None:
            self._cleaned(plan, errand, None)
        elif self._moving.is_moving(key):
            self._discard(plan, errand, result)
        else:
            self._moving.hold(key)
            errand.hold(self._moving.go_on, key)
            # See ``log.opening`` for why the checkpoint comes first.
            self._housekeeping.write_checkpoints(
                self._store.home(*key), lambda error: self._install(plan, errand, result, error)
            )

    def _discard(self, plan: Plan, errand: Errand, compaction: Compaction) -> None:
        try:
            discard(self._files, compaction)
        except LogError as error:
            self._cleaned(plan, errand, error)
        else:
            self._cleaned(plan, errand, None)

    def _install(self, plan: Plan, errand: Errand, compaction: Compaction, error: LogError | None) -> None:
        if error is not None:
            self._cleaned(plan, errand, error)
            return
        self._housekeeping.carry_out(self._installing(plan, compaction), partial(self._cleaned, plan, errand))

    def _installing(self, plan: Plan, compaction: Compaction) -> Staged[None]:
        log = plan.log
        yield from install(self._files, compaction)
        self._housekeeping.remove_segments(log, [segment.base_offset for segment in plan.segments])
        events.info(
            "partition compacted",
            partition=log.name,
            kept=compaction.records_kept,
            dropped=compaction.records_dropped,
            bytes_before=compaction.bytes_before,
            bytes_after=compaction.bytes_after,
        )

    def _key_of(self, log: PartitionLog) -> TopicPartition | None:
        """None if the partition has been deleted, or lives elsewhere, since."""
        return next((key for key, each, _home in self._logs() if each is log), None)

    def _cleaned(self, plan: Plan, errand: Errand, error: LogError | None) -> None:
        """There may be others: look again at once, unless something is wrong."""
        errand.end()
        if error is not None and not isinstance(error, Stopped):
            events.seldom("compaction failed", plan.log.name, partition=plan.log.name, reason=str(error))
        pause_ms = PAUSE_MS if error is None else self._setting("log.cleaner.backoff.ms")
        self._later("compaction", pause_ms, self._clean)

    # -- checkpoints -----------------------------------------------------------------------------

    def _checkpoint(self, turn: Errand) -> None:
        """Sync what has been sealed, so that no crash need read it again, and write down what is durable."""
        pause_ms = self._setting("log.flush.offset.checkpoint.interval.ms")
        for _key, log, home in self._logs():
            if log.recovery_point < log.active.base_offset:
                self._committers[home.path].wait_for(log, lambda _error: None)
        for home in self._store.directories:
            if home.is_offline:
                continue
            summary = Summary.of(home.logs)
            if summary != self._checkpointed.get(home):
                errand = Errand(partial(_report, "a checkpoint", home.path, f"in {pause_ms // 1000} s"))
                errand.go(self._housekeeping.write_checkpoints, home, partial(self._wrote, home, summary))
        turn.end()
        self._later("checkpoints", pause_ms, self._checkpoint)

    def _wrote(self, home: LogDirectory, summary: Summary, error: LogError | None) -> None:
        if error is None:
            self._checkpointed[home] = summary

    # -- metadata --------------------------------------------------------------------------------

    def _sum_up(self, turn: Errand) -> None:
        self._metadata.look()
        turn.end()
        self._later("snapshots", LOOK_MS, self._sum_up)


def _report(work: str, what: str, again: str, error: Exception) -> None:
    report(work, error, again, what, of=what)
