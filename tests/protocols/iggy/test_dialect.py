"""Which generation a client is of: by its words, by its bytes, and what wins (0.5 to 0.8 on one port)."""

import pytest

from trivium.protocols.iggy.dialect import Dialect, Generation, generation_said

V0_5, V0_6, V0_7, V0_8 = Generation.V0_5, Generation.V0_6, Generation.V0_7, Generation.V0_8


@pytest.mark.parametrize(
    ("version", "context", "generation"),
    [
        ("0.6.201", "", V0_5),
        ("0.7.0", "", V0_5),
        ("0.8.0-edge.1", "", V0_6),
        ("0.8.2", "", V0_6),
        ("0.8.3-edge.1", "", V0_7),
        ("0.9.0", "", V0_7),
        ("0.9.5-edge.1", "", V0_7),
        ("0.10.0", "", V0_8),
        ("0.11.0-edge.1", "", V0_8),
        ("0.6.30", "java-sdk", V0_6),
        ("iggy-java-sdk/0.7.0", "Iggy Java SDK 0.7.0", V0_7),
        ("iggy-java-sdk/0.8.0", "", V0_8),
        ("0.5.0", "csharp-sdk", None),
        ("0.8.0", "csharp-sdk", V0_8),
        ("0.10.0", "something else", None),
        ("", "", None),
        ("newest", "", None),
    ],
)
def test_words_at_login_mean_a_generation(version: str, context: str, generation: Generation | None) -> None:
    assert generation_said(version, context) is generation


def test_dialect_without_words_is_the_listeners() -> None:
    dialect = Dialect(V0_8)
    dialect.introduced("", "")
    assert (dialect.counts_from_one, dialect.header_bytes) == (False, 64)


def test_dialect_follows_the_words_of_a_login() -> None:
    dialect = Dialect(V0_8)
    dialect.introduced("0.7.0", "")
    assert (dialect.counts_from_one, dialect.header_bytes) == (True, 56)


def test_dialect_shown_by_bytes_is_not_overruled_by_words() -> None:
    dialect = Dialect(V0_8)
    dialect.shown_counting(True)
    dialect.shown_header(56)
    dialect.introduced("0.10.0", "")
    assert (dialect.counts_from_one, dialect.header_bytes) == (True, 56)


def test_dialect_of_an_undecided_layout_stays() -> None:
    dialect = Dialect(V0_5)
    assert dialect.shown_counting(None)
    assert not Dialect(V0_8).shown_counting(None)


def test_dialect_of_a_pinned_listener_is_changed_by_nothing() -> None:
    dialect = Dialect(V0_5, is_pinned=True)
    dialect.introduced("0.10.0", "")
    assert dialect.shown_counting(False)
    dialect.shown_header(64)
    assert (dialect.counts_from_one, dialect.header_bytes) == (True, 56)


def test_dialect_of_the_word_that_two_clients_say_is_decided_by_the_question_for_the_cluster() -> None:
    go, rust = Dialect(V0_8), Dialect(V0_8)
    for dialect in (go, rust):
        dialect.introduced("0.8.0", "")
    rust.asked_for_cluster()
    assert (go.header_bytes, rust.header_bytes) == (64, 56)


def test_dialect_of_another_word_is_not_changed_by_the_question_for_the_cluster() -> None:
    dialect = Dialect(V0_5)
    dialect.introduced("0.10.0", "")
    dialect.asked_for_cluster()
    assert dialect.header_bytes == 64
