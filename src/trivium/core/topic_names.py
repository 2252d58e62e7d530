"""Which names a topic may have: Kafka's rules (promise S14: none leaves the directory, no two share one).

Names that differ only in dots and underscores are refused, because metrics are named after topics and their
systems write both as an underscore.
"""

import re
from collections.abc import Iterable
from typing import Final

from trivium.core.faults import Fault, Refused

NAME_CHARACTERS_MAX: Final = 249
"""With the partition's number and a suffix while it is being deleted, a name still fits into 255 bytes."""
METADATA_TOPIC: Final = "__cluster_metadata"
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def check_topic_name(name: str) -> None:
    """``Refused`` if no topic may be called that."""
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > NAME_CHARACTERS_MAX:
        reason = f"the length of '{name}' is longer than the max allowed length {NAME_CHARACTERS_MAX}"
    elif not _LEGAL.fullmatch(name):
        reason = f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    else:
        return
    raise Refused(Fault.INVALID_TOPIC_NAME, f"Topic name is invalid: {reason}")


class TakenNames:
    """The names of all topics, for those who want a new one. Made once for a request of many topics."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._by_look = {_look(name): name for name in self._names}

    def check(self, name: str) -> None:
        """``Refused`` if a new topic may not be called that."""
        check_topic_name(name)
        if name == METADATA_TOPIC:
            raise Refused(
                Fault.INVALID_REQUEST, f"Creation of internal topic {METADATA_TOPIC} is prohibited."
            )
        if name in self._names:
            raise Refused(Fault.TOPIC_EXISTS, f"Topic '{name}' already exists.")
        twin = self._by_look.get(_look(name))
        if twin is not None:
            raise Refused(Fault.INVALID_TOPIC_NAME, f"Topic '{name}' collides with existing topic: {twin}")

    def add(self, name: str) -> None:
        self._by_look[_look(name)] = name
        self._names.add(name)


def _look(name: str) -> str:
    """What remains of a name where dots are not allowed."""
    return name.replace(".", "_")
