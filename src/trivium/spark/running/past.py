"""``format("trivium_past")``: a part of topics that is over, as a stream that ends.

The options of ``format("trivium")`` with ``assign``, and ``until``: offsets that are not read any more. A
backfill is a query like every other, with a checkpoint; killed, it goes on where it was.
"""

import json
from typing import TYPE_CHECKING, Any, Final

from trivium.spark.connector.source import TriviumDataSource

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from trivium.spark.running.past_reader import PastReader

FORMAT: Final = "trivium_past"
UNTIL_OPTION: Final = "until"


class PastSource(TriviumDataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._until = options.get(UNTIL_OPTION, "{}")
        self.options: Any = {name: text for name, text in options.items() if name != UNTIL_OPTION}

    def streamReader(self, schema: "StructType") -> "PastReader":  # noqa: N802 - Spark's name
        from trivium.spark.connector.offsets_json import from_json
        from trivium.spark.connector.options import parse_options
        from trivium.spark.connector.rows import check_schema
        from trivium.spark.running.past_reader import PastReader

        options = parse_options(self.options, is_stream=True)
        return PastReader(options, check_schema(schema), from_json(json.loads(self._until)))
