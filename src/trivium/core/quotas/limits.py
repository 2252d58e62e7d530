"""Which limit goes for whom: by user, by client id, or by both, the most exact one first.

A limit is shared by all whom its entity names: one for a user goes for all its clients together, one for a
user and client id for those connections alone. A default stands in for each of those it is the default of,
one by one. So a limit comes with the account that it is charged to.
"""

from enum import Enum
from typing import Final, NamedTuple

from trivium.core.metadata_quotas import ClientQuotas, QuotaEntity

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

REMEMBERED_MAX: Final = 10_000
"""Answers that are kept: client ids come from peers."""


class Budget(Enum):
    """What is limited; the words are Kafka's."""

    PRODUCE = "producer_byte_rate"
    FETCH = "consumer_byte_rate"
    REQUEST = "request_percentage"
    """Of the time of the one thread that carries out requests."""
    MUTATION = "controller_mutation_rate"
    """Partitions made or deleted."""
    CONNECTION = "connection_creation_rate"


class Limit(NamedTuple):
    per_second: float
    account: QuotaEntity


class Limits:
    def __init__(self, quotas: ClientQuotas) -> None:
        self._quotas = quotas
        self._known: dict[tuple[str, str, Budget], Limit | None] = {}
        self._known_changes = quotas.changes

    @property
    def are_set(self) -> bool:
        return bool(self._quotas.by_entity)

    def of_client(self, user: str, client_id: str, budget: Budget) -> Limit | None:
        if self._known_changes != self._quotas.changes or len(self._known) >= REMEMBERED_MAX:
            self._known.clear()
            self._known_changes = self._quotas.changes
        key = (user, client_id, budget)
        if key not in self._known:
            self._known[key] = self._find(user, client_id, budget)
        return self._known[key]

    def of_address(self, address: str) -> Limit | None:
        for name in (address, None):
            limit = self._quotas.by_entity.get(((IP, name),), {}).get(Budget.CONNECTION.value)
            if limit is not None:
                return Limit(limit, ((IP, address),))
        return None

    def _find(self, user: str, client_id: str, budget: Budget) -> Limit | None:
        by_user, by_client = (USER, user), (CLIENT_ID, client_id)
        any_user, any_client = (USER, None), (CLIENT_ID, None)
        for parts, account in (
            ((by_client, by_user), (by_client, by_user)),
            ((any_client, by_user), (by_client, by_user)),
            ((by_user,), (by_user,)),
            ((by_client, any_user), (by_client, by_user)),
            ((any_client, any_user), (by_client, by_user)),
            ((any_user,), (by_user,)),
            ((by_client,), (by_client,)),
            ((any_client,), (by_client,)),
        ):
            limit = self._quotas.by_entity.get(parts, {}).get(budget.value)
            if limit is not None:
                return Limit(limit, account)
        return None
