"""What somebody has written somewhere: a name, a value, and where. Nothing has been checked yet."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trivium.server.configuration.own_settings import FLAGS


class Given(NamedTuple):
    name: str
    text: str
    source: str


def by_name(given: Iterable[Given]) -> dict[str, Given]:
    """One source as a layer; of two values for a name the last counts."""
    return {each.name: each for each in given}


def from_flags(flags: Mapping[str, str]) -> dict[str, Given]:
    """Flags by the name of their setting."""
    return {name: Given(name, text, FLAGS.get(name, f"--set {name}")) for name, text in flags.items()}
