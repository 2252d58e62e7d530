"""Which values a setting takes, beyond their type.

A rule speaks twice: it refuses in Kafka's own words, which clients and their tests know, and it says in a few
words what is ``allowed``, for a person who asks.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | None
"""A setting's value after parsing. None is a setting that nobody gave a value."""


class InvalidValue(Exception):
    """A value that its setting does not take; the message is Kafka's sentence."""

    @classmethod
    def of(cls, name: str, value: object, reason: str) -> "InvalidValue":
        return cls(f"Invalid value {value} for configuration {name}: {reason}")


class Rule(Protocol):
    @property
    def allowed(self) -> str: ...

    def check(self, name: str, value: Value) -> None:
        """Raise ``InvalidValue`` if the setting of this name does not take the value."""


class Range(NamedTuple):
    """A number from ``low`` to ``high``, both included; without ``high`` as large as its type is."""

    low: float
    high: float | None = None

    @property
    def allowed(self) -> str:
        return f"at least {self.low}" if self.high is None else f"{self.low} to {self.high}"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, int | float)
        if value < self.low:
            raise InvalidValue.of(name, value, f"Value must be at least {self.low}")
        if self.high is not None and value > self.high:
            raise InvalidValue.of(name, value, f"Value must be no more than {self.high}")


class GzipLevel:
    """zlib's levels, and its word for the default one."""

    @property
    def allowed(self) -> str:
        return "1 to 9, or -1"

    def check(self, name: str, value: Value) -> None:
        if value != -1 and value not in range(1, 10):
            raise InvalidValue.of(name, value, "Value must be between 1 and 9 or equal to -1")


class OneOf(NamedTuple):
    words: tuple[str, ...]
    ignore_case: bool = False

    @property
    def allowed(self) -> str:
        return f"one of {', '.join(self.words)}"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, str)
        if (value.upper() if self.ignore_case else value) not in self.words:
            hint = " (case insensitive)" if self.ignore_case else ""
            raise InvalidValue.of(name, value, f"String must be one of{hint}: {', '.join(self.words)}")


class NotEmpty:
    """Some text."""

    @property
    def allowed(self) -> str:
        return "not empty"

    def check(self, name: str, value: Value) -> None:
        if not value:
            raise InvalidValue.of(name, value, "String must be non-empty")


class ListOf(NamedTuple):
    """A list without blanks and repetitions; of these words, if there are any."""

    words: tuple[str, ...] = ()
    may_be_empty: bool = True

    @property
    def allowed(self) -> str:
        if self.words:
            return f"a list of {', '.join(self.words)}" + ("" if self.may_be_empty else ", at least one")
        return "a list with commas" if self.may_be_empty else "one or more, with commas"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple)
        if not value and not self.may_be_empty:
            items = f"[{', '.join(self.words)}]" if self.words else "any non-empty value"
            raise InvalidValue(f"Configuration '{name}' must not be empty. Valid values include: {items}")
        if len(set(value)) < len(value):
            raise InvalidValue(f"Configuration '{name}' values must not be duplicated.")
        if "" in value:
            raise InvalidValue(f"Configuration '{name}' values must not be empty.")
        if self.words:
            for item in value:
                OneOf(self.words).check(name, item)


class ThrottledReplicas:
    """Replicas as partition:broker, or a star for all."""

    @property
    def allowed(self) -> str:
        return "* or a list of partition:broker"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, tuple)
        # A comma at the end is fine with Kafka.
        items = _without_last_blanks(value)
        if items != ("*",) and not all(re.fullmatch(r"[0-9]+:[0-9]+", item) for item in items):
            form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
            reason = f"{name} must be the literal '*' or a list of replicas in the following format: {form}"
            raise InvalidValue.of(name, f"[{', '.join(value)}]", reason)


class AddressNumbers:
    """A number for each of some addresses, written as ADDRESS:NUMBER; an IPv6 address keeps its colons."""

    @property
    def allowed(self) -> str:
        return "a list of ADDRESS:NUMBER"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, str)
        for item in filter(None, value.split(",")):
            if not re.fullmatch(r"\s*\S+:[0-9]{1,9}\s*", item):
                reason = f"'{item}' is not of the form address:number"
                raise InvalidValue(f"Error parsing configuration property '{name}': {reason}")


class OffsetReset:
    """Where a group without offsets begins: at an end of the log, or so long ago (ISO 8601, up to days)."""

    @property
    def allowed(self) -> str:
        return "earliest, latest, or by_duration: and a time such as PT1H"

    def check(self, name: str, value: Value) -> None:
        assert isinstance(value, str)
        if value not in ("earliest", "latest") and not re.fullmatch(_BY_DURATION, value):
            words = "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'"
            reason = f"Invalid value `{value}` for configuration {name}. The value must be either {words}."
            raise InvalidValue.of(name, value, reason)


_BY_DURATION: Final = (
    r"by_duration:(?i:\+?P(?=[0-9T])([0-9]+D)?(T(?=[0-9])([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{0,9})?S)?)?)"
)


def _without_last_blanks(items: Sequence[str]) -> tuple[str, ...]:
    count = len(items)
    while count and not items[count - 1]:
        count -= 1
    return tuple(items[:count])


def at_least(low: int) -> Range:
    return Range(low)


def between(low: float, high: float) -> Range:
    return Range(low, high)


def one_of(*words: str) -> OneOf:
    return OneOf(words)


def list_of(*words: str) -> ListOf:
    return ListOf(words)


def some_of(*words: str) -> ListOf:
    return ListOf(words, may_be_empty=False)


COMPRESSION: Final = one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP: Final = one_of("CreateTime", "LogAppendTime")
CLEANUP: Final = list_of("compact", "delete")
"""What topics and brokers take alike."""
