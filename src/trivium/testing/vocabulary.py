"""What a protocol calls its requests and its errors: the words in which a test asks for faults.

A wrong word is answered with the nearest that there is.
"""

import difflib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

Code = str | int
"""An error by its name, or by its number if it has one."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    requests: Mapping[str, Hashable]
    """By name, what a session knows each request by."""
    requests_are: str
    """In a sentence about a name that is none of them: *x is no ...*."""
    code_of: Callable[[Code], Enum]
    """``ValueError`` with a sentence for what is no error of the protocol's."""
    names_topic: Callable[[Any], bool]
    """Whether there can be a topic in such a request."""

    def request(self, name: str) -> tuple[str, Hashable]:
        """A request by its name, whatever its capitals: how it is spelled, and what a session knows it by."""
        spelled = nearest(name, self.requests, self.requests_are)
        return spelled, self.requests[spelled]


def nearest(name: str, names: Iterable[str], what: str) -> str:
    """The one of ``names`` that was meant, whatever its capitals; ``ValueError`` with the nearest."""
    by_capitals = {each.upper(): each for each in names}
    found = by_capitals.get(name.upper())
    if found is None:
        near = difflib.get_close_matches(name.upper(), by_capitals, 1, 0)
        hint = f"; the nearest is {by_capitals[near[0]]}" if near else ""
        raise ValueError(f"{name} is no {what}{hint}.")
    return found


def numbered(codes: type[IntEnum], owner: str) -> Callable[[Code], Enum]:
    """The errors of a protocol that has numbers for them, 0 for none."""

    def code_of(code: Code) -> Enum:
        if isinstance(code, str):
            code = codes[nearest(code, codes.__members__, f"error code of {owner}'s")]
        try:
            known = codes(code)
        except ValueError:
            raise ValueError(f"{owner} has no error code {code}.") from None
        if not known:
            raise ValueError(f"{known.name} is no error; to serve a request, inject nothing.")
        return known

    return code_of
