"""A pipeline whose driver, JVM and workers are killed with SIGKILL, and which is simply run again (R19).

Every record is in every sink once, at whatever step of a batch everything ended, and what is set aside is in
its quarantine once. ``make test`` has a quick form, ``tests/spark/running/test_killed_workers.py``. The long
form (``make crash``) kills at each step, one after the other on the same state, and has Iceberg and topics
among its sinks, too.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from trivium.pipeline.sink import TableSink, delta, iceberg, parquet
from trivium.spark.tables.stores import open_store
from trivium.testing import Broker

HERE = Path(__file__).parent / "killed_pipeline"
IS_LONG = "TRIVIUM_CRASH_KILLS" in os.environ
RECORDS = 200 if IS_LONG else 80
"""In batches of 50."""

TIMEOUT_S = 300
KILLS = [("after", 0)]
"""After the commit of a table and before Spark knows of it: where a naive sink writes twice."""

TABLES: dict[str, Callable[[str], TableSink]] = {"delta": delta, "parquet": parquet}
TOPICS: list[str] = []
if IS_LONG:
    KILLS = [("task", 0), ("before", 0), ("after", 0), ("task", 1), ("after", 2), ("before", 3)]
    TABLES["iceberg"] = iceberg
    TOPICS = ["copied"]


def definition() -> str:
    sinks = [f'{{ format = "{name}", path = "{name}" }}' for name in TABLES]
    sinks += [f'{{ topic = "{name}" }}' for name in TOPICS]
    flows = [
        f'[flow.f{at}]\nsql = "SELECT id FROM numbers"\nexpect.odd = "id % 10 <> 0"\nsink = {sink}'
        for at, sink in enumerate(sinks)
    ]
    head = '[pipeline]\nname = "numbers"\n[source.numbers]\ntopic = "numbers"\nschema = "id BIGINT"\n'
    return head + "\n".join(flows)


def run(folder: Path, bootstrap: str, kill: tuple[str, int] | None) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ, PYTHONPATH=str(HERE))
    if kill is not None:
        environment |= {"TRIVIUM_KILL_AT": kill[0], "TRIVIUM_KILL_BATCH": str(kill[1])}
    return subprocess.run(
        [sys.executable, str(HERE / "run.py"), "numbers.toml", bootstrap, str(folder / "scratch")],
        cwd=folder,
        env=environment,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.pipelines
@pytest.mark.timeout((len(KILLS) + 1) * TIMEOUT_S)
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(
    (shutil.which("java") is None and "JAVA_HOME" not in os.environ) or not Path("/proc").exists(),
    reason="needs Java and /proc",
)
def test_pipeline_killed_at_any_step_writes_everything_once(tmp_path: Path) -> None:
    (tmp_path / "numbers.toml").write_text(definition())
    with Broker() as broker:
        broker.create_topic("numbers", 1)
        broker.produce("numbers", [json.dumps({"id": number}) for number in range(RECORDS)])
        for kill in KILLS:
            killed = run(tmp_path, broker.bootstrap, kill)
            assert killed.returncode == -9, (kill, killed.stderr[-2000:])
        last = run(tmp_path, broker.bootstrap, None)
        assert last.returncode == 0, last.stderr[-2000:]
        good = [number for number in range(RECORDS) if number % 10]
        bad = [number for number in range(RECORDS) if number % 10 == 0]
        for name, make in TABLES.items():
            path = str(tmp_path / name)
            assert sorted(open_store(make(path)).read().column("id").to_pylist()) == good, path
            aside = open_store(make(path + "__quarantine")).read().column("offset").to_pylist()
            assert sorted(aside) == bad, path
        for topic in TOPICS:
            copied = [json.loads(record.value or b"")["id"] for record in broker.records(topic)]
            assert sorted(copied) == good
            assert len(broker.records(f"{topic}__quarantine")) == len(bad)
