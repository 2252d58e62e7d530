"""The APIs of classic groups, version by version: frames in, frames out (mission 003.6, 003.26, 003.27)."""

import pytest

from tests.core.groups.coordinated import (
    INITIAL_DELAY_MS,
    REBALANCE_MS,
    SESSION_MS,
    Coordinated,
    subscription,
)
from tests.protocols.kafka.conversation import Conversation, protocol_of
from trivium.messages.api import ApiKey
from trivium.messages.api.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from trivium.messages.api.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from trivium.messages.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from trivium.messages.api.heartbeat import HeartbeatRequest, HeartbeatResponse
from trivium.messages.api.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from trivium.messages.api.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from trivium.messages.api.list_groups import ListGroupsRequest, ListGroupsResponse
from trivium.messages.api.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.apis import APIS

JOIN_VERSIONS = range(10)
RANGE = [JoinGroupRequestProtocol(name="range", metadata=subscription("t"))]


@pytest.fixture
def groups() -> Coordinated:
    return Coordinated()


@pytest.fixture
def client(groups: Coordinated) -> Conversation:
    return Conversation(protocol_of(groups.world))


def join_request(member_id: str = "", instance_id: str | None = None) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=REBALANCE_MS,
        member_id=member_id,
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocols=RANGE,
    )


def joined(groups: Coordinated, client: Conversation, version: int = 9) -> JoinGroupResponse:
    """A member, as a client of this version becomes one."""
    client.send(join_request(), version)
    [answer] = client.answers() or [None]
    if answer is not None:
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
        client.send(join_request(answer.member_id), version)
    groups.pass_time(INITIAL_DELAY_MS)
    [answer] = client.answers()
    assert isinstance(answer, JoinGroupResponse)
    assert answer.error_code == ErrorCode.NONE
    return answer


def synced(client: Conversation, member: JoinGroupResponse, version: int = 5) -> SyncGroupResponse:
    return client.ask(
        SyncGroupRequest(
            group_id="g",
            generation_id=member.generation_id,
            member_id=member.member_id,
            protocol_type="consumer" if version >= 5 else None,
            protocol_name="range" if version >= 5 else None,
            assignments=[SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"all")],
        ),
        version,
        SyncGroupResponse,
    )


# -- what is served --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "versions"),
    [
        (ApiKey.OFFSET_COMMIT, (0, 10)),
        (ApiKey.OFFSET_FETCH, (0, 10)),
        (ApiKey.FIND_COORDINATOR, (0, 6)),
        (ApiKey.JOIN_GROUP, (0, 9)),
        (ApiKey.HEARTBEAT, (0, 4)),
        (ApiKey.LEAVE_GROUP, (0, 5)),
        (ApiKey.SYNC_GROUP, (0, 5)),
        (ApiKey.DESCRIBE_GROUPS, (0, 6)),
        (ApiKey.LIST_GROUPS, (0, 5)),
        (ApiKey.DELETE_GROUPS, (0, 2)),
        (ApiKey.OFFSET_DELETE, (0, 0)),
    ],
)
def test_versions_served_are_those_of_kafka_and_older_ones(key: ApiKey, versions: tuple[int, int]) -> None:
    assert (APIS[key].version_min, APIS[key].version_last) == versions


# -- finding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(4))
def test_coordinator_of_one_key_is_this_broker(client: Conversation, version: int) -> None:
    answer = client.ask(FindCoordinatorRequest(key="g"), version, FindCoordinatorResponse)
    assert (answer.error_code, answer.host, answer.port) == (0, "broker.example", 9092)
    assert answer.node_id == 1
    assert answer.error_message == ("NONE" if version else "")


@pytest.mark.parametrize("version", [4, 5, 6])
def test_coordinators_of_several_keys_are_found_at_once(client: Conversation, version: int) -> None:
    request = FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b"])
    answer = client.ask(request, version, FindCoordinatorResponse)
    assert [(each.key, each.port, each.error_code) for each in answer.coordinators] == [
        ("a", 9092, 0),
        ("b", 9092, 0),
    ]


