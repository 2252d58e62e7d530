"""Sets of characters and their names: ``\\d``, ``[:alpha:]``, ``\\pL``."""

import string
import unicodedata
from collections.abc import Iterable
from typing import Final

from trivium.core.groups.patterns.nodes import ALL, ASCII_COUNT, CharSet

_CATEGORIES: Final = {
    "L": "ultmo",
    "M": "nce",
    "N": "dlo",
    "P": "cdseifo",
    "S": "mcko",
    "Z": "slp",
    "C": "cfos",
}
"""Unicode's categories by their first letter, and the second ones that it may have."""
_SCRIPTS_WITHOUT_ASCII: Final = frozenset(
    (
        "Arabic",
        "Armenian",
        "Bengali",
        "Cyrillic",
        "Devanagari",
        "Greek",
        "Han",
        "Hangul",
        "Hebrew",
        "Hiragana",
        "Katakana",
        "Thai",
    )
)


def char_set(chars: Iterable[str]) -> CharSet:
    bits = 0
    for char in chars:
        if ord(char) < ASCII_COUNT:
            bits |= 1 << ord(char)
    return bits


def char_range(first: int, last: int) -> CharSet:
    """All characters from one number to another, both included; what no name can hold is left out."""
    first, last = min(first, ASCII_COUNT), min(last, ASCII_COUNT - 1)
    return (1 << (last + 1)) - (1 << first) if first <= last else 0


DIGIT: Final = char_set(string.digits)
WORD: Final = char_set(string.ascii_letters + string.digits + "_")
SPACE: Final = char_set("\t\n\f\r ")

PERL: Final = {"d": DIGIT, "w": WORD, "s": SPACE}

POSIX: Final = {
    "alnum": char_set(string.ascii_letters + string.digits),
    "alpha": char_set(string.ascii_letters),
    "ascii": ALL,
    "blank": char_set("\t "),
    "cntrl": char_range(0, 31) | char_range(127, 127),
    "digit": DIGIT,
    "graph": char_range(33, 126),
    "lower": char_set(string.ascii_lowercase),
    "print": char_range(32, 126),
    "punct": char_set(string.punctuation),
    "space": char_set("\t\n\v\f\r "),
    "upper": char_set(string.ascii_uppercase),
    "word": WORD,
    "xdigit": char_set(string.hexdigits),
}


def unicode_class(name: str) -> CharSet | None:
    """The part of a category or script that is ASCII; None if there is none of this name."""
    if name == "Any":
        return ALL
    kinds = _CATEGORIES.get(name[:1])
    if kinds is not None and (len(name) == 1 or name[1:] in tuple(kinds)):
        return char_set(chr(n) for n in range(ASCII_COUNT) if unicodedata.category(chr(n)).startswith(name))
    if name == "Latin":
        return POSIX["alpha"]
    if name == "Common":
        return ALL & ~POSIX["alpha"]
    return 0 if name in _SCRIPTS_WITHOUT_ASCII else None


def folded(chars: CharSet) -> CharSet:
    """The same set when letters' case does not count."""
    for lower, upper in zip(string.ascii_lowercase, string.ascii_uppercase, strict=True):
        either = 1 << ord(lower) | 1 << ord(upper)
        if chars & either:
            chars |= either
    return chars
