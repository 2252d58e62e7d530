"""What members of groups may say to a broker, right and wrong, told once and held twice: with a real Kafka,
whose answers are kept in ``kafka-groups/``, and with ours, which must answer the same.

A dialogue is a function of ``Talk``. It begins on a broker with the settings in ``STATIC``, the topics ``t``
of one partition and ``two`` of two, and ``__consumer_offsets``. Several connections may take part, because
members wait for each other. Answers are made plain before they are compared: member ids are numbered as they
come up, and lists in no particular order are sorted.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.server.wire import Peer, create_topic

from trivium.messages.api import ApiKey
from trivium.messages.api.create_topics import CreatableTopic, CreateTopicsRequest
from trivium.messages.api.delete_groups import DeleteGroupsRequest
from trivium.messages.api.describe_groups import DescribeGroupsRequest
from trivium.messages.api.find_coordinator import FindCoordinatorRequest
from trivium.messages.api.heartbeat import HeartbeatRequest
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from trivium.messages.api.leave_group import LeaveGroupRequest, MemberIdentity
from trivium.messages.api.list_groups import ListGroupsRequest
from trivium.messages.api.metadata import MetadataRequest, MetadataRequestTopic
from trivium.messages.api.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from trivium.messages.api.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from trivium.messages.api.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from trivium.messages.api.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from trivium.messages.consumer_protocol import ConsumerProtocolSubscription, encode_subscription
from trivium.messages.schema import Request, Struct
from trivium.wire.uuid_text import ZERO_UUID

ANSWERS: Final = Path(__file__).parent / "kafka-groups"
STATIC: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
"""What ``tests.interop.kafka`` gives its broker, as far as members see it."""

_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|^[\w-]{22}$")
"""As Java prints it, or Kafka, which does so for members that it names itself in consumer groups."""
_KEYS: Final = ("member_id", "group_id", "transactional_id", "name", "partition_index")
UNKNOWN_ID: Final = bytes(15) + b"\x77"


class Talk:
    """Asks, and keeps the answers under their labels."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._peers: dict[str, Peer] = {}
        self._sent: dict[str, list[tuple[ApiKey, int]]] = {}
        self._ids: dict[str, str] = {}
        self.answers: dict[str, Any] = {}

    def begin(self) -> None:
        """Wait until groups are coordinated at all: Kafka makes its topic while it refuses."""
        create_topic(self._bootstrap, "t")
        while self._question("main", FindCoordinatorRequest(key="g"), 0).error_code:
            pass
        self._question(
            "main",
            CreateTopicsRequest(
                topics=[
                    CreatableTopic(
                        name="two", num_partitions=2, replication_factor=1, assignments=[], configs=[]
                    )
                ]
            ),
            4,
        )
        create_topic(self._bootstrap, "two")
        while self._question("main", DescribeGroupsRequest(groups=["g"]), 0).groups[0].error_code:
            pass

    def ask(self, label: str, request: Request, version: int, peer: str = "main") -> Any:
        self.send(peer, request, version)
        return self.hear(label, peer)

    def send(self, peer: str, request: Request, version: int) -> None:
        if peer not in self._peers:
            self._peers[peer] = Peer(self._bootstrap)
        self._peers[peer].ask(request, version)
        self._sent.setdefault(peer, []).append((ApiKey(request.API_KEY), version))

    def hear(self, label: str, peer: str) -> Any:
        assert label not in self.answers, label
        answer = self._peers[peer].answer(*self._sent[peer].pop(0))[1]
        self.answers[label] = self._plain(answer)
        return answer

    def question(self, request: Request, version: int) -> Any:
        """Ask something whose answer is not kept."""
        return self._question("main", request, version)

    def _question(self, peer: str, request: Request, version: int) -> Any:
        self.send(peer, request, version)
        return self._peers[peer].answer(*self._sent[peer].pop(0))[1]

    def topic_id(self, name: str) -> bytes:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        found: bytes = self._question("main", request, 12).topics[0].topic_id
        return found

    def close(self) -> None:
        for peer in self._peers.values():
            peer.socket.close()

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Struct):
            return {
                each.name: self._plain_field(each.name, getattr(value, each.name))
                for each in type(value).fields
            }
        if isinstance(value, list):
            items = [self._plain(each) for each in value]
            if items and isinstance(items[0], dict):
                items.sort(key=lambda item: [str(item.get(key)) for key in _KEYS])
            return items
        if isinstance(value, str):
            return _UUID.sub(lambda found: self._ids.setdefault(found[0], f"#{len(self._ids) + 1}"), value)
        if isinstance(value, bytes) and len(value) == len(ZERO_UUID):
            return "ID" if value not in (ZERO_UUID, UNKNOWN_ID) else value.hex()
        return value.hex() if isinstance(value, bytes) else value

    def _plain_field(self, name: str, value: Any) -> Any:
        return "PORT" if name == "port" else self._plain(value)


