"""What may differ between the answers of two servers that behave alike, and why.

A row names a field, alone or behind the list or the request that it stands in, what is left of it, and the
reason. Whatever has no row must be equal. Differences that we mean to have stand in ``docs/iggy.md`` as far
as a user could notice them, and in ``INTENDED``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.interop.iggy.dialogues.step import NO_DAMAGE, Step

WAITS: Final = "no answer"
CLOSED: Final = "the connection is closed"

OF_NOBODY: Final = ("default",)
"""Names that lists of ours have always: the stream of Kafka's topics."""

NODES: Final = {"GET_STATS": ("version", "semver"), "GET_CLUSTER_METADATA": ("name", "nodes_count")}
"""What is compared of answers about the node itself: all else is of the machine."""

CHOSEN_IDS: Final = (1, 7, (1 << 128) - 1)
"""Of messages: all others were made up by the server."""

FAR: Final = 1 << 62
"""Microseconds or bytes that nobody will live to see."""


def _nothing(_value: Any) -> str:
    return "…"


def _same(value: Any) -> Any:
    return value


def _whether_any(value: Any) -> bool:
    return bool(value)


def _bound(value: int) -> Any:
    return value if 0 < value < FAR else "none"


def _whether_soon(value: int) -> bool:
    return 0 < value < FAR


def _whose_id(value: int) -> Any:
    return value if value in CHOSEN_IDS else "made up"


def _by_name_of_right(value: Any) -> Any:
    """Rights on streams without their numbers."""
    return sorted((rights, sorted(topics.values())) for rights, topics in value.values())


ALLOWED: Final[Mapping[str, tuple[Callable[[Any], Any], str]]] = {
    "id": (
        _nothing,
        "numbers are never given twice by ours, and soon by theirs; steps go by them all the same",
    ),
    "partitions.id": (_same, "partitions count from 0"),
    "members.id": (_same, "members count from 0 in their group"),
    "user_id": (_nothing, "a number, too"),
    "groups": (lambda value: len(value), "numbers, too"),
    "permissions.streams": (_by_name_of_right, "by number"),
    "expiry": (_bound, "ours is what is in force: Kafka's milliseconds, which end, and the server's default"),
    "size_limit": (_bound, "ours is what is in force, too"),
    "created": (_whether_any, "its clock"),
    "timestamp": (_whether_any, "its clock"),
    "expires": (_whether_soon, "its clock, and what lies beyond the calendar is never"),
    "token": (_nothing, "made up"),
    "address": (_nothing, "the client's port"),
    "checksum": (_nothing, "of what has a time in it, and perhaps a number; ``tests/golden`` holds it"),
    "message_id": (_whose_id, "made up if none was chosen"),
    "size": (_whether_any, "bytes differ with the format that a log is kept in"),
    "segments": (_nothing, "where a log is cut"),
}


@dataclass(frozen=True)
class Intended:
    """Answers that may differ as wholes. A dialogue ends there, since what follows could differ, too; or it
    goes on if nothing has been changed by either.
    """

    reason: str
    applies: Callable[[Step, Any, Any], bool]
    goes_on: bool = False


def status(answer: Any) -> Any:
    return answer["code"] if isinstance(answer, dict) else answer


def _is_nothing(step: Step, answer: Any) -> bool:
    """Whether somebody is told that there is no such thing."""
    nothing = ({"code": 0, "empty": True}, {"code": 0, "all": []})
    return status(answer) in NOT_FOUND or (step.name.startswith("GET_") and answer in nothing)


UNAUTHENTICATED: Final = 40
UNAUTHORIZED: Final = 41
CLIENT_NOT_FOUND: Final = 100
NOT_FOUND: Final = (20, 1009, 2010, 3007, 5000)
STRICTER: Final = (4018, 4019, 4033, 4040, 4101)
FLAWS: Final = (6, *STRICTER, 4017, 4022, 4031, 4032, 4036, 4037, 10011)
"""Of messages and of where they are sent, as ours calls them."""
LOGINS: Final = ("LOGIN_USER", "LOGIN_WITH_TOKEN")
EXPIRED: Final = (("CREATE_TOKEN", 0, 51), ("DELETE_TOKEN", 20, 0))
BY_TIMESTAMP: Final = 2
OLD_LAYOUTS: Final = (
    "POLL_MESSAGES",
    "GET_CONSUMER_OFFSET",
    "STORE_CONSUMER_OFFSET",
    "DELETE_CONSUMER_OFFSET",
)


def _are_refused(ours: Any, theirs: Any) -> bool:
    return bool(status(ours) and status(theirs)) and WAITS not in (ours, theirs)


def _are_some_of(ours: Any, theirs: Any) -> bool:
    return all(each in theirs["all"] for each in ours["all"])


def _is_empty_poll(answer: Any) -> bool:
    return status(answer) == 0 and not answer["messages"]


def _first_offset(answer: Any) -> int:
    return int(answer["messages"][0]["offset"]) if answer["messages"] else FAR


