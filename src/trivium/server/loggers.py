"""Python's loggers behind the core's port: those of Trivium, with levels in Kafka's words.

``root`` is the one above all of these, and not Python's own, which belongs to the program around a broker.
"""

import logging
from collections.abc import Mapping
from typing import Final

from trivium.core.loggers import ROOT

TOP: Final = "trivium"
"""Everything that this package says goes through loggers of this name or below it."""

_LEVELS: Final = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_WORDS: Final = {level: word for word, level in _LEVELS.items()}


class PythonLoggers:
    def levels(self) -> Mapping[str, str]:
        names = [name for name in logging.root.manager.loggerDict if name.startswith(f"{TOP}.")]
        levels = {name: _word(logging.getLogger(name).getEffectiveLevel()) for name in (TOP, *names)}
        return {ROOT: levels[TOP], **levels}

    def set_level(self, name: str, level: str | None) -> None:
        """Without a level a logger is as talkative as the one above it."""
        logging.getLogger(TOP if name == ROOT else name).setLevel(
            logging.NOTSET if level is None else _LEVELS[level]
        )


def _word(level: int) -> str:
    """The word for a level, or for the nearest below it: Python's levels are any numbers."""
    return _WORDS[max((known for known in _WORDS if known <= level), default=logging.DEBUG)]
