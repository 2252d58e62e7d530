"""Which table a person means by a path: its format is seen in what lies there."""

from trivium.pipeline.table import Table, TableFormat
from trivium.spark.tables.data_files import file_system
from trivium.spark.tables.errors import TableError
from trivium.spark.tables.iceberg import CATALOG_FILE


def table_at(path: str) -> Table:
    """May be a folder with files of Parquet that nobody calls a table."""
    from pyarrow.fs import FileSelector, FileType

    filesystem, folder = file_system(path)
    if filesystem.get_file_info(folder).type is not FileType.Directory:
        raise TableError(f"There is no folder {path}; name the folder of a table.")
    names = {info.base_name for info in filesystem.get_file_info(FileSelector(folder))}
    if "_delta_log" in names:
        return Table(TableFormat.DELTA, path)
    if CATALOG_FILE in names:
        return Table(TableFormat.ICEBERG, path)
    infos = filesystem.get_file_info(FileSelector(folder, recursive=True))
    if any(info.path.endswith(".parquet") for info in infos):
        return Table(TableFormat.PARQUET, path)
    raise TableError(
        f"{path} is no table: it has neither a log of Delta, a catalog of Iceberg nor Parquet files."
    )