INTENDED: Final[tuple[Intended, ...]] = (
    Intended(
        "who has no right to a thing is not told whether it is there",
        lambda step, ours, theirs: status(ours) == UNAUTHORIZED and _is_nothing(step, theirs),
        goes_on=True,
    ),
    Intended(
        "two things are wrong with a user's request: its status, and the right to change users or its name",
        lambda step, ours, theirs: (
            step.name in ("CREATE_USER", "UPDATE_USER")
            and status(ours) == 3
            and status(theirs) in (41, 43, 44)
        ),
        goes_on=True,
    ),
    Intended(
        "who has not logged in is told so, whatever is wrong with the request besides",
        lambda step, ours, theirs: status(ours) == UNAUTHENTICATED and _are_refused(ours, theirs),
        goes_on=True,
    ),
    Intended(
        "who guesses passwords is not told that a user is inactive",
        lambda step, ours, theirs: step.name == "LOGIN_USER" and (status(ours), status(theirs)) == (42, 47),
        goes_on=True,
    ),
    Intended(
        "whose user is gone is told so by whatever it asks; with Iggy some find no rights, or nothing",
        lambda step, ours, theirs: (
            status(ours) == CLIENT_NOT_FOUND and (status(theirs) == UNAUTHORIZED or _is_nothing(step, theirs))
        ),
    ),
    Intended(
        "whose user is gone may log out, or in as another; Iggy ends its connection first",
        lambda step, ours, theirs: (
            step.name in (*LOGINS, "LOGOUT_USER") and status(ours) == 0 and status(theirs) == CLIENT_NOT_FOUND
        ),
    ),
    Intended(
        "messages that are wrong in two ways: both refuse them, each for what it looks at first",
        lambda step, ours, theirs: (
            step.name == "SEND_MESSAGES" and status(ours) in FLAWS and _are_refused(ours, theirs)
        ),
        goes_on=True,
    ),
    Intended(
        "by a timestamp that several messages have Iggy's search may find one that is not the first of them",
        lambda step, ours, theirs: (
            step.name == "POLL_MESSAGES"
            and step.values["strategy"][0] == BY_TIMESTAMP
            and status(ours) == status(theirs) == 0
            and _first_offset(ours) < _first_offset(theirs)
        ),
    ),
    Intended(
        "a damaged request may look like one of 0.5, or is first looked at from its end",
        lambda step, ours, theirs: (
            step.name in OLD_LAYOUTS and step.damage != NO_DAMAGE and status(theirs) in (3, 4)
        ),
    ),
    Intended(
        "Kafka's names are no longer than 249 characters",
        lambda step, ours, theirs: (step.name, status(ours), status(theirs)) == ("CREATE_TOPIC", 2014, 0),
    ),
    Intended(
        "a topic that has another name by now keeps its first one in Kafka",
        lambda step, ours, theirs: (step.name, status(ours), status(theirs)) == ("CREATE_TOPIC", 2013, 0),
    ),
    Intended(
        "a limit that a topic could not be made with it is not given later, either",
        lambda step, ours, theirs: (step.name, status(ours), status(theirs)) == ("UPDATE_TOPIC", 1019, 0),
    ),
    Intended(
        "a partition that no topic has is not found; for some numbers Iggy takes messages, and reads nothing",
        lambda step, ours, theirs: (
            status(ours) == 3007
            and status(theirs) == 0
            and (step.name == "SEND_MESSAGES" or (step.name == "POLL_MESSAGES" and _is_empty_poll(theirs)))
        ),
    ),
    Intended(
        "a wrong last entry of the index, headers that cannot be read and reserved bytes that are not zero",
        lambda step, ours, theirs: (
            step.name == "SEND_MESSAGES" and status(ours) in STRICTER and status(theirs) == 0
        ),
    ),
    Intended(
        "offsets that a client has put before its messages are not looked at: the server gives them",
        lambda step, ours, theirs: step.name == "SEND_MESSAGES" and status(theirs) == 4100,
    ),
    Intended(
        "a partition that is being handed over is polled no more, also by who names it",
        lambda step, ours, theirs: (
            step.name == "POLL_MESSAGES"
            and step.values["consumer"].is_group
            and _is_empty_poll(ours)
            and status(theirs) == 0
            and theirs["partition"] == step.values["partition"]
        ),
    ),
    Intended(
        "a member that names no partition gets its next one; Iggy may begin again after other changes",
        lambda step, ours, theirs: (
            step.name == "POLL_MESSAGES"
            and step.values["consumer"].is_group
            and step.values["partition"] is None
            and status(ours) == status(theirs) == 0
            and ours["partition"] != theirs["partition"]
        ),
    ),
    Intended(
        "a token that has expired is no more; theirs goes within a minute",
        lambda step, ours, theirs: (
            (step.name, status(ours), status(theirs)) in EXPIRED
            or (step.name == "GET_TOKENS" and status(ours) == status(theirs) and _are_some_of(ours, theirs))
        ),
    ),
    Intended(
        "an index longer than the request: Iggy waits for bytes that belong to the next one",
        lambda step, ours, theirs: step.name == "SEND_MESSAGES" and status(ours) and theirs == WAITS,
    ),
)
