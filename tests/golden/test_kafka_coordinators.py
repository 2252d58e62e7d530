"""Groups, committed offsets and transactions, from the logs in which Kafka's coordinators keep them (R11)."""

from collections.abc import Iterator
from typing import Any

from tests.golden.reading import read_committed
from tests.golden.recording import Recording

from trivium.log.directory import LogDirectory
from trivium.messages.consumer_protocol import decode_assignment
from trivium.messages.schema import Message
from trivium.messages.stored.classic_groups import GroupMetadataKey, GroupMetadataValue
from trivium.messages.stored.consumer_groups import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
)
from trivium.messages.stored.group_log import GROUP_LOG
from trivium.messages.stored.keyed_log import KeyedLog
from trivium.messages.stored.offsets import OffsetCommitKey, OffsetCommitValue
from trivium.messages.stored.transaction_log import TRANSACTION_LOG, TransactionLogKey, TransactionLogValue

STATES = ("Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead")
"""The states of a transaction, by their code."""


def last_values(directory: LogDirectory, topic: str, kinds: KeyedLog) -> Iterator[tuple[Message, Message]]:
    """What a coordinator knows after replaying its log: the last value of each key, tombstones taken out."""
    for (name, _), log in sorted(directory.logs.items()):
        if name == topic:
            values: dict[bytes, Message | None] = {}
            for _, record in read_committed(log):
                assert record.key is not None
                values[record.key] = kinds.decode_value(kinds.decode_key(record.key), record.value)
            for key, value in values.items():
                if value is not None:
                    yield kinds.decode_key(key), value


def test_committed_offsets_are_those_that_kafka_listed(recording: Recording, directory: LogDirectory) -> None:
    found = {}
    for key, value in last_values(directory, "__consumer_offsets", GROUP_LOG):
        if isinstance(key, OffsetCommitKey):
            assert isinstance(value, OffsetCommitValue)
            leader_epoch = None if value.leader_epoch < 0 else value.leader_epoch
            place = (key.group, key.topic, key.partition)
            # The client that committed a note sent C's final zero with it, and takes it off when reading.
            found[place] = (value.offset, value.metadata.removesuffix("\0") or None, leader_epoch)
    listed = {
        (group, each["topic"], each["partition"]): (
            each["offset"],
            each["metadata"] or None,
            each["leader_epoch"],
        )
        for group, facts in recording.manifest["groups"].items()
        for each in facts["offsets"]
    }
    assert found == listed


def test_groups_are_those_that_kafka_listed_by_their_type(
    recording: Recording, directory: LogDirectory
) -> None:
    types: dict[str, str] = {}
    for key, _ in last_values(directory, "__consumer_offsets", GROUP_LOG):
        if isinstance(key, GroupMetadataKey):
            types[key.group] = "CLASSIC"
        elif isinstance(key, ConsumerGroupMetadataKey):
            types[key.group_id] = "CONSUMER"
        elif isinstance(key, OffsetCommitKey):
            # Offsets may be committed without ever joining: that makes a classic group too.
            types.setdefault(key.group, "CLASSIC")
    assert types == {name: facts["type"] for name, facts in recording.manifest["groups"].items()}


def test_static_members_keep_their_assignment_while_away(
    recording: Recording, directory: LogDirectory
) -> None:
    topics = {topic_id.bytes: topic for (topic, _), topic_id in directory.topic_ids.items()}
    found: dict[str, list[Any]] = {name: [] for name in recording.manifest["groups"]}
    instances: dict[str, str | None] = {}
    # A member's metadata may stand behind its assignment: what is last in the log was written again.
    entries = sorted(
        last_values(directory, "__consumer_offsets", GROUP_LOG), key=lambda entry: entry[0].API_KEY
    )
    for key, value in entries:
        if isinstance(key, GroupMetadataKey):
            assert isinstance(value, GroupMetadataValue)
            for member in value.members:
                _, assignment = decode_assignment(member.assignment)
                places = [(each.topic, each.partitions) for each in assignment.assigned_partitions]
                found[key.group].append(member_facts(member.group_instance_id, places))
        elif isinstance(key, ConsumerGroupMemberMetadataKey):
            assert isinstance(value, ConsumerGroupMemberMetadataValue)
            instances[key.member_id] = value.instance_id
        elif isinstance(key, ConsumerGroupCurrentMemberAssignmentKey):
            assert isinstance(value, ConsumerGroupCurrentMemberAssignmentValue)
            places = [(topics[each.topic_id], each.partitions) for each in value.assigned_partitions]
            found[key.group_id].append(member_facts(instances[key.member_id], places))
    assert found == {name: facts["members"] for name, facts in recording.manifest["groups"].items()}


def member_facts(instance_id: str | None, places: list[tuple[str, list[int]]]) -> dict[str, Any]:
    assignment = [[topic, number] for topic, numbers in places for number in numbers]
    return {"group_instance_id": instance_id, "assignment": assignment}


def test_transactions_are_those_that_kafka_listed(recording: Recording, directory: LogDirectory) -> None:
    found = {}
    for key, value in last_values(directory, "__transaction_state", TRANSACTION_LOG):
        assert isinstance(key, TransactionLogKey)
        assert isinstance(value, TransactionLogValue)
        found[key.transactional_id] = (str(value.producer_id), STATES[value.transaction_status])
    _titles, *rows = (line.split() for line in recording.manifest["transactions"])
    assert found == {name: (producer_id, state) for name, _, producer_id, state in rows}
