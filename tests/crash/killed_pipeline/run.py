"""Runs a pipeline once, in batches of a few records, unless it is killed: FILE BROKER SCRATCH."""

import sys
from typing import Any

from trivium.pipeline import load
from trivium.pipeline.trigger import AVAILABLE_NOW
from trivium.spark import session
from trivium.spark.running import source_frames
from trivium.spark.running.run import Run

RECORDS_PER_BATCH = 50


def main(file: str, bootstrap: str, scratch: str) -> None:
    source_frames.OFFSETS_PER_BATCH_MAX = RECORDS_PER_BATCH  # type: ignore[misc]
    settings: dict[str, Any] = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss2m",
        "spark.local.dir": scratch,
    }
    spark = session("local[2]", **settings)
    with Run(load(file), spark, bootstrap) as run:
        run.start(trigger=AVAILABLE_NOW)
        run.wait()
    spark.stop()
    run.raise_failure()


main(*sys.argv[1:])
