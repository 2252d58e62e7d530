"""What may differ between the answers of two servers that behave alike, and why.

A row names a field, alone or behind the list or the request that it stands in, what is left of it, and the
reason. Whatever has no row must be equal. Differences that we mean to have stand in ``docs/iggy.md`` as far
as a user could notice them, and in ``INTENDED``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tests.interop.iggy.dialogues.step import Step

WAITS: Final = "no answer"
CLOSED: Final = "the connection is closed"

OF_NOBODY: Final = ("default",)
"""Names that lists of ours have always: the stream of Kafka's topics."""

CHOSEN_IDS: Final = (1, 7, (1 << 128) - 1)
"""Of messages: all others were made up by the server."""


def _nothing(_value: Any) -> str:
    return "…"


def _same(value: Any) -> Any:
    return value


def _whether_any(value: Any) -> bool:
    return bool(value)


def _whose_id(value: int) -> Any:
    return value if value in CHOSEN_IDS else "made up"


def _by_name_of_right(value: Any) -> Any:
    """Rights on streams without their numbers."""
    return sorted((rights, sorted(topics.values())) for rights, topics in value.values())


ALLOWED: Final[Mapping[str, tuple[Callable[[Any], Any], str]]] = {
    "id": (_nothing, "numbers are never given twice by ours, and soon by theirs; steps go by them all the same"),
    "partitions.id": (_same, "partitions count from 0"),
    "members.id": (_same, "members count from 0 in their group"),
    "user_id": (_nothing, "a number, too"),
    "groups": (lambda value: len(value), "numbers, too"),
    "permissions.streams": (_by_name_of_right, "by number"),
    "created": (_whether_any, "its clock"),
    "timestamp": (_whether_any, "its clock"),
    "expires": (_whether_any, "its clock"),
    "token": (_nothing, "made up"),
    "address": (_nothing, "the client's port"),
    "checksum": (_nothing, "of what has a time in it, and perhaps a number; ``tests/golden`` holds it"),
    "message_id": (_whose_id, "made up if none was chosen"),
    "size": (_whether_any, "bytes differ with the format that a log is kept in"),
    "segments": (_nothing, "where a log is cut"),
}


@dataclass(frozen=True)
class Intended:
    """Answers that may differ as wholes. A dialogue ends there: what follows would differ, too."""

    reason: str
    applies: Callable[[Step, Any, Any], bool]


def status(answer: Any) -> Any:
    return answer["status"] if isinstance(answer, dict) else answer


INTENDED: Final[tuple[Intended, ...]] = ()
