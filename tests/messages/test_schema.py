"""Classes as schemas: fields, versions, constructors, values."""

import pytest

from trivium.messages.schema import FieldRules, ListOf, Message, Struct, field
from trivium.messages.types import Int8, Int32, String, Uuid
from trivium.messages.version_range import ALL_VERSIONS, NO_VERSIONS, VERSION_MAX, VersionRange
from trivium.wire.uuid_text import ZERO_UUID


class Inner(Struct):
    number: Int32 = 7


class Sample(Message, key=300, versions="0-4", flexible="3+"):
    name: String
    nick: String | None = field("1+", default=None)
    id: Uuid = field("2+", default=ZERO_UUID, ignorable=True)
    inners: list[Inner] = field("1+", default_factory=list)
    inner: Inner = field("3+", default_factory=Inner, tag=0)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("0", 0, 0), ("3-9", 3, 9), ("9+", 9, VERSION_MAX), ("0+", 0, VERSION_MAX)],
)
def test_version_range_text_is_read_and_printed_alike(text: str, first: int, last: int) -> None:
    parsed = VersionRange.parse(text)
    assert parsed == VersionRange(first, last)
    assert str(parsed) == text
    assert first in parsed
    assert first - 1 not in parsed


def test_version_range_none_holds_no_version() -> None:
    assert VersionRange.parse("none") == NO_VERSIONS
    assert list(NO_VERSIONS) == []
    assert str(NO_VERSIONS) == "none"


def test_class_lists_its_fields_in_wire_order_with_their_rules() -> None:
    name, nick, _, inners, inner = Sample.fields
    assert (name.name, name.versions, name.rules.is_required) == ("name", ALL_VERSIONS, True)
    assert nick.is_ever_nullable
    assert not name.is_ever_nullable
    assert inners.type == ListOf(Inner)
    assert (inner.type, inner.tag) == (Inner, 0)
    assert (Sample.API_KEY, str(Sample.VERSIONS), str(Sample.FLEXIBLE)) == (300, "0-4", "3+")


def test_constructor_without_optional_fields_gives_fresh_defaults() -> None:
    one, other = Sample(name="a"), Sample(name="a")
    assert one == other
    assert (one.nick, one.id, one.inners, one.inner) == (None, ZERO_UUID, [], Inner())
    assert one.inners is not other.inners
    assert one.inner is not other.inner


def test_constructor_wrong_keywords_are_type_errors() -> None:
    with pytest.raises(TypeError, match="name"):
        Sample()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unknown"):
        Sample(name="a", unknown=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Sample("a")  # type: ignore[call-arg]


def test_struct_holds_its_fields_and_nothing_else() -> None:
    sample = Sample(name="a")
    assert not hasattr(sample, "__dict__")
    with pytest.raises(AttributeError):
        sample.other = 1  # type: ignore[attr-defined]


def test_structs_are_equal_by_value_of_the_same_class() -> None:
    assert Inner(number=1) == Inner(number=1)
    assert Inner(number=1) != Inner(number=2)
    assert Inner(number=7) != Sample(name="7")
    tagged = Inner(number=1)
    tagged.unknown_tags = {3: b"x"}
    assert tagged != Inner(number=1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Inner())


def test_repr_shows_fields_and_unknown_tags() -> None:
    tagged = Inner(number=1)
    assert repr(tagged) == "Inner(number=1)"
    tagged.unknown_tags = {3: b"x"}
    assert repr(tagged) == "Inner(number=1, unknown_tags={3: b'x'})"


def test_field_missing_from_a_version_without_default_is_a_mistake() -> None:
    class Careless(Struct):
        late: Int8 = field("1+")

    with pytest.raises(TypeError, match="needs a default"):
        _ = Careless.fields


def test_field_of_a_type_that_the_protocol_lacks_is_a_mistake() -> None:
    class Careless(Struct):
        plain: int

    with pytest.raises(TypeError, match="not a type of the protocol"):
        _ = Careless.fields


def test_field_rules_are_what_field_was_told() -> None:
    rules = field("3-5", default=1, tag=2, nullable="4+", ignorable=True, compact=False)
    assert rules == FieldRules(VersionRange(3, 5), 1, None, 2, VersionRange(4, VERSION_MAX), True, False)
