"""``format("trivium_topics")``: ``format("trivium")`` for a live flow, which knows over all its runs which
topics it reads.

Spark's checkpoint has their names and offsets only. The option ``topics_file`` names a file beside it, which
tells one that was deleted and made anew from the one that the flow has read.
"""

from typing import TYPE_CHECKING, Any, Final

from trivium.spark.connector.source import TriviumDataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from trivium.spark.running.topics_reader import TopicsReader

FORMAT: Final = "trivium_topics"
FILE_OPTION: Final = "topics_file"


class TopicsOfFlow(TriviumDataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._file = options.get(FILE_OPTION, "")
        self.options: Any = {name: text for name, text in options.items() if name != FILE_OPTION}

    def streamReader(self, schema: "StructType") -> "TopicsReader":  # noqa: N802 - Spark's name
        from trivium.spark.connector.options import parse_options
        from trivium.spark.connector.rows import check_schema
        from trivium.spark.running.topics_reader import TopicsReader

        options = parse_options(self.options, is_stream=True)
        return TopicsReader(options, check_schema(schema), self._file)
