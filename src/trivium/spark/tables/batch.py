"""One micro-batch as a table remembers it."""

from dataclasses import dataclass
from typing import Final

MARKER: Final = "trivium"
"""What every property that we keep in a table begins with."""


@dataclass(frozen=True, slots=True)
class Batch:
    flow: str
    """The consumer group of the flow, ``<pipeline>.<flow>``."""

    query_id: str
    """Of the checkpoint: the same for as long as the checkpoint is there."""

    number: int
    """Spark's batchId. A batch that is run again has the number that it had."""

    offsets: str = "[]"
    """JSON: up to where each source is read with this batch, ``[{"orders": {"0": 17}}]``."""

    @property
    def writer(self) -> str:
        """Under which a table remembers the last batch."""
        return f"{MARKER}.{self.flow}.{self.query_id}"

    def properties(self) -> dict[str, str]:
        """For the commit's own description, where people look."""
        return {
            f"{MARKER}.flow": self.flow,
            f"{MARKER}.query": self.query_id,
            f"{MARKER}.batch": str(self.number),
            f"{MARKER}.offsets": self.offsets,
        }
