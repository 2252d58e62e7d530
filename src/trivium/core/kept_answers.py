"""Answers about a text that are kept, since the same few texts are asked about over and over.

Texts come from outside: long ones are asked about anew each time, or a stranger's would fill the memory.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

ANSWERS_MAX: Final = 10_000
TEXT_CHARS_MAX: Final = 256
"""Longer than any id that somebody has thought of, and ten thousand of them are a few megabytes."""

Answer = TypeVar("Answer")


def kept(function: Callable[[str], Answer]) -> Callable[[str], Answer]:
    known = lru_cache(ANSWERS_MAX)(function)

    @wraps(function)
    def answer(text: str) -> Answer:
        return known(text) if len(text) <= TEXT_CHARS_MAX else function(text)

    return answer