@pytest.mark.parametrize(
    ("version", "key_type", "code"),
    [
        (1, 1, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (3, 7, ErrorCode.INVALID_REQUEST),
        (3, 2, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_has_no_coordinator_says_so(
    client: Conversation, version: int, key_type: int, code: ErrorCode
) -> None:
    request = FindCoordinatorRequest(key="x", key_type=key_type)
    answer = client.ask(request, version, FindCoordinatorResponse)
    assert (answer.error_code, answer.node_id, answer.host, answer.port) == (code, -1, "", -1)


@pytest.mark.parametrize(
    ("version", "key_type", "code"),
    [
        (4, 1, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (6, 2, ErrorCode.INVALID_REQUEST),
        (6, 3, ErrorCode.INVALID_REQUEST),
    ],
)
def test_what_has_no_coordinator_says_so_key_by_key(
    client: Conversation, version: int, key_type: int, code: ErrorCode
) -> None:
    request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["x", "y"])
    answer = client.ask(request, version, FindCoordinatorResponse)
    assert [(each.key, each.error_code) for each in answer.coordinators] == [("x", code), ("y", code)]


# -- joining ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", JOIN_VERSIONS)
def test_member_joins_in_every_version(groups: Coordinated, client: Conversation, version: int) -> None:
    answer = joined(groups, client, version)
    assert answer.member_id.startswith("client-")
    assert (answer.generation_id, answer.protocol_name, answer.leader) == (1, "range", answer.member_id)
    assert answer.protocol_type == ("consumer" if version >= 7 else None)
    assert [(member.member_id, member.metadata) for member in answer.members] == [
        (answer.member_id, subscription("t"))
    ]


@pytest.mark.parametrize("version", [3, 4])
def test_newcomer_is_given_an_id_first_from_version_4_on(client: Conversation, version: int) -> None:
    client.send(join_request(), version)
    answers = [answer.error_code for answer in client.answers()]
    assert answers == ([ErrorCode.MEMBER_ID_REQUIRED] if version >= 4 else [])


def test_rebalance_takes_as_long_as_a_session_in_version_0(groups: Coordinated, client: Conversation) -> None:
    first = joined(groups, client, 0)
    synced(client, first, 0)
    client.send(join_request(), 0)
    groups.pass_time(SESSION_MS)
    [second] = client.answers()
    assert (second.generation_id, len(second.members)) == (2, 1)


@pytest.mark.parametrize(("version", "protocol_name"), [(6, ""), (7, None)])
def test_refused_join_names_no_protocol(
    client: Conversation, version: int, protocol_name: str | None
) -> None:
    answer = client.ask(join_request("nobody"), version, JoinGroupResponse)
    assert (answer.error_code, answer.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "nobody")
    assert (answer.generation_id, answer.protocol_name, answer.leader) == (-1, protocol_name, "")


@pytest.mark.parametrize(("version", "skips"), [(8, False), (9, True)])
def test_returning_static_leader_skips_the_assignment_from_version_9_on(
    groups: Coordinated, client: Conversation, version: int, skips: bool
) -> None:
    client.send(join_request(instance_id="one"), version)
    groups.pass_time(INITIAL_DELAY_MS)
    [before] = client.answers()
    client.ask(
        SyncGroupRequest(
            group_id="g",
            generation_id=1,
            member_id=before.member_id,
            group_instance_id="one",
            assignments=[SyncGroupRequestAssignment(member_id=before.member_id, assignment=b"all")],
        ),
        3,
        SyncGroupResponse,
    )
    after = client.ask(join_request(instance_id="one"), version, JoinGroupResponse)
    assert (after.skip_assignment, len(after.members)) == (skips, 1 if skips else 0)
    assert (after.leader == after.member_id) is skips


# -- being a member --------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(6))
def test_member_fetches_its_assignment_in_every_version(
    groups: Coordinated, client: Conversation, version: int
) -> None:
    answer = synced(client, joined(groups, client), version)
    assert (answer.error_code, answer.assignment) == (0, b"all")
    named = ("consumer", "range") if version >= 5 else (None, None)
    assert (answer.protocol_type, answer.protocol_name) == named


@pytest.mark.parametrize(
    ("version", "code"), [(4, ErrorCode.NONE), (5, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)]
)
def test_sync_has_to_name_the_protocol_from_version_5_on(
    groups: Coordinated, client: Conversation, version: int, code: ErrorCode
) -> None:
    member = joined(groups, client)
    request = SyncGroupRequest(group_id="g", generation_id=1, member_id=member.member_id, assignments=[])
    assert client.ask(request, version, SyncGroupResponse).error_code == code


@pytest.mark.parametrize("version", range(5))
def test_heart_beats_in_every_version(groups: Coordinated, client: Conversation, version: int) -> None:
    member = joined(groups, client)
    for generation, code in ((1, ErrorCode.NONE), (7, ErrorCode.ILLEGAL_GENERATION)):
        request = HeartbeatRequest(group_id="g", generation_id=generation, member_id=member.member_id)
        assert client.ask(request, version, HeartbeatResponse).error_code == code


@pytest.mark.parametrize("version", range(3))
def test_one_member_leaves_in_old_versions(groups: Coordinated, client: Conversation, version: int) -> None:
    member = joined(groups, client)
    request = LeaveGroupRequest(group_id="g", member_id=member.member_id)
    assert client.ask(request, version, LeaveGroupResponse).error_code == ErrorCode.NONE
    assert client.ask(request, version, LeaveGroupResponse).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", [3, 4, 5])
def test_several_members_leave_in_newer_versions(
    groups: Coordinated, client: Conversation, version: int
) -> None:
    member = joined(groups, client)
    identities = [MemberIdentity(member_id=member.member_id), MemberIdentity(member_id="nobody")]
    answer = client.ask(LeaveGroupRequest(group_id="g", members=identities), version, LeaveGroupResponse)
    assert answer.error_code == ErrorCode.NONE
    assert [each.error_code for each in answer.members] == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]


def test_leaving_a_group_without_a_name_is_an_error_of_the_whole(client: Conversation) -> None:
    old = LeaveGroupRequest(group_id="", member_id="m")
    assert client.ask(old, 0, LeaveGroupResponse).error_code == ErrorCode.INVALID_GROUP_ID
    new = LeaveGroupRequest(group_id="", members=[])
    assert client.ask(new, 5, LeaveGroupResponse).error_code == ErrorCode.INVALID_GROUP_ID


# -- looking at groups -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(6))
def test_groups_are_listed_in_every_version(groups: Coordinated, client: Conversation, version: int) -> None:
    joined(groups, client)
    groups.commit(1, group_id="simple")
    answer = client.ask(ListGroupsRequest(), version, ListGroupsResponse)
    state, kind = ("CompletingRebalance" if version >= 4 else ""), ("classic" if version >= 5 else "")
    found = {each.group_id: each for each in answer.groups}
    assert set(found) == {"g", "simple"}
    assert (found["g"].protocol_type, found["g"].group_state, found["g"].group_type) == (
        "consumer",
        state,
        kind,
    )


def test_groups_are_filtered(groups: Coordinated, client: Conversation) -> None:
    joined(groups, client)
    groups.commit(1, group_id="simple")
    request = ListGroupsRequest(states_filter=["empty"], types_filter=["classic"])
    answer = client.ask(request, 5, ListGroupsResponse)
    assert [each.group_id for each in answer.groups] == ["simple"]


@pytest.mark.parametrize("version", range(7))
def test_group_is_described_in_every_version(groups: Coordinated, client: Conversation, version: int) -> None:
    member = joined(groups, client)
    synced(client, member)
    request = DescribeGroupsRequest(groups=["g"], include_authorized_operations=version >= 3)
    [group] = client.ask(request, version, DescribeGroupsResponse).groups
    assert (group.error_code, group.group_state) == (0, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert group.authorized_operations == (3400 if version >= 3 else -(1 << 31))
    [described] = group.members
    assert (described.client_id, described.client_host) == ("client", "/10.0.0.7")
    assert (described.member_metadata, described.member_assignment) == (subscription("t"), b"all")


@pytest.mark.parametrize("version", range(7))
def test_unknown_group_is_dead_and_an_error_from_version_6_on(client: Conversation, version: int) -> None:
    [group] = client.ask(DescribeGroupsRequest(groups=["no"]), version, DescribeGroupsResponse).groups
    assert (group.group_state, group.members) == ("Dead", [])
    if version >= 6:
        assert (group.error_code, group.error_message) == (
            ErrorCode.GROUP_ID_NOT_FOUND,
            "Group no not found.",
        )
    else:
        assert (group.error_code, group.error_message) == (ErrorCode.NONE, None)


@pytest.mark.parametrize("version", range(3))
def test_groups_are_deleted_in_every_version(groups: Coordinated, client: Conversation, version: int) -> None:
    groups.commit(1, group_id="simple")
    joined(groups, client)
    request = DeleteGroupsRequest(groups_names=["simple", "g", "no"])
    answer = client.ask(request, version, DeleteGroupsResponse)
    assert [(each.group_id, each.error_code) for each in answer.results] == [
        ("simple", ErrorCode.NONE),
        ("g", ErrorCode.NON_EMPTY_GROUP),
        ("no", ErrorCode.GROUP_ID_NOT_FOUND),
    ]
