"""An expression that is NULL where it cannot be computed, instead of the end of the query.

Spark has it for single functions (``try_divide``, ``try_cast`` …) and, inside, for any expression.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column


def attempted(expression: "Column") -> "Column":
    """Through Spark Connect, where nothing inside of Spark can be named, the expression as it is."""
    from pyspark import SparkContext
    from pyspark.sql.classic.column import Column as ClassicColumn

    context = SparkContext._active_spark_context
    if context is None or context._jvm is None or not isinstance(expression, ClassicColumn):
        return expression
    spark = context._jvm.org.apache.spark.sql
    tried = spark.catalyst.expressions.TryEval(spark.classic.ExpressionUtils.expression(expression._jc))
    return ClassicColumn(spark.classic.ExpressionUtils.column(tried))
