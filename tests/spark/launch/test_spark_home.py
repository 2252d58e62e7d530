"""The home that Spark gets on this machine: all but the archive that its workers would compile anew."""

from pathlib import Path

import pyspark

from trivium.spark.launch.spark_home import SHARED, quick_spark_home

PACKAGE = Path(pyspark.__file__).parent


def test_home_has_what_spark_needs_and_no_archive_of_sources(tmp_path: Path) -> None:
    home = quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    assert {each.name for each in home.iterdir()} == set(SHARED)
    assert all((home / name).resolve() == (PACKAGE / name).resolve() for name in SHARED)
    assert not (home / "python").exists()
    assert quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)}) == home


def test_link_to_somewhere_else_is_put_right(tmp_path: Path) -> None:
    home = quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    (home / "jars").unlink()
    (home / "jars").symlink_to(tmp_path)
    quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)})
    assert (home / "jars").resolve() == (PACKAGE / "jars").resolve()


def test_where_no_folder_can_be_made_spark_keeps_its_own_home(tmp_path: Path) -> None:
    (tmp_path / "trivium").touch()
    assert quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)}) is None
