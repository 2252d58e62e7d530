"""The home that Spark gets on this machine: all but the archive that its workers would compile anew."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.java import find_java_home
from trivium.spark.launch.spark_home import SHARED, quick_spark_home

PACKAGE = Path(pyspark.__file__).parent
SECONDS_MAX = 600
COUNTS_THREE = "from trivium.spark import session; print(session('local[1]').range(3).count())"


def test_home_has_what_spark_needs_and_no_archive_of_sources(tmp_path: Path) -> None:
    home = quick_spark_home({"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    assert {each.name for each in home.iterdir()} == {*SHARED, "conf"}
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


@pytest.mark.timeout(SECONDS_MAX)
def test_session_of_a_person_starts_and_ends_without_a_word_of_spark() -> None:
    """Java warns of what Spark asks it for, and nothing can be done about that."""
    try:
        find_java_home(os.environ)
    except LaunchError as reason:
        pytest.skip(str(reason))
    done = subprocess.run(
        [sys.executable, "-c", COUNTS_THREE], capture_output=True, text=True, timeout=SECONDS_MAX
    )
    assert done.stdout == "3\n"
    assert [line for line in done.stderr.splitlines() if not line.startswith("WARNING: ")] == []
