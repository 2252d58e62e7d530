"""Access control lists of a cluster: read, added to, removed from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.messages.api.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from trivium.messages.api.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse
from trivium.messages.api.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from trivium.messages.errors import ErrorCode

ANY: Final = "any"
MATCH: Final = "match"

RESOURCES: Final = {"topic": 2, "group": 3, "cluster": 4, "transactional-id": 5, "token": 6, "user": 7}
PATTERNS: Final = {"literal": 3, "prefixed": 4}
OPERATIONS: Final = {
    "all": 2,
    "read": 3,
    "write": 4,
    "create": 5,
    "delete": 6,
    "alter": 7,
    "describe": 8,
    "cluster-action": 9,
    "describe-configs": 10,
    "alter-configs": 11,
    "idempotent-write": 12,
    "create-tokens": 13,
    "describe-tokens": 14,
    "two-phase-commit": 15,
}
PERMISSIONS: Final = {"deny": 2, "allow": 3}
_ANY: Final = 1
_MATCH: Final = 2
_SUBJECT: Final = "access control lists"


@dataclass(frozen=True, slots=True, order=True)
class Acl:
    """Who may, or may not, do what to which resources, and from where; in small letters, as people type."""

    resource: str
    name: str
    pattern: str
    principal: str
    permission: str
    operation: str
    host: str = "*"


@dataclass(frozen=True, slots=True)
class AclFilter:
    """None: whatever it is. The pattern ``match`` finds every list that covers the name."""

    resource: str | None = None
    name: str | None = None
    pattern: str | None = None
    principal: str | None = None
    permission: str | None = None
    operation: str | None = None
    host: str | None = None


def describe_acls(cluster: Cluster, wanted: AclFilter) -> list[Acl]:
    answer = cluster.call(
        cluster.anyone,
        DescribeAclsRequest(
            resource_type_filter=_code(RESOURCES, wanted.resource),
            resource_name_filter=wanted.name,
            pattern_type_filter=_pattern(wanted.pattern),
            principal_filter=wanted.principal,
            host_filter=wanted.host,
            operation=_code(OPERATIONS, wanted.operation),
            permission_type=_code(PERMISSIONS, wanted.permission),
        ),
        DescribeAclsResponse,
        codes=lambda response: [response.error_code],
    )
    _check(answer.error_code, answer.error_message)
    return sorted(
        Acl(
            _word(RESOURCES, resource.resource_type),
            resource.resource_name,
            _word(PATTERNS, resource.pattern_type),
            acl.principal,
            _word(PERMISSIONS, acl.permission_type),
            _word(OPERATIONS, acl.operation),
            acl.host,
        )
        for resource in answer.resources
        for acl in resource.acls
    )


def create_acls(cluster: Cluster, acls: Sequence[Acl]) -> None:
    """All that can be made are made; the first that cannot is raised as ``Refused``."""
    answer = cluster.call(
        cluster.anyone,
        CreateAclsRequest(
            creations=[
                AclCreation(
                    resource_type=RESOURCES[acl.resource],
                    resource_name=acl.name,
                    resource_pattern_type=PATTERNS[acl.pattern],
                    principal=acl.principal,
                    host=acl.host,
                    operation=OPERATIONS[acl.operation],
                    permission_type=PERMISSIONS[acl.permission],
                )
                for acl in acls
            ]
        ),
        CreateAclsResponse,
        codes=lambda response: [each.error_code for each in response.results],
    )
    for result in answer.results:
        _check(result.error_code, result.error_message)


def delete_acls(cluster: Cluster, wanted: AclFilter) -> list[Acl]:
    """Those that were there, and are gone."""
    answer = cluster.call(
        cluster.anyone,
        DeleteAclsRequest(
            filters=[
                DeleteAclsFilter(
                    resource_type_filter=_code(RESOURCES, wanted.resource),
                    resource_name_filter=wanted.name,
                    pattern_type_filter=_pattern(wanted.pattern),
                    principal_filter=wanted.principal,
                    host_filter=wanted.host,
                    operation=_code(OPERATIONS, wanted.operation),
                    permission_type=_code(PERMISSIONS, wanted.permission),
                )
            ]
        ),
        DeleteAclsResponse,
        codes=lambda response: [each.error_code for each in response.filter_results],
    )
    (result,) = answer.filter_results
    _check(result.error_code, result.error_message)
    return sorted(
        Acl(
            _word(RESOURCES, each.resource_type),
            each.resource_name,
            _word(PATTERNS, each.pattern_type),
            each.principal,
            _word(PERMISSIONS, each.permission_type),
            _word(OPERATIONS, each.operation),
            each.host,
        )
        for each in result.matching_acls
    )


def _check(code: int, message: str | None) -> None:
    if code:
        raise Refused(ErrorCode(code), _SUBJECT, message)


def _code(codes: dict[str, int], word: str | None) -> int:
    return _ANY if word is None else codes[word]


def _pattern(word: str | None) -> int:
    return _MATCH if word == MATCH else _code(PATTERNS, word)


def _word(codes: dict[str, int], code: int) -> str:
    return next((word for word, each in codes.items() if each == code), str(code))
