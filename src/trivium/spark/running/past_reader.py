"""A stream over topics that ends where it is told to, whatever has come since."""

from collections.abc import Mapping

from trivium.client.topology import TopicPartition
from trivium.spark.connector.options import ReadOptions
from trivium.spark.connector.rows import WantedColumn
from trivium.spark.connector.stream_reader import StreamReader


class PastReader(StreamReader):
    def __init__(
        self, options: ReadOptions, columns: tuple[WantedColumn, ...], until: Mapping[TopicPartition, int]
    ) -> None:
        super().__init__(options, columns)
        self._until = dict(until)

    def _find_ends(self) -> dict[TopicPartition, int]:
        ends = super()._find_ends()
        self._ends = {key: min(end, self._until.get(key, 0)) for key, end in ends.items()}
        return dict(self._ends)
