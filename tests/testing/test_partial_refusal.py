"""Which part of a command is refused, and what becomes of the rest."""

from typing import Any

import pytest

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Reply
from trivium.core.commands.groups import Heartbeat
from trivium.core.commands.offsets import (
    CommitOffsets,
    DeleteOffsets,
    FetchOffsets,
    GroupOffsetsWanted,
    OffsetToCommit,
)
from trivium.core.commands.topics import CreateTopics, DeleteTopics, DescribeTopics, NewTopic
from trivium.core.faults import Fault, Refused
from trivium.testing.partial_refusal import names, refuse

WHY = Refused(Fault.INTERNAL, "because")


class Executed:
    """An engine that keeps what it was asked, and answers with nothing but that it was."""

    def __init__(self) -> None:
        self.commands: list[Command[Any]] = []

    def execute(self, command: Command[Any], caller: Caller, reply: Reply[Any]) -> None:
        self.commands.append(command)
        reply(["done"])


def is_t(topic: str | bytes) -> bool:
    return topic == "t"


def outcome(command: Command[Any], is_meant: Any = is_t) -> tuple[list[Command[Any]], Any]:
    """What was carried out, and what was answered."""
    engine, replies = Executed(), list[Any]()
    refuse(engine, command, Caller(), is_meant, WHY, replies.append)
    (reply,) = replies
    return engine.commands, reply


COMMITS = {topic: OffsetToCommit(topic, 0, 1) for topic in "tu"}


@pytest.mark.parametrize(
    ("command", "is_named"),
    [
        (CommitOffsets("g", [COMMITS["u"], COMMITS["t"]]), True),
        (CommitOffsets("t", [COMMITS["u"]]), False),
        (FetchOffsets([GroupOffsetsWanted("g", [("t", 0)])]), True),
        (FetchOffsets([GroupOffsetsWanted("t", [("u", 0)])]), False),
        (FetchOffsets([GroupOffsetsWanted("g", None)]), True),
        (DeleteOffsets("g", [("t", 0)]), True),
        (DeleteOffsets("t", [("u", 0)]), False),
        (CreateTopics([NewTopic("t")]), True),
        (DeleteTopics(["u", bytes(16)]), False),
        (DescribeTopics(None), True),
        (DescribeTopics([]), False),
        (Heartbeat("t", "member", None, 1), False),
    ],
    ids=str,
)
def test_command_names_a_topic_or_does_not(command: Command[Any], is_named: bool) -> None:
    assert names(command, is_t) is is_named


def test_what_is_meant_is_refused_and_the_rest_carried_out() -> None:
    command = CommitOffsets("g", [COMMITS["u"], COMMITS["t"]])
    carried_out, reply = outcome(command)
    assert carried_out == [CommitOffsets("g", [COMMITS["u"]])]
    assert reply == [*CommitOffsets("g", [COMMITS["t"]]).refused(Fault.INTERNAL), "done"]


@pytest.mark.parametrize(
    "command",
    [
        CommitOffsets("g", [COMMITS["t"]]),
        FetchOffsets([GroupOffsetsWanted("g", None)]),
        DeleteOffsets("g", [("t", 0), ("u", 0)]),
    ],
    ids=str,
)
def test_command_without_a_rest_or_that_cannot_be_divided_is_refused_as_a_whole(
    command: Command[Any],
) -> None:
    assert outcome(command) == ([], command.refused(Fault.INTERNAL, "because"))


@pytest.mark.parametrize(
    "command",
    [
        CommitOffsets("g", [COMMITS["t"], COMMITS["u"]]),
        FetchOffsets([GroupOffsetsWanted("g", None), GroupOffsetsWanted("h", [])]),
        Heartbeat("g", "member", None, 1),
    ],
    ids=str,
)
def test_command_is_refused_as_a_whole_when_no_topic_was_chosen(command: Command[Any]) -> None:
    assert outcome(command, None) == ([], command.refused(Fault.INTERNAL, "because"))
