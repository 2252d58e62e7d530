"""What members of consumer groups (KIP-848) may say to a broker: dialogues as in ``group_dialogue``.

Every group begins with ``consumer.assignment.interval.ms`` 0: work is shared anew with each heartbeat that
finds a reason, and no answer depends on how fast the broker is.
"""

from collections.abc import Callable
from typing import Any, Final

from tests.golden.group_dialogue import Talk, beat, commit, forget, join, leave, protocols, sync

from trivium.messages.api.consumer_group_describe import ConsumerGroupDescribeRequest
from trivium.messages.api.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from trivium.messages.api.join_group import JoinGroupRequestProtocol
from trivium.messages.api.list_groups import ListGroupsRequest
from trivium.messages.api.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from trivium.messages.api.sync_group import SyncGroupRequestAssignment
from trivium.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
    encode_assignment,
    encode_subscription,
)

_GROUP_RESOURCE: Final = 32
LEAVING, LEAVING_FOR_NOW = -1, -2


def hasty(talk: Talk, *group_ids: str) -> None:
    """Groups whose work is shared at once, whenever somebody comes or goes."""
    for group_id in group_ids:
        talk.ask(
            f"{group_id} is hasty",
            IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=_GROUP_RESOURCE,
                        resource_name=group_id,
                        configs=[
                            AlterableConfig(
                                name="consumer.assignment.interval.ms", config_operation=0, value="0"
                            )
                        ],
                    )
                ],
                validate_only=False,
            ),
            1,
        )


class Consumer:
    """A member as its client knows it."""

    def __init__(self, talk: Talk, member_id: str, group_id: str = "c", **fields: Any) -> None:
        self._talk = talk
        self.member_id, self.group_id = member_id, group_id
        self.fields = fields
        self.epoch = 0
        self.topic_id = talk.topic_id("two")

    def join(self, label: str, **other: Any) -> Any:
        self.epoch = 0
        fields = {"subscribed_topic_names": ["two"], **self.fields, **other}
        return self.beat(label, owned=(), rebalance_timeout_ms=30_000, **fields)

    def beat(
        self, label: str, owned: tuple[int, ...] | None = None, epoch: int | None = None, **fields: Any
    ) -> Any:
        version = fields.pop("version", 1)
        if "instance_id" in self.fields:
            fields = {"instance_id": self.fields["instance_id"], **fields}
        answer = self._talk.ask(
            label,
            ConsumerGroupHeartbeatRequest(
                **{
                    "group_id": self.group_id,
                    "member_id": self.member_id,
                    "member_epoch": self.epoch if epoch is None else epoch,
                    "topic_partitions": None if owned is None else self.parts(*owned),
                    **fields,
                }
            ),
            version,
        )
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer

    def parts(self, *partitions: int) -> list[TopicPartitions]:
        return [TopicPartitions(topic_id=self.topic_id, partitions=list(partitions))] if partitions else []


def describe(*group_ids: str, operations: bool = False) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(group_ids=list(group_ids), include_authorized_operations=operations)


def fetch(consumer: Consumer, member_id: str | None, epoch: int) -> OffsetFetchRequest:
    group = OffsetFetchRequestGroup(
        group_id=consumer.group_id, member_id=member_id, member_epoch=epoch, topics=None
    )
    return OffsetFetchRequest(groups=[group])


def owning(*partitions: int, version: int = 1, topics: tuple[str, ...] = ("two",)) -> bytes:
    owned = [TopicPartition(topic="two", partitions=list(partitions))] if partitions else []
    return encode_subscription(
        ConsumerProtocolSubscription(topics=list(topics), owned_partitions=owned), version
    )


def classic(*partitions: int, version: int = 1, name: str = "range") -> list[JoinGroupRequestProtocol]:
    return [JoinGroupRequestProtocol(name=name, metadata=owning(*partitions, version=version))]


# -- heartbeats ------------------------------------------------------------------------------------


