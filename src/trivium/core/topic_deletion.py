"""Taking topics away, and records from their beginning."""

from collections import Counter

from trivium.core.access import CLUSTER_NAME, Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.cluster import INTERNAL_TOPICS, Cluster
from trivium.core.commands.command import Reply, Routes, TopicRef
from trivium.core.commands.topics import (
    HIGH_WATERMARK,
    DeletedRecordsPart,
    DeletedTopic,
    DeleteRecords,
    DeleteRecordsPart,
    DeleteTopics,
)
from trivium.core.faults import Fault, Refused
from trivium.core.metadata_topics import Topic
from trivium.core.mutations import AdmitsMutations, admits_all, check_budget
from trivium.core.partition import LivePartition
from trivium.core.patience import has_no_time, in_time
from trivium.core.ports import Done
from trivium.core.settings import Settings
from trivium.core.timers import Timers
from trivium.messages.schema import Message
from trivium.messages.stored.metadata_topics import RemoveTopicRecord
from trivium.wire.uuid_text import ZERO_UUID

_UNKNOWN = {
    Fault.UNKNOWN_TOPIC: "This server does not host this topic-partition.",
    Fault.UNKNOWN_TOPIC_ID: "This server does not host this topic ID.",
}


class TopicDeletion:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        access: Access,
        timers: Timers,
        admits_mutations: AdmitsMutations = admits_all,
    ) -> None:
        self._admits_mutations = admits_mutations
        self._cluster = cluster
        self._timers = timers
        self._settings = settings
        self._access = access
        self.routes: Routes = {DeleteTopics: self.delete, DeleteRecords: self.delete_records}

    # -- topics ----------------------------------------------------------------------------------

    def delete(self, command: DeleteTopics, caller: Caller, reply: Reply[list[DeletedTopic]]) -> None:
        if not self._settings.broker("delete.topic.enable"):
            reply(command.refused(Fault.TOPIC_DELETION_DISABLED, "Topic deletion is disabled."))
            return
        if has_no_time(command):
            reply(command.refused(Fault.TIMED_OUT))
            return
        results, found = self._sort_out(command, caller)
        if command.refuses_debtors:
            results += self._taken_out_for_debts(found, caller)
        records: list[tuple[Message, int]] = [
            (RemoveTopicRecord(topic_id=topic.topic_id), 0) for topic in found.values()
        ]
        if not records:
            reply(results)
            return
        answer = in_time(self._timers, command, reply)

        def done(fault: Fault | None, message: str | None = None) -> None:
            deleted = [DeletedTopic(topic.name, topic.topic_id, fault, message) for topic in found.values()]
            answer(results + deleted)

        try:
            self._cluster.commit(records, done)
        except Refused as refused:
            done(refused.fault, refused.message)

    def _taken_out_for_debts(self, found: dict[bytes, Topic], caller: Caller) -> list[DeletedTopic]:
        refused: list[DeletedTopic] = []
        for topic in list(found.values()):
            try:
                check_budget(self._admits_mutations, caller, len(topic.partitions))
            except Refused as error:
                del found[topic.topic_id]
                refused.append(DeletedTopic(topic.name, topic.topic_id, error.fault, error.message))
        return refused

    def _sort_out(
        self, command: DeleteTopics, caller: Caller
    ) -> tuple[list[DeletedTopic], dict[bytes, Topic]]:
        """What is refused, and the topics by id that are to be deleted."""
        refused: list[DeletedTopic] = []
        found: dict[bytes, Topic] = {}
        times = Counter(command.topics)
        # Ids come before names: a name that means a topic which an id means already is the one to blame.
        for ref in sorted(times, key=lambda ref: isinstance(ref, str)):
            topic_id = ref if isinstance(ref, bytes) else ZERO_UUID
            name = ref if isinstance(ref, str) else None
            try:
                if times[ref] > 1:
                    raise Refused(
                        Fault.INVALID_REQUEST, f"Duplicate topic {'id' if name is None else 'name'}."
                    )
                topic = self._find(ref, caller)
                if name is None and self._allows(caller, Operation.DESCRIBE, topic.name):
                    name = topic.name
                self._check_deletable(topic, caller)
                if found.pop(topic.topic_id, None) is not None:
                    # Nobody can have meant to say it twice, so nothing is deleted.
                    topic_id = topic.topic_id
                    raise Refused(
                        Fault.INVALID_REQUEST,
                        "The provided topic name maps to an ID that was already supplied.",
                    )
                found[topic.topic_id] = topic
            except Refused as error:
                message = error.message or _UNKNOWN.get(error.fault)
                refused.append(DeletedTopic(name, topic_id, error.fault, message))
        return refused, found

    def _find(self, ref: TopicRef, caller: Caller) -> Topic:
        if isinstance(ref, str) and not self._allows(caller, Operation.DESCRIBE, ref):
            # Whether it exists is none of the caller's business (promise S11).
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        return self._cluster.topic(ref)

    def _check_deletable(self, topic: Topic, caller: Caller) -> None:
        if not self._allows(caller, Operation.DELETE, topic.name):
            raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
        if topic.name in INTERNAL_TOPICS:
            # Kafka would do it, and every group would lose its offsets.
            raise Refused(
                Fault.INVALID_REQUEST,
                f"{topic.name} is the broker's own: it cannot be deleted while it runs.",
            )

    def _allows(self, caller: Caller, operation: Operation, topic: str) -> bool:
        allows = self._access.allows
        return allows(caller, operation, Resource.TOPIC, topic) or allows(
            caller, operation, Resource.CLUSTER, CLUSTER_NAME
        )

    # -- records ---------------------------------------------------------------------------------

    def delete_records(
        self, command: DeleteRecords, caller: Caller, reply: Reply[list[DeletedRecordsPart]]
    ) -> None:
        # Unlike the others Kafka begins this one also without any time to wait for it.
        answer = reply if has_no_time(command) else in_time(self._timers, command, reply)
        deletion = _Deletion(len(command.parts), answer)
        for number, part in enumerate(command.parts):
            try:
                if not self._access.allows(caller, Operation.DELETE, Resource.TOPIC, part.topic):
                    raise Refused(Fault.NOT_AUTHORIZED_TOPIC)
                live, offset = self._first_kept(part)
                if offset > live.log.log_start_offset:
                    live.log.delete_before(offset, deletion.waiter(number, part, live))
                else:
                    deletion.waiter(number, part, live)(None)
            except Refused as refused:
                deletion.done(number, DeletedRecordsPart(part.topic, part.partition, refused.fault))
        if not command.parts:
            answer([])

    def _first_kept(self, part: DeleteRecordsPart) -> tuple[LivePartition, int]:
        """Where the log is to begin; ``Refused`` if it cannot begin there."""
        live = self._cluster.partition(part.topic, part.partition)
        if part.topic in INTERNAL_TOPICS:
            raise Refused(Fault.INVALID_TOPIC_NAME)
        if self._settings.topic(part.topic, "cleanup.policy") == ("compact",):
            # Its last value of every key is all that a compacted topic has.
            raise Refused(Fault.POLICY_VIOLATION)
        offset = live.log.high_watermark if part.offset == HIGH_WATERMARK else part.offset
        if not 0 <= offset <= live.log.high_watermark:
            raise Refused(Fault.OFFSET_OUT_OF_RANGE)
        return live, offset


class _Deletion:
    """Waits until the new beginning of every partition is durable."""

    def __init__(self, count: int, reply: Reply[list[DeletedRecordsPart]]) -> None:
        self._results: dict[int, DeletedRecordsPart] = {}
        self._count = count
        self._reply = reply

    def waiter(self, number: int, part: DeleteRecordsPart, live: LivePartition) -> Done:
        def done(fault: Fault | None) -> None:
            result = DeletedRecordsPart(part.topic, part.partition, fault)
            if fault is None:
                result = result._replace(low_watermark=live.log.log_start_offset)
            self.done(number, result)

        return done

    def done(self, number: int, result: DeletedRecordsPart) -> None:
        self._results[number] = result
        if len(self._results) == self._count:
            self._reply([self._results[number] for number in range(self._count)])
