"""One sentence out of pages of traces."""

import pytest

from trivium.spark.running.errors import SENTENCE_CHARACTERS_MAX, sentence_of

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
        (
            "[STREAM_FAILED] a\n[PYTHON_ERROR] Failed: Traceback (most recent call last):\n"
            '  File "a.py", line 1, in <module>\n    import b\nModuleNotFoundError: No module named b\n\tat',
            "[PYTHON_ERROR] Failed: ModuleNotFoundError: No module named b",
        ),
        (
            "trivium.spark.connector.errors.DataLoss: They are gone; or set failOnDataLoss to false.",
            'They are gone; or say expired = "skip" in the source.',
        ),
        ("", "ValueError"),
        ("x" * 2 * SENTENCE_CHARACTERS_MAX, "x" * SENTENCE_CHARACTERS_MAX),
    ],
)
def test_error_of_spark_becomes_one_sentence(text: str, sentence: str) -> None:
    assert sentence_of(ValueError(text)) == sentence
