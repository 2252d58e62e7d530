"""What a heartbeat must say to be one. Checked before any group is looked at."""

from collections.abc import Collection

from trivium.core.commands.consumer_groups import ConsumerHeartbeat
from trivium.core.faults import Fault, Refused
from trivium.core.groups.consumer.member import AWAY_EPOCH, JOINING_EPOCH


def check(command: ConsumerHeartbeat, assignors: Collection[str]) -> None:
    _check_text(command.group_id, "GroupId")
    _check_text(command.instance_id, "InstanceId")
    _check_text(command.rack_id, "RackId")
    if command.names_itself or command.member_epoch != JOINING_EPOCH:
        _check_text(command.member_id, "MemberId")
    if command.member_epoch < AWAY_EPOCH:
        raise Refused(Fault.INVALID_REQUEST, "MemberEpoch is invalid.")
    if command.member_epoch == AWAY_EPOCH and command.instance_id is None:
        raise Refused(Fault.INVALID_REQUEST, "InstanceId can't be null.")
    if command.member_epoch == JOINING_EPOCH:
        _check_joining(command)
    if command.assignor is not None and command.assignor not in assignors:
        raise Refused(
            Fault.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {command.assignor} is not supported. Supported assignors: "
            f"{', '.join(assignors)}.",
        )


def _check_text(text: str | None, what: str) -> None:
    if text is not None and not text.strip():
        raise Refused(Fault.INVALID_REQUEST, f"{what} can't be empty.")


def _check_joining(command: ConsumerHeartbeat) -> None:
    if command.rebalance_timeout_ms is None:
        raise Refused(Fault.INVALID_REQUEST, "RebalanceTimeoutMs must be provided in first request.")
    if command.owned is None or command.owned:
        raise Refused(Fault.INVALID_REQUEST, "TopicPartitions must be empty when (re-)joining.")
    if command.topic_names is None and command.topic_regex is None:
        raise Refused(
            Fault.INVALID_REQUEST,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        )