# -- what is said ----------------------------------------------------------------------------------


def protocols(*names: str, topics: tuple[str, ...] = ("t",)) -> list[JoinGroupRequestProtocol]:
    subscription = encode_subscription(ConsumerProtocolSubscription(topics=list(topics)), 0)
    return [JoinGroupRequestProtocol(name=name, metadata=subscription) for name in names or ("range",)]


def join(member_id: str = "", instance_id: str | None = None, **other: Any) -> JoinGroupRequest:
    fields: dict[str, Any] = {
        "group_id": "g",
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 30_000,
        "protocol_type": "consumer",
        "protocols": protocols(),
        **other,
    }
    return JoinGroupRequest(member_id=member_id, group_instance_id=instance_id, **fields)


def sync(member: Any, generation: int | None = None, **other: Any) -> SyncGroupRequest:
    fields: dict[str, Any] = {
        "group_id": "g",
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [],
        **other,
    }
    return SyncGroupRequest(
        generation_id=member.generation_id if generation is None else generation,
        member_id=member.member_id,
        **fields,
    )


STRANGER: Final = JoinGroupResponse(
    error_code=0, generation_id=1, protocol_name=None, leader="", member_id="stranger", members=[]
)


def given(**assignments: str) -> list[SyncGroupRequestAssignment]:
    return [
        SyncGroupRequestAssignment(member_id=member_id, assignment=text.encode())
        for member_id, text in assignments.items()
    ]


def beat(
    member_id: str, generation: int, group_id: str = "g", instance_id: str | None = None
) -> HeartbeatRequest:
    return HeartbeatRequest(
        group_id=group_id, generation_id=generation, member_id=member_id, group_instance_id=instance_id
    )


def leave(*members: tuple[str, str | None], group_id: str = "g") -> LeaveGroupRequest:
    return LeaveGroupRequest(
        group_id=group_id,
        members=[MemberIdentity(member_id=one, group_instance_id=two) for one, two in members],
    )


def commit(
    *places: tuple[str, int, int], group_id: str = "g", metadata: str | None = "", **other: Any
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition, committed_offset=offset, committed_metadata=metadata
                    )
                    for topic, partition, offset in places
                    if topic == name
                ],
            )
            for name in dict.fromkeys(topic for topic, _, _ in places)
        ],
        **other,
    )


def commit_by_id(topic_id: bytes, offset: int) -> OffsetCommitRequest:
    part = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_leader_epoch=0, committed_metadata="by id"
    )
    return OffsetCommitRequest(
        group_id="by-id", topics=[OffsetCommitRequestTopic(topic_id=topic_id, partitions=[part])]
    )


def fetch(
    topic: str | None = "t", group_id: str = "g", partitions: tuple[int, ...] = (0, 1)
) -> OffsetFetchRequest:
    topics = None
    if topic is not None:
        topics = [OffsetFetchRequestTopic(name=topic, partition_indexes=list(partitions))]
    return OffsetFetchRequest(group_id=group_id, topics=topics)


def fetch_several(
    *group_ids: str, topics: list[OffsetFetchRequestTopics] | None = None
) -> OffsetFetchRequest:
    return OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group_id, topics=topics) for group_id in group_ids]
    )


def forget(*places: tuple[str, int], group_id: str = "g") -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[
                    OffsetDeleteRequestPartition(partition_index=partition)
                    for topic, partition in places
                    if topic == name
                ],
            )
            for name in dict.fromkeys(topic for topic, _ in places)
        ],
    )


def look(talk: Talk, when: str) -> None:
    """What tools see of the group."""
    for version in (0, 3, 5, 6):
        request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=version >= 3)
        talk.ask(f"described in version {version} {when}", request, version)
    talk.ask(f"listed {when}", ListGroupsRequest(), 5)