def sharing(talk: Talk) -> None:
    """Two members find together; what one gives up the other gets."""
    hasty(talk, "c")
    one, two = Consumer(talk, "one"), Consumer(talk, "two")
    one.join("first joins")
    one.beat("nothing has changed")
    one.beat("told again on request", (0, 1), rebalance_timeout_ms=30_000, subscribed_topic_names=["two"])
    two.join("second joins")
    talk.ask("described while one has too much", describe("c", "no", operations=True), 1)
    two.beat("nothing is free", ())
    one.beat("first is to give up")
    one.beat("first has not yet", (0, 1))
    one.beat("first has", (0,))
    one.beat("first lost the answer", (0,), epoch=one.epoch - 1)
    one.beat("first claims too much with the epoch before", (0, 1), epoch=one.epoch - 1)
    two.beat("second is given it", ())
    two.beat("second has it", (1,))
    for version in (0, 1):
        talk.ask(f"described, version {version}", describe("c", "", "no"), version)
    talk.ask("described as a classic group", DescribeGroupsRequest(groups=["c"]), 6)
    talk.ask("described as a classic group, version 5", DescribeGroupsRequest(groups=["c"]), 5)
    talk.ask("listed", ListGroupsRequest(), 5)
    talk.ask("listed without types", ListGroupsRequest(), 4)
    for kind in ("Consumer", "classic", "none"):
        talk.ask(f"listed by type {kind}", ListGroupsRequest(types_filter=[kind]), 5)
    for state in ("STABLE", "reconciling", "Empty"):
        talk.ask(f"listed by state {state}", ListGroupsRequest(states_filter=[state]), 5)
    one.join("first begins anew")
    two.beat("second subscribes to another topic", (1,), subscribed_topic_names=["t"])
    two.beat("second lets go", ())
    one.beat("first gets all")
    two.beat("second subscribes to nothing", subscribed_topic_names=[])
    two.beat("second leaves", epoch=LEAVING)
    two.beat("second is gone")
    talk.ask("not deleted", DeleteGroupsRequest(groups_names=["c"]), 2)
    one.beat("first leaves", epoch=LEAVING)
    talk.ask("described empty", describe("c"), 1)
    talk.ask("deleted", DeleteGroupsRequest(groups_names=["c"]), 2)
    talk.ask("described deleted", describe("c"), 1)


def assignors(talk: Talk) -> None:
    """Members vote for how work is shared."""
    hasty(talk, "c")
    one, two, three = (Consumer(talk, name) for name in ("one", "two", "three"))
    one.join("first joins", server_assignor="range")
    talk.ask("range", describe("c"), 1)
    two.join("second joins", server_assignor="uniform")
    three.join("third joins", server_assignor="uniform")
    talk.ask("uniform", describe("c"), 1)
    one.beat("unknown", server_assignor="mine")
    one.beat("first leaves", epoch=LEAVING)


def refused_heartbeats(talk: Talk) -> None:
    hasty(talk, "c", "v0")
    one, other = Consumer(talk, "one"), Consumer(talk, "other")
    other.beat("no such group", epoch=1)
    one.join("joined")
    one.beat("epoch too large", epoch=99)
    one.beat("epoch too small", epoch=1)
    other.beat("no such member", epoch=1)
    other.beat("no such member leaves", epoch=LEAVING)
    Consumer(talk, "one", "no").beat("member of no group leaves", epoch=LEAVING)
    one.beat("epoch below all", epoch=-3)
    one.beat("leaves for now without a name", epoch=LEAVING_FOR_NOW)
    wrong: dict[str, dict[str, Any]] = {
        "no topics": {"subscribed_topic_names": None},
        "no rebalance timeout": {"rebalance_timeout_ms": -1},
        "no group": {"group_id": ""},
        "empty instance id": {"instance_id": ""},
        "empty rack": {"rack_id": ""},
        "unknown assignor": {"server_assignor": "mine"},
        "open bracket": {"subscribed_topic_regex": "["},
        "look-ahead": {"subscribed_topic_regex": "(?=t)"},
        "back-reference": {"subscribed_topic_regex": "(t)\\1"},
        "partitions": {"topic_partitions": one.parts(0)},
        "null partitions": {"topic_partitions": None},
        "no member id": {"member_id": ""},
    }
    for what, fields in wrong.items():
        answer = talk.ask(
            f"joins with {what}",
            ConsumerGroupHeartbeatRequest(
                **{
                    "group_id": "c",
                    "member_id": "other",
                    "member_epoch": 0,
                    "rebalance_timeout_ms": 30_000,
                    "subscribed_topic_names": ["two"],
                    "topic_partitions": [],
                    **fields,
                }
            ),
            1,
        )
        assert answer.error_code
    one.beat("no member id", member_id="")
    talk.ask("nobody came", describe("c"), 1)
    talk.ask("described without a right to", DescribeGroupsRequest(groups=["no"]), 6)


