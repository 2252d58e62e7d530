"""Members of consumer groups in a world of memory, with short words for what their tests say often."""

from collections.abc import Mapping
from typing import Any

from tests.core.groups.coordinated import CALLER, Coordinated
from trivium.core.commands.consumer_groups import (
    ConsumerBeat,
    ConsumerHeartbeat,
    DescribeConsumerGroups,
    DescribedConsumerGroup,
)
from trivium.core.commands.groups import DeleteGroups
from trivium.core.faults import Fault
from trivium.messages.stored.metadata_topics import ConfigRecord

LEAVING, AWAY = -1, -2
SESSION_MS = 45_000
REBALANCE_MS = 30_000
HASTY = {"group.consumer.assignment.interval.ms": "0"}


class Consuming(Coordinated):
    """A coordinator whose groups share their work at once, and a topic ``t`` of four partitions."""

    def __init__(self, static: Mapping[str, str] | None = None) -> None:
        super().__init__({**HASTY, **(static or {})})

    def consumer(self, member_id: str, group_id: str = "g", **fields: Any) -> "Member":
        return Member(self, member_id, group_id, fields)

    def described(self, group_id: str = "g") -> DescribedConsumerGroup:
        return self.world.execute(DescribeConsumerGroups([group_id]), CALLER)[0]

    def holdings(self) -> dict[str, list[int]]:
        """What each member holds of ``t``, by member id."""
        return {
            member.member_id: [number for part in member.assignment for number in part.partitions]
            for member in self.described().members
        }

    def delete(self, group_id: str) -> Fault | None:
        return self.world.execute(DeleteGroups([group_id]), CALLER)[0].fault

    def set_for_group(self, name: str, value: str, group_id: str = "g") -> None:
        record = ConfigRecord(resource_type=32, resource_name=group_id, name=name, value=value)
        self.world.cluster.commit([(record, 0)], lambda _fault: None)


class Member:
    """A client as it should be: it reads what it was told last, and gives up at once."""

    def __init__(self, groups: Consuming, member_id: str, group_id: str, fields: dict[str, Any]) -> None:
        self.groups = groups
        self.member_id = member_id
        self.group_id = group_id
        self.fields = fields
        self.epoch = 0
        self.owned: dict[bytes, list[int]] = {}

    def join(self, **fields: Any) -> ConsumerBeat:
        self.epoch, self.owned = 0, {}
        all_fields = {"topic_names": ["t"], **self.fields, **fields}
        return self.beat(rebalance_timeout_ms=REBALANCE_MS, owned={}, **all_fields)

    def beat(self, **fields: Any) -> ConsumerBeat:
        [answer] = self.send(**fields)
        return self.hear(answer)

    def confirm(self) -> ConsumerBeat:
        """Say what it reads."""
        return self.beat(owned=self.owned)

    def send(self, **fields: Any) -> list[ConsumerBeat]:
        if "instance_id" in self.fields:
            fields = {"instance_id": self.fields["instance_id"], **fields}
        epoch = fields.pop("epoch", self.epoch)
        command = ConsumerHeartbeat(self.group_id, self.member_id, epoch, **fields)
        return self.groups.world.submit(command, CALLER)

    def hear(self, answer: ConsumerBeat) -> ConsumerBeat:
        if answer.fault is None:
            self.epoch = answer.member_epoch
            if answer.assignment is not None:
                self.owned = {topic_id: list(numbers) for topic_id, numbers in answer.assignment.items()}
        return answer

    def leave(self, epoch: int = LEAVING) -> Fault | None:
        return self.beat(epoch=epoch).fault

    @property
    def numbers(self) -> list[int]:
        return [number for numbers in self.owned.values() for number in numbers]


def settle(*members: Member) -> None:
    """Let everybody speak until nobody hears anything new."""
    for _ in range(8):
        before = [(member.epoch, member.owned) for member in members]
        for member in members:
            answer = member.confirm()
            assert answer.fault is None, answer
        if before == [(member.epoch, member.owned) for member in members]:
            return
    raise AssertionError("the group does not come to rest")
