"""The settings that a session starts with. Each is there for a reason, and what a caller says wins."""

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from trivium.spark.launch.collector import (
    DEFAULT_OPTIONS,
    PARALLEL,
    collector_is_chosen,
    default_options_are_set,
)
from trivium.spark.launch.errors import LaunchError

LOOPBACK: Final = "127.0.0.1"

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_EVERYWHERE: Final = {
    # Sockets of the network stack would stall every micro-batch for 40 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}

_ON_THIS_MACHINE: Final = {
    "spark.ui.enabled": "false",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    # A local disk has renames that cannot be seen half done: no checksum files, no second look.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}

_UNSAFE_ARROW: Final = "-Darrow.enable_unsafe_memory_access=true"
"""Arrow's Java library asks before each of its reads whether the place is inside; Spark has counted rows by
then. Without that a sixth of the processor is saved where rows come from Python."""


def is_local(master: str) -> bool:
    """Whether everything runs on this machine, started by this process."""
    return master == "local" or master.startswith(("local[", "local-cluster["))


def settings_for(
    master: str, conf: Mapping[str, object], environment: Mapping[str, str] = NOTHING
) -> dict[str, str]:
    """All settings for a session: ours, and over them the caller's."""
    settings, callers = dict(_EVERYWHERE), caller_settings(conf)
    if is_local(master):
        # As many as there are cores: Spark's 200 are meant for clusters and cost a small query seconds.
        settings |= {**_ON_THIS_MACHINE, "spark.sql.shuffle.partitions": str(_cores(master))}
        if not default_options_are_set(environment):
            collector = [] if collector_is_chosen(environment, callers) else [PARALLEL]
            settings[DEFAULT_OPTIONS] = " ".join([_UNSAFE_ARROW, *collector])
    return settings | callers


def caller_settings(conf: Mapping[str, object]) -> dict[str, str]:
    """What the caller sets, as Spark spells it."""
    return {_setting_name(name): _setting_text(value) for name, value in conf.items()}


def _cores(master: str) -> int:
    found = re.match(r"local(?:-cluster)?\[(\d+)(?:,(\d+))?", master)
    if found is None:
        return 1 if master == "local" else os.cpu_count() or 1
    is_cluster = master.startswith("local-cluster")
    return int(found[1]) * (int(found[2] or 1) if is_cluster else 1)


def _setting_name(name: str) -> str:
    """``spark_driver_memory`` is how Python can spell ``spark.driver.memory`` as a keyword."""
    dotted = name.replace("_", ".") if name.startswith("spark_") else name
    if not dotted.startswith("spark."):
        raise LaunchError(
            f"{name} is no setting of Spark; their names begin with spark., such as spark.driver.memory."
        )
    return dotted


def _setting_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
