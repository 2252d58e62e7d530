"""How much a broker says: the levels of its loggers, as settings that last as long as the process."""

from collections.abc import Collection, Sequence
from typing import Final

from trivium.core.config.change import Change, Operation
from trivium.core.config.definition import Definition, Update, ValueType
from trivium.core.config.description import Entry
from trivium.core.config.layers import Source
from trivium.core.faults import Fault, Refused
from trivium.core.ports import Loggers

ROOT: Final = "root"
"""Kafka's name for the logger above all others."""

LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""Kafka's words, from the most talkative to the least."""


def describe_loggers(loggers: Loggers, names: Collection[str] | None = None) -> list[Entry]:
    return [
        Entry(
            Definition(name, ValueType.STRING, None, update=Update.PER_BROKER),
            level,
            Source.DYNAMIC_BROKER_LOGGER_CONFIG,
            (),
        )
        for name, level in sorted(loggers.levels().items())
        if names is None or name in names
    ]


def change_levels(loggers: Loggers, changes: Sequence[Change], *, validate_only: bool) -> None:
    """All of them, or ``Refused`` and none."""
    for change in changes:
        _check(loggers, change)
    if not validate_only:
        for change in changes:
            loggers.set_level(change.name, change.value)


def _check(loggers: Loggers, change: Change) -> None:
    if change.operation not in (Operation.SET, Operation.DELETE):
        raise Refused(
            Fault.INVALID_REQUEST,
            f"{change.operation.name} operation is not allowed for the BROKER_LOGGER resource",
        )
    if change.name not in loggers.levels():
        raise Refused(Fault.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.operation is Operation.DELETE and change.name == ROOT:
        raise Refused(
            Fault.INVALID_REQUEST,
            f"Logger {ROOT} needs a level, since none is above it; set another one",
        )
    if change.operation is Operation.SET and change.value not in LEVELS:
        raise Refused(
            Fault.INVALID_CONFIG,
            f"Cannot set the log level of {change.name} to {change.value} as it is not a supported log "
            f"level. Valid log levels are {', '.join(LEVELS)}",
        )
