"""Fetch and build what the foreign clients need, one line each: before the tests, so that none of them waits.

python -m tests.interop.prepare
"""

import shutil
from collections.abc import Callable
from functools import partial

from tests.interop import puppets
from tests.interop.iggy import puppets as iggy_puppets
from tests.interop.iggy.python_sdk import SHA256, PythonSdk
from tests.interop.kafka import Kafka, Unavailable
from tests.interop.spark_kafka import SparkKafka

PROGRAMS = ("kcat", "tshark")
"""Taken as the system has them; on Debian they are packages of these names."""


def main() -> None:
    _report("Apache Kafka and its tools", Kafka.obtain)
    for kind in (*puppets.PUPPETS.values(), *iggy_puppets.PUPPETS.values()):
        _report(kind.name, kind.prepare)
    for version in SHA256:
        _report(f"Iggy's Python client {version}", partial(PythonSdk.obtain, version))
    _report("Spark with its Kafka connector", SparkKafka.obtain)
    for program in PROGRAMS:
        print(f"{program}: {'ready' if shutil.which(program) else 'not installed, its tests are skipped'}")


def _report(name: str, prepare: Callable[[], object]) -> None:
    try:
        prepare()
    except Unavailable as reason:
        print(f"{name}: {reason}; its tests are skipped")
    else:
        print(f"{name}: ready")


if __name__ == "__main__":
    main()
