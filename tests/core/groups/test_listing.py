"""What groups there are, and which node coordinates them (mission 003.26)."""

from typing import Any

import pytest

from tests.core.fakes import FakeLog
from tests.core.groups.coordinated import CALLER, Coordinated, subscription
from trivium.core.access import Access, Operation, Resource
from trivium.core.caller import Caller
from trivium.core.commands.groups import (
    CoordinatorKind,
    DescribedGroup,
    DescribedMember,
    DescribeGroups,
    FindCoordinators,
    FoundCoordinator,
    ListedGroup,
    ListGroups,
)
from trivium.core.commands.topics import Node
from trivium.core.faults import Fault, Refused


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated({"offsets.topic.num.partitions": "3"})


def listed(groups: Coordinated, **filters: Any) -> list[str]:
    result = groups.world.execute(ListGroups(**filters), CALLER)
    assert result.fault is None
    return sorted(group.group_id for group in result.groups)


def test_groups_are_listed_with_state_and_type(groups: Coordinated) -> None:
    assert listed(groups) == []
    groups.stable()
    groups.commit(1, group_id="simple")
    result = groups.world.execute(ListGroups())
    assert set(result.groups) == {
        ListedGroup("g", "consumer", "Stable", "classic"),
        ListedGroup("simple", "", "Empty", "classic"),
    }


def test_groups_are_filtered_by_state_and_type_whatever_their_case(groups: Coordinated) -> None:
    groups.stable()
    groups.commit(1, group_id="simple")
    assert listed(groups, states=["stable"]) == ["g"]
    assert listed(groups, states=["EMPTY", "Dead"]) == ["simple"]
    assert listed(groups, types=["Classic"]) == ["g", "simple"]
    assert listed(groups, types=["consumer"]) == []
    assert listed(groups, types=["no such type"]) == []


def test_listing_where_a_partition_cannot_be_read_is_refused(groups: Coordinated) -> None:
    groups.commit(1)
    groups.log.fault = Fault.STORAGE
    groups.world.log("__consumer_offsets", 0).fault = Fault.STORAGE
    for partition in range(3):
        groups.world.log("__consumer_offsets", partition).fault = Fault.STORAGE
    groups.restart()
    assert groups.world.execute(ListGroups()).fault is Fault.NOT_COORDINATOR


def test_stable_group_is_described_with_its_members(groups: Coordinated) -> None:
    [member] = groups.stable(instance_id="one")
    assert groups.describe() == DescribedGroup(
        "g",
        state="Stable",
        protocol_type="consumer",
        protocol_name="range",
        members=[
            DescribedMember(member.member_id, "one", "client", "/10.0.0.7", subscription("t"), b"one-1")
        ],
    )


def test_group_between_generations_is_described_without_what_is_undecided(groups: Coordinated) -> None:
    [member] = groups.stable()
    groups.join(member.member_id)
    described = groups.describe()
    assert (described.state, described.protocol_name) == ("CompletingRebalance", "")
    assert described.members[0].metadata == b""


def test_unknown_group_is_described_as_dead(groups: Coordinated) -> None:
    assert groups.describe("unknown") == DescribedGroup(
        "unknown", Fault.GROUP_ID_NOT_FOUND, "Group unknown not found.", state="Dead"
    )


def test_operations_are_described_if_they_are_asked_for(groups: Coordinated) -> None:
    groups.commit(1)
    [described] = groups.world.execute(DescribeGroups(["g"], with_operations=True))
    assert described.operations == frozenset(
        (
            Operation.READ,
            Operation.DELETE,
            Operation.DESCRIBE,
            Operation.DESCRIBE_CONFIGS,
            Operation.ALTER_CONFIGS,
        )
    )


# -- finding ---------------------------------------------------------------------------------------


def find(groups: Coordinated, *keys: str, kind: CoordinatorKind = CoordinatorKind.GROUP) -> Any:
    return groups.world.execute(FindCoordinators(kind, keys), CALLER)


def test_this_node_coordinates_all_groups_and_makes_the_topic_for_them(groups: Coordinated) -> None:
    assert find(groups, "a", "b") == [FoundCoordinator(key, node=Node(1)) for key in ("a", "b")]
    assert len(groups.world.image.topics.by_name["__consumer_offsets"].partitions) == 3
    assert groups.world.image.configs.of_topic("__consumer_offsets") == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }


def test_coordinator_is_found_when_its_topic_is_durable(groups: Coordinated) -> None:
    groups.world.storage.holds_syncs = True
    replies = groups.world.submit(FindCoordinators(CoordinatorKind.GROUP, ["g"]))
    assert replies == []
    groups.world.storage.sync()
    assert replies[0][0].fault is None


def test_coordinator_is_not_available_where_its_topic_cannot_be_made(groups: Coordinated) -> None:
    groups.world.log("__cluster_metadata").fault = Fault.STORAGE
    assert find(groups, "g")[0].fault is Fault.COORDINATOR_NOT_AVAILABLE


def test_coordinator_is_not_available_where_its_partition_is_offline(
    groups: Coordinated, monkeypatch: pytest.MonkeyPatch
) -> None:
    def offline(topic: str, partition: int) -> FakeLog:
        raise Refused(Fault.STORAGE)

    monkeypatch.setattr(groups.world.storage, "log", offline)
    assert find(groups, "g")[0].fault is Fault.COORDINATOR_NOT_AVAILABLE


def test_transactions_have_no_coordinator_where_nobody_has_added_one(groups: Coordinated) -> None:
    [transaction] = find(groups, "x", kind=CoordinatorKind.TRANSACTION)
    assert transaction.fault is Fault.COORDINATOR_NOT_AVAILABLE
    assert "__consumer_offsets" not in groups.world.image.topics.by_name


def test_share_partition_is_coordinated_here_if_its_name_is_one(groups: Coordinated) -> None:
    """Group, topic id and partition, as brokers of a larger cluster ask."""
    [found] = find(groups, "g:AAAAAAAAAAAAAAAAAAAAAQ:0", kind=CoordinatorKind.SHARE_PARTITION)
    assert found.node is not None
    for key in ("x", "g:AAAAAAAAAAAAAAAAAAAAAQ", "g:short:0", "g:AAAAAAAAAAAAAAAAAAAAAQ:x"):
        [refused] = find(groups, key, kind=CoordinatorKind.SHARE_PARTITION)
        assert refused.fault is Fault.INVALID_REQUEST


# -- rights ----------------------------------------------------------------------------------------


class NothingAllowed(Access):
    def allows(self, caller: Caller, operation: Operation, resource: Resource, name: str) -> bool:
        return False

    shows = allows


def test_who_may_see_nothing_sees_nothing(groups: Coordinated, monkeypatch: pytest.MonkeyPatch) -> None:
    groups.commit(1)
    monkeypatch.setattr(groups.world.access, "allows", NothingAllowed().allows)
    monkeypatch.setattr(groups.world.access, "shows", NothingAllowed().shows)
    assert listed(groups) == []
    assert groups.describe().fault is Fault.NOT_AUTHORIZED_GROUP
    assert find(groups, "g")[0].fault is Fault.NOT_AUTHORIZED_GROUP
    assert groups.commit(2)[0][0].fault is Fault.NOT_AUTHORIZED_TOPIC


def test_offsets_of_topics_that_one_may_not_see_are_left_out(
    groups: Coordinated, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups.world.create_topic("secret")
    groups.commit(1)
    groups.commit(2, topic="secret")
    monkeypatch.setattr(groups.world.access, "allows", lambda *asked: asked[-1] != "secret")
    assert groups.offsets() == {("t", 0): 1}
