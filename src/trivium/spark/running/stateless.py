"""Whether a query remembers anything from one batch to the next, asked of Spark's plan of it."""

import re
from typing import TYPE_CHECKING, Final

from trivium.pipeline.beside import RESET
from trivium.pipeline.flow import Flow
from trivium.spark.running.errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_STATEFUL: Final = re.compile(
    r"^[\s:+\-]*(Aggregate|Distinct|Deduplicate\w*|FlatMapGroups\w*|TransformWithState\w*)\b", re.MULTILINE
)


def check_stateless(frame: "DataFrame", flow: Flow) -> None:
    """For runs beside the live one, whose memory they do not share; SQL was looked at before Spark began."""
    plan = str(frame._jdf.queryExecution().analyzed().toString())
    if _STATEFUL.search(plan):
        raise CannotRun(
            f"{flow.name} makes rows of many records, and part of them are the live flow's. {RESET}"
        )
