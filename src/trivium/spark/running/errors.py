"""Why a pipeline does not run, or stopped, in one sentence.

Spark wraps what our own code says in pages of traces of two languages. ``sentence_of`` finds it again.
"""

import re
from typing import Final

SENTENCE_CHARACTERS_MAX: Final = 600
"""More than that is no sentence any more."""

_OURS: Final = re.compile(r"trivium\.[\w.]+\.(?:[A-Z]\w+): ([^\n]+)")
_RAISED: Final = re.compile(r"\[USER_RAISED_EXCEPTION\] ([^\n]+?)(?: SQLSTATE: \w+)?(?:\n|$)")
_CLASSED: Final = re.compile(r"\[[A-Z_.0-9]{4,}\] [^\n]+")
_TRACE: Final = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t][^\n]*\n)+")
"""Of Python: what was raised is said after it."""
_WORDS: Final = {
    "set failOnDataLoss to false": 'say expired = "skip" in the source',
    "Start with a new checkpoint": "Reset the flow",
}
"""What the connector proposes, in the words of a pipeline."""

_CONCURRENT: Final = re.compile(r"Multiple streaming queries are concurrently using")
_TWO_RUNS: Final = (
    "Another run of this flow writes to its checkpoint, too; end that run, and start this one again."
)

_BUSY: Final = re.compile(r"Python worker failed to connect back")


class CannotRun(Exception):
    """The pipeline cannot be run like this."""


class FlowFailed(Exception):
    """A flow stopped; what it had written stays, and it goes on from there when it is run again."""

    def __init__(self, flow: str, sentence: str) -> None:
        super().__init__(f"{flow} stopped: {sentence}")
        self.flow = flow


def is_machine_busy(error: BaseException) -> bool:
    """Whether Spark gave up on a process that did not come up within ten seconds, which nobody can change.
    Nothing is wrong with the flow then."""
    return _BUSY.search(str(error)) is not None


def sentence_of(error: BaseException) -> str:
    """What a person needs of an error of Spark: our own sentence if there is one, else Spark's."""
    text = _TRACE.sub("", str(error))
    if _CONCURRENT.search(text):
        return _TWO_RUNS
    for pattern in (_OURS, _RAISED):
        found = pattern.findall(text)
        if found:
            said = str(found[-1])
            for theirs, ours in _WORDS.items():
                said = said.replace(theirs, ours)
            return said.strip()[:SENTENCE_CHARACTERS_MAX]
    # The outermost class only says that a query or a job has failed.
    found = [each for each in _CLASSED.findall(text) if not each.startswith("[STREAM_FAILED]")]
    lines: list[str] = found or [line for line in text.splitlines() if line.strip()] or [type(error).__name__]
    return lines[0].strip()[:SENTENCE_CHARACTERS_MAX]
