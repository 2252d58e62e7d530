"""Who a command is to its broker, and what it trusts: options that every command has which talks to one.

They are no arguments of the commands: ``logged_in_as`` makes the client's ``Security`` of them, once. A
password is never an option, which others could read in the list of processes: it is in a file, in the
environment, or typed.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from trivium.client.security import MECHANISMS, Security
from trivium.server.secret_files import refusal

PASSWORD_VARIABLE: Final = "TRIVIUM_PASSWORD"  # noqa: S105 - a name
_META: Final = "trivium.security"

Command = TypeVar("Command", bound=Callable[..., Any])


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    context.meta.setdefault(_META, {})[parameter.name] = value
    return value


def _option(*names: str, **settings: Any) -> Callable[[Any], Any]:
    return click.option(*names, expose_value=False, callback=_remember, **settings)


_OPTIONS: Final = (
    _option("--user", metavar="NAME", envvar="TRIVIUM_USER", show_envvar=True, help="Log in as this user."),
    _option(
        "--password-file",
        metavar="FILE",
        envvar="TRIVIUM_PASSWORD_FILE",
        help=f"Where the password is; else it is in {PASSWORD_VARIABLE}, or asked for.",
    ),
    _option("--mechanism", type=click.Choice(MECHANISMS), help="How to log in, if not by the best there is."),
    _option("--tls", is_flag=True, help="Encrypt, and trust the authorities of this system."),
    _option(
        "--tls-ca",
        metavar="FILE",
        envvar="TRIVIUM_TLS_CA",
        show_envvar=True,
        help="Encrypt, and trust the authorities in this PEM file.",
    ),
    _option("--tls-certificate", metavar="FILE", help="A certificate to show, in PEM."),
    _option("--tls-key", metavar="FILE", help="Its key, if that is in a file of its own."),
)


def security_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def logged_in_as() -> Security | None:
    """What the options of the command that runs say; None if it has none."""
    context = click.get_current_context(silent=True)
    given = None if context is None else context.meta.get(_META)
    if given is None:
        return None
    made = given.get("security")
    if made is None:
        made = given["security"] = _security(given)
    return made if isinstance(made, Security) else None


def _security(given: dict[str, Any]) -> Security:
    username = given.get("user")
    return Security(
        has_tls=bool(given.get("tls") or given.get("tls_ca") or given.get("tls_certificate")),
        ca=given.get("tls_ca"),
        certificate=given.get("tls_certificate"),
        key=given.get("tls_key"),
        username=username,
        password=None if username is None else _password(username, given.get("password_file")),
        mechanism=given.get("mechanism"),
    )


def _password(username: str, path: str | None) -> str:
    if path is not None:
        why_not = refusal(Path(path), "a password")
        if why_not is not None:
            raise click.BadParameter(why_not, param_hint="--password-file")
        try:
            return Path(path).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise click.BadParameter(
                f"{path} cannot be read: {reason}.", param_hint="--password-file"
            ) from error
    password = os.environ.get(PASSWORD_VARIABLE)
    if password is not None:
        return password
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"There is nobody to ask for the password of {username}: set {PASSWORD_VARIABLE}, "
            "or name a --password-file."
        )
    typed: str = click.prompt(f"Password of {username}", hide_input=True, err=True)
    return typed
