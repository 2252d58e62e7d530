"""Writing: from batches as a client sent them to batches in the log, and the ack when it is earned.

A batch is opaque. Its header and checksum are checked (``batch_checks``), its producer's sequence is held
against the log (``sequences``), and only topics whose rules ask for it look inside. What ``acks`` mean:
0 nothing, 1 written (survives the end of this process), -1 synced (survives the end of this machine). The
first records that a transaction writes to a partition are let in by whoever coordinates it (``admit``).

Each partition of a command stands for itself: what is wrong with one does not touch the others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.batch_checks import RecordsRefused, check_records, checked_batches
from trivium.core.behalf import act_for, now, tell_all
from trivium.core.caller import Caller
from trivium.core.cluster import INTERNAL_TOPICS, Cluster
from trivium.core.commands.command import Reply, Routes
from trivium.core.commands.records import NO_OFFSET, NO_TIMESTAMP, Produce, ProducedPart, ProducePart
from trivium.core.faults import Fault, Refused
from trivium.core.groups.offsets import Place
from trivium.core.partition import LivePartition
from trivium.core.permission import permitted_partition
from trivium.core.recompression import AS_PRODUCED, recompressed
from trivium.core.sequences import earlier_copy, is_ongoing
from trivium.core.timers import Timers
from trivium.core.transactions.transaction import Producer
from trivium.records.batch import check_batches, read_header, stamp_append_time
from trivium.wire.errors import DecodeError

ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1
ACKS: Final = (ACKS_NONE, ACKS_LEADER, ACKS_ALL)
TIMEOUT_STEP_MS: Final = 100
"""How often waiting acks are looked through for those whose time is over. One timer for all of them: a sync
is rarely late, and a timer for each would cost as much as the write."""


class Admit(Protocol):
    """Asks the coordinator of a transaction whether its producer may begin to write to these partitions; then
    ``admitted`` is told which of them it may not write to.
    """

    def __call__(
        self,
        transactional_id: str,
        producer: Producer,
        places: Sequence[Place],
        admitted: Callable[[Mapping[Place, Fault]], None],
        *,
        joins: bool,
    ) -> None: ...


_OF_THE_REQUEST: Final = frozenset(
    (
        Fault.MESSAGE_TOO_LARGE,
        Fault.RECORD_LIST_TOO_LARGE,
        Fault.CORRUPT_MESSAGE,
        Fault.STORAGE,
        NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID],
    )
)
"""What Kafka refuses without a word about the log."""

Owns = Callable[[str, int], bool]
"""Whether this transactional id has this producer id; ``Refused`` if that cannot be said."""


class Producing:
    """Without ``admit`` nobody coordinates transactions, and none can be written. ``owns`` keeps those who
    may use one transactional id out of the open transaction of another.
    """

    def __init__(
        self,
        cluster: Cluster,
        access: Access,
        timers: Timers,
        admit: Admit | None = None,
        owns: Owns = lambda _transactional_id, _producer_id: True,
    ) -> None:
        self._cluster = cluster
        self._access = access
        self._admit = admit
        self._owns = owns
        self._acks = _WaitingAcks(cluster, timers)
        self._held: Counter[str] = Counter()
        """The writes of each transactional id that wait to be admitted."""
        self.routes: Routes = {Produce: self.produce}

    def produce(self, command: Produce, caller: Caller, reply: Reply[list[ProducedPart]]) -> None:
        if command.transactional_id is None:
            self._write(command, caller, reply)
        elif not self._access.allows(
            caller, Operation.WRITE, Resource.TRANSACTIONAL_ID, command.transactional_id
        ):
            reply(command.refused(NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID]))
        elif command.acks not in ACKS:
            self._write(command, caller, reply)
        else:
            self._write_in_transaction(command, command.transactional_id, caller, reply)

    def _write_in_transaction(
        self,
        command: Produce,
        transactional_id: str,
        caller: Caller,
        reply: Reply[list[ProducedPart]],
    ) -> None:
        written = list(self._transactional(command))
        # What came before and waits to be admitted may go to the same partitions: nothing overtakes it.
        is_held = transactional_id in self._held
        beginnings = [(producer, place) for producer, place, has_begun in written if is_held or not has_begun]
        producers = {producer for producer, _ in beginnings}
        fault = self._claim_fault(
            transactional_id, {producer.producer_id for producer, _, has_begun in written if has_begun}
        )
        if fault is not None:
            reply(command.refused(fault))
        elif not beginnings or self._admit is None:
            self._write(command, caller, reply)
        elif len(producers) > 1:
            reply(
                command.refused(
                    Fault.INVALID_PRODUCER_ID_MAPPING, "Records of several producers in one transaction."
                )
            )
        else:
            # It may have to wait, and its bytes are lent.
            own = command.changed(
                parts=[
                    part._replace(records=memoryview(bytearray(part.records or b"")))
                    for part in command.parts
                ]
            )
            places = [place for _, place in beginnings]
            self._held[transactional_id] += 1

            def admitted(refused: Mapping[Place, Fault]) -> None:
                self._held[transactional_id] -= 1
                if not self._held[transactional_id]:
                    del self._held[transactional_id]
                self._write(own, caller, reply, _Admission(frozenset(places), refused))

            self._admit(transactional_id, producers.pop(), places, admitted, joins=command.joins_transaction)

    def _claim_fault(self, transactional_id: str, producer_ids: Iterable[int]) -> Fault | None:
        """What is wrong with going on in transactions of these producers; nearly always it is one."""
        try:
            is_own = all(self._owns(transactional_id, producer_id) for producer_id in producer_ids)
        except Refused as refused:
            return refused.fault
        return None if is_own else Fault.INVALID_PRODUCER_ID_MAPPING

    def _transactional(self, command: Produce) -> Iterable[tuple[Producer, Place, bool]]:
        """Who writes where in a transaction, and whether it has begun to there. What cannot be written at all
        is left out: it will be refused where everything is.
        """
        for part in command.parts:
            if part.wrong is not None:
                continue
            try:
                header = read_header(part.records or b"")
                partition = self._cluster.partition(part.topic, part.partition)
            except (DecodeError, Refused):
                continue
            if header.is_transactional:
                producer = Producer(header.producer_id, header.producer_epoch)
                has_begun = is_ongoing(partition.log.producer(header.producer_id), header)
                yield producer, (partition.topic, partition.index), has_begun

    def _write(
        self,
        command: Produce,
        caller: Caller,
        reply: Reply[list[ProducedPart]],
        admission: "_Admission | None" = None,
    ) -> None:
        row, acks = command.ROW, command.acks
        results: list[ProducedPart] = []
        waiting: list[tuple[int, LivePartition]] = []
        for part in command.parts:
            try:
                partition = permitted_partition(
                    self._cluster, self._access, caller, row, part.topic, part.partition
                )
                if partition.topic in INTERNAL_TOPICS:
                    raise Refused(
                        Fault.INVALID_TOPIC_NAME, f"{partition.topic} is written by the broker only."
                    )
                if part.wrong is not None:
                    raise Refused(*part.wrong)
                if acks not in ACKS:
                    raise Refused(Fault.INVALID_REQUIRED_ACKS)
                if acks == ACKS_ALL and partition.rules.min_insync_replicas > 1:
                    self._check_replicas(partition)
                is_admitted = admission is not None and admission.includes(partition)
                try:
                    result = self._append(partition, part, command, is_admitted=is_admitted)
                except Refused as refused:
                    results.append(_not_appended(partition, part, refused))
                    continue
                if (partition.rules.durable and acks == ACKS_ALL) or partition.rules.sync_each:
                    waiting.append((len(results), partition))
            except Refused as refused:
                result = ProducedPart(part.topic, part.partition, refused.fault, refused.message)
            results.append(result)
        if waiting:
            self._acks.wait_for(waiting, results, command.timeout_ms, reply)
        else:
            reply(results)

    def _check_replicas(self, partition: LivePartition) -> None:
        """Whether enough replicas are in sync. More than a partition has at all is not asked of it."""
        placed = self._cluster.topic(partition.topic).partitions[partition.index]
        if len(placed.isr) < min(partition.rules.min_insync_replicas, len(placed.replicas)):
            raise Refused(
                Fault.NOT_ENOUGH_REPLICAS,
                f"{len(placed.isr)} replicas are in sync, min.insync.replicas asks for "
                f"{partition.rules.min_insync_replicas}.",
            )

    def _append(
        self,
        partition: LivePartition,
        part: ProducePart,
        command: Produce,
        *,
        is_admitted: bool,
    ) -> ProducedPart:
        rules, log, data = partition.rules, partition.log, part.records
        if not data:
            raise Refused(Fault.INVALID_RECORD, "A produce without records.")
        if not isinstance(data, memoryview) or data.readonly:
            data = memoryview(bytearray(data))
        batches = checked_batches(data, rules, part.batches)
        now_ms = self._cluster.clock.wall_ms()
        batches = check_records(data, batches, rules, now_ms)
        if rules.compression != AS_PRODUCED:
            data, batches = recompressed(data, batches, rules) or (data, batches)
        if len(data) > rules.segment_bytes:
            raise Refused(
                Fault.RECORD_LIST_TOO_LARGE,
                f"{len(data)} bytes at once, and segment.bytes of this topic is {rules.segment_bytes}.",
            )
        append_time_ms = NO_TIMESTAMP
        if rules.append_time:
            append_time_ms = now_ms
            for position, _ in batches:
                stamp_append_time(data, position, now_ms)
            batches = check_batches(data)
        for _, header in batches:
            if command.transactional_id is None and header.is_transactional:
                raise Refused(
                    NOT_AUTHORIZED[Resource.TRANSACTIONAL_ID],
                    "Records of a transaction, and nobody says which transactional id it has.",
                )
            if header.producer_id >= 0:
                if len(batches) > 1:
                    raise Refused(Fault.INVALID_RECORD, "An idempotent producer sends one batch at a time.")
                copy = earlier_copy(
                    log.producer(header.producer_id),
                    header,
                    is_admitted=is_admitted,
                    is_beginning=is_admitted and command.joins_transaction,
                )
                if copy is not None:
                    return ProducedPart(
                        part.topic,
                        part.partition,
                        base_offset=copy.first_offset,
                        log_append_time_ms=copy.timestamp if rules.append_time else NO_TIMESTAMP,
                        log_start_offset=log.log_start_offset,
                    )
        appended = log.append(data, batches, partition.leader_epoch)
        if partition.waiting:
            partition.announce(len(data))
        return ProducedPart(
            part.topic,
            part.partition,
            None,
            None,
            appended.base_offset,
            append_time_ms,
            log.log_start_offset,
        )


def _not_appended(partition: LivePartition, part: ProducePart, refused: Refused) -> ProducedPart:
    """Says where the log begins to whoever may have fallen behind it."""
    is_told = refused.fault not in _OF_THE_REQUEST
    return ProducedPart(
        part.topic,
        part.partition,
        refused.fault,
        refused.message,
        log_start_offset=partition.log.log_start_offset if is_told else NO_OFFSET,
        record_errors=refused.record_errors if isinstance(refused, RecordsRefused) else (),
    )


class _Admission(NamedTuple):
    """What the coordinator has said about the partitions to which a transaction writes for the first time."""

    places: frozenset[Place]
    refused: Mapping[Place, Fault]

    def includes(self, partition: LivePartition) -> bool:
        place = (partition.topic, partition.index)
        fault = self.refused.get(place)
        if fault is not None:
            raise Refused(fault, f"{partition.topic}-{partition.index} is no part of the transaction.")
        return place in self.places


class _WaitingAcks:
    """The produces that wait for a sync, and their time-outs."""

    def __init__(self, cluster: Cluster, timers: Timers) -> None:
        self._clock = cluster.clock
        self._timers = timers
        self._open: dict[_Ack, None] = {}
        self._is_watched = False

    def wait_for(
        self,
        waiting: list[tuple[int, LivePartition]],
        results: list[ProducedPart],
        timeout_ms: int,
        reply: Reply[list[ProducedPart]],
    ) -> None:
        ack = _Ack(results, [number for number, _ in waiting], reply)
        for number, partition in waiting:
            partition.log.when_durable(lambda fault, number=number: self._synced(ack, number, fault))  # type: ignore[misc]
        if ack.missing:
            ack.due_ms = self._clock.monotonic_ms() + timeout_ms
            self._open[ack] = None
            if not self._is_watched:
                self._is_watched = True
                self._timers.after(TIMEOUT_STEP_MS, self._look)

    def _synced(self, ack: "_Ack", number: int, fault: Fault | None) -> None:
        if ack.missing and ack.synced(number, fault):
            self._open.pop(ack, None)
            ack.reply(ack.results)

    def _look(self) -> None:
        """Answer those whose time is over. Their records are written, and may yet become durable."""
        now_ms = self._clock.monotonic_ms()
        late = [ack for ack in self._open if ack.due_ms <= now_ms]
        for ack in late:
            del self._open[ack]
            ack.give_up()
        self._is_watched = bool(self._open)
        if self._is_watched:
            self._timers.after(TIMEOUT_STEP_MS, self._look)
        tell_all(partial(act_for, ack.asked, ack.reply, ack.results) for ack in late)


class _Ack:
    """One produce, answered when nothing is ``missing`` any more."""

    __slots__ = ("asked", "due_ms", "missing", "reply", "results")

    def __init__(
        self, results: list[ProducedPart], numbers: Iterable[int], reply: Reply[list[ProducedPart]]
    ) -> None:
        self.results = results
        self.missing = set(numbers)
        self.reply = reply
        self.asked = now.asked
        self.due_ms = 0

    def synced(self, number: int, fault: Fault | None) -> bool:
        """Take note of one sync; whether it was the last that was missing."""
        if fault is not None:
            part = self.results[number]
            self.results[number] = ProducedPart(part.topic, part.partition, fault)
        self.missing.discard(number)
        return not self.missing

    def give_up(self) -> None:
        for number in self.missing:
            self.results[number] = self.results[number]._replace(fault=Fault.TIMED_OUT)
        self.missing.clear()
