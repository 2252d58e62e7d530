"""Whose a state is: checkpoints of one pipeline must not be taken for those of another."""

from typing import Final

from trivium.pipeline.definition import Definition
from trivium.spark.running.errors import CannotRun
from trivium.spark.running.state_files import read_json, write_json

_NAME: Final = "pipeline"


def claim_state(definition: Definition) -> None:
    """Refuse a state that another pipeline has claimed; the first to run with it has it from then on."""
    file = f"{definition.state}/pipeline.json"
    said = read_json(file)
    if said is None:
        try:
            write_json(file, {_NAME: definition.name})
        except OSError as error:
            raise CannotRun(
                f"The state {definition.state} cannot be written ({error}); correct that, or give the "
                "pipeline another state."
            ) from error
    elif said.get(_NAME) != definition.name:
        raise CannotRun(
            f"The state {definition.state} belongs to the pipeline {said.get(_NAME)}, and this is "
            f"{definition.name}; give it a state of its own."
        )
