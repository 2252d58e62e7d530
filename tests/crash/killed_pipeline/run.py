"""Runs a pipeline once, in batches of a few records, unless it is killed: FILE BROKER SCRATCH [AGAIN].

AGAIN is replay or backfill: the flow ``kept`` is run again, as by their commands.
"""

import sys
from typing import Any

from trivium.client.door import Door
from trivium.pipeline import load
from trivium.pipeline.start import EARLIEST
from trivium.pipeline.trigger import AVAILABLE_NOW
from trivium.spark import session
from trivium.spark.running import source_frames
from trivium.spark.running.backfill import Backfill, plan_backfill
from trivium.spark.running.passages import Passage
from trivium.spark.running.replay import plan_replay
from trivium.spark.running.run import Run

RECORDS_PER_BATCH = 50
FLOW = "kept"


def main(file: str, bootstrap: str, scratch: str, again: str = "") -> None:
    source_frames.OFFSETS_PER_BATCH_MAX = RECORDS_PER_BATCH  # type: ignore[misc]
    settings: dict[str, Any] = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss2m",
        "spark.local.dir": scratch,
    }
    definition = load(file)
    flow, passage, backfill = definition.flow(FLOW), None, None
    if again and flow is not None:
        passage, backfill = planned(again, definition, flow, Door(bootstrap))
    spark = session("local[2]", **settings)
    with Run(definition, spark, bootstrap) as run:
        run.start((FLOW,) if again else (), AVAILABLE_NOW, passage)
        run.wait()
    spark.stop()
    run.raise_failure()
    if backfill is not None:
        backfill.mark_done()


def planned(again: str, definition: Any, flow: Any, door: Door) -> tuple[Passage, Backfill | None]:
    if again == "replay":
        replay = plan_replay(definition, flow, door)
        assert replay is not None, "nothing is set aside"
        return replay, None
    backfill = plan_backfill(definition, flow, EARLIEST, None, door)
    assert backfill is not None, "nothing is left to fill"
    return backfill.passage, backfill


main(*sys.argv[1:])
