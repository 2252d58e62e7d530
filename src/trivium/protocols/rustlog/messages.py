"""What RustLog clients ask and are told, in RustLog's own words. How it is spelled is each dialect's matter.

The first four requests are those of RustLog's document; the others its broker has besides (mission 004.27),
but for the login, which is ours.
An offset is the next to be read, as with Kafka.
"""

from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

NAME_CHARS_SHOWN_MAX = 300
"""Of a name in an error: more than any topic or group may have, and less than a peer could make us repeat."""

# -- requests ------------------------------------------------------------------------------------


class ProduceRequest(NamedTuple):
    topic: str
    partition: int
    records: Sequence[bytes]


class FetchRequest(NamedTuple):
    topic: str
    partition: int
    offset: int
    max_bytes: int
    """Of payload. The first record comes in any case."""
    group_id: str | None = None
    """Its committed offset counts where that is higher."""


class OffsetCommitRequest(NamedTuple):
    topic: str
    partition: int
    group_id: str
    offset: int


class OffsetFetchRequest(NamedTuple):
    topic: str
    partition: int
    group_id: str


class CreateTopicRequest(NamedTuple):
    topic: str
    partitions: int


class ListTopicsRequest(NamedTuple):
    pass


class DescribeTopicRequest(NamedTuple):
    topic: str


class DescribePartitionRequest(NamedTuple):
    topic: str
    partition: int


class MetricsRequest(NamedTuple):
    pass


class PingRequest(NamedTuple):
    pass


class LoginRequest(NamedTuple):
    username: str
    password: str

    def __repr__(self) -> str:
        return f"LoginRequest(username={self.username!r})"


Request = (
    ProduceRequest
    | FetchRequest
    | OffsetCommitRequest
    | OffsetFetchRequest
    | CreateTopicRequest
    | ListTopicsRequest
    | DescribeTopicRequest
    | DescribePartitionRequest
    | MetricsRequest
    | PingRequest
    | LoginRequest
)


# -- responses -----------------------------------------------------------------------------------


class ProduceResponse(NamedTuple):
    """The records have the offsets from ``base_offset`` on, in the order of the request."""

    base_offset: int
    records_count: int


class FetchResponse(NamedTuple):
    records: Sequence[tuple[int, bytes]]
    """Offset and payload. Offsets may have gaps: what is not for readers is left out."""
    next_offset: int


class OffsetCommitResponse(NamedTuple):
    success: bool
    message: str | None = None
    """Why not."""


class OffsetFetchResponse(NamedTuple):
    offset: int | None


class CreateTopicResponse(NamedTuple):
    pass


class ListedTopic(NamedTuple):
    topic: str
    partitions: int


class ListTopicsResponse(NamedTuple):
    topics: Sequence[ListedTopic]


class PartitionRange(NamedTuple):
    """From the first offset that is there to the one that the next record gets."""

    partition: int
    start_offset: int
    next_offset: int


class DescribeTopicResponse(NamedTuple):
    topic: str
    partitions: Sequence[PartitionRange]


class DescribePartitionResponse(NamedTuple):
    topic: str
    range: PartitionRange


class MetricsResponse(NamedTuple):
    text: str


class PingResponse(NamedTuple):
    pass


class LoginResponse(NamedTuple):
    pass


class Problem(Enum):
    """What can be wrong, as far as a dialect has words or a code of its own for it."""

    UNREADABLE = auto()
    FRAME_TOO_LARGE = auto()
    PARTITION_NOT_FOUND = auto()
    OFFSET_OUT_OF_RANGE = auto()
    TOPIC_NOT_FOUND = auto()
    PARTITION_NOT_DESCRIBED = auto()
    TOPIC_EXISTS = auto()
    INVALID_PARTITION_COUNT = auto()
    OTHER = auto()


class ErrorResponse(NamedTuple):
    problem: Problem
    detail: str | None = None
    """A sentence for a person; for ``OTHER`` it is all there is to say."""
    topic: str = ""
    partition: int = 0

    def words(self, template: str) -> str:
        """A dialect's sentence about the problem, with the names filled in."""
        return template.format(topic=shown(self.topic), partition=self.partition, detail=self.detail or "")


Response = (
    ProduceResponse
    | FetchResponse
    | OffsetCommitResponse
    | OffsetFetchResponse
    | CreateTopicResponse
    | ListTopicsResponse
    | DescribeTopicResponse
    | DescribePartitionResponse
    | MetricsResponse
    | PingResponse
    | LoginResponse
    | ErrorResponse
)


class Unreadable(Exception):
    """A request that cannot be read; the text says what is wrong with it. The next one may be fine."""


def shown(name: str) -> str:
    """A name as it may stand in an answer."""
    return name if len(name) <= NAME_CHARS_SHOWN_MAX else name[:NAME_CHARS_SHOWN_MAX] + "…"
