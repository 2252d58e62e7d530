"""Reading a schema: ``id BIGINT NOT NULL, tags ARRAY<STRING>, at TIMESTAMP COMMENT 'event time'``.

    schema  = column ("," column)*
    column  = name [":"] type ["NOT" "NULL"] ["COMMENT" text]
    type    = DECIMAL ["(" digits ["," digits] ")"] | VARCHAR "(" digits ")" | ARRAY "<" type ">"
            | MAP "<" type "," type ">" | STRUCT "<" [schema] ">" | a scalar

Every mistake names the place where it was seen. What is read is printed back by ``str`` of the schema.
"""

import re
from typing import Final, NamedTuple, NoReturn

from trivium.pipeline.mistake import Mistake, did_you_mean
from trivium.pipeline.schema import (
    DECIMAL_PRECISION_MAX,
    Array,
    Column,
    DataType,
    Decimal,
    Map,
    Scalar,
    Schema,
    Struct,
)

NESTING_LEVELS_MAX: Final = 64
"""Types inside types; deeper than any record that a person reads, and far from Python's own limit."""

_SYNONYMS: Final = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "BYTE": "TINYINT",
    "SMALLINT": "SMALLINT",
    "SHORT": "SMALLINT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "LONG": "BIGINT",
    "FLOAT": "FLOAT",
    "REAL": "FLOAT",
    "DOUBLE": "DOUBLE",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "STRING": "STRING",
    "BINARY": "BINARY",
    "VARIANT": "VARIANT",
}
_SIZED: Final = {"CHAR": "CHAR", "CHARACTER": "CHAR", "VARCHAR": "VARCHAR"}
_DECIMALS: Final = ("DECIMAL", "DEC", "NUMERIC")
_TYPES: Final = (*_SYNONYMS, *_SIZED, *_DECIMALS, "ARRAY", "MAP", "STRUCT")

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<word>[^\W\d]\w*) | (?P<number>\d+) | `(?P<quoted>(?:[^`]|``)+)` |
        '(?P<text>(?:[^'\\]|\\.)*)' | "(?P<text2>(?:[^"\\]|\\.)*)" | (?P<sign>[<>(),:])
    )""",
    re.VERBOSE | re.DOTALL,
)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int
    """Counted from 1, as people count columns of a line."""


def parse_schema(key: str, text: str) -> Schema:
    return _Parser(key, text).schema()


class _Parser:
    def __init__(self, key: str, text: str) -> None:
        self._key = key
        self._tokens = self._split(text)
        self._next = 0
        self._levels = 0

    def schema(self) -> Schema:
        columns = self._columns()
        if self._peek().kind != "end":
            self._fail("',' and another column")
        return Schema(columns)

    # -- grammar -----------------------------------------------------------------------------------

    def _columns(self) -> tuple[Column, ...]:
        columns = [self._column()]
        while self._accept(","):
            columns.append(self._column())
        seen: set[str] = set()
        for column in columns:
            if column.name.casefold() in seen:
                raise Mistake(self._key, f"The schema has two columns {column.name}.", "Rename one of them.")
            seen.add(column.name.casefold())
        return tuple(columns)

    def _column(self) -> Column:
        token = self._peek()
        if token.kind not in ("word", "quoted"):
            self._fail("the name of a column")
        self._next += 1
        self._accept(":")
        data_type = self._type(token.text)
        is_nullable = True
        if self._accept("NOT"):
            if not self._accept("NULL"):
                self._fail("NULL")
            is_nullable = False
        comment = None
        if self._accept("COMMENT"):
            if self._peek().kind != "text":
                self._fail("a comment in quotes")
            comment = self._take().text
        return Column(token.text, data_type, is_nullable, comment)

    def _type(self, owner: str) -> DataType:
        token = self._peek()
        if token.kind != "word":
            self._fail(f"the type of {owner}")
        self._next += 1
        word = token.text.upper()
        self._levels += 1
        if self._levels > NESTING_LEVELS_MAX:
            raise Mistake(
                self._key,
                "The schema has too many types inside types.",
                f"{NESTING_LEVELS_MAX} levels are the most.",
            )
        try:
            return self._type_named(word, token, owner)
        finally:
            self._levels -= 1

    def _type_named(self, word: str, token: _Token, owner: str) -> DataType:
        if word in _SYNONYMS:
            return Scalar(_SYNONYMS[word])
        if word in _DECIMALS:
            return self._decimal()
        if word in _SIZED:
            (length,) = self._numbers(1, f"{word}(length)")
            return Scalar(f"{_SIZED[word]}({length})")
        if word == "ARRAY":
            self._expect("<")
            element = self._type(owner)
            self._expect(">")
            return Array(element)
        if word == "MAP":
            self._expect("<")
            map_key = self._type(owner)
            self._expect(",")
            value = self._type(owner)
            self._expect(">")
            return Map(map_key, value)
        if word == "STRUCT":
            self._expect("<")
            if self._accept(">"):
                return Struct(())
            fields = self._columns()
            self._expect(">")
            return Struct(fields)
        raise Mistake(
            self._key,
            f"{owner} has the type {token.text}, which Spark does not know.",
            did_you_mean(word, _TYPES),
        )

    def _decimal(self) -> Decimal:
        if self._peek().text != "(":
            return Decimal()
        numbers = self._numbers(2, "DECIMAL(precision, scale)")
        precision, scale = numbers if len(numbers) == 2 else (numbers[0], 0)
        if not 1 <= precision <= DECIMAL_PRECISION_MAX or scale > precision:
            raise Mistake(
                self._key,
                f"There is no DECIMAL({precision},{scale}).",
                f"The precision is at most {DECIMAL_PRECISION_MAX} digits, the scale at most the precision.",
            )
        return Decimal(precision, scale)

    def _numbers(self, count_max: int, shape: str) -> list[int]:
        self._expect("(")
        numbers: list[int] = []
        while True:
            if self._peek().kind != "number" or len(self._peek().text) > 9 or len(numbers) == count_max:
                self._fail(shape)
            numbers.append(int(self._take().text))
            if not self._accept(","):
                break
        self._expect(")")
        return numbers

    # -- tokens ------------------------------------------------------------------------------------

    def _split(self, text: str) -> list[_Token]:
        tokens, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                start = at + len(text[at:]) - len(text[at:].lstrip())
                raise Mistake(
                    self._key,
                    f"The schema has a {text[start]!r} at position {start + 1} that belongs nowhere.",
                    "Names with other letters are written in `backquotes`.",
                )
            kind = match.lastgroup or ""
            tokens.append(_token(kind, match[kind], match.start(kind) + 1))
            at = match.end()
        return [*tokens, _Token("end", "", len(text) + 1)]

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self) -> _Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _accept(self, text: str) -> bool:
        token = self._peek()
        if token.kind in ("sign", "word") and token.text.upper() == text:
            self._next += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail(f"'{text}'")

    def _fail(self, wanted: str) -> NoReturn:
        token = self._peek()
        seen = "the schema ends" if token.kind == "end" else f"there is '{token.text}' at position {token.at}"
        raise Mistake(self._key, f"In the schema, {seen} where {wanted} should be.", _EXAMPLE)


def _token(kind: str, text: str, at: int) -> _Token:
    if kind == "quoted":
        return _Token(kind, text.replace("``", "`"), at)
    if kind in ("text", "text2"):
        return _Token("text", re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL), at)
    return _Token(kind, text, at)


_EXAMPLE: Final = "Write names and types: 'id BIGINT, tags ARRAY<STRING>'."