def named(talk: Talk) -> None:
    """Static members: a name of one's own, a place that waits for its owner."""
    hasty(talk, "c")
    one = Consumer(talk, "one", instance_id="name")
    two = Consumer(talk, "two", instance_id="name")
    one.join("first joins")
    two.join("another takes the name")
    two.beat("another speaks under the name", epoch=1)
    Consumer(talk, "one", instance_id="unknown").beat("unknown name", epoch=2)
    one.beat("first is away", epoch=LEAVING_FOR_NOW)
    talk.ask("away", describe("c"), 1)
    Consumer(talk, "three").join("third joins")
    two.join("second takes the place")
    talk.ask("back", describe("c"), 1)
    one.epoch = 2
    one.beat("first is fenced")
    one.beat("first cannot leave", epoch=LEAVING)
    two.beat("second leaves for good", epoch=LEAVING)
    talk.ask("gone", describe("c"), 1)


def committing(talk: Talk) -> None:
    """Offsets with member epochs."""
    hasty(talk, "c")
    one = Consumer(talk, "one")
    one.join("joined")
    mine = {"group_id": "c", "member_id": "one"}
    talk.ask("committed", commit(("two", 0, 5), generation_id_or_member_epoch=one.epoch, **mine), 9)
    for version in (8, 9):
        for epoch in (one.epoch - 1, one.epoch + 1, -1):
            talk.ask(
                f"committed in epoch {epoch}, version {version}",
                commit(("two", 0, 6), generation_id_or_member_epoch=epoch, **mine),
                version,
            )
    talk.ask("committed in an old version", commit(("two", 0, 6), generation_id_or_member_epoch=2, **mine), 8)
    talk.ask("committed by nobody", commit(("two", 0, 6), group_id="c"), 9)
    talk.ask(
        "committed by a stranger",
        commit(("two", 0, 6), group_id="c", member_id="other", generation_id_or_member_epoch=2),
        9,
    )
    talk.ask("fetched", fetch(one, "one", one.epoch), 9)
    talk.ask("fetched by nobody", fetch(one, None, -1), 9)
    talk.ask("fetched in another epoch", fetch(one, "one", one.epoch + 1), 9)
    talk.ask("fetched by a stranger", fetch(one, "other", one.epoch), 9)
    talk.ask("fetched of no group", fetch(Consumer(talk, "one", "no"), "one", 1), 9)
    talk.ask("forgotten", forget(("two", 0), ("t", 0), group_id="c"), 0)
    one.beat("left", epoch=LEAVING)
    talk.ask("committed to the empty group", commit(("two", 1, 7), group_id="c"), 9)
    talk.ask("forgotten then", forget(("two", 0), group_id="c"), 0)
    talk.ask("fetched at last", fetch(one, None, -1), 9)
    simple = Consumer(talk, "one", "simple")
    talk.ask("simple", commit(("two", 0, 1), group_id="simple"), 9)
    simple.join("a simple group is joined")
    talk.ask("its offsets", fetch(simple, None, -1), 9)


# -- both protocols --------------------------------------------------------------------------------


