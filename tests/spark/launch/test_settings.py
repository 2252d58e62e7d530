"""Settings of a session: ours, the caller's over them, and only for this machine what is only right here."""

import pytest

from trivium.spark import session
from trivium.spark.launch.errors import LaunchError
from trivium.spark.launch.session import _why_not_started
from trivium.spark.launch.settings import is_local, settings_for


def test_local_masters_stay_on_loopback_and_others_do_not() -> None:
    for master in ("local", "local[*]", "local[2]", "local-cluster[2,1,1024]"):
        assert is_local(master)
        assert settings_for(master, {})["spark.driver.bindAddress"] == "127.0.0.1"
    for master in ("yarn", "spark://host:7077", "k8s://https://host"):
        assert not is_local(master)
        assert "spark.driver.bindAddress" not in settings_for(master, {})
        assert "spark.sql.streaming.checkpointFileManagerClass" not in settings_for(master, {})


@pytest.mark.parametrize(
    ("master", "partitions"), [("local", "1"), ("local[3]", "3"), ("local-cluster[2,4,1024]", "8")]
)
def test_shuffles_have_as_many_partitions_as_there_are_cores(master: str, partitions: str) -> None:
    assert settings_for(master, {})["spark.sql.shuffle.partitions"] == partitions


def test_settings_of_the_caller_win_in_either_spelling() -> None:
    conf = {"spark_ui_enabled": True, "spark.sql.shuffle.partitions": 7}
    settings = settings_for("local[2]", conf)
    assert settings["spark.ui.enabled"] == "true"
    assert settings["spark.sql.shuffle.partitions"] == "7"


def test_setting_that_is_none_of_sparks_is_refused_with_a_sentence() -> None:
    with pytest.raises(LaunchError, match="memory is no setting of Spark; their names begin with spark"):
        settings_for("local", {"memory": "1g"})


@pytest.mark.parametrize("master", ["lokal[2]", "local[x]", "localhost:7077", "spark:"])
def test_master_that_is_none_is_refused_before_anything_starts(
    master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LaunchError, match="is no master of Spark; write local"):
        session(master)
    monkeypatch.setenv("TRIVIUM_MASTER", master)
    with pytest.raises(LaunchError, match="is no master of Spark; write local"):
        session()


def test_start_that_fails_in_java_is_said_with_its_reason() -> None:
    error = Exception(
        "An error occurred while calling None.org.apache.spark.sql.classic.SparkSession.\n"
        ": java.lang.IllegalStateException: No master answers.\n\tat org.apache.spark.SparkContext"
    )
    said = _why_not_started(error, {})
    assert said.startswith("Spark did not start: java.lang.IllegalStateException: No master answers. What")
