"""What can go wrong between a client and a cluster: one family, each message a sentence a person can act on.

Names in the sentences come from callers and brokers, and are written as they are: whoever shows them on a
terminal makes them printable first.
"""

from typing import Final, TypeVar

from trivium.messages.errors import ErrorCode

T = TypeVar("T")


class ClientError(Exception):
    """It could not be done. The message says why, and what to do about it where that is known."""


class BadAddress(ClientError):
    """What was given as an address is none."""


class BadSecurity(ClientError):
    """What was given to trust, or to show, cannot be used."""


class LoginFailed(ClientError):
    """The broker lets nobody in who says that."""


class Unreachable(ClientError):
    """Nobody answers at an address."""


class ConnectionLost(ClientError):
    """A connection ended, or does not speak Kafka's protocol. What was asked for may have happened."""


class TimedOut(ClientError):
    """An answer did not come in time. What was asked for may have happened."""


class Unsupported(ClientError):
    """The broker does not offer what is needed."""


class Damaged(ClientError):
    """Records arrived that contradict themselves, such as by their checksum."""


class ProducerClosed(ClientError):
    """A producer was used after it was closed, or after it lost track of what the cluster holds."""


class Refused(ClientError):
    """A broker answered with an error code."""

    def __init__(self, code: ErrorCode, subject: str, detail: str | None = None) -> None:
        super().__init__(_sentence(code, subject, detail))
        self.code = code
        self.subject = subject
        self.detail = detail

    @property
    def is_retriable(self) -> bool:
        return self.code.is_retriable


def settled(outcome: T | Refused) -> T:
    """What came of a request for one of several things; a refusal is raised."""
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _sentence(code: ErrorCode, subject: str, detail: str | None) -> str:
    known = _SENTENCES.get(code)
    if known is not None:
        return known.format(subject=subject)
    said = f" It says: {detail.rstrip('.')}." if detail else ""
    return f"The broker refused {subject} with {code.name}.{said}"


_NO_RIGHT: Final = (
    "You may not do that to the {subject}; ask for the right to (a Trivium with more than one user refuses "
    "who does not log in: see access.anonymous)."
)

# Sentences for the codes that people meet. Where the broker explains itself better than a fixed sentence
# could (a setting that is not valid, a policy), the code is left out, and its explanation is passed on.
_SENTENCES: Final = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "There is no {subject}; 'trivium topic list' shows what there is.",
    ErrorCode.UNKNOWN_TOPIC_ID: "There is no {subject}; 'trivium topic list' shows what there is.",
    ErrorCode.TOPIC_ALREADY_EXISTS: "The {subject} exists already; choose another name, or delete it first.",
    ErrorCode.GROUP_ID_NOT_FOUND: "There is no {subject}; 'trivium group list' shows what there is.",
    ErrorCode.NON_EMPTY_GROUP: "The {subject} has members at work; stop them first.",
    ErrorCode.UNKNOWN_MEMBER_ID: "The {subject} has members at work; stop them first.",
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: (
        "The {subject} has members that share partitions in another way; choose another group."
    ),
    ErrorCode.GROUP_MAX_SIZE_REACHED: "The {subject} has as many members as it may; stop one first.",
    ErrorCode.INVALID_GROUP_ID: "The name of the {subject} is not allowed; choose another.",
    ErrorCode.OFFSET_OUT_OF_RANGE: "The {subject} does not have that offset (any more); choose another.",
    ErrorCode.MESSAGE_TOO_LARGE: (
        "A record is larger than the {subject} takes; raise its max.message.bytes, or send smaller records."
    ),
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: _NO_RIGHT,
    ErrorCode.GROUP_AUTHORIZATION_FAILED: _NO_RIGHT,
    ErrorCode.SECURITY_DISABLED: (
        "Access control lists do not count on this broker; start it with access.acls = on."
    ),
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: _NO_RIGHT.replace("{subject}", "cluster"),
    ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: (
        "This broker makes no {subject}; start it with delegation.token.secret.key."
    ),
    ErrorCode.DELEGATION_TOKEN_NOT_FOUND: (
        "There is no such {subject}; 'trivium token list' shows what there is."
    ),
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: (
        "A {subject} is only for who has logged in by a password or a certificate; say --user."
    ),
    ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH: "The {subject} is for its owner and its renewers only.",
    ErrorCode.DELEGATION_TOKEN_EXPIRED: "The {subject} has expired; make another.",
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: _NO_RIGHT,
    ErrorCode.NOT_ENOUGH_REPLICAS: (
        "Too few replicas of the {subject} are in sync to accept records; bring brokers back, or lower "
        "min.insync.replicas."
    ),
    ErrorCode.LEADER_NOT_AVAILABLE: "The {subject} has no leader now; see whether all brokers are up.",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: (
        "The {subject} has no coordinator now; see whether all brokers are up."
    ),
    ErrorCode.TOPIC_DELETION_DISABLED: "This cluster does not delete topics (delete.topic.enable is false).",
    ErrorCode.KAFKA_STORAGE_ERROR: (
        "The broker cannot use its files of the {subject}: a disk has failed, or they are damaged. "
        "Its log says more."
    ),
}
