"""What a node tells about itself: one line for each event worth knowing, for people or for machines.

    2026-01-31T12:00:00.250Z warning connection refused  address=10.0.0.7 reason="100 connections ..."

Built on Python's ``logging`` (logger ``trivium``), so that a broker inside a test or an application is heard
where everything else is. Nothing is written per request, and never what records contain. What a peer can
cause at will goes through ``seldom``: one line a minute for each kind, with the number of those left out.

An event is one line. Only a mistake of ours, or of a library's, is followed by where it happened: the lines
of its traceback, indented, which nothing that a peer sends can look like; as JSON they are one field.
"""

import json
import logging
import time
import traceback
from typing import Any, Final, TextIO

SELDOM_SECONDS: Final = 60.0
"""At most one line in so many seconds for each kind of event that peers can cause."""

KINDS_MAX: Final = 1_000
"""Kinds that ``seldom`` keeps count of; beyond it forgets and begins anew."""

FIELD_CHARS_MAX: Final = 500
"""A value longer than that is cut: some come from peers."""

TRACEBACK_LINES_MAX: Final = 100
"""The innermost frames and the error are last; of a deep recursion nobody needs more."""


class EventLog:
    """Events with named fields, on a logger of the standard library."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._told: dict[tuple[str, str], tuple[float, int]] = {}
        """When a kind was last told, and how many of it were left out since."""

    def debug(self, event: str, **fields: Any) -> None:
        self._tell(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._tell(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._tell(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._tell(logging.ERROR, event, fields)

    def seldom(
        self,
        event: str,
        kind: str = "",
        *,
        level: int = logging.WARNING,
        cause: BaseException | None = None,
        **fields: Any,
    ) -> None:
        """Tell it, unless the same kind of event was told within the last minute; with the traceback of its
        ``cause``, if that is a mistake of ours.
        """
        if not self._logger.isEnabledFor(level):
            return
        now, key = time.monotonic(), (event, kind)
        last, left_out = self._told.get(key, (None, 0))
        if last is not None and now - last < SELDOM_SECONDS:
            self._told[key] = (last, left_out + 1)
            return
        if len(self._told) >= KINDS_MAX:
            self._told.clear()
        self._told[key] = (now, 0)
        if left_out:
            fields["left_out"] = left_out
        self._tell(level, event, fields, cause)

    def _tell(
        self, level: int, event: str, fields: dict[str, Any], cause: BaseException | None = None
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, "%s", event, extra={"fields": fields}, exc_info=cause)


events: Final = EventLog(logging.getLogger("trivium"))
"""The one that the server uses."""


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        pairs = "".join(f" {name}={_shown(value)}" for name, value in fields_of(record).items())
        event = _plain(record.getMessage())
        line = f"{_time(record)} {record.levelname.lower():7} {event}{' ' if pairs else ''}{pairs}"
        return "\n".join([line, *(f"    {_plain(where)}" for where in _traceback(record))])


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"time": _time(record), "level": record.levelname.lower(), "event": record.getMessage()}
        if where := _traceback(record):
            line["traceback"] = "\n".join(where)
        return json.dumps(line | fields_of(record), default=str)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of an event; for a line of somebody else's, what went wrong there."""
    fields: dict[str, Any] = getattr(record, "fields", {})
    if record.exc_info is not None and record.exc_info[0] is not None:
        fields = {**fields, "error": f"{record.exc_info[0].__name__}: {record.exc_info[1]}"}
    return {name: _cut(value) for name, value in fields.items()}


def _traceback(record: logging.LogRecord) -> list[str]:
    """Where it happened, innermost last; only of what is nobody's but the program's mistake."""
    if record.exc_info is None or record.exc_info[1] is None or record.levelno < logging.ERROR:
        return []
    lines = "".join(traceback.format_exception(record.exc_info[1])).splitlines()
    return lines[-TRACEBACK_LINES_MAX:]


def write_to(stream: TextIO, *, level: str, as_json: bool) -> None:
    """Let this process write its events, and the warnings of the libraries it uses, to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if as_json else TextLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("trivium").setLevel(level.upper())
    # A line that cannot be written (a closed pipe, a full disk) is lost; it takes nothing else with it.
    logging.raiseExceptions = False


def _time(record: logging.LogRecord) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{whole}.{int(record.msecs):03}Z"


def _shown(value: Any) -> str:
    text = _plain(str(value))
    return f'"{text}"' if not text or " " in text else text


def _plain(text: str) -> str:
    """Without anything that a terminal would obey or that would look like a second line (promise S14)."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > FIELD_CHARS_MAX:
        return value[:FIELD_CHARS_MAX] + "…"
    return value
