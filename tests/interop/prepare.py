"""Fetch and build what the foreign clients need, one line each: before the tests, so that none of them waits.

``python -m tests.interop.prepare``. What needs the same tool (Maven, pip, a compiler) is one lane, one after
the other; the lanes run side by side, because most of them wait for the network.
"""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.interop import puppets
from tests.interop.iggy import puppets as iggy_puppets
from tests.interop.iggy.python_sdk import SHA256, PythonSdk
from tests.interop.kafka import Kafka, Unavailable
from tests.interop.kerberos import obtain_gssapi
from tests.interop.spark_kafka import SparkKafka

PROGRAMS = ("kcat", "tshark")
"""Taken as the system has them; on Debian they are packages of these names."""


Lane = list[tuple[str, Callable[[], object]]]


def main() -> None:
    with ThreadPoolExecutor() as executor:
        for lane in executor.map(_prepare, _lanes()):
            print(*lane, sep="\n", flush=True)
    for program in PROGRAMS:
        print(f"{program}: {'ready' if shutil.which(program) else 'not installed, its tests are skipped'}")


def _lanes() -> Iterator[Lane]:
    java: Lane = [("Apache Kafka and its tools", Kafka.obtain)]
    for kind in (*puppets.PUPPETS.values(), *iggy_puppets.PUPPETS.values()):
        if "java-" in kind.name:
            java.append((kind.name, kind.prepare))
        else:
            yield [(kind.name, kind.prepare)]
    yield [*java, ("Spark with its Kafka connector", SparkKafka.obtain)]  # reads what Maven has fetched
    python: Lane = [("Kerberos", obtain_gssapi)]
    for version in SHA256:
        python.append((f"Iggy's Python client {version}", partial(PythonSdk.obtain, version)))
    yield python


def _prepare(lane: Lane) -> list[str]:
    return [_prepared(name, prepare) for name, prepare in lane]


def _prepared(name: str, prepare: Callable[[], object]) -> str:
    try:
        prepare()
    except Unavailable as reason:
        return f"{name}: {reason}; its tests are skipped"
    return f"{name}: ready"


if __name__ == "__main__":
    main()
