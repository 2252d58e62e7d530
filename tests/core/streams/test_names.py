"""Names that Kafka cannot carry are spelled so that they come back, and no two meet (S14, X.2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.core.faults import Refused
from trivium.core.streams.names import (
    is_name,
    kafka_name,
    names_of,
    spell_stream,
    spell_topic,
    unspell,
)
from trivium.core.topic_names import check_topic_name

names = st.one_of(
    st.text(st.sampled_from("ab.-_2de/é\x00 \\"), min_size=1, max_size=12), st.text(min_size=1, max_size=12)
).filter(lambda name: _is_utf8(name) and is_name(name))


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@given(names)
def test_name_comes_back_from_its_spelling(name: str) -> None:
    assert unspell(spell_stream(name)) == name
    assert unspell(spell_topic(name)) == name
    assert "." not in spell_stream(name)
    check_topic_name(spell_topic(name))


@given(names, names, names, names)
def test_topics_of_different_names_are_different_topics(a: str, t: str, b: str, u: str) -> None:
    if "default" not in (a, b) and (a, t) != (b, u):
        assert f"{spell_stream(a)}.{spell_topic(t)}" != f"{spell_stream(b)}.{spell_topic(u)}"


@given(names, names)
def test_topic_found_in_a_directory_is_what_it_was(stream: str, topic: str) -> None:
    """A crash may lose the entry of a topic and keep the topic: its name tells where it belongs."""
    try:
        name = kafka_name(stream, topic)
    except Refused:
        return
    if stream == "default" and "." in topic:
        return
    assert names_of(name, lambda each: each == stream) == (stream, topic)


@pytest.mark.parametrize(
    ("stream", "topic", "spelled"),
    [
        ("default", "orders", "orders"),
        ("shop", "orders", "shop.orders"),
        ("my.shop", "a.b", "my-_2eshop.a.b"),
        ("default", "größe/1", "gr-_c3-_b6-_c3-_9fe-_2f1"),
        ("shop", "..", "shop.-_2e-_2e"),
        ("default", "a-_b", "a-_2d_b"),
    ],
)
def test_kafka_name_is_spelled_as_documented(stream: str, topic: str, spelled: str) -> None:
    assert kafka_name(stream, topic) == spelled


@pytest.mark.parametrize(
    ("stream", "topic"),
    [
        ("default", "x" * 250),
        ("x" * 200, "y" * 49),
        ("default", "é" * 50),
        ("default", "__consumer_offsets"),
        ("default", "__trivium"),
        ("default", "__cluster_metadata"),
    ],
)
def test_name_that_is_too_long_or_the_brokers_own_is_refused(stream: str, topic: str) -> None:
    with pytest.raises(Refused):
        kafka_name(stream, topic)


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("shop.orders", ("shop", "orders")),
        ("shop.a.b", ("shop", "a.b")),
        ("other.orders", ("default", "other.orders")),
        ("default.orders", ("default", "default.orders")),
        ("shop", ("default", "shop")),
        ("shop.", ("default", "shop.")),
        (".shop", ("default", ".shop")),
        ("a-_41", ("default", "a-_41")),
        ("a-_c3", ("default", "a-_c3")),
    ],
)
def test_topic_of_another_door_belongs_to_the_stream_that_it_is_named_after(
    topic: str, expected: tuple[str, str]
) -> None:
    assert names_of(topic, lambda name: name in ("default", "shop")) == expected


def test_name_has_1_to_255_bytes() -> None:
    assert [is_name(name) for name in ("", "a", "x" * 255, "x" * 256, "é" * 128)] == [
        False,
        True,
        True,
        False,
        False,
    ]
