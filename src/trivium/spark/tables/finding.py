"""Which table a person means by a path: its format is seen in what lies there."""

from collections.abc import Iterable
from typing import Any, Final

from trivium.pipeline.table import Table, TableFormat
from trivium.spark.tables.data_files import file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.iceberg import CATALOG_FILE
from trivium.spark.tables.parquet import BOOKS

DELTA_LOG: Final = "_delta_log"


def table_at(path: str) -> Table:
    """May be a folder with files of Parquet that nobody calls a table."""
    from pyarrow.fs import FileSelector, FileType

    filesystem, folder = file_system(path)
    if filesystem.get_file_info(folder).type is not FileType.Directory:
        raise TableError(f"There is no folder {path}; name the folder of a table.")
    names = {info.base_name for info in filesystem.get_file_info(FileSelector(folder))}
    if DELTA_LOG in names:
        return Table(TableFormat.DELTA, path)
    if CATALOG_FILE in names:
        return Table(TableFormat.ICEBERG, path)
    infos = filesystem.get_file_info(FileSelector(folder, recursive=True))
    below = _table_below(folder, infos)
    if below is not None:
        raise TableError(f"{path} is no table but has some below it, such as {path}/{below}; name one.")
    if any(info.path.endswith(".parquet") for info in infos):
        return Table(TableFormat.PARQUET, path)
    raise TableError(
        f"{path} is no table: it has neither a log of Delta, a catalog of Iceberg nor Parquet files."
    )


def refuse_tables_below(path: str) -> None:
    """For whoever takes files away: those of a table that lies inside another look like its own."""
    from pyarrow.fs import FileSelector

    filesystem, folder = file_system(path)
    infos = filesystem.get_file_info(FileSelector(folder, allow_not_found=True, recursive=True))
    below = _table_below(folder, infos)
    if below is not None:
        raise TableError(f"{path} has another table inside it, {path}/{below}; move one of them first.")


def _table_below(folder: str, infos: Iterable[Any]) -> str | None:
    """The path of one, from the folder on."""
    for info in infos:
        path: str = info.path
        above, _, name = path.removeprefix(f"{folder}/").rpartition("/")
        if above and name in (DELTA_LOG, CATALOG_FILE, BOOKS):
            return above
    return None
