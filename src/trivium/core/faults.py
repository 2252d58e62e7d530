"""What a broker may refuse, in its own words. Every protocol has one table from these to its own codes.

Results carry faults as values. Inside the core, and from the ports below it, a refusal travels as
``Refused`` up to the item that it concerns (one partition of a produce, one topic of a request), where it
becomes a value: nothing else of the same command is touched by it.
"""

from enum import Enum, auto


class Fault(Enum):
    # -- anything
    INTERNAL = auto()
    """A bug, or the machine; the message says what is known."""
    INVALID_REQUEST = auto()
    TIMED_OUT = auto()
    THROTTLED = auto()
    """Asked too often, or too soon."""
    NOT_AUTHORIZED_TOPIC = auto()
    NOT_AUTHORIZED_GROUP = auto()
    NOT_AUTHORIZED_CLUSTER = auto()
    NOT_AUTHORIZED_TRANSACTIONAL_ID = auto()
    NOT_AUTHORIZED_TOKEN = auto()
    SECURITY_DISABLED = auto()
    """Asked about rights of which this node takes no notice."""
    POLICY_VIOLATION = auto()
    UNSUPPORTED = auto()
    """Asked for something that this format or feature level has no word for."""

    # -- topics and partitions
    UNKNOWN_TOPIC = auto()
    """Also an unknown partition of a known topic."""
    UNKNOWN_TOPIC_ID = auto()
    INCONSISTENT_TOPIC_ID = auto()
    TOPIC_EXISTS = auto()
    INVALID_TOPIC_NAME = auto()
    INVALID_PARTITIONS = auto()
    INVALID_REPLICATION_FACTOR = auto()
    INVALID_REPLICA_ASSIGNMENT = auto()
    INVALID_CONFIG = auto()
    TOPIC_DELETION_DISABLED = auto()
    LEADER_NOT_AVAILABLE = auto()
    NOT_LEADER = auto()
    FENCED_LEADER_EPOCH = auto()
    UNKNOWN_LEADER_EPOCH = auto()
    ELECTION_NOT_NEEDED = auto()
    PREFERRED_LEADER_NOT_AVAILABLE = auto()
    NO_REASSIGNMENT_IN_PROGRESS = auto()
    LOG_DIRECTORY_NOT_FOUND = auto()
    REPLICA_NOT_AVAILABLE = auto()
    RESOURCE_NOT_FOUND = auto()
    BROKER_ID_NOT_REGISTERED = auto()
    UNKNOWN_SUBSCRIPTION_ID = auto()
    TELEMETRY_TOO_LARGE = auto()
    UNSUPPORTED_COMPRESSION = auto()

    # -- writing and reading
    STORAGE = auto()
    """The disk is full or failed, or stored bytes are damaged."""
    CORRUPT_MESSAGE = auto()
    INVALID_RECORD = auto()
    INVALID_TIMESTAMP = auto()
    MESSAGE_TOO_LARGE = auto()
    RECORD_LIST_TOO_LARGE = auto()
    INVALID_REQUIRED_ACKS = auto()
    NOT_ENOUGH_REPLICAS = auto()
    OFFSET_OUT_OF_RANGE = auto()
    OFFSET_NOT_AVAILABLE = auto()

    # -- producers and transactions
    OUT_OF_ORDER_SEQUENCE = auto()
    DUPLICATE_SEQUENCE = auto()
    INVALID_PRODUCER_EPOCH = auto()
    PRODUCER_FENCED = auto()
    UNKNOWN_PRODUCER_ID = auto()
    INVALID_PRODUCER_ID_MAPPING = auto()
    INVALID_TXN_STATE = auto()
    INVALID_TXN_TIMEOUT = auto()
    CONCURRENT_TRANSACTIONS = auto()
    TRANSACTIONAL_ID_NOT_FOUND = auto()
    TRANSACTION_ABORTABLE = auto()
    TRANSACTION_COORDINATOR_FENCED = auto()
    OPERATION_NOT_ATTEMPTED = auto()
    """It was one of several that are done together, and another one was refused."""
    INVALID_UPDATE_VERSION = auto()
    """A feature level that cannot be had."""

    # -- groups
    COORDINATOR_LOADING = auto()
    COORDINATOR_NOT_AVAILABLE = auto()
    NOT_COORDINATOR = auto()
    INVALID_GROUP_ID = auto()
    GROUP_ID_NOT_FOUND = auto()
    NON_EMPTY_GROUP = auto()
    GROUP_SUBSCRIBED_TO_TOPIC = auto()
    GROUP_MAX_SIZE_REACHED = auto()
    UNKNOWN_MEMBER_ID = auto()
    MEMBER_ID_REQUIRED = auto()
    FENCED_INSTANCE_ID = auto()
    ILLEGAL_GENERATION = auto()
    INCONSISTENT_GROUP_PROTOCOL = auto()
    INVALID_SESSION_TIMEOUT = auto()
    REBALANCE_IN_PROGRESS = auto()
    OFFSET_METADATA_TOO_LARGE = auto()
    UNSTABLE_OFFSET_COMMIT = auto()
    STALE_MEMBER_EPOCH = auto()
    FENCED_MEMBER_EPOCH = auto()
    UNRELEASED_INSTANCE_ID = auto()
    UNSUPPORTED_ASSIGNOR = auto()
    INVALID_REGULAR_EXPRESSION = auto()
    SHARE_SESSION_NOT_FOUND = auto()
    INVALID_SHARE_SESSION_EPOCH = auto()
    SHARE_SESSION_LIMIT_REACHED = auto()
    INVALID_RECORD_STATE = auto()
    """A record of a share group that the member has not acquired, or not any more."""

    # -- users
    NOT_AUTHENTICATED = auto()
    """Only those who have logged in may ask this."""
    NOT_AUTHORIZED_USER = auto()
    USER_REMOVED = auto()
    """The caller's own user is no more: its session is over."""
    UNKNOWN_USER = auto()
    USER_EXISTS = auto()
    USERS_LIMIT_REACHED = auto()
    INVALID_USERNAME = auto()
    INVALID_PASSWORD = auto()
    """One that nobody may have; a wrong one is ``INVALID_CREDENTIALS``."""
    INVALID_CREDENTIALS = auto()
    USER_INACTIVE = auto()
    ROOT_CANNOT_BE_DELETED = auto()
    ROOT_PERMISSIONS_FIXED = auto()
    UNKNOWN_TOKEN = auto()
    TOKEN_EXISTS = auto()
    TOKENS_LIMIT_REACHED = auto()
    INVALID_TOKEN_NAME = auto()
    TOKEN_EXPIRED = auto()

    TOKENS_DISABLED = auto()
    """Nobody has given the node a key to make delegation tokens with."""
    TOKEN_REQUEST_NOT_ALLOWED = auto()
    """Asked by a stranger, or by somebody who has come in by a token itself."""
    TOKEN_OF_ANOTHER = auto()
    INVALID_PRINCIPAL = auto()
    """Only users have tokens."""
    UNKNOWN_MECHANISM = auto()
    """A way to prove oneself that is not offered."""
    NAMED_TWICE = auto()
    """One request asks twice for what can be done once."""

    # -- streams
    NOT_AUTHORIZED_STREAM = auto()
    UNKNOWN_STREAM = auto()
    STREAM_EXISTS = auto()
    STREAM_ID_EXISTS = auto()
    INVALID_STREAM_NAME = auto()
    STREAM_IS_PERMANENT = auto()
    """The stream that topics without another belong to can neither go nor change its name."""
    TOPIC_ID_EXISTS = auto()
    """The number that it shall have in its stream is taken."""
    UNKNOWN_STREAM_TOPIC = auto()
    UNKNOWN_PARTITION = auto()
    NO_PARTITIONS = auto()
    TOO_MANY_PARTITIONS = auto()
    INVALID_TOPIC_SIZE = auto()
    """A limit below the size of one segment could never be kept."""
    UNKNOWN_STREAM_GROUP = auto()
    STREAM_GROUP_EXISTS = auto()
    STREAM_GROUP_ID_EXISTS = auto()
    INVALID_STREAM_GROUP_NAME = auto()
    PARTITION_NOT_OWNED = auto()
    NO_COMMITTED_OFFSET = auto()


class Refused(Exception):
    """A fault on its way to the item that it concerns."""

    def __init__(self, fault: Fault, message: str | None = None) -> None:
        super().__init__(message or fault.name)
        self.fault = fault
        self.message = message
