"""What a sink has to know of its query's checkpoint: who the query is, and what a batch covers.

metadata        {"id": "…"}, the same for as long as the checkpoint is there
offsets/17      a version, the batch's metadata, then a line of offsets for each source
"""

import json

from trivium.spark.tables.batch import Batch
from trivium.spark.tables.data_files import file_system
from trivium.spark.tables.errors import TableError


def query_id_of(checkpoint: str) -> str | None:
    """Of the query that has run with this checkpoint; None where none has."""
    metadata = _read(checkpoint, "metadata")
    return None if metadata is None else str(json.loads(metadata)["id"])


def batch_of(flow: str, checkpoint: str, number: int) -> Batch:
    """The batch that Spark is about to commit; its offsets were logged before it began."""
    metadata, offsets = _read(checkpoint, "metadata"), _read(checkpoint, f"offsets/{number}")
    if metadata is None or offsets is None:
        raise TableError(
            f"The checkpoint {checkpoint} was removed while the flow runs; nothing is written any more. "
            "Reset the flow and run it again."
        )
    covered = [json.loads(line) for line in offsets.splitlines()[2:] if line.startswith("{")]
    return Batch(flow, json.loads(metadata)["id"], number, json.dumps(covered))


def _read(checkpoint: str, name: str) -> str | None:
    from pyarrow.fs import FileType

    filesystem, folder = file_system(checkpoint)
    path = f"{folder}/{name}"
    if filesystem.get_file_info(path).type is not FileType.File:
        return None
    with filesystem.open_input_file(path) as file:
        text: str = file.readall().decode()
    return text
