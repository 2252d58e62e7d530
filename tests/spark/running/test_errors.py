"""One sentence out of pages of traces."""

import pytest

from trivium.spark.running.errors import SENTENCE_CHARACTERS_MAX, is_race_in_spark, sentence_of

OURS = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted.
Traceback (most recent call last):
  File "writer.py", line 1, in commit
trivium.spark.tables.errors.TableError: The table t has no column x, which the flow gives; leave it out.
\tat org.apache.spark.Something"""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (OURS, "The table t has no column x, which the flow gives; leave it out."),
        ("[STREAM_FAILED] x\n[USER_RAISED_EXCEPTION] It breaks. SQLSTATE: P0001\n\tat", "It breaks."),
        (
            "[STREAM_FAILED] a\n[CAST_INVALID_INPUT] The value cannot be cast.",
            "[CAST_INVALID_INPUT] The value cannot be cast.",
        ),
        ("", "ValueError"),
        ("x" * 2 * SENTENCE_CHARACTERS_MAX, "x" * SENTENCE_CHARACTERS_MAX),
    ],
)
def test_error_of_spark_becomes_one_sentence(text: str, sentence: str) -> None:
    assert sentence_of(ValueError(text)) == sentence


def test_only_races_inside_spark_are_worth_another_start() -> None:
    assert is_race_in_spark(ValueError("Task serialization failed: Illegal size 5 of collection, expected 6"))
    assert not is_race_in_spark(ValueError(OURS))
