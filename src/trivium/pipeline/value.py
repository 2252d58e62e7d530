"""Values as an author may write them, TOML or Python: the right kind, or a sentence."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import TypeVar

from trivium.pipeline.mistake import Mistake, did_you_mean

E = TypeVar("E", bound=StrEnum)

_KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    dict: "a table",
    list: "a list",
}


def kind_of(value: object) -> str:
    """What it is, in a person's words."""
    return next((words for kind, words in _KINDS.items() if isinstance(value, kind)), type(value).__name__)


def text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise Mistake(key, f"'{key}' must be a text, not {kind_of(value)}.", 'Put it in quotes: "…".')
    if not value.strip():
        raise Mistake(key, f"'{key}' is empty.", "Give it a value, or leave it out.")
    return value


def optional_text(key: str, value: object) -> str | None:
    return None if value is None else text(key, value)


def texts(key: str, value: object) -> tuple[str, ...]:
    """One text or several; each only once."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple):
        raise Mistake(key, f"'{key}' must be a list of texts, not {kind_of(value)}.", 'Such as ["day"].')
    words = tuple(text(key, word) for word in value)
    for word in words:
        if words.count(word) > 1:
            raise Mistake(key, f"'{key}' names {word} twice.", "Remove one.")
    return words


def choice(key: str, value: object, choices: type[E]) -> E:
    word = text(key, value)
    try:
        return choices(word)
    except ValueError:
        words = [str(each) for each in choices]
        raise Mistake(key, f"'{key}' cannot be '{word}'.", did_you_mean(word, words)) from None


def table(key: str, value: object) -> Mapping[str, object]:
    """``key`` is empty where the place of the mistake says it already."""
    if not isinstance(value, Mapping):
        what = f"'{key}'" if key else "This"
        raise Mistake(key, f"{what} must be a table, not {kind_of(value)}.", "Write { name = value, … }.")
    return value


def check_keys(options: Mapping[str, object], known: Collection[str], what: str) -> None:
    """Every key is one that there is; ``what`` begins the sentence that says otherwise."""
    for key in options:
        if key not in known:
            raise Mistake(key, f"{what} has no '{key}'.", did_you_mean(key, known))
