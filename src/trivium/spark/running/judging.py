"""Good rows and others: what a flow expects, asked of each of its rows.

A row that breaks a rule with ``quarantine`` is set aside with all its reasons, also if it breaks one with
``drop``: what is dropped is gone. ``fail`` stops the query before anything of the batch is committed. A rule
that cannot be asked of a row, such as one that divides by its zero, is broken by it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from trivium.pipeline.expectation import Expectation, Otherwise
from trivium.pipeline.flow import Flow
from trivium.pipeline.quarantine import RAW_COLUMNS
from trivium.spark.running.attempts import attempted
from trivium.spark.running.source_frames import PROBLEM, RECORD, column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

REASONS: Final = "__reasons"
"""Why a row is set aside (ARRAY<STRING>); NULL for a good one."""

DROPPED: Final = "__dropped"
"""Whether a row is only counted (BOOLEAN)."""

_RECORD_TYPE: Final = (
    "struct<topic: string, partition: int, offset: bigint, timestamp: timestamp, key: binary, value: binary, "
    "headers: array<struct<key: string, value: binary>>, problem: array<string>>"
)


def judge(frame: "DataFrame", flow: Flow, malformed: Otherwise) -> "DataFrame":
    """The frame with ``RECORD``, ``REASONS`` and ``DROPPED`` behind its columns."""
    from pyspark.sql import functions as F  # noqa: N812

    if RECORD not in frame.columns:
        frame = frame.withColumn(RECORD, _made_up(frame))
    problem = F.col(RECORD).getField(PROBLEM)
    rules = {each: [rule for rule in flow.expectations if rule.otherwise is each] for each in Otherwise}
    broken = _reasons(rules[Otherwise.QUARANTINE])
    reasons = F.when(problem.isNull(), broken)
    dropped = F.when(problem.isNull(), _any_broken(rules[Otherwise.DROP]) & broken.isNull())
    if malformed is Otherwise.QUARANTINE:
        reasons = F.when(problem.isNotNull(), problem).otherwise(broken)
    elif malformed is Otherwise.DROP:
        dropped = dropped.otherwise(F.lit(True))
    judged = frame.withColumns({REASONS: reasons, DROPPED: F.coalesce(dropped, F.lit(False))})
    if malformed is Otherwise.FAIL:
        judged = judged.filter(
            _stop(problem.isNotNull(), _place("cannot be read", F.array_join(problem, "; ")))
        )
    for rule in rules[Otherwise.FAIL]:
        is_broken = problem.isNull() & ~_holds(rule)
        judged = judged.filter(_stop(is_broken, _place(f"breaks {rule.name}", F.lit(rule.where))))
    return judged


def accepted(judged: "DataFrame") -> "DataFrame":
    """What another flow sees of it: good rows, with their records."""
    from pyspark.sql import functions as F  # noqa: N812

    return judged.filter(F.col(REASONS).isNull() & ~F.col(DROPPED)).drop(REASONS, DROPPED)


def _holds(rule: Expectation) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    return F.coalesce(attempted(F.expr(f"({rule.where})")), F.lit(False))


def _reasons(rules: Sequence[Expectation]) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    if not rules:
        return F.lit(None).cast("array<string>")
    said = [F.when(~_holds(rule), F.lit(reason_of(rule))) for rule in rules]
    found = F.array_compact(F.array(*said))
    return F.when(F.size(found) > 0, found)


def reason_of(rule: Expectation) -> str:
    return f"{rule.name}: not {rule.where}"


def _any_broken(rules: Sequence[Expectation]) -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    found = F.lit(False)
    for rule in rules:
        found = found | ~_holds(rule)
    return found


def _stop(condition: "Column", sentence: "Column") -> "Column":
    """True for every row, or the end of the query."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.when(condition, F.raise_error(sentence).cast("boolean")).otherwise(F.lit(True))


def _place(what: str, detail: "Column") -> "Column":
    from pyspark.sql import functions as F  # noqa: N812

    record = F.col(RECORD)
    where = F.concat(
        F.lit("Topic "),
        record.getField("topic"),
        F.lit(", partition "),
        record.getField("partition").cast("string"),
        F.lit(", offset "),
        record.getField("offset").cast("string"),
    )
    return F.concat(F.coalesce(where, F.lit("A row")), F.lit(f" {what}: "), detail, F.lit("."))


def _made_up(frame: "DataFrame") -> "Column":
    """For rows that were made of many records: the row itself, as JSON."""
    from pyspark.sql import functions as F  # noqa: N812

    row = F.to_json(F.struct(*(column(name) for name in frame.columns)))
    fields = {"value": F.encode(row, "utf-8")}
    parts = [fields.get(name, F.lit(None)).alias(name) for name in (*RAW_COLUMNS, PROBLEM)]
    return F.struct(*parts).cast(_RECORD_TYPE)
