"""What is wrong in a definition: a sentence, what to do about it, and where.

Whoever finds a mistake knows the key (``watermark``, ``sink.mode``); whoever reads the file knows the table
and the line. So a mistake starts with its key and is given the rest on its way up (``within``).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class Mistake(Exception):
    """One thing that the author of a pipeline has to change."""

    def __init__(self, key: str, sentence: str, remedy: str = "") -> None:
        super().__init__(f"{sentence} {remedy}".rstrip())
        self.key = key
        self.sentence = sentence
        self.remedy = remedy

    def inside(self, prefix: str) -> "Mistake":
        return Mistake(".".join(filter(None, (prefix, self.key))), self.sentence, self.remedy)


@contextmanager
def within(prefix: str) -> Iterator[None]:
    """Mistakes that are made inside are at a key below ``prefix``."""
    try:
        yield
    except Mistake as mistake:
        raise mistake.inside(prefix) from mistake.__cause__


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``Did you mean …?``, or what there is, or nothing where there is nothing."""
    by_fold = {each.casefold(): each for each in known}
    close = get_close_matches(word.casefold(), by_fold, n=1)
    if close:
        return f"Did you mean '{by_fold[close[0]]}'?"
    names = sorted(by_fold.values())
    if not names:
        return ""
    return f"There is {names[0]}." if len(names) == 1 else f"There are {', '.join(names)}."
