"""``trivium serve``: a broker in this process, until it is told to stop."""

import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trivium.cli.node_options import node_options

if TYPE_CHECKING:
    from trivium.cli.secure import Secured
    from trivium.server.configuration.configuration import Configuration
    from trivium.server.node import Node


@click.command("serve")
@node_options
@click.option(
    "--ready-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Written when clients can connect: where, as JSON. Gone when they cannot.",
)
@click.option(
    "--secure",
    is_flag=True,
    help="Encrypt everything, let nobody in without a login, and make an administrator for a new node.",
)
def command(config_path: Path | None, flags: dict[str, str], ready_file: Path | None, secure: bool) -> None:
    """Run a broker for clients of Kafka, Iggy and RustLog.

    CONFIG is a trivium.toml or a Kafka server.properties. Stronger than it are TRIVIUM_* in the environment,
    and flags. Without any of them the data lies in ./trivium-data, and clients of this machine may connect.

    The console port has /metrics for Prometheus, /health and /ready. SIGTERM or Ctrl-C stops cleanly.

    \b
    Examples:
      trivium serve
      trivium serve --data /var/lib/trivium --kafka 0.0.0.0:9092
      trivium serve server.properties
      trivium serve --secure --kafka 0.0.0.0:9093
      trivium serve --kafka 127.0.0.1:0 --console off --ready-file ready.json
    """
    # Imports make many objects and no garbage.
    gc.disable()
    from trivium.server.configuration.errors import ConfigurationError
    from trivium.server.configuration.loading import load

    try:
        if secure:
            secured = _secured(config_path, flags)
            _check_files(secured.configuration, config_path)
            _serve(secured.configuration, ready_file, lambda node: secrets(node, secured))
        else:
            configuration = load(config_path, os.environ, flags)
            _check_files(configuration, config_path)
            _serve(configuration, ready_file, lambda _node: [])
    except ConfigurationError as error:
        raise click.ClickException(str(error)) from error


def _check_files(configuration: "Configuration", config_path: Path | None) -> None:
    """``ConfigurationError`` for secrets that everybody may read."""
    from trivium.server.configuration.environment import CONFIG_VARIABLE
    from trivium.server.exposure import refuse_open_files

    if config_path is None and os.environ.get(CONFIG_VARIABLE):
        config_path = Path(os.environ[CONFIG_VARIABLE])
    refuse_open_files(configuration, config_path)


def _secured(config_path: Path | None, flags: dict[str, str]) -> "Secured":
    from trivium.cli.secure import load_secured
    from trivium.server.dev_certificates import CannotCertify

    try:
        return load_secured(config_path, os.environ, flags)
    except CannotCertify as error:
        raise click.ClickException(str(error)) from error


def _serve(
    configuration: "Configuration", ready_file: Path | None, more: Callable[["Node"], list[str]]
) -> None:
    """``more``: what is announced besides the greeting."""
    from trivium.log.faults import LogError
    from trivium.server.configuration.configuration import LogFormat
    from trivium.server.event_log import write_to
    from trivium.server.listeners import CannotListen
    from trivium.server.process import CannotServe, run
    from trivium.wire.errors import DecodeError

    write_to(sys.stderr, level=configuration.log_level, as_json=configuration.log_format is LogFormat.JSON)
    gc.enable()
    try:
        run(
            configuration,
            ready_file=ready_file,
            announce=lambda node: _announce([*more(node), *greeting(node, configuration)]),
        )
    except (CannotListen, CannotServe, LogError, DecodeError) as error:
        raise click.ClickException(_as_sentence(str(error))) from error
    except OSError as error:
        raise click.ClickException(_as_sentence(_operating_system_says(error))) from error
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _announce(lines: list[str]) -> None:
    """A few lines for whoever has started it, and nothing more than that if nobody reads them."""
    with suppress(OSError):
        for line in lines:
            click.echo(line)


def secrets(node: "Node", secured: "Secured") -> list[str]:
    """How to come in. The password is shown when it is new, and never again."""
    from trivium.cli.secure import ADMINISTRATOR

    lines = []
    if node.assembly.has_new_user and secured.password is not None:
        lines.append(f"The administrator is {ADMINISTRATOR}, with a password that is shown this once:")
        lines.append(f"  {secured.password}")
    if secured.ca is not None:
        lines.append(f"Clients trust {secured.ca.absolute()}; these certificates are for development.")
    return lines


def greeting(node: "Node", configuration: "Configuration") -> list[str]:
    from trivium import __version__
    from trivium.records import kernel
    from trivium.server.configuration.configuration import Durability, Protocol

    lines = [f"Trivium {__version__} is ready: node {node.meta.node_id} of cluster {node.meta.cluster_id}"]
    for protocol, addresses in node.addresses.items():
        where = ", ".join(map(str, addresses))
        if protocol is Protocol.CONSOLE:
            where = f"http://{addresses[0]} (/metrics, /health, /ready)"
        lines.append(f"  {protocol.value:9} {where}")
    for directory in node.store.directories:
        lines.append(f"  {'data':9} {Path(directory.path).absolute()}")
    survives = {
        Durability.FSYNC: "confirmed by the disk: survives a power failure",
        Durability.PAGE_CACHE: "written to the page cache: survives kill -9, not a power failure",
    }
    lines.append(f"  {'acks=all':9} {survives[configuration.durability]}")
    if not kernel.compiled:
        lines.append(
            "The compiled kernel is not in use: everything works, and is slower. Install with a C compiler"
        )
        lines.append("at hand to have it built.")
    lines.append("Ctrl-C stops it.")
    return lines


def _operating_system_says(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _as_sentence(text: str) -> str:
    """Its first word is left alone: often it is a path or a host, which is another one in capitals."""
    return text if text.endswith((".", "?", "!")) else f"{text}."
