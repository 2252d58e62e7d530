"""The state of one pipeline is not taken for that of another: said before Spark reads a checkpoint."""

from pathlib import Path

import pytest

from trivium.pipeline import Pipeline
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.ownership import claim_state


def test_state_belongs_to_the_pipeline_that_ran_with_it_first(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    for _ in range(2):
        claim_state(Pipeline("shop", state=state).definition())
    with pytest.raises(
        CannotRun, match="belongs to the pipeline shop, and this is stranger; give it a state"
    ):
        claim_state(Pipeline("stranger", state=state).definition())


def test_state_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotRun, match=r"The state .* cannot be written .* give the pipeline another state"):
        claim_state(Pipeline("shop", state=str(tmp_path / "file")).definition())
