"""Every Python that Spark starts reads this first: at a chosen step of a batch all processes of the run are
killed with SIGKILL, driver and JVM among them.

    TRIVIUM_KILL_AT      task | before | after      in a task, before the commit, after it
    TRIVIUM_KILL_BATCH   the number of the batch
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

AT, BATCH = os.environ.get("TRIVIUM_KILL_AT"), int(os.environ.get("TRIVIUM_KILL_BATCH", "-1"))


def kill_everybody() -> None:
    """All processes of this session but this one, and then this one."""
    own = os.getsid(0)
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and int(each.name) != os.getpid():
            try:
                if os.getsid(int(each.name)) == own:
                    os.kill(int(each.name), signal.SIGKILL)
            except ProcessLookupError:
                continue
    os.kill(os.getpid(), signal.SIGKILL)


def arm() -> None:
    from pyspark import TaskContext

    from trivium.spark.sinks.upsert import UpsertWriter
    from trivium.spark.sinks.writer import FlowWriter

    write, commit = FlowWriter.write, FlowWriter.commit
    write_upserts, commit_upserts = UpsertWriter.write, UpsertWriter.commit

    def write_or_die(self: FlowWriter, iterator: Any) -> Any:
        done = write(self, iterator)
        context = TaskContext.get()
        if AT == "task" and context and context.getLocalProperty("streaming.sql.batchId") == str(BATCH):
            kill_everybody()
        return done

    def commit_or_die(self: FlowWriter, messages: Any, batchId: int) -> None:  # noqa: N803
        if AT == "before" and batchId == BATCH:
            kill_everybody()
        commit(self, messages, batchId)
        if AT == "after" and batchId == BATCH:
            kill_everybody()

    def write_upserts_or_die(self: UpsertWriter, iterator: Any) -> Any:
        done = write_upserts(self, iterator)
        if AT == "task" and self._number == BATCH:
            kill_everybody()
        return done

    def commit_upserts_or_die(self: UpsertWriter, messages: Any) -> None:
        if AT == "before" and self._number == BATCH:
            kill_everybody()
        commit_upserts(self, messages)
        if AT == "after" and self._number == BATCH:
            kill_everybody()

    UpsertWriter.write = write_upserts_or_die  # type: ignore[method-assign]
    UpsertWriter.commit = commit_upserts_or_die  # type: ignore[method-assign]
    FlowWriter.write = write_or_die  # type: ignore[method-assign]
    FlowWriter.commit = commit_or_die  # type: ignore[method-assign]


if AT is not None and any("pyspark" in word for word in sys.orig_argv):
    arm()
