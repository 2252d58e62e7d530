"""Access control lists over the wire, in every version."""

import pytest

from tests.core.acls.test_administration import Office
from tests.core.rights import Denying
from tests.protocols.kafka.administrator import versions
from tests.protocols.kafka.conversation import Conversation
from trivium.core.access import Access, Operation, Resource
from trivium.core.acls.authorizer import Authorizer
from trivium.core.broker import Broker
from trivium.messages.api.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from trivium.messages.api.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from trivium.messages.api.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from trivium.messages.errors import ErrorCode
from trivium.protocols.kafka.protocol import KafkaProtocol

TOPIC, GROUP, LITERAL, PREFIXED, ANY, READ, ALLOW, DENY = 2, 3, 3, 4, 1, 3, 3, 2


def conversation(access: Access | None = None) -> Conversation:
    """With somebody who may do everything, unless told otherwise."""
    office = Office(access)
    if access is None:
        rules = office.world.image.access_control.rules
        access = Access(authorizer=Authorizer(rules, frozenset(("User:ANONYMOUS",))))
    return Conversation(KafkaProtocol(Broker(access, [office.world.routes])))


def creation(name: str, pattern: int, kind: int = TOPIC, permission: int = ALLOW) -> AclCreation:
    return AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal="User:ann",
        host="*",
        operation=READ,
        permission_type=permission,
    )


def describing(pattern: int = ANY, kind: int = ANY) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=kind,
        resource_name_filter=None,
        pattern_type_filter=pattern,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


def deleting(pattern: int, kind: int = ANY) -> DeleteAclsRequest:
    return DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=kind,
                resource_name_filter=None,
                pattern_type_filter=pattern,
                principal_filter=None,
                host_filter=None,
                operation=ANY,
                permission_type=ANY,
            )
        ]
    )


@pytest.mark.parametrize("version", versions(CreateAclsRequest))
def test_created_entries_are_described_and_deleted(version: int) -> None:
    talk = conversation()
    pattern = LITERAL if version == 0 else PREFIXED
    new = [creation("a", pattern), creation("a", pattern, permission=DENY), creation("g", LITERAL, GROUP)]
    created = talk.ask(CreateAclsRequest(creations=new), version, CreateAclsResponse)
    assert [(each.error_code, each.error_message) for each in created.results] == [(0, None)] * 3
    every = LITERAL if version == 0 else ANY
    described = talk.ask(describing(every), version, DescribeAclsResponse)
    assert described.error_code == 0
    assert [
        (each.resource_type, each.resource_name, each.pattern_type, len(each.acls))
        for each in described.resources
    ] == [(TOPIC, "a", pattern, 2), (GROUP, "g", LITERAL, 1)]
    acl = described.resources[0].acls[0]
    assert (acl.principal, acl.host, acl.operation, acl.permission_type) == ("User:ann", "*", READ, DENY)
    deleted = talk.ask(deleting(pattern, TOPIC), version, DeleteAclsResponse)
    (result,) = deleted.filter_results
    assert [(each.resource_name, each.permission_type) for each in result.matching_acls] == [
        ("a", DENY),
        ("a", ALLOW),
    ]
    assert len(talk.ask(describing(every), version, DescribeAclsResponse).resources) == 1


def test_version_0_is_told_of_literal_patterns_only() -> None:
    talk = conversation()
    new = [creation("a", PREFIXED), creation("b", LITERAL)]
    talk.ask(CreateAclsRequest(creations=new), 1, CreateAclsResponse)
    described = talk.ask(describing(LITERAL), 0, DescribeAclsResponse)
    assert [each.resource_name for each in described.resources] == ["b"]


@pytest.mark.parametrize("version", versions(DescribeAclsRequest))
@pytest.mark.parametrize(
    ("access", "code"),
    [
        (
            Denying((Operation.ALTER, Resource.CLUSTER), (Operation.DESCRIBE, Resource.CLUSTER)),
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ),
        (Access(), ErrorCode.SECURITY_DISABLED),
    ],
    ids=["no right", "no authorizer"],
)
def test_refusal_is_kafkas(version: int, access: Access, code: ErrorCode) -> None:
    """S10."""
    talk = conversation(access)
    new = [creation("a", LITERAL)]
    created = talk.ask(CreateAclsRequest(creations=new), version, CreateAclsResponse)
    assert [each.error_code for each in created.results] == [code]
    assert talk.ask(describing(LITERAL), version, DescribeAclsResponse).error_code == code
    deleted = talk.ask(deleting(LITERAL), version, DeleteAclsResponse)
    assert [each.error_code for each in deleted.filter_results] == [code]
