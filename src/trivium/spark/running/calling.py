"""The function of a flow in Python: code of its author, whose mistakes are told with their line."""

import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trivium.pipeline.flow import Flow
from trivium.spark.running.errors import CannotRun

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def called(flow: Flow, inputs: "Sequence[DataFrame]") -> "DataFrame":
    """What the function makes of its inputs. What Spark says of it is not changed here."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

    assert flow.function is not None
    try:
        frame = flow.function(*inputs)
    except (PySparkException, Py4JError, CannotRun):
        raise
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise CannotRun(
            f"The function of the flow {flow.name} fails with {type(error).__name__}, {error} "
            f"({place.filename}, line {place.lineno}); correct it."
        ) from error
    if not isinstance(frame, DataFrame):
        raise CannotRun(
            f"The function of the flow {flow.name} gives {_named(frame)} instead of a DataFrame; return one."
        )
    return frame


def _named(given: object) -> str:
    return "nothing" if given is None else f"a {type(given).__name__}"