# -- dialogues -------------------------------------------------------------------------------------


def finding(talk: Talk) -> None:
    for version in range(4):
        talk.ask(f"one key, version {version}", FindCoordinatorRequest(key="g"), version)
        talk.ask(f"no key, version {version}", FindCoordinatorRequest(key=""), version)
    for version in (4, 5, 6):
        for keys in (["g"], ["g", "h", ""], []):
            talk.ask(f"{keys}, version {version}", FindCoordinatorRequest(coordinator_keys=keys), version)


def members(talk: Talk) -> None:
    """A member comes, another one follows, both go; and what strangers are told meanwhile."""
    look(talk, "before there is a group")
    for version in range(10):
        talk.ask(f"a stranger joins, version {version}", join("stranger"), version)
    for version in range(6):
        talk.ask(f"a stranger syncs, version {version}", sync(STRANGER), version)
    for version in range(5):
        talk.ask(f"a stranger's heart, version {version}", beat("stranger", 1), version)
    talk.ask("a stranger leaves, version 0", LeaveGroupRequest(group_id="g", member_id="stranger"), 0)
    talk.ask("a stranger leaves, version 3", leave(("stranger", None)), 3)
    for label, request in {
        "no group to join": join(group_id=""),
        "a short session": join(session_timeout_ms=5999),
        "a long session": join(session_timeout_ms=1_800_001),
        "no protocol type": join(protocol_type=""),
        "no protocols": join(protocols=[]),
    }.items():
        talk.ask(label, request, 9)
    talk.ask("no group's heart", beat("m", 1, ""), 4)
    talk.ask("no group to leave", leave(("m", None), group_id=""), 5)
    talk.ask("no group to sync", sync(STRANGER, group_id=""), 5)

    told = talk.ask("an id first", join(), 9)
    look(talk, "with an id given out")
    talk.ask("the id's heart", beat(told.member_id, 0), 4)
    first = talk.ask("joined alone", join(told.member_id), 9)
    look(talk, "before the first sync")
    talk.ask("joined again before the sync", join(told.member_id), 9)
    talk.ask("heart before the sync", beat(first.member_id, 1), 4)
    talk.ask(
        "commit before the sync",
        commit(("t", 0, 1), generation_id_or_member_epoch=1, member_id=first.member_id),
        8,
    )
    talk.ask("sync, generation 0", sync(first, 0), 5)
    talk.ask("sync, no type", sync(first, protocol_type=None), 5)
    talk.ask("sync, no name", sync(first, protocol_name=None), 5)
    talk.ask("sync, no name and no group", sync(first, protocol_name=None, group_id=""), 5)
    talk.ask("sync, another type", sync(first, protocol_type="connect"), 5)
    talk.ask("sync, another name", sync(first, protocol_name="sticky"), 5)
    talk.ask(
        "synced",
        sync(first, assignments=given(**{first.member_id: "everything", "stranger": "nothing"})),
        5,
    )
    look(talk, "when stable")
    for version in range(6):
        talk.ask(f"synced again, version {version}", sync(first), version)
    for generation in (-1, 0, 1, 2):
        talk.ask(f"heart, generation {generation}", beat(first.member_id, generation), 4)
    talk.ask("another type joins", join(protocol_type="connect"), 9)
    talk.ask("another protocol joins", join(protocols=protocols("sticky")), 9)
    talk.ask("a filter for states", ListGroupsRequest(states_filter=["stable"]), 4)
    talk.ask("a filter for other states", ListGroupsRequest(states_filter=["Empty", "nonsense"]), 4)
    talk.ask("a filter for types", ListGroupsRequest(types_filter=["CLASSIC"]), 5)
    talk.ask("a filter for other types", ListGroupsRequest(types_filter=["consumer"]), 5)

    told = talk.ask("an id for the second", join(), 5, "second")
    talk.send("second", join(told.member_id), 5)
    _wait_for_rebalance(talk, first.member_id)
    talk.ask("heart during the rebalance", beat(first.member_id, 1), 4)
    talk.ask("sync during the rebalance", sync(first), 5)
    talk.ask(
        "commit during the rebalance",
        commit(("t", 0, 1), generation_id_or_member_epoch=1, member_id=first.member_id),
        8,
    )
    look(talk, "during the rebalance")
    first = talk.ask("the first joins again", join(first.member_id), 9)
    second = talk.hear("the second has joined", "second")
    talk.send("second", sync(second), 3)
    talk.ask("the leader syncs", sync(first, assignments=given(**{second.member_id: "half"})), 5)
    talk.hear("the second has synced", "second")
    look(talk, "with two")
    talk.ask("the follower joins again unchanged", join(second.member_id), 9, "second")
    talk.send("second", join(second.member_id, protocols=protocols(topics=("t", "two"))), 9)
    _wait_for_rebalance(talk, first.member_id, 2)
    talk.ask("one leaves and a stranger", leave((second.member_id, None), ("stranger", None)), 4)
    talk.hear("the second was waiting", "second")
    talk.ask("heart after that", beat(first.member_id, 2), 4)
    talk.ask("the last leaves", LeaveGroupRequest(group_id="g", member_id=first.member_id), 1)
    look(talk, "when empty")
    talk.ask("the last leaves again", LeaveGroupRequest(group_id="g", member_id=first.member_id), 1)
    talk.ask("heart in an empty group", beat(first.member_id, 3), 4)
    talk.ask("a member that is none joins", join(first.member_id), 9)
    talk.ask("joined in version 0", join(group_id="old"), 0)
    talk.ask("joined in version 3", join(group_id="older", protocols=protocols("a", "b")), 3)


