"""What a setting is: its name, type and default, what it takes, and how far a change reaches.

``parse`` reads a value as Kafka reads it and refuses with Kafka's sentence; ``to_text`` writes it as Kafka
reports it, which is not always as it was typed: ``.50`` is reported as ``0.5``.
"""

import math
import re
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from trivium.core.config.valid import InvalidValue, Rule, Value


class ValueType(IntEnum):
    """The codes are those of DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Update(Enum):
    """How far a change reaches that is made while the broker runs; the words are Kafka's."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


# The columns of the tables, as their rows spell them.
BOOLEAN, STRING, CLASS, PASSWORD = ValueType.BOOLEAN, ValueType.STRING, ValueType.CLASS, ValueType.PASSWORD
SHORT, INT, LONG, DOUBLE, LIST = (
    ValueType.SHORT,
    ValueType.INT,
    ValueType.LONG,
    ValueType.DOUBLE,
    ValueType.LIST,
)
PER_BROKER, CLUSTER_WIDE = Update.PER_BROKER, Update.CLUSTER_WIDE

INT_MAX: Final = (1 << 31) - 1
LONG_MAX: Final = (1 << 63) - 1
"""Kafka's way to say "without limit"."""


class Definition(NamedTuple):
    name: str
    type: ValueType
    default: Value
    rule: Rule | None = None
    update: Update = Update.READ_ONLY
    broker_name: str | None = None
    """For topics and groups: the broker's setting that counts where they have none of their own."""
    internal: bool = False
    """Taken when set, but never listed: Kafka keeps it for its own tests."""
    doc: str | None = None
    """One sentence of ours. A broker's setting has one if it takes effect here."""

    @property
    def is_sensitive(self) -> bool:
        """Never shown to anybody. What is not known may be a secret, too."""
        return self.type in (ValueType.PASSWORD, ValueType.UNKNOWN)

    @property
    def is_read_only(self) -> bool:
        return self.update is Update.READ_ONLY

    def parse(self, text: str) -> Value:
        """The typed value; ``InvalidValue`` for one that this setting does not take."""
        value = _parse(self.name, self.type, text.strip())
        if self.rule is not None:
            self.rule.check(self.name, value)
        return value

    @property
    def allowed(self) -> str:
        """In a few words, what may be written."""
        if self.rule is None:
            return _KINDS[self.type]
        return f"{_KINDS[self.type]}, {self.rule.allowed}" if self.type in _NUMBERS else self.rule.allowed

    @property
    def default_text(self) -> str | None:
        return to_text(self.default)


_KINDS: Final = {
    ValueType.UNKNOWN: "text",
    ValueType.BOOLEAN: "true or false",
    ValueType.STRING: "text",
    ValueType.INT: "a whole number of 32 bits",
    ValueType.SHORT: "a whole number of 16 bits",
    ValueType.LONG: "a whole number of 64 bits",
    ValueType.DOUBLE: "a number",
    ValueType.LIST: "a list with commas",
    ValueType.CLASS: "the name of a Java class",
    ValueType.PASSWORD: "a secret",
}

_BITS: Final = {ValueType.SHORT: 16, ValueType.INT: 32, ValueType.LONG: 64}
_NUMBERS: Final = (*_BITS, ValueType.DOUBLE)
_WHOLE: Final = r"[+-]?[0-9]{1,19}"
_DOUBLE: Final = r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?"


def _parse(name: str, kind: ValueType, text: str) -> Value:
    if kind is ValueType.BOOLEAN:
        if text.lower() not in ("true", "false"):
            raise InvalidValue.of(name, text, "Expected value to be either true or false")
        return text.lower() == "true"
    if kind in _BITS:
        limit = 1 << (_BITS[kind] - 1)
        if not re.fullmatch(_WHOLE, text) or not -limit <= int(text) < limit:
            raise InvalidValue.of(name, text, f"Not a number of type {kind.name}")
        return int(text)
    if kind is ValueType.DOUBLE:
        number = re.fullmatch(_DOUBLE, text)
        if number is None:
            raise InvalidValue.of(name, text, "Not a number of type DOUBLE")
        return float(number[1])
    if kind is ValueType.LIST:
        return tuple(re.split(r"\s*,\s*", text)) if text else ()
    return text


def to_text(value: Value) -> str | None:
    """As Kafka reports it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _java_double(value)
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value)


def _java_double(value: float) -> str:
    """The shortest digits that mean this number, in which both languages agree, and Java's exponent."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # Where the first digit stands: left of the point, or behind zeros right of it.
    place = len(whole) - 1 - (len(whole + fraction) - len(digits)) + int(exponent or 0)
    digits = digits.rstrip("0")
    return f"{'-' if value < 0 else ''}{digits[0]}.{digits[1:] or '0'}E{place}"
