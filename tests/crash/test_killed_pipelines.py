"""A pipeline whose driver, JVM and workers are killed with SIGKILL, and which is simply run again (R19).

Every record is in every sink once, at whatever step of a batch everything ended, and what is set aside is in
its quarantine once. ``make test`` has a quick form, ``tests/spark/running/test_killed_workers.py``. The long
form (``make crash``) kills at each step, one after the other on the same state, and has Iceberg, topics and
tables that are changed by key among its sinks, too. A replay and a backfill are killed likewise, and so is
the broker while a pipeline runs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
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
CHANGED: dict[str, Callable[..., TableSink]] = {}
"""Tables with a row for each ten of numbers, which is replaced whenever there are more of them."""

AGAIN_KILLS = [("after", 0)]
"""Of a replay and of a backfill, each on the state that the one before has left."""

if IS_LONG:
    AGAIN_KILLS = [("task", 0), ("before", 0), ("after", 0)]
    CHANGED = {"delta": delta, "iceberg": iceberg}
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
    flows += [
        f"[flow.tens_{name}]\n"
        'sql = "SELECT id DIV 10 AS ten, count(*) AS many FROM numbers GROUP BY id DIV 10"\n'
        f'sink = {{ format = "{name}", path = "tens_{name}", mode = "upsert", key = "ten" }}'
        for name in CHANGED
    ]
    head = '[pipeline]\nname = "numbers"\n[source.numbers]\ntopic = "numbers"\nschema = "id BIGINT"\n'
    return head + "\n".join(flows)


def run(
    folder: Path, bootstrap: str, kill: tuple[str, int] | None, *again: str
) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ, PYTHONPATH=str(HERE))
    if kill is not None:
        environment |= {"TRIVIUM_KILL_AT": kill[0], "TRIVIUM_KILL_BATCH": str(kill[1])}
    return subprocess.run(
        [sys.executable, str(HERE / "run.py"), "numbers.toml", bootstrap, str(folder / "scratch"), *again],
        cwd=folder,
        env=environment,
        start_new_session=True,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


pytestmark = [
    pytest.mark.pipelines,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(
        (shutil.which("java") is None and "JAVA_HOME" not in os.environ) or not Path("/proc").exists(),
        reason="needs Java and /proc",
    ),
]


@pytest.mark.timeout((len(KILLS) + 1) * TIMEOUT_S)
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
        check_sinks(tmp_path, broker)


def check_sinks(folder: Path, broker: Broker) -> None:
    """Every record is in every sink once, or in its quarantine."""
    good = [number for number in range(RECORDS) if number % 10]
    bad = [number for number in range(RECORDS) if number % 10 == 0]
    for name, make in TABLES.items():
        path = str(folder / name)
        assert sorted(open_store(make(path)).read().column("id").to_pylist()) == good, path
        aside = open_store(make(path + "__quarantine")).read().column("offset").to_pylist()
        assert sorted(aside) == bad, path
    for topic in TOPICS:
        copied = [json.loads(record.value or b"")["id"] for record in broker.records(topic)]
        assert sorted(copied) == good
        assert len(broker.records(f"{topic}__quarantine")) == len(bad)
    for name, make in CHANGED.items():
        tens = open_store(make(str(folder / f"tens_{name}"), mode="upsert", key="ten")).read()
        found = sorted((row["ten"], row["many"]) for row in tens.to_pylist())
        assert found == [(ten, 10) for ten in range(RECORDS // 10)], name


def begun(folder: Path, step: str, process: "subprocess.Popen[str]") -> bool:
    """Whether the first flow comes to a step of a batch, as its checkpoint has it, before the run ends."""
    ends_at = time.monotonic() + TIMEOUT_S
    file = folder / ".trivium" / "numbers" / "checkpoints" / "f0" / step
    while process.poll() is None and time.monotonic() < ends_at:
        if file.exists():
            return True
        time.sleep(0.02)
    return file.exists()


@pytest.mark.timeout(4 * TIMEOUT_S)
def test_broker_killed_while_a_pipeline_runs_costs_no_record(tmp_path: Path) -> None:
    """R19: killed when a batch begins and behind a commit, and started again. Who stops then goes on."""
    (tmp_path / "numbers.toml").write_text(definition())
    with Broker(tmp_path / "data") as broker:
        broker.create_topic("numbers", 1)
        broker.produce("numbers", [json.dumps({"id": number}) for number in range(RECORDS)])
        arguments = [sys.executable, str(HERE / "run.py"), "numbers.toml", broker.bootstrap]
        with subprocess.Popen(
            [*arguments, str(tmp_path / "scratch")],
            cwd=tmp_path,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                for step in ("offsets/0", "commits/0", "offsets/1"):
                    if begun(tmp_path, step, process):
                        broker.kill()
                        broker.start()
                process.wait(TIMEOUT_S)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        last = run(tmp_path, broker.bootstrap, None)
        assert last.returncode == 0, last.stderr[-2000:]
        check_sinks(tmp_path, broker)


AGAIN = """
[pipeline]
name = "numbers"
[source.numbers]
schema = "id BIGINT"
start = { "0" = 100 }
[flow.kept]
sql = "SELECT id FROM numbers"
expect.odd = "RULE"
sink = { format = "delta", path = "kept" }
"""


@pytest.mark.timeout((2 * len(AGAIN_KILLS) + 3) * TIMEOUT_S)
def test_backfill_and_replay_killed_in_the_middle_go_on_and_write_everything_once(tmp_path: Path) -> None:
    """A live flow begins in the middle; what lies before is filled, and what was set aside is replayed."""
    file = tmp_path / "numbers.toml"
    file.write_text(AGAIN.replace("RULE", "id % 10 <> 0"))
    with Broker() as broker:
        broker.create_topic("numbers", 1)
        broker.produce("numbers", [json.dumps({"id": number}) for number in range(120)])

        def go(again: str, kills: list[tuple[str, int]]) -> list[int]:
            """What is in the table once it was killed so often and then left alone."""
            for kill in kills:
                killed = run(tmp_path, broker.bootstrap, kill, again)
                assert killed.returncode == -9, (again, kill, killed.stderr[-2000:])
            done = run(tmp_path, broker.bootstrap, None, again)
            assert done.returncode == 0, (again, done.stderr[-2000:])
            found: list[int] = open_store(delta(str(tmp_path / "kept"))).read().column("id").to_pylist()
            return sorted(found)

        assert go("", []) == [number for number in range(100, 120) if number % 10]
        # Killed in its second batch of two, too: it goes on where it was.
        assert go("backfill", [*AGAIN_KILLS, ("task", 1)]) == [number for number in range(120) if number % 10]
        file.write_text(AGAIN.replace("RULE", "id % 20 <> 0"))
        now = [number for number in range(120) if number % 20]
        assert go("replay", AGAIN_KILLS) == now
        aside = open_store(delta(str(tmp_path / "kept__quarantine"))).read().to_pylist()
        still = [
            (row["query"], row["batch"], row["offset"])
            for row in aside
            if row["flow"] == "numbers.kept-replay"
        ]
        # Each batch once. A replay that goes on takes what it had set aside itself, as the next one would.
        assert len(still) == len(set(still))
        assert {offset for _, _, offset in still} == {number for number in range(120) if number % 20 == 0}
