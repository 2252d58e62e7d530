"""Values as text: what they mean, how they are written, and what is said to a wrong one."""

from typing import Any

import pytest

from tests.core.config.recorded import TABLES, lines
from trivium.core.config.definition import DOUBLE, LONG, Definition, ValueType, to_text
from trivium.core.config.topic import TOPIC
from trivium.core.config.valid import InvalidValue

RECORDED = lines("values")


def identified(row: dict[str, Any]) -> str:
    return f"{row['name']}={row['value']}"


@pytest.mark.parametrize("row", [row for row in RECORDED if "means" in row], ids=identified)
def test_value_that_kafka_takes_means_the_same(row: dict[str, Any]) -> None:
    assert to_text(TABLES[row["of"]][row["name"]].parse(row["value"])) == row["means"]


@pytest.mark.parametrize("row", [row for row in RECORDED if "refused" in row], ids=identified)
def test_value_that_kafka_refuses_is_refused_in_its_words(row: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue) as refused:
        TABLES[row["of"]][row["name"]].parse(row["value"])
    assert str(refused.value) == row["refused"]


@pytest.mark.parametrize("text", ["NaN", "nan", "inf", "1_0", "0x10", "\u0661", "1e999"])
def test_number_that_is_none_to_a_person_is_refused(text: str) -> None:
    """Java takes some of these; nobody means them."""
    with pytest.raises(InvalidValue):
        TOPIC["min.cleanable.dirty.ratio"].parse(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.5, "-0.5"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9_999_999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (9.99999999e9, "9.99999999E9"),
        (1e23, "1.0E23"),
        (-1.5e-10, "-1.5E-10"),
    ],
)
def test_double_is_written_as_java_writes_it(number: float, text: str) -> None:
    assert to_text(number) == text


def test_value_without_a_value_has_no_text() -> None:
    assert to_text(None) is None


@pytest.mark.parametrize("kind", [ValueType.PASSWORD, ValueType.UNKNOWN])
def test_definition_of_a_secret_or_unknown_setting_is_sensitive(kind: ValueType) -> None:
    """S15: what is not known may be a secret, too."""
    assert Definition("x", kind, None).is_sensitive
    assert not Definition("x", LONG, None).is_sensitive


def test_allowed_names_the_type_and_the_bounds() -> None:
    assert TOPIC["retention.ms"].allowed == "a whole number of 64 bits, at least -1"
    assert TOPIC["cleanup.policy"].allowed == "a list of compact, delete"
    assert TOPIC["compression.type"].allowed == "one of uncompressed, zstd, lz4, snappy, gzip, producer"
    assert Definition("x", DOUBLE, 1.0).allowed == "a number"
