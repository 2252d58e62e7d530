"""``load``: a node's configuration from a file, the environment and flags, the later the stronger."""

from collections.abc import Mapping
from pathlib import Path

from trivium.server.configuration.assembly import assemble
from trivium.server.configuration.configuration import Configuration
from trivium.server.configuration.environment import CONFIG_VARIABLE, from_environment
from trivium.server.configuration.given import Given, by_name, from_flags
from trivium.server.configuration.merging import merge


def load(
    config_path: Path | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Configuration:
    """The configuration of a node. ``flags`` are values by the names of settings, ours or Kafka's.

    Without ``config_path`` the file is the one that ``TRIVIUM_CONFIG`` names, if any. Raises
    ``ConfigurationError``, with one sentence, for whatever is wrong.
    """
    environ = environ or {}
    if config_path is None and environ.get(CONFIG_VARIABLE):
        config_path = Path(environ[CONFIG_VARIABLE])
    return assemble(
        merge(
            _from_file(config_path) if config_path is not None else {},
            by_name(from_environment(environ)),
            from_flags(flags or {}),
        )
    )


def _from_file(path: Path) -> dict[str, Given]:
    from trivium.server.configuration.file import (
        read_file,  # TOML takes its time: only for those who have a file
    )

    return by_name(read_file(path))
