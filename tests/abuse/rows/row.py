"""The words of a row: a request that would be carried out, and the rights that it needs one after the other.

Of the rights of one need, any is enough.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.abuse.city import City, Right
from trivium.core.acls.entry import Operation as Op
from trivium.core.acls.entry import ResourceType as Kind
from trivium.messages.api import api_key
from trivium.messages.errors import ErrorCode

TOPIC_FAILED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED
GROUP_FAILED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
CLUSTER_FAILED: Final = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
ID_FAILED: Final = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
TOKEN_FAILED: Final = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
AUTHORIZATION: Final = frozenset((TOPIC_FAILED, GROUP_FAILED, CLUSTER_FAILED, ID_FAILED, TOKEN_FAILED))
FAILED: Final = {
    Kind.TOPIC: TOPIC_FAILED,
    Kind.GROUP: GROUP_FAILED,
    Kind.CLUSTER: CLUSTER_FAILED,
    Kind.TRANSACTIONAL_ID: ID_FAILED,
    Kind.USER: TOKEN_FAILED,
    Kind.DELEGATION_TOKEN: TOKEN_FAILED,
}


class Names(NamedTuple):
    """What a request is about. ``MISSING`` has the same lengths, and nothing of it is there."""

    topic: str
    topic_id: bytes
    group: str
    share_group: str
    peopled_group: str
    peopled_share_group: str
    """Those with a member."""
    transactional_id: str
    query_id: str


MISSING: Final = Names("ordres", b"\x09" * 16, "byuers", "shraers", "raeders", "dirnkers", "tx-9", "query-9")


def there(city: City) -> Names:
    return Names(
        "orders", city.topic_ids["orders"], "buyers", "sharers", "readers", "drinkers", "tx-1", "query-1"
    )


@dataclass(frozen=True)
class Need:
    rights: tuple[Right, ...]
    places: tuple[tuple[int, str], ...] = ()
    """From which version on the error is where; without a place, what may not be seen is left out."""

    def errors(self, version: int) -> frozenset[tuple[str, int]]:
        code = FAILED[self.rights[0].resource_type].value
        *_, found = ("", *(path for since, path in self.places if since <= version))
        return frozenset((path, code) for path in found.split())


@dataclass(frozen=True)
class Row:
    key: int
    values: Callable[[City, Names], Mapping[str, Any]]
    needs: tuple[Need, ...]
    word: str = ""
    versions: tuple[int, int] = (0, 99)
    is_by_id: int = 99
    """The version from which on topics are named by their id alone."""

    @property
    def name(self) -> str:
        return f"{api_key(self.key).name}{f' {self.word}' if self.word else ''}"


def need(operation: Op, kind: Kind, name: str, *places: str | tuple[int, str]) -> Need:
    spelled = tuple((0, each) if isinstance(each, str) else each for each in places)
    return Need((Right(operation, kind, name),), spelled)


def topic(operation: Op, *places: str | tuple[int, str]) -> Need:
    return need(operation, Kind.TOPIC, "orders", *places)


def group(operation: Op, *places: str | tuple[int, str], name: str = "buyers") -> Need:
    return need(operation, Kind.GROUP, name, *places)


def sharers(operation: Op, *places: str | tuple[int, str]) -> Need:
    return group(operation, *places, name="sharers")


def transaction(operation: Op, *places: str | tuple[int, str], name: str = "tx-1") -> Need:
    return need(operation, Kind.TRANSACTIONAL_ID, name, *places)


def cluster(operation: Op, *places: str | tuple[int, str]) -> Need:
    return need(operation, Kind.CLUSTER, "kafka-cluster", *places)


def one(**values: Any) -> list[dict[str, Any]]:
    return [values]


BY_PARTITION: Final = "topics.partitions.error_code"