def _wait_for_rebalance(talk: Talk, member_id: str, generation: int = 1) -> None:
    """The other connection's request may be on its way still."""
    while not talk._question("main", beat(member_id, generation), 4).error_code:
        pass


def static(talk: Talk) -> None:
    """Static members: fenced, replaced, sent away."""
    first = talk.ask("joined", join("", "one"), 9)
    talk.ask(
        "synced",
        sync(first, group_instance_id="one", assignments=given(**{first.member_id: "everything"})),
        5,
    )
    again = talk.ask("back again", join("", "one"), 9)
    talk.ask("synced again", sync(again, group_instance_id="one"), 5)
    older = talk.ask("back again with version 8", join("", "one"), 8)
    talk.ask("synced with version 8", sync(older, group_instance_id="one"), 3)
    for label, member_id in {"former self": first.member_id, "nobody": "nobody"}.items():
        talk.ask(f"{label} joins", join(member_id, "one"), 9)
        talk.ask(f"{label} syncs", sync(_as(first, member_id), group_instance_id="one"), 5)
        talk.ask(f"{label}'s heart", beat(member_id, 1, instance_id="one"), 4)
        talk.ask(
            f"{label} commits",
            commit(
                ("t", 0, 1),
                member_id=member_id,
                group_instance_id="one",
                generation_id_or_member_epoch=1,
            ),
            8,
        )
        talk.ask(f"{label} leaves", leave((member_id, "one")), 4)
    talk.ask("an unknown name's heart", beat(older.member_id, 1, instance_id="two"), 4)
    talk.ask("without its name", beat(older.member_id, 1), 4)
    talk.ask("an unknown name leaves", leave(("", "two")), 5)
    look(talk, "with a static member")
    talk.ask("sent away by name", leave(("", "one")), 5)
    look(talk, "when it has gone")


def _as(member: Any, member_id: str) -> Any:
    """The same answer, as somebody else would have got it."""
    copy = type(member)(**{each.name: getattr(member, each.name) for each in type(member).fields})
    copy.member_id = member_id
    return copy


