"""In which line of a TOML file a key is. The standard library's reader does not say.

Only for documents that it has accepted: so the scan need not find mistakes, just headers (``[flow.x]``) and
keys (``expect.y = …``), and pass over strings and brackets that go on for several lines. Keys of inline
tables have the line of the table.
"""

import re
from typing import Final

_KEY: Final = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_DOTTED: Final = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER: Final = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?")
_ASSIGNMENT: Final = re.compile(rf"\s*({_DOTTED})\s*=\s*")
_PIECE: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|[\[{]|[\]}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


def key_lines(text: str) -> dict[str, int]:
    """Lines counted from 1, by dotted path; a table that is only implied has the line of its first key."""
    text = text.replace("\r\n", "\n")
    lines: dict[str, int] = {}
    table: list[str] = []
    line, counted, at = 1, 0, 0
    while at < len(text):
        header = _HEADER.match(text, at)
        said = header or _ASSIGNMENT.match(text, at)
        if said:
            line += text.count("\n", counted, said.start(1))
            counted = said.start(1)
            path = _parts(said[1])
            if header:
                table = path
            _enter(lines, path if header else [*table, *path], line)
        at = _end_of_value(text, said.end() if said else at)
    return lines


def _enter(lines: dict[str, int], path: list[str], line: int) -> None:
    for depth in range(1, len(path) + 1):
        lines.setdefault(".".join(path[:depth]), line)


def _parts(dotted: str) -> list[str]:
    return [part.strip("\"'") for part in re.findall(_KEY, dotted)]


def _end_of_value(text: str, at: int) -> int:
    """Behind the line's end that ends a value, or a line without one."""
    depth = 0
    while at < len(text):
        piece = _PIECE.match(text, at)
        if piece is None:
            return len(text)
        at = piece.end()
        if piece[0] in "[{":
            depth += 1
        elif piece[0] in "]}":
            depth -= 1
        elif piece[0] == "\n" and depth <= 0:
            return at
    return at
