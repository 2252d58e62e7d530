"""Which task of which query this process is working for; only tasks have one."""

from trivium.spark.sinks.outlets import TaskPlace


def task_place() -> TaskPlace:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None, "only tasks write"
    return TaskPlace(
        context.getLocalProperty("sql.streaming.queryId") or "",
        context.partitionId(),
        int(context.getLocalProperty("streaming.sql.batchId") or 0),
    )
