"""A flow is run by one process at a time, and reset by none while it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trivium.pipeline import Pipeline, parquet
from trivium.spark.running.errors import CannotRun, sentence_of
from trivium.spark.running.leases import Lease
from trivium.spark.running.reset import plan_reset


def test_flow_is_leased_to_one_run_and_free_after_it(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    first = Lease(state, "shop.clean")
    Lease(f"file://{state}", "shop.other").end()
    refusal = f"shop.clean is run already, by process {os.getpid()}; end that run first"
    with pytest.raises(CannotRun, match=refusal):
        Lease(f"file://{state}", "shop.clean")
    first.end()
    first.end()
    Lease(state, "shop.clean").end()


def test_lease_ends_with_its_process_however_that_ends(tmp_path: Path) -> None:
    code = f"""
import time
from trivium.spark.running.leases import Lease
lease = Lease({str(tmp_path)!r}, "shop.clean")
print("leased", flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"leased\n"
        with pytest.raises(CannotRun, match=f"by process {holder.pid};"):
            Lease(str(tmp_path), "shop.clean")
        holder.kill()
    Lease(str(tmp_path), "shop.clean").end()


def test_state_elsewhere_is_left_to_sparks_own_check() -> None:
    Lease("s3://bucket/state", "shop.clean").end()
    said = sentence_of(Exception("Multiple streaming queries are concurrently using s3://bucket/offsets."))
    assert said.startswith("Another run of this flow")
    assert "end that run" in said


def test_state_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotRun, match="cannot be written: Not a directory; correct that"):
        Lease(str(tmp_path / "file"), "shop.clean")


def test_flow_that_runs_is_not_reset(tmp_path: Path) -> None:
    p = Pipeline("shop", state=str(tmp_path / "state"))
    p.source("orders", schema="id BIGINT")
    p.sql("clean", "SELECT * FROM orders", sink=parquet(str(tmp_path / "clean")))
    definition = p.definition()
    (flow,) = definition.flows
    checkpoint = Path(definition.checkpoint_of(flow))
    checkpoint.mkdir(parents=True)
    reset = plan_reset(definition, flow, removes_output=False)
    run = Lease(definition.state, definition.group_of(flow))
    with pytest.raises(CannotRun, match=r"shop.clean is run already, .* end that run first"):
        reset.carry_out()
    assert checkpoint.exists()
    run.end()
    reset.carry_out()
    assert not checkpoint.exists()
