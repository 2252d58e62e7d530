"""``trivium token``: log in for a while without a password, as oneself or as somebody else."""

import base64
import binascii
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import click

from trivium.cli.connecting import broker_option, json_option, reach
from trivium.cli.output import printable, write_json
from trivium.client.admin_tokens import (
    Token,
    create_token,
    describe_tokens,
    expire_token,
    renew_token,
)

_HOUR_MS: Final = 3_600_000
_SECRET_ARGUMENT = click.argument("secret", required=False)


@dataclass(frozen=True, slots=True)
class TokenRow:
    """As it is shown, and as a script gets it: without its secret."""

    token_id: str
    owner: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    expiry_timestamp: int
    end_timestamp: int


def _principals(
    _context: click.Context, _option: click.Parameter, value: str | tuple[str, ...] | None
) -> str | tuple[str, ...] | None:
    """Each has a kind and a name, such as User:ann."""
    for each in (value,) if isinstance(value, str) else value or ():
        kind, _, name = each.partition(":")
        if not kind or not name:
            raise click.BadParameter(f"'{each}' names nobody; write User:{each.strip(':') or 'ann'}.")
    return value


@click.group("token")
def command() -> None:
    """Make, list, renew and end delegation tokens.

    Whoever has a token logs in as its owner, by SCRAM with the token's id as name, its secret as password and
    tokenauth=true, until it expires. The node needs delegation.token.secret.key.

    \b
    Examples:
      trivium token create --renewer User:scheduler
      trivium token list
      trivium token renew < token.secret
      trivium token expire < token.secret
    """


@command.command("create")
@click.option(
    "--owner", callback=_principals, metavar="PRINCIPAL", help="Whom it stands for; yourself if not said."
)
@click.option(
    "--renewer",
    "renewers",
    callback=_principals,
    multiple=True,
    metavar="PRINCIPAL",
    help="Who else may renew it.",
)
@click.option(
    "--hours", type=click.IntRange(min=1), metavar="N", help="How long at most; as configured if not said."
)
@broker_option
@json_option
def create(
    owner: str | None, renewers: Sequence[str], hours: int | None, bootstrap: str, as_json: bool
) -> None:
    """Make a token. Its secret is shown this once.

    \b
    Examples:
      trivium token create
      trivium token create --owner User:etl --renewer User:scheduler --hours 24
    """
    with reach(bootstrap, carries_secrets=True) as cluster:
        lifetime_ms = -1 if hours is None else hours * _HOUR_MS
        token = create_token(cluster, owner=owner, renewers=renewers, lifetime_ms=lifetime_ms)
    secret = base64.b64encode(token.hmac).decode()
    if as_json:
        write_json({"token_id": token.token_id, "secret": secret, "expiry_timestamp": token.expires_at_ms})
        return
    click.echo(f"id      {printable(token.token_id)}")
    click.echo(f"secret  {secret}")


@command.command("list")
@click.option(
    "--owner",
    "owners",
    callback=_principals,
    multiple=True,
    metavar="PRINCIPAL",
    help="Only tokens of this one.",
)
@broker_option
@json_option
def list_command(owners: Sequence[str], bootstrap: str, as_json: bool) -> None:
    """Show the tokens that you may see, without their secrets.

    \b
    Examples:
      trivium token list
      trivium token list --owner User:etl --json
    """
    with reach(bootstrap) as cluster:
        rows = [_row(token) for token in describe_tokens(cluster, owners or None)]
    if as_json:
        write_json(rows)
        return
    from trivium.cli.tables import show_table

    show_table("Delegation tokens", rows)


@command.command("renew")
@_SECRET_ARGUMENT
@click.option(
    "--hours", type=click.IntRange(min=1), metavar="N", help="From now on; as configured if not said."
)
@broker_option
def renew(secret: str | None, hours: int | None, bootstrap: str) -> None:
    """Let a token count for longer. Its secret is read from standard input unless it is given.

    \b
    Examples:
      trivium token renew < token.secret
      trivium token renew --hours 12 < token.secret
    """
    hmac = _hmac(secret)
    with reach(bootstrap, carries_secrets=True) as cluster:
        renew_token(cluster, hmac, -1 if hours is None else hours * _HOUR_MS)
    click.echo("The token is renewed.")


@command.command("expire")
@_SECRET_ARGUMENT
@broker_option
def expire(secret: str | None, bootstrap: str) -> None:
    """End a token at once. Its secret is read from standard input unless it is given.

    \b
    Examples:
      trivium token expire < token.secret
    """
    hmac = _hmac(secret)
    with reach(bootstrap, carries_secrets=True) as cluster:
        expire_token(cluster, hmac)
    click.echo("The token is ended.")


def _hmac(secret: str | None) -> bytes:
    text = sys.stdin.readline().strip() if secret is None else secret
    try:
        hmac = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        hmac = b""
    if not hmac:
        raise click.UsageError("That is no secret of a token; pass what 'trivium token create' has shown.")
    return hmac


def _row(token: Token) -> TokenRow:
    return TokenRow(
        token.token_id,
        token.owner,
        token.renewers,
        token.issued_at_ms,
        token.expires_at_ms,
        token.ends_at_ms,
    )
