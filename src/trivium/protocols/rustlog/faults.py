"""What a RustLog client is told for which fault of the core. Total: what has no words here has its name.

RustLog knows few errors by name (``Problem``); everything else is a sentence.
"""

from typing import Final

from trivium.core.faults import Fault
from trivium.protocols.rustlog.messages import ErrorResponse, Problem

_PROBLEMS: Final = {
    Fault.UNKNOWN_TOPIC: Problem.PARTITION_NOT_FOUND,
    Fault.UNKNOWN_PARTITION: Problem.PARTITION_NOT_FOUND,
    Fault.OFFSET_OUT_OF_RANGE: Problem.OFFSET_OUT_OF_RANGE,
    Fault.TOPIC_EXISTS: Problem.TOPIC_EXISTS,
    Fault.INVALID_PARTITIONS: Problem.INVALID_PARTITION_COUNT,
    Fault.TOO_MANY_PARTITIONS: Problem.INVALID_PARTITION_COUNT,
}

_SENTENCES: Final = {
    Fault.INTERNAL: "Something went wrong inside of the broker; its log says more.",
    Fault.TIMED_OUT: "The records are written, and the disk has not confirmed it in time.",
    Fault.NOT_AUTHENTICATED: "Log in first.",
    Fault.NOT_AUTHORIZED_TOPIC: "You may not do this to the topic.",
    Fault.NOT_AUTHORIZED_GROUP: "You may not use this group.",
    Fault.NOT_AUTHORIZED_CLUSTER: "You may not do this here.",
    Fault.STORAGE: "The disk is full or has failed, or what it holds is damaged; the broker's log says more.",
    Fault.MESSAGE_TOO_LARGE: "A record is larger than the topic allows (max.message.bytes).",
    Fault.RECORD_LIST_TOO_LARGE: "The records together are larger than the topic's segments (segment.bytes).",
    Fault.INVALID_RECORD: "The topic does not take records of this kind.",
    Fault.COORDINATOR_LOADING: "The offsets of this group are being read; ask again.",
    Fault.COORDINATOR_NOT_AVAILABLE: "The offsets of this group cannot be reached; ask again.",
    Fault.INVALID_GROUP_ID: "A group needs a name.",
    Fault.UNKNOWN_MEMBER_ID: "The group has Kafka members at work: commit through them, or once they left.",
    Fault.LEADER_NOT_AVAILABLE: "The partition has no leader now; ask again.",
}


def sentence(fault: Fault, message: str | None = None) -> str:
    """What a person reads: what the core has said, or words for the fault."""
    if message:
        return message
    return _SENTENCES.get(fault) or f"Refused: {fault.name.lower().replace('_', ' ')}."


def error_of(fault: Fault, message: str | None = None, *, topic: str, partition: int = 0) -> ErrorResponse:
    problem = _PROBLEMS.get(fault, Problem.OTHER)
    detail = message if problem is not Problem.OTHER else sentence(fault, message)
    return ErrorResponse(problem, detail, topic, partition)
