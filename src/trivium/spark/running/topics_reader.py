"""A stream over topics that keeps in a file which topics they are.

The file is written before Spark hears the offsets that belong to it; of a topic that was made anew only when
Spark has written down that it is read from its beginning. A query may read a source several times, each time
by a reader of its own with offsets of its own, and all keep the same file: Spark asks one after the other.
"""

from collections.abc import Mapping

from trivium.client.topology import TopicPartition
from trivium.spark.connector.options import ReadOptions
from trivium.spark.connector.rows import WantedColumn
from trivium.spark.connector.stream_reader import StreamReader
from trivium.spark.connector.topic_ids import TopicIds
from trivium.spark.running.state_files import read_json, write_json


class TopicsReader(StreamReader):
    def __init__(self, options: ReadOptions, columns: tuple[WantedColumn, ...], file: str) -> None:
        super().__init__(options, columns)
        self._file = file
        self._is_read = False

    def _begin(self, ids: Mapping[str, bytes]) -> None:
        super()._begin(ids)
        self._is_read = True
        write_json(self._file, self._topic_ids.to_json())

    def _known_ids(self) -> TopicIds:
        if not self._is_read:
            self._topic_ids = kept_ids(self._file)
            self._is_read = True
        return self._topic_ids

    def _made_anew(self, starts: Mapping[TopicPartition, int]) -> set[str]:
        before = self._known_ids().to_json()
        found = super()._made_anew(starts)
        if self._topic_ids.to_json() != before:
            write_json(self._file, self._topic_ids.to_json())
        return found


def kept_ids(file: str) -> TopicIds:
    ids = TopicIds()
    ids.from_json(read_json(file) or {})
    return ids
