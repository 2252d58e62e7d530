"""Who may know of share groups, and change where they stand (S10, S11)."""

import pytest

from tests.core.groups.share.sharing import Sharing
from tests.core.rights import Denying
from trivium.core.access import Operation, Resource
from trivium.core.broker import Broker
from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.core.commands.share_groups import (
    AlterShareOffsets,
    DeleteShareOffsets,
    DescribeShareOffsets,
    ShareGroupOffsets,
    ShareGroupOffsetsWanted,
    ShareHeartbeat,
)
from trivium.core.commands.share_groups_reading import ShareAcknowledge, ShareFetch
from trivium.core.faults import Fault


@pytest.fixture
def sharing() -> Sharing:
    sharing = Sharing()
    sharing.beat()
    return sharing


def deny(sharing: Sharing, monkeypatch: pytest.MonkeyPatch, operation: Operation, resource: Resource) -> None:
    monkeypatch.setattr(sharing.world.access, "allows", Denying((operation, resource)).allows)


def standing(sharing: Sharing, *, named: bool) -> ShareGroupOffsets:
    wanted = ShareGroupOffsetsWanted("g", {"t": [0]} if named else None)
    return sharing.world.execute(DescribeShareOffsets([wanted]))[0]


def test_group_is_hidden_from_who_may_not_describe_it(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(sharing, monkeypatch, Operation.DESCRIBE, Resource.GROUP)
    assert sharing.describe().fault is Fault.NOT_AUTHORIZED_GROUP
    assert standing(sharing, named=False).fault is Fault.NOT_AUTHORIZED_GROUP


def test_topics_are_hidden_from_who_may_not_describe_them(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(sharing, monkeypatch, Operation.DESCRIBE, Resource.TOPIC)
    assert sharing.describe().fault is Fault.NOT_AUTHORIZED_TOPIC
    assert list(standing(sharing, named=False).topics) == []
    [topic] = standing(sharing, named=True).topics
    assert topic.topic_id == bytes(16)
    assert [start.fault for start in topic.partitions] == [Fault.NOT_AUTHORIZED_TOPIC]


def test_who_may_not_read_a_topic_changes_nothing_of_it(
    sharing: Sharing, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharing.beat(epoch=-1)
    deny(sharing, monkeypatch, Operation.READ, Resource.TOPIC)
    before = len(sharing.state_log.records())
    altered = sharing.world.execute(AlterShareOffsets("g", [("t", [(0, 1)]), ("nowhere", [(0, 1)])]))
    deleted = sharing.world.execute(DeleteShareOffsets("g", ["t", "nowhere"]))
    # What is forbidden and what is not there look alike.
    assert {topic.partitions[0].fault for topic in altered.topics} == {Fault.NOT_AUTHORIZED_TOPIC}
    assert {topic.fault for topic in deleted.topics} == {Fault.NOT_AUTHORIZED_TOPIC}
    assert len(sharing.state_log.records()) == before


@pytest.mark.parametrize(
    ("operation", "command"),
    [
        (Operation.READ, ShareHeartbeat("g", "m", 0, None, ["t"])),
        (Operation.READ, ShareFetch("g", "m", 0, [])),
        (Operation.READ, ShareAcknowledge("g", "m", 1, [])),
        (Operation.READ, AlterShareOffsets("g", [])),
        (Operation.DELETE, DeleteShareOffsets("g", [])),
    ],
    ids=lambda each: each.name if isinstance(each, Operation) else type(each).__name__,
)
def test_command_is_refused_as_a_whole_without_its_right_on_the_group(
    sharing: Sharing, operation: Operation, command: Command[object]
) -> None:
    broker = Broker(Denying((operation, Resource.GROUP)), [sharing.world.routes])
    answers: list[object] = []
    broker.execute(command, Caller(), answers.append)
    assert answers == [command.refused(Fault.NOT_AUTHORIZED_GROUP)]
