"""Partitions and groups become part of a transaction, and whoever writes is asked whether it may.

A partition must be in the ledger, durably, before the first record of the transaction is written to it:
otherwise a crash could leave a transaction in it that nobody ever ends. Old clients add partitions by a
request of their own; newer ones just write (KIP-890), and the write waits.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from trivium.core.access import NOT_AUTHORIZED, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import INTERNAL_TOPICS, Cluster
from trivium.core.commands.command import Reply
from trivium.core.commands.offsets import CommitOffsets, CommittedPart, OffsetToCommit
from trivium.core.commands.producers import Writer
from trivium.core.commands.transactions import (
    AddedBatch,
    AddedPart,
    AddOffsets,
    AddPartitions,
    AddPartitionsInBatch,
    CommitInTransaction,
)
from trivium.core.faults import Fault, Refused
from trivium.core.groups.offsets import Place
from trivium.core.internal_topic import InternalTopic
from trivium.core.ports import Done
from trivium.core.transactions.ledger import Ledger
from trivium.core.transactions.ledgers import Ledgers
from trivium.core.transactions.rules import TransactionRules
from trivium.core.transactions.transaction import DECIDED, EPOCH_LAST, Producer, State, Transaction

Admitted = Callable[[Mapping[Place, Fault]], None]
"""Told of the partitions that must not be written to; all others may be."""
Commit = Callable[[CommitOffsets, Caller, Reply[list[CommittedPart]]], None]
"""How a group stores offsets."""


class Adding:
    def __init__(
        self,
        ledgers: Ledgers,
        rules: TransactionRules,
        cluster: Cluster,
        access: Access,
        offsets_topic: InternalTopic,
        commit: Commit,
    ) -> None:
        self._ledgers = ledgers
        self._rules = rules
        self._cluster = cluster
        self._access = access
        self._offsets_topic = offsets_topic
        self._commit = commit

    # -- for clients -----------------------------------------------------------------------------

    def add(self, command: AddPartitions, caller: Caller, reply: Reply[list[AddedPart]]) -> None:
        """All partitions, or none: if one is refused the others are not attempted."""
        faults = [self._fault_of(place, caller) for place in command.partitions]
        if any(faults):
            reply(
                [
                    AddedPart(*place, fault or Fault.OPERATION_NOT_ATTEMPTED)
                    for place, fault in zip(command.partitions, faults, strict=True)
                ]
            )
            return
        self._add(command, reply)

    def add_batch(self, command: AddPartitionsInBatch, caller: Caller, reply: Reply[AddedBatch]) -> None:
        """Its sender is trusted to have asked for the rights of its clients."""
        results: dict[int, list[AddedPart]] = {}

        def added(number: int, parts: list[AddedPart]) -> None:
            results[number] = parts
            if len(results) == len(command.transactions):
                reply(AddedBatch(parts=[results[each] for each in sorted(results)]))

        if not command.transactions:
            reply(AddedBatch())
        for number, each in enumerate(command.transactions):
            self._add_one_of_batch(each, lambda parts, number=number: added(number, parts))  # type: ignore[misc]

    def _add_one_of_batch(self, command: AddPartitions, reply: Reply[list[AddedPart]]) -> None:
        try:
            if missing := {place for place in command.partitions if not self._exists(place)}:
                reply(
                    [
                        AddedPart(
                            *place, Fault.UNKNOWN_TOPIC if place in missing else Fault.OPERATION_NOT_ATTEMPTED
                        )
                        for place in command.partitions
                    ]
                )
            elif command.verifies_only:
                faults = self._verified(command)
                reply([AddedPart(*place, faults.get(place)) for place in command.partitions])
            else:
                self._add(command, reply)
        except Refused as refused:
            reply(command.refused(refused.fault))

    def _add(self, command: AddPartitions, reply: Reply[list[AddedPart]]) -> None:
        self._put(
            command.transactional_id,
            Producer(command.producer_id, command.producer_epoch),
            command.partitions,
            lambda fault: reply([AddedPart(*place, fault) for place in command.partitions]),
        )

    def _fault_of(self, place: Place, caller: Caller) -> Fault | None:
        topic, _ = place
        if topic in INTERNAL_TOPICS or not self._access.allows(
            caller, Operation.WRITE, Resource.TOPIC, topic
        ):
            return Fault.NOT_AUTHORIZED_TOPIC
        return None if self._exists(place) else Fault.UNKNOWN_TOPIC

    def _exists(self, place: Place) -> bool:
        topic = self._cluster.image.topics.by_name.get(place[0])
        return topic is not None and place[1] in topic.partitions

    # -- groups ----------------------------------------------------------------------------------

    def add_offsets(self, command: AddOffsets, caller: Caller, reply: Reply[Fault | None]) -> None:
        self._check_group(command.group_id, caller)
        self._put(
            command.transactional_id,
            Producer(command.producer_id, command.producer_epoch),
            [self._place_of(command.group_id)],
            reply,
        )

    def commit(self, command: CommitInTransaction, caller: Caller, reply: Reply[list[CommittedPart]]) -> None:
        """The group's offsets are stored as a write to its partition, and count when that is committed. Those
        that nobody can store take no part in it: if there are no others, the transaction stays as it is.
        """
        self._check_group(command.group_id, caller)
        faults = [self._offset_fault(part, caller) for part in command.parts]
        if any(faults):
            self._commit_some(command, faults, caller, reply)
        else:
            self._commit_all(command, caller, reply)

    def _commit_some(
        self,
        command: CommitInTransaction,
        faults: Sequence[Fault | None],
        caller: Caller,
        reply: Reply[list[CommittedPart]],
    ) -> None:
        def committed(results: Sequence[CommittedPart]) -> None:
            others = iter(results)
            reply(
                [
                    next(others) if fault is None else CommittedPart(part.topic, part.partition, fault)
                    for part, fault in zip(command.parts, faults, strict=True)
                ]
            )

        storable = [part for part, fault in zip(command.parts, faults, strict=True) if fault is None]
        if not storable:
            committed(())
            return
        own = command.changed(parts=storable)
        try:
            self._commit_all(own, caller, committed)
        except Refused as refused:
            committed(own.refused(refused.fault))

    def _offset_fault(self, part: OffsetToCommit, caller: Caller) -> Fault | None:
        topic = part.topic
        assert isinstance(topic, str), "a transaction names its topics"
        if not self._access.allows(caller, Operation.READ, Resource.TOPIC, topic):
            return Fault.NOT_AUTHORIZED_TOPIC
        return None if self._exists((topic, part.partition)) else Fault.UNKNOWN_TOPIC

    def _commit_all(
        self, command: CommitInTransaction, caller: Caller, reply: Reply[list[CommittedPart]]
    ) -> None:
        place = self._place_of(command.group_id)
        writer = Writer(command.producer_id, command.producer_epoch)

        def admitted(refused: Mapping[Place, Fault]) -> None:
            if place in refused:
                reply(command.refused(refused[place]))
                return
            self._commit(
                CommitOffsets(
                    command.group_id,
                    command.parts,
                    command.member_id,
                    command.instance_id,
                    command.generation,
                    writer=writer,
                ),
                caller,
                reply,
            )

        self.admit(command.transactional_id, Producer(*writer), [place], admitted, joins=command.joins)

    def _check_group(self, group_id: str, caller: Caller) -> None:
        if not self._access.allows(caller, Operation.READ, Resource.GROUP, group_id):
            raise Refused(NOT_AUTHORIZED[Resource.GROUP])

    def _place_of(self, group_id: str) -> Place:
        """Where the offsets of a group lie."""
        self._offsets_topic.ensure()
        return self._offsets_topic.name, self._offsets_topic.partition_of(group_id)

    # -- for those who write ---------------------------------------------------------------------

    def admit(
        self,
        transactional_id: str,
        producer: Producer,
        places: Sequence[Place],
        admitted: Admitted,
        *,
        joins: bool,
    ) -> None:
        """Whether a producer may write its transaction's first records to these partitions.

        With ``joins`` they become a part of it now, otherwise they must be one already. ``admitted`` is
        called at once, or when what it relies on is durable; and in the order of the calls.
        """
        command = AddPartitions(transactional_id, producer.producer_id, producer.epoch, places)
        try:
            if joins:
                self._put(
                    transactional_id,
                    producer,
                    places,
                    lambda fault: admitted(dict.fromkeys(places, _written(fault)) if fault else {}),
                )
            elif self._rules.is_verifying():
                admitted({place: _written(fault) for place, fault in self._verified(command).items()})
            else:
                admitted({})
        except Refused as refused:
            admitted(dict.fromkeys(places, _written(refused.fault)))

    def owns(self, transactional_id: str, producer_id: int) -> bool:
        """Whether the transactional id has this producer id: others may not write to its transaction."""
        found = self._ledgers.find(transactional_id)
        return found is not None and found[1].client.producer_id == producer_id

    def _verified(self, command: AddPartitions) -> dict[Place, Fault]:
        """The partitions that are not a part of the transaction."""
        _, transaction = self._transaction(
            command.transactional_id, Producer(command.producer_id, command.producer_epoch)
        )
        return {
            place: Fault.TRANSACTION_ABORTABLE
            for place in command.partitions
            if place not in transaction.partitions
        }

    # -- the ledger ------------------------------------------------------------------------------

    def _put(self, transactional_id: str, producer: Producer, places: Collection[Place], done: Done) -> None:
        ledger, transaction = self._transaction(transactional_id, producer)
        if transaction.state is State.ONGOING and transaction.partitions.issuperset(places):
            ledger.when_durable(done)
        else:
            ledger.put(transaction.with_partitions(places, ledger.now()), done)

    def _transaction(self, transactional_id: str, producer: Producer) -> tuple[Ledger, Transaction]:
        """The producer's own transaction, if it can be changed."""
        found = self._ledgers.find(transactional_id)
        if found is None or found[1].client.producer_id != producer.producer_id:
            raise Refused(Fault.INVALID_PRODUCER_ID_MAPPING)
        ledger, transaction = found
        if transaction.client.epoch != producer.epoch or producer.epoch == EPOCH_LAST:
            raise Refused(Fault.PRODUCER_FENCED)
        if transaction.state in DECIDED:
            raise Refused(Fault.CONCURRENT_TRANSACTIONS)
        return ledger, transaction


_IN_WRITING: Final = {Fault.PRODUCER_FENCED: Fault.INVALID_PRODUCER_EPOCH}
"""A producer that is fenced while it writes may end its transaction and go on (KIP-588)."""


def _written(fault: Fault) -> Fault:
    return _IN_WRITING.get(fault, fault)
