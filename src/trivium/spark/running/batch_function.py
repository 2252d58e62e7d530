"""What ``foreachBatch`` calls, inside the JVM: every batch is handed to a data source as a batch write.

Spark refuses changing aggregates (the output mode ``update``) to sinks written in Python, and gives them
only to ``foreachBatch``. Its usual function lives in this process, and the JVM calls back into it, over a
socket of py4j: a query has been seen to wait for ever for such a call that nobody carried out. So the
function is a few lines of Java, compiled by the compiler that Spark brings for its own queries, and nothing
calls back (ADR 14).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

_JAVA: Final = """
public final class BatchFunction implements org.apache.spark.api.java.function.VoidFunction2 {
    private final String format;
    private final java.util.Map options;
    private final String batchOption;

    public BatchFunction(String format, java.util.Map options, String batchOption) {
        this.format = format;
        this.options = options;
        this.batchOption = batchOption;
    }

    public void call(Object rows, Object batch) {
        ((org.apache.spark.sql.Dataset) rows).write()
            .format(format).mode("append").options(options).option(batchOption, batch.toString()).save();
    }
}
"""


def write_each_batch(
    session: "SparkSession",
    writer: "DataStreamWriter",
    format_name: str,
    options: Mapping[str, str],
    batch_option: str,
) -> "DataStreamWriter":
    """Let every batch be written by ``format_name``, with its number in ``batch_option``."""
    jvm: Any = session._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(_JAVA)
    (constructor,) = compiler.getClassLoader().loadClass("BatchFunction").getConstructors()
    java_options = jvm.java.util.HashMap()
    for name, value in options.items():
        java_options.put(name, value)
    arguments = session.sparkContext._gateway.new_array(jvm.java.lang.Object, 3)  # type: ignore[union-attr]
    arguments[0], arguments[1], arguments[2] = format_name, java_options, batch_option
    writer._jwrite = writer._jwrite.foreachBatch(constructor.newInstance(arguments))
    return writer
