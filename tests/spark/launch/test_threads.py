"""One thread for numerical libraries in Spark's processes, as long as nobody says otherwise."""

import os

import pytest

from trivium.spark.launch.session import _jvm_environment
from trivium.spark.launch.threads import THREADS, threads_are_chosen


@pytest.mark.parametrize(
    ("environment", "settings"),
    [
        ({"OMP_NUM_THREADS": "4"}, {}),
        ({"OPENBLAS_NUM_THREADS": "4"}, {}),
        ({"MKL_NUM_THREADS": "4"}, {}),
        ({}, {"spark.executorEnv.OMP_NUM_THREADS": "4"}),
    ],
)
def test_threads_that_somebody_has_chosen_are_left_alone(
    environment: dict[str, str], settings: dict[str, str]
) -> None:
    assert threads_are_chosen(environment, settings)
    assert not threads_are_chosen({"PATH": "/bin"}, {"spark.task.cpus": "2"})


@pytest.mark.parametrize(("master", "threads"), [("local[2]", "1"), ("spark://127.0.0.1:7077", None)])
def test_one_thread_is_for_the_processes_of_a_spark_on_this_machine_and_not_for_this_one(
    monkeypatch: pytest.MonkeyPatch, master: str, threads: str | None
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with _jvm_environment(master, {}):
        assert os.environ.get(THREADS) == threads
    assert THREADS not in os.environ
    assert os.environ["SPARK_HOME"] == "/opt/spark"