def upgrading(talk: Talk) -> None:
    """A classic group becomes a consumer group, and one again when the last consumer goes."""
    hasty(talk, "g")
    old = talk.ask("classic joins", join(protocols=classic()), 3)
    assignment = encode_assignment(
        ConsumerProtocolAssignment(assigned_partitions=[TopicPartition(topic="two", partitions=[0, 1])]), 1
    )
    talk.ask(
        "classic shares",
        sync(old, assignments=[SyncGroupRequestAssignment(member_id=old.member_id, assignment=assignment)]),
        5,
    )
    new = Consumer(talk, "new", "g")
    new.join("consumer joins")
    talk.ask("described", describe("g"), 1)
    talk.ask("described as classic", DescribeGroupsRequest(groups=["g"]), 6)
    talk.ask("classic is to join again", beat(old.member_id, old.generation_id), 4)
    talk.ask("classic of another generation", beat(old.member_id, old.generation_id + 7), 4)
    talk.ask("classic of another name", beat(old.member_id, old.generation_id, instance_id="name"), 4)
    talk.ask("no classic", beat("new", new.epoch), 4)
    talk.ask("stranger", beat("stranger", 1), 4)
    again = talk.ask("classic joins again and owns all", join(old.member_id, protocols=classic(0, 1)), 9)
    talk.ask("classic fetches", sync(again), 5)
    talk.ask("classic is to give up", beat(again.member_id, again.generation_id), 4)
    then = talk.ask("classic has given up", join(old.member_id, protocols=classic(0)), 9)
    talk.ask("classic fetches in the wrong way", sync(then, protocol_name="other"), 5)
    talk.ask("classic fetches in the wrong generation", sync(then, then.generation_id + 3), 5)
    talk.ask("classic fetches again", sync(then), 5)
    talk.ask("classic lives", beat(then.member_id, then.generation_id), 4)
    new.beat("consumer is given the other half", ())
    talk.ask(
        "classic commits",
        commit(("two", 0, 1), member_id=then.member_id, generation_id_or_member_epoch=then.generation_id),
        8,
    )
    talk.ask(
        "classic commits in another generation",
        commit(("two", 0, 1), member_id=then.member_id, generation_id_or_member_epoch=then.generation_id - 1),
        8,
    )
    talk.ask("wrong kind joins", join(protocol_type="connect", protocols=protocols("v1")), 9)
    talk.ask("other protocol joins", join(protocols=classic(name="other")), 9)
    newcomer = talk.ask("newcomer joins", join(protocols=classic()), 9)
    newcomer = talk.ask("newcomer joins with its id", join(newcomer.member_id, protocols=classic()), 9)
    talk.ask("newcomer fetches", sync(newcomer), 5)
    talk.ask("newcomer leaves", leave((newcomer.member_id, None), ("new", None), ("no", None)), 5)
    talk.ask("described then", describe("g"), 1)
    new.beat("consumer leaves", epoch=LEAVING)
    talk.ask("described as no consumer group", describe("g"), 1)
    talk.ask("listed", ListGroupsRequest(), 5)
    talk.ask("classic is to join", beat(then.member_id, then.generation_id), 4)
    last = talk.ask("classic joins at last", join(then.member_id, protocols=classic()), 9)
    talk.ask("classic shares at last", sync(last), 5)
    talk.ask("described at last", DescribeGroupsRequest(groups=["g"]), 6)


def turning(talk: Talk) -> None:
    """Empty groups turn into whatever joins them."""
    hasty(talk, "c", "g", "k")
    one = Consumer(talk, "one")
    one.join("consumer")
    one.beat("consumer leaves", epoch=LEAVING)
    old = talk.ask("classic joins the empty consumer group", join(group_id="c", protocols=classic()), 3)
    talk.ask("classic group now", DescribeGroupsRequest(groups=["c"]), 6)
    talk.ask("classic leaves", leave((old.member_id, None), group_id="c"), 5)
    one.join("consumer joins the empty classic group")
    talk.ask("consumer group now", describe("c"), 1)
    talk.ask("another kind", join(group_id="k", protocol_type="connect", protocols=protocols("v1")), 3)
    Consumer(talk, "one", "k").join("consumer joins another kind")
    name = Consumer(talk, "one", "g", instance_id="name")
    name.join("consumer with a name")
    talk.ask("classic takes the name", join(instance_id="name", protocols=classic()), 9)
    talk.ask("classic group by name", DescribeGroupsRequest(groups=["g"]), 6)
    name.beat("consumer with a name is fenced")


CONSUMER_DIALOGUES: Final[dict[str, Callable[[Talk], None]]] = {
    dialogue.__name__: dialogue
    for dialogue in (
        sharing,
        assignors,
        refused_heartbeats,
        named,
        committing,
        upgrading,
        turning,
    )
}
