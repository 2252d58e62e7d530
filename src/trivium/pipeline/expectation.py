"""What must hold of a flow's rows, and what becomes of those of which it does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from trivium.pipeline.mistake import Mistake, within
from trivium.pipeline.names import check_name
from trivium.pipeline.value import check_keys, choice, table, text


class Otherwise(StrEnum):
    QUARANTINE = "quarantine"
    """The record is kept aside, with the reason (``quarantine``)."""

    DROP = "drop"
    """The row is counted and forgotten."""

    FAIL = "fail"
    """The flow stops before anything of the batch is written."""


@dataclass(frozen=True, slots=True)
class Expectation:
    name: str
    where: str
    """A condition of SQL; a row of which it is not true, NULL included, breaks the expectation."""

    otherwise: Otherwise = Otherwise.QUARANTINE


def expect(where: str, otherwise: str = "quarantine") -> Mapping[str, object]:
    """An expectation in Python: ``expect={"known": expect("customer IS NOT NULL", otherwise="drop")}``."""
    return {"where": where, "otherwise": otherwise}


def parse_expectations(value: object) -> tuple[Expectation, ...]:
    if value is None:
        return ()
    with within("expect"):
        return tuple(_parse(check_name("", name), rule) for name, rule in table("", value).items())


def _parse(name: str, rule: object) -> Expectation:
    if isinstance(rule, str):
        return Expectation(name, text(name, rule))
    with within(name):
        fields = table("", rule)
        check_keys(fields, ("where", "otherwise"), "An expectation")
        if "where" not in fields:
            raise Mistake(
                "", f"The expectation {name} says nothing.", 'Give it where = "…", a condition of SQL.'
            )
        otherwise = choice("otherwise", fields.get("otherwise", "quarantine"), Otherwise)
        return Expectation(name, text("where", fields["where"]), otherwise)
