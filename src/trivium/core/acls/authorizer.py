"""Kafka's authorizer: super users, entries, and what goes for a resource that no entry is about."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from trivium.core.acls.entry import Operation, ResourceType
from trivium.core.acls.rules import Rules, Verdict
from trivium.core.rights import CLUSTER_NAME, Resource

_AS_CLUSTER: Final[Mapping[tuple[Resource, Operation], Operation]] = {
    (Resource.STREAM, Operation.CREATE): Operation.CREATE,
    (Resource.STREAM, Operation.DESCRIBE): Operation.DESCRIBE,
    (Resource.STREAM, Operation.ALTER): Operation.ALTER,
    (Resource.STREAM, Operation.DELETE): Operation.ALTER,
    (Resource.USER, Operation.DESCRIBE): Operation.DESCRIBE,
    (Resource.USER, Operation.CREATE): Operation.ALTER,
    (Resource.USER, Operation.ALTER): Operation.ALTER,
    (Resource.USER, Operation.DELETE): Operation.ALTER,
}
"""Kafka has no entries about streams, and none about making users: both are matters of the cluster, as its
own APIs for users have it."""


class Authorizer(NamedTuple):
    rules: Rules
    super_users: frozenset[str] = frozenset()
    """They may do everything: no entry is about them."""
    is_open_without_entries: bool = False
    """``allow.everyone.if.no.acl.found``"""

    def verdict(
        self, principal: str, host: str, operation: Operation, resource: Resource, name: str
    ) -> Verdict:
        """``Verdict.ALLOWED`` also for super users and where everybody may."""
        if principal in self.super_users:
            return Verdict.ALLOWED
        if resource is Resource.STREAM or resource is Resource.USER:
            on_cluster = _AS_CLUSTER.get((resource, operation))
            if on_cluster is not None:
                operation, resource, name = on_cluster, Resource.CLUSTER, CLUSTER_NAME
        verdict = self.rules.verdict(principal, host, operation, resource, name)
        if verdict is Verdict.NOTHING_APPLIES and self.is_open_without_entries:
            return verdict if self.rules.speak_of(resource, name) else Verdict.ALLOWED
        return verdict

    def may_write_somewhere(self, principal: str, host: str) -> bool:
        """Then it may also ask for the id of an idempotent producer (KIP-679)."""
        return self.rules.allows_somewhere(principal, host, Operation.WRITE, ResourceType.TOPIC)
