"""The options that say how a node is configured: the same for every command that needs to know.

A command that wears ``node_options`` gets ``config_path`` and ``flags``, ready for ``load``.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trivium.server.configuration.own_settings import FLAGS

_DECORATORS = (
    click.argument("config_path", metavar="[CONFIG]", required=False, type=click.Path(path_type=Path)),
    click.option(
        "--data", metavar="DIR", multiple=True, help="Where the data lies; more than once for more disks."
    ),
    click.option(
        "--kafka", metavar="HOST:PORT", help="Where Kafka clients connect; port 0: any free one; or off."
    ),
    click.option("--iggy", metavar="HOST:PORT", help="Where Iggy clients connect, or off."),
    click.option("--rustlog", metavar="HOST:PORT", help="Where RustLog clients connect, or off."),
    click.option("--console", metavar="HOST:PORT", help="Where the console and metrics are, or off."),
    click.option("--node-id", metavar="N", help="Who this node is, where the directory does not say."),
    click.option("--durability", metavar="HOW", help="What acks=all waits for: fsync or page-cache."),
    click.option(
        "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Any setting, Kafka's or Trivium's."
    ),
)


def node_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """CONFIG and the flags of a node, gathered into ``config_path`` and ``flags``."""

    @functools.wraps(command)
    def gathered(*args: Any, data: tuple[str, ...], settings: tuple[str, ...], **options: Any) -> Any:
        flags = dict(map(_assignment, settings))
        if data:
            flags["data"] = ",".join(data)
        for name, flag in FLAGS.items():
            text = options.pop(flag.removeprefix("--").replace("-", "_"), None)
            if text is not None:
                flags[name] = text
        return command(*args, flags=flags, **options)

    for decorator in reversed(_DECORATORS):
        gathered = decorator(gathered)
    return gathered


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise click.UsageError(f"--set takes NAME=VALUE, such as num.partitions=3; {text!r} is not that.")
    return name.strip(), value.strip()
