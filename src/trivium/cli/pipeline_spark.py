"""Spark for a command: started by it and ended by it, quiet unless asked.

Owns ``--master`` and ``--spark-log``. Spark's processes write on standard error what no level of its log
holds back: banners, and traces of workers that are ended. With the log off it is kept aside, and shown only
where Spark does not start. It must not know what is run on it.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from trivium.cli.output import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound=Callable[..., Any])

KEPT_BYTES_MAX: Final = 64 * 1024
"""Of what Spark's processes have written last."""

END_WAIT_S: Final = 2.0
"""For processes that end because something is wrong; one that lives on may write for ever."""

_STANDARD_ERROR: Final = 2
_LOG_LEVEL: Final = "trivium.spark_log"
_OFF: Final = "OFF"


def spark_options(command: F) -> F:
    """Where Spark runs, for the command; what it writes about itself, for ``running_spark``."""
    master = click.option(
        "--master", metavar="URL", help="Where Spark runs: local[*], or TRIVIUM_MASTER, unless said."
    )
    log = click.option(
        "--spark-log",
        type=click.Choice(["off", "error", "warn", "info"]),
        default="off",
        show_default=True,
        expose_value=False,
        callback=lambda context, _, level: context.meta.update({_LOG_LEVEL: level.upper()}),
        help="What Spark writes of its own, on standard error: why a flow stopped is said anyway.",
    )
    return master(log(command))


@contextmanager
def running_spark(master: str | None) -> "Iterator[SparkSession]":
    """Whoever has started it ends it."""
    from trivium.spark import session
    from trivium.spark.launch.errors import LaunchError

    is_running = _is_spark_running()
    aside = Aside()
    try:
        level = click.get_current_context().meta[_LOG_LEVEL]
        spark = session(master) if is_running else _started(master, level, aside)
    except LaunchError as error:
        sys.stderr.write(aside.text())
        raise click.ClickException(printable(str(error))) from error
    try:
        yield spark
    finally:
        if not is_running:
            spark.stop()


def _started(master: str | None, level: str, aside: "Aside") -> "SparkSession":
    from trivium.spark import session

    # PySpark takes Ctrl-C over while it starts, and raises out of whatever is done at that moment. It hears
    # of none until it has started, and then the handler is ours again.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    ours = signal.getsignal(signal.SIGINT)
    try:
        with aside.taking_standard_error() if level == _OFF else nullcontext():
            return session(master, spark_log_level=level)
    finally:
        signal.signal(signal.SIGINT, ours)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


class Aside:
    """Takes what processes write on standard error, for as long as they live, and keeps the end of it."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self._thread: Thread | None = None

    @contextmanager
    def taking_standard_error(self) -> Iterator[None]:
        """Of processes that are started meanwhile, and of theirs."""
        sys.stderr.flush()
        ours = os.dup(_STANDARD_ERROR)
        out, into = os.pipe()
        os.dup2(into, _STANDARD_ERROR)
        os.close(into)
        self._thread = Thread(target=self._take, args=(out,), name="aside", daemon=True)
        self._thread.start()
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(ours, _STANDARD_ERROR)
            os.close(ours)

    def text(self) -> str:
        """What was written last, if possible up to its end."""
        if self._thread is not None:
            self._thread.join(END_WAIT_S)
        return self._kept.decode(errors="replace")

    def _take(self, out: int) -> None:
        with os.fdopen(out, "rb", buffering=0) as source:
            while chunk := source.read(KEPT_BYTES_MAX):
                self._kept += chunk
                del self._kept[:-KEPT_BYTES_MAX]


def _is_spark_running() -> bool:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        return False
    return SparkSession.getActiveSession() is not None