def offsets(talk: Talk) -> None:
    for version in range(2, 10):
        talk.ask(f"committed by nobody, version {version}", commit(("t", 0, version)), version)
    for version in range(1, 8):
        talk.ask(f"fetched, version {version}", fetch(), version)
    for version in range(2, 8):
        talk.ask(f"fetched all, version {version}", fetch(None), version)
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0, 5])]
    for version in (8, 9):
        talk.ask(f"fetched for several, version {version}", fetch_several("g", "no", topics=topics), version)
        talk.ask(f"fetched all for several, version {version}", fetch_several("g", "no"), version)
    talk.ask("fetched, unknown topic", fetch("unknown"), 7)
    talk.ask("fetched, unknown group", fetch(group_id="no"), 7)
    talk.ask("fetched all, unknown group", fetch(None, "no"), 7)
    talk.ask("fetched for no group", fetch_several(), 8)
    for label, request in {
        "unknown topic": commit(("unknown", 0, 1), ("t", 0, 50)),
        "unknown partition": commit(("t", 7, 1)),
        "only unknown": commit(("unknown", 0, 1), group_id="unmade"),
        "nothing": commit(group_id="unmade"),
        "a long note": commit(("two", 0, 5), metadata="x" * 4097),
        "a note": commit(("two", 0, 5), metadata="x" * 4096),
        "no note": commit(("two", 1, 6), metadata=None),
        "an offset before all": commit(("two", 1, -1)),
        "no group": commit(("two", 1, 3), group_id=""),
        "a generation without a group": commit(
            ("t", 0, 1), group_id="unmade", generation_id_or_member_epoch=1, member_id="m"
        ),
        "a member without a group": commit(("t", 0, 1), group_id="made", member_id="m"),
        "a generation in an empty group": commit(("t", 0, 1), generation_id_or_member_epoch=0),
        "a generation and a member": commit(("t", 0, 1), generation_id_or_member_epoch=1, member_id="m"),
    }.items():
        for version in (7, 8, 9):
            talk.ask(f"{label}, version {version}", request, version)
    talk.ask("fetched afterwards", fetch_several("g", "", "made", "unmade"), 8)
    talk.ask("fetched all afterwards", fetch(None), 7)

    topic_id = talk.topic_id("two")
    talk.ask("committed by id", commit_by_id(topic_id, 11), 10)
    talk.ask("committed by an unknown id", commit_by_id(UNKNOWN_ID, 11), 10)
    talk.ask("committed by no id", commit_by_id(ZERO_UUID, 11), 10)
    for each in (topic_id, UNKNOWN_ID, ZERO_UUID):
        asked = [OffsetFetchRequestTopics(topic_id=each, partition_indexes=[0, 1])]
        label = "ID" if each == topic_id else each.hex()
        talk.ask(f"fetched by id {label}", fetch_several("by-id", "no", topics=asked), 10)
    talk.ask("fetched all by id", fetch_several("by-id", "no"), 10)

    talk.ask("groups listed", ListGroupsRequest(), 5)
    talk.ask("simple group described", DescribeGroupsRequest(groups=["g", ""]), 6)


def forgetting(talk: Talk) -> None:
    talk.ask("offsets of no group", forget(("t", 0), group_id="no"), 0)
    talk.ask("committed", commit(("t", 0, 1), ("two", 0, 2), ("two", 1, 3)), 8)
    talk.ask("some", forget(("two", 0), ("two", 7), ("unknown", 0), ("t", 0)), 0)
    talk.ask("again", forget(("two", 0)), 0)
    talk.ask("left", fetch(None), 7)
    member = talk.ask("joined", join(), 0)
    talk.ask("while a rebalance completes", forget(("t", 0), ("two", 1)), 0)
    talk.ask("synced", sync(member, assignments=given(**{member.member_id: "everything"})), 0)
    talk.ask("commit", commit(("t", 0, 9), generation_id_or_member_epoch=1, member_id=member.member_id), 8)
    talk.ask("commit by nobody in a busy group", commit(("t", 0, 9)), 8)
    talk.ask("while subscribed", forget(("t", 0), ("two", 1)), 0)
    talk.ask("left then", fetch(None), 7)
    for version in range(3):
        names = ["g", "no", "", "g"]
        talk.ask(f"groups, version {version}", DeleteGroupsRequest(groups_names=names), version)
    talk.ask("gone", leave((member.member_id, None)), 3)
    talk.ask("deleted", DeleteGroupsRequest(groups_names=["g"]), 2)
    talk.ask("deleted again", DeleteGroupsRequest(groups_names=["g"]), 2)
    talk.ask("nothing is left", fetch(None), 7)
    talk.ask("described", DescribeGroupsRequest(groups=["g"]), 6)
    other = talk.ask(
        "another kind", join(group_id="k", protocol_type="connect", protocols=protocols("v1")), 0
    )
    assert not other.error_code
    talk.ask("offsets of another kind", forget(("t", 0), group_id="k"), 0)


DIALOGUES: Final[dict[str, Callable[[Talk], None]]] = {
    dialogue.__name__: dialogue for dialogue in (finding, members, static, offsets, forgetting)
}
