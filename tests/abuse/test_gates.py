"""Rule 6 of the promises: a command without a row fails the build, and no row is left untried (S10).

The rows of the three doors together must reach every command that needs a right: one that no request of the
matrices leads to would be gated by its author's word alone. One that only follows another, which is refused
before it, is reached by somebody who may, and is refused by itself.
"""

import json
from typing import Any

import pytest

from tests.abuse.city import City, IggyDoor, KafkaDoor, RustLogDoor
from tests.abuse.rows import ROWS
from tests.abuse.rows.row import there
from tests.abuse.test_kafka_rights import versions
from tests.abuse.test_other_doors import EVERYTHING, GATED, RUSTLOG_ROWS
from tests.core.test_commands import (
    all_commands,
    test_command_says_which_right_it_needs_and_what_its_refusal_looks_like,
)
from tests.protocols.iggy.raw_client import name, poll
from tests.protocols.iggy.test_rights import ROWS as IGGY_ROWS
from trivium.core.access import Access, for_everybody
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.commands import topics
from trivium.core.commands.command import Command
from trivium.core.commands.stream_groups import EndPoll
from trivium.core.faults import Fault
from trivium.protocols.iggy.code import Code

check_row = test_command_says_which_right_it_needs_and_what_its_refusal_looks_like
del test_command_says_which_right_it_needs_and_what_its_refusal_looks_like


class Planted(Command[None]):
    """Somebody has forgotten its row."""

    def refused(self, fault: object, message: str | None = None) -> None:
        return None


def test_command_that_is_planted_without_a_row_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Planted not in all_commands()
    monkeypatch.setattr(topics, "Planted", Planted, raising=False)
    assert Planted in all_commands()
    with pytest.raises(AssertionError):
        check_row(Planted)


def test_command_that_is_planted_without_a_refusal_does_not_pass() -> None:
    class Unrefused(Command[None]):
        ROW = for_everybody("")._replace(free=None)

    with pytest.raises(AssertionError):
        check_row(Unrefused)


def test_command_without_a_row_is_carried_out_for_nobody() -> None:
    done: list[Any] = []
    broker = Broker(Access(), [{Planted: lambda command, caller, reply: done.append(command)}])
    with pytest.raises(AttributeError):
        broker.execute(Planted(), Caller(), done.append)
    assert done == []


def test_rows_of_the_three_doors_reach_every_command_that_needs_a_right(
    city: City, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached: set[type[Command[Any]]] = set()
    execute = city.node.broker.execute

    def noting(command: Command[Any], caller: Caller, reply: Any) -> None:
        reached.add(type(command))
        execute(command, caller, reply)

    city.allow()
    doors = KafkaDoor(city, "ann"), IggyDoor(city, "ann"), RustLogDoor(city, "ann")
    monkeypatch.setattr(city.node.broker, "execute", noting)
    for row in ROWS:
        doors[0].say(row.key, versions(row)[-1], row.values(city, there(city)))
    for code in GATED:
        doors[1].status(code, IGGY_ROWS[code][1])
    for word, (fields, _) in RUSTLOG_ROWS.items():
        doors[2].say(json.dumps({word.partition(" ")[0]: fields}).encode())
    city.allow(*EVERYTHING)
    for code in (Code.SEND_MESSAGES, Code.JOIN_CONSUMER_GROUP):
        assert doors[1].status(code, IGGY_ROWS[code][1]) == 0
    assert doors[1].status(Code.POLL_MESSAGES, poll(b"\2" + name("g"), "a", "t")) == 0
    gated = {command for command in all_commands() if command.ROW.free is None}
    assert gated - reached == set()


def test_end_of_a_poll_needs_the_right_to_read_by_itself(city: City) -> None:
    city.allow()
    ann = Caller(principal="User:ann", host="127.0.0.1")
    ended = EndPoll("a", "t", "g", 0, 1)
    answers: list[Fault | None] = []
    city.node.broker.execute(ended, ann, answers.append)
    city.allow(*EVERYTHING)
    city.node.broker.execute(ended, ann, answers.append)
    # With the right it is the group that says no: she is none of its members.
    assert answers == [Fault.NOT_AUTHORIZED_TOPIC, Fault.PARTITION_NOT_OWNED]
