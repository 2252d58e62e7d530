"""What may differ between the answers of two brokers that behave alike, and why.

A row names a field, alone or behind the struct (and the message) that it stands in, what is left of it, and
the reason.
Whatever has no row must be equal. Differences that we mean to have stand in ``docs/``, and in ``INTENDED``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.interop.dialogues.batches import Batch
from tests.interop.dialogues.step import Step

from trivium.messages.api import ApiKey
from trivium.messages.errors import ErrorCode

WAITS: Final = "no answer yet"
CLOSED: Final = "the connection is closed"
SILENT: Final = "no answer is wanted"

Left = Callable[[Any], Any]


def _nothing(_value: Any) -> str:
    return "…"


def _joined(acquired: list[Any]) -> list[tuple[int, int, int]]:
    joined: list[tuple[int, int, int]] = []
    for each in acquired:
        first, last, count = each.first_offset, each.last_offset, each.delivery_count
        if joined and joined[-1][1] == first - 1 and joined[-1][2] == count:
            first = joined.pop()[0]
        joined.append((first, last, count))
    return joined


def _whether_any(value: Any) -> bool:
    return bool(value)


def _whether_positive(value: int) -> bool:
    return value > 0


def _whether_known(value: int) -> Any:
    """A time or a size: the values that say there is none stay as they are."""
    return "some" if value > 0 else value


ALLOWED: Final[Mapping[str, tuple[Left, str]]] = {
    "throttle_time_ms": (_nothing, "how busy a broker is"),
    "error_message": (_whether_any, "words; those that tools print are held by ``tests/golden``"),
    "PartitionProduceResponse.error_message": (_nothing, "we also say what Kafka leaves to the code"),
    "batch_index_error_message": (_whether_any, "words, with times in them"),
    "allow_replication_factor_change": (_nothing, "an echo, which Kafka forgets if nothing is to be moved"),
    "UpdatableFeatureResult.error_message": (_nothing, "Kafka has a word for success, too"),
    "DeleteShareGroupOffsetsResponse.error_message": (_nothing, "beside a code that says it all"),
    "host": (_whether_any, "where it listens"),
    "port": (_whether_positive, "where it listens"),
    "cluster_id": (_whether_any, "made up when it was formatted"),
    "log_dir": (_whether_any, "where its data lies"),
    "client_host": (_whether_any, "Kafka puts a slash before an address"),
    "total_bytes": (_whether_positive, "of its disk"),
    "usable_bytes": (_whether_positive, "of its disk"),
    "log_append_time_ms": (_whether_known, "its clock"),
    "transaction_start_time_ms": (_whether_known, "its clock"),
    "last_timestamp": (_whether_known, "its clock"),
    "last_fetch_timestamp": (_whether_known, "its clock"),
    "last_caught_up_timestamp": (_whether_known, "its clock"),
    "DescribeQuorumResponsePartitionData.high_watermark": (_whether_positive, "of the metadata log"),
    "ReplicaState.log_end_offset": (_whether_positive, "of the metadata log"),
    "DescribeQuorumResponse.nodes": (_nothing, "Kafka's controllers have a listener beside the brokers'"),
    "finalized_features_epoch": (_whether_positive, "of the metadata log"),
    "share_fetch.LeaderIdAndEpoch.leader_id": (_whether_positive, "beside an error we name none, Kafka 0"),
    "share_fetch.LeaderIdAndEpoch.leader_epoch": (_whether_positive, "as with its id"),
    "share_acknowledge.LeaderIdAndEpoch.leader_id": (_whether_positive, "as in ShareFetch"),
    "share_acknowledge.LeaderIdAndEpoch.leader_epoch": (_whether_positive, "as in ShareFetch"),
    "acknowledge_error_message": (_nothing, "we also say what Kafka leaves to the code"),
    "ShareFetchResponse.error_message": (_nothing, "we also say what Kafka leaves to the code"),
    "ShareAcknowledgeResponse.error_message": (_nothing, "as in ShareFetch"),
    "share_acknowledge.PartitionData.error_message": (_nothing, "as in ShareFetch"),
    "acquired_records": (_joined, "Kafka cuts them into pieces of about ``batch_size`` records"),
    "partition_size": (_whether_positive, "bytes differ with who sealed a batch"),
}

UNSAID: Final[Mapping[tuple[str, int], frozenset[str]]] = {
    ("PartitionData", ErrorCode.UNKNOWN_TOPIC_ID): frozenset(
        ("high_watermark", "last_stable_offset", "log_start_offset", "aborted_transactions", "records")
    ),
}
"""Fields that mean nothing beside an error, whatever stands in them."""

ORDERED: Final = frozenset(
    ("record_values", "synonyms", "DescribeTopicPartitionsResponse.topics", "aborted_transactions")
)
"""Lists whose order means something. All others are sorted, since Kafka keeps most things in hash tables."""


@dataclass(frozen=True)
class Intended:
    """Answers that may differ as wholes. A dialogue ends there: what follows would differ, too."""

    reason: str
    applies: Callable[[Step, Any, Any], bool]


def _codes(answer: Any) -> list[int]:
    """All error codes in an answer, wherever they stand."""
    if isinstance(answer, dict):
        own = [value for name, value in answer.items() if name.endswith("error_code")]
        return own + [code for value in answer.values() for code in _codes(value)]
    if isinstance(answer, list):
        return [code for each in answer for code in _codes(each)]
    return []


ACL_KEYS: Final = (ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.DESCRIBE_ACLS)
SHARE_KEYS: Final = (ApiKey.SHARE_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_DESCRIBE)


def _start_offsets(answer: Any) -> dict[tuple[str, str, int], int]:
    return {
        (group["group_id"], topic["topic_name"], part["partition_index"]): part["start_offset"]
        for group in answer["groups"]
        for topic in group["topics"]
        for part in topic["partitions"]
    }


def _stands_further(ours: Any, kafkas: Any) -> bool:
    """Whether the share groups of one broker are nowhere behind those of the other."""
    mine, theirs = _start_offsets(ours), _start_offsets(kafkas)
    return (
        _codes(ours) == _codes(kafkas)
        and mine.keys() == theirs.keys()
        and all(mine[key] >= theirs[key] for key in mine)
    )


def _without(answer: Any, name: str) -> Any:
    if isinstance(answer, dict):
        return {key: _without(value, name) for key, value in answer.items() if key != name}
    return [_without(each, name) for each in answer] if isinstance(answer, list) else answer


def _parts_codes(answer: Any) -> dict[tuple[str, int], list[int]]:
    """Of those partitions of a share group of which anything is wrong."""
    return {
        (topic["topic_id"], part["partition_index"]): _codes(part)
        for topic in answer["responses"]
        for part in topic["partitions"]
        if any(_codes(part))
    }


def _without_silent(answer: Any) -> Any:
    """An answer of a share group without partitions of which it says nothing."""
    parts = {
        (topic["topic_id"], part["partition_index"]): part
        for topic in answer["responses"]
        for part in topic["partitions"]
        if any(_codes(part)) or part.get("records")
    }
    return {**answer, "responses": parts}


def _without_records(answer: Any) -> Any:
    return _without(_without(answer, "records"), "acquired_records")


def _gives_back(step: Step) -> bool:
    """Whether a share fetch releases any records."""
    request: Any = step.request
    return any(
        RELEASE in batch.acknowledge_types
        for topic in request.topics
        for part in topic.partitions
        for batch in part.acknowledgement_batches
    )


def _has_acquired(answer: Any) -> bool:
    return any(part["acquired_records"] for topic in answer["responses"] for part in topic["partitions"])


SHARE_RECORDS: Final = 500
"""More than a dialogue writes."""
RELEASE: Final = 2
"""A type of acknowledgement."""
GROUP_ID_NOT_FOUND_FROM: Final = 9
"""From this version on an OffsetCommit may be told that there is no such group (KIP-848)."""
JOINS_FROM: Final = 12
"""From this version on a Produce begins a transaction in its partitions by itself (KIP-890)."""


def _begins_amiss(step: Step) -> bool:
    """Whether records of a transaction come with another sequence than the first."""
    request: Any = step.request
    return (
        step.key is ApiKey.PRODUCE
        and request.transactional_id is not None
        and any(
            isinstance(part.records, Batch) and part.records.base_sequence > 0
            for topic in request.topic_data
            for part in topic.partition_data
        )
    )


def _has_broken_records(step: Step) -> bool:
    request: Any = step.request
    return any(
        isinstance(part.records, Batch) and part.records.broken_records
        for topic in request.topic_data
        for part in topic.partition_data
    )


def _is_first_refused(refusing: Any, taking: Any) -> bool:
    """Whether one broker finds the first records of a partition out of order, and the other takes them."""

    def parts(answer: Any) -> list[tuple[int, int]]:
        return [
            (part["error_code"], part["base_offset"])
            for topic in answer["responses"]
            for part in topic["partition_responses"]
        ]

    return (
        CLOSED not in (refusing, taking)
        and (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1) in parts(refusing)
        and (ErrorCode.NONE, 0) in parts(taking)
    )


INTENDED: Final = (
    Intended(
        "names that differ in dots and underscores alone collide within one request, too",
        lambda step, ours, kafkas: (
            step.key is ApiKey.CREATE_TOPICS
            and {"§c.d", "§c_d"} <= {topic.name for topic in step.request.topics}  # type: ignore[attr-defined]
            and ErrorCode.INVALID_TOPIC_EXCEPTION in _codes(ours)
        ),
    ),
    Intended(
        "several epochs of a producer in one request: Kafka refuses all, we refuse those that are over",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE and ErrorCode.INVALID_PRODUCER_ID_MAPPING in _codes(kafkas)
        ),
    ),
    Intended(
        "a refused write changes nothing for the next; Kafka keeps its sequence, and how new its client was",
        lambda step, ours, kafkas: (
            _begins_amiss(step)
            and (
                _is_first_refused(ours, kafkas)
                if step.version >= JOINS_FROM
                else _is_first_refused(kafkas, ours)
            )
        ),
    ),
    Intended(
        "who takes another's producer in an epoch that is over hears of one or the other",
        lambda step, ours, kafkas: (
            step.key in (ApiKey.PRODUCE, ApiKey.TXN_OFFSET_COMMIT)
            and ErrorCode.INVALID_PRODUCER_ID_MAPPING in _codes(ours)
            and ErrorCode.INVALID_PRODUCER_EPOCH in _codes(kafkas)
            and ErrorCode.NONE not in _codes(ours)
        ),
    ),
    Intended(
        "a late InitProducerId leaves the open transaction alone; Kafka ends it, whatever epoch is named",
        lambda step, ours, kafkas: (
            step.key is ApiKey.INIT_PRODUCER_ID
            and ErrorCode.PRODUCER_FENCED in _codes(ours)
            and ErrorCode.CONCURRENT_TRANSACTIONS in _codes(kafkas)
        ),
    ),
    Intended(
        "a heartbeat that joins once more may have come late: the next answer says the assignment again",
        lambda step, ours, kafkas: (
            step.key is ApiKey.CONSUMER_GROUP_HEARTBEAT
            and isinstance(ours, dict)
            and ours.get("assignment") is not None
            and {**ours, "assignment": None} == kafkas
        ),
    ),
    Intended(
        "a member that is to lose what it does not read yet hears of it, and comes to the next epoch after",
        lambda step, ours, kafkas: (
            step.key is ApiKey.CONSUMER_GROUP_HEARTBEAT
            and isinstance(ours, dict)
            and isinstance(kafkas, dict)
            and ours["assignment"] is not None
            and ours == {**kafkas, "member_epoch": kafkas["member_epoch"] - 1}
        ),
    ),
    Intended(
        "commits of old clients to a share group get an error that they know; Kafka's came with version 9",
        lambda step, ours, kafkas: (
            step.key is ApiKey.OFFSET_COMMIT
            and step.version < GROUP_ID_NOT_FOUND_FROM
            and ErrorCode.ILLEGAL_GENERATION in _codes(ours)
            and ErrorCode.GROUP_ID_NOT_FOUND in _codes(kafkas)
            and ErrorCode.NONE not in _codes(ours)
        ),
    ),
    Intended(
        "partitions of which a request says nothing: Kafka answers for them if it says something of others "
        "that are there",
        lambda step, ours, kafkas: (
            step.key in (ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE)
            and CLOSED not in (ours, kafkas)
            and _without_silent(ours) == _without_silent(kafkas)
        ),
    ),
    Intended(
        "records behind those that a strict member was given: nobody has them, or nobody knows them",
        lambda step, ours, kafkas: (
            step.key in (ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE)
            and CLOSED not in (ours, kafkas)
            and ErrorCode.INVALID_REQUEST in _codes(ours)
            and ErrorCode.INVALID_RECORD_STATE in _codes(kafkas)
            and _codes(ours).count(ErrorCode.NONE) == _codes(kafkas).count(ErrorCode.NONE)
        ),
    ),
    Intended(
        "which partition has its turn first, where a member wants fewer records than there are",
        lambda step, ours, kafkas: (
            step.key is ApiKey.SHARE_FETCH
            and step.request.max_records < SHARE_RECORDS  # type: ignore[attr-defined]
            and CLOSED not in (ours, kafkas)
            and ours["error_code"] == kafkas["error_code"]
            and _parts_codes(ours) == _parts_codes(kafkas)
            and _has_acquired(ours)
            and _has_acquired(kafkas)
        ),
    ),
    Intended(
        "what comes back with a fetch may go out with it again; Kafka's may not have stored its return yet",
        lambda step, ours, kafkas: (
            step.key is ApiKey.SHARE_FETCH
            and _gives_back(step)
            and _without_records(ours) == _without_records(kafkas)
        ),
    ),
    Intended(
        "where a share group stands is told as of now; with Kafka as of before the last record it finished",
        lambda step, ours, kafkas: (
            step.key is ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS
            and isinstance(kafkas, dict)
            and _stands_further(ours, kafkas)
        ),
    ),
    Intended(
        "a user for whom two things are wrong hears of one or the other",
        lambda step, ours, kafkas: (
            step.key is ApiKey.ALTER_USER_SCRAM_CREDENTIALS and any(_codes(ours)) and any(_codes(kafkas))
        ),
    ),
    Intended(
        "a batch that comes twice has no time of appending of its own; Kafka says that of its last record",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE
            and _without(ours, "log_append_time_ms") == _without(kafkas, "log_append_time_ms")
        ),
    ),
    Intended(
        "lists of an unknown kind are INVALID_REQUEST; Kafka ends the connection, or finds none",
        lambda step, ours, kafkas: (
            step.key in ACL_KEYS
            and ErrorCode.INVALID_REQUEST in _codes(ours)
            and (kafkas == CLOSED or not any(_codes(kafkas)))
        ),
    ),
    Intended(
        "members of a share group begin with the heartbeat that subscribes; Kafka's wait for one or two more",
        lambda step, ours, kafkas: step.key in SHARE_KEYS and not any(_codes(ours) + _codes(kafkas)),
    ),
    Intended(
        "a batch that contradicts itself: both refuse it, each for what it looks at first",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE
            and {ErrorCode.INVALID_RECORD, ErrorCode.INVALID_TIMESTAMP} & set(_codes(kafkas)) != set()
            and {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD} & set(_codes(ours)) != set()
            and {ErrorCode.NONE} & set(_codes(ours)) == {ErrorCode.NONE} & set(_codes(kafkas))
        ),
    ),
    Intended(
        "a time of appending that a client sets is refused; Kafka passes over it where nothing is compressed",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE
            and ErrorCode.INVALID_TIMESTAMP in _codes(ours)
            and _codes(ours).count(ErrorCode.INVALID_TIMESTAMP)
            > _codes(kafkas).count(ErrorCode.INVALID_TIMESTAMP)
        ),
    ),
    Intended(
        "a sound batch stays closed where nothing asks for its records: Kafka counts them first",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE
            and _has_broken_records(step)
            and ErrorCode.INVALID_RECORD in _codes(kafkas)
        ),
    ),
    Intended(
        "Kafka opens a session for a reader that has named no partition yet; we open one for partitions",
        lambda step, ours, kafkas: (
            step.key is ApiKey.FETCH
            and isinstance(ours, dict)
            and isinstance(kafkas, dict)
            and not ours["responses"]
            and ours == {**kafkas, "session_id": 0}
        ),
    ),
    Intended(
        "Kafka gives up on a whole request if a batch in it cannot be read, or is of a transaction that the "
        "request does not name; we refuse that one alone",
        lambda step, ours, kafkas: (
            step.key is ApiKey.PRODUCE
            and {ErrorCode.CORRUPT_MESSAGE, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED}
            & set(_codes(kafkas))
            != set()
            and ErrorCode.NONE not in _codes(kafkas)
            and any(_codes(ours))
        ),
    ),
    Intended(
        "Kafka stumbles (a null pointer, an exception that nobody expected) and says UNKNOWN_SERVER_ERROR",
        lambda _step, ours, kafkas: (
            ErrorCode.UNKNOWN_SERVER_ERROR in _codes(kafkas)
            and ErrorCode.UNKNOWN_SERVER_ERROR not in _codes(ours)
        ),
    ),
)
