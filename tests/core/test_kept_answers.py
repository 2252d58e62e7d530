"""Short texts are known by heart, and long ones are not kept."""

import tracemalloc
from collections.abc import Callable

import pytest

from trivium.core.internal_topic import java_hash
from trivium.core.kept_answers import TEXT_CHARS_MAX, kept
from trivium.core.transactions.records import tombstone


def test_answer_about_a_short_text_is_found_once() -> None:
    asked: list[str] = []

    @kept
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    short, long = "s" * TEXT_CHARS_MAX, "l" * (TEXT_CHARS_MAX + 1)
    assert [length(text) for text in (short, short, long, long)] == [256, 256, 257, 257]
    assert asked == [short, long, long]


@pytest.mark.parametrize("ask", [java_hash, tombstone])
def test_long_ids_of_groups_and_transactions_fill_no_memory(ask: Callable[[str], object]) -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(50):
            ask(f"{number}-{'x' * 30_000}")
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000
