"""Small JSON files of a pipeline's state, beside its checkpoints: whole or not there at all."""

import json
from typing import Any

from trivium.spark.tables.data_files import file_system


def read_json(path: str) -> Any:
    """What a file says; None where there is none."""
    from pyarrow.fs import FileType

    filesystem, whole = file_system(path)
    if filesystem.get_file_info(whole).type is not FileType.File:
        return None
    with filesystem.open_input_file(whole) as file:
        return json.loads(file.readall())


def write_json(path: str, facts: Any) -> None:
    filesystem, whole = file_system(path)
    filesystem.create_dir(whole.rpartition("/")[0], recursive=True)
    with filesystem.open_output_stream(f"{whole}.new") as file:
        file.write(json.dumps(facts, indent=1, sort_keys=True).encode())
    filesystem.move(f"{whole}.new", whole)


def names_in(folder: str) -> list[str]:
    """Files and folders there, sorted; none where there is no such folder."""
    from pyarrow.fs import FileSelector

    filesystem, whole = file_system(folder)
    return sorted(
        info.base_name for info in filesystem.get_file_info(FileSelector(whole, allow_not_found=True))
    )
