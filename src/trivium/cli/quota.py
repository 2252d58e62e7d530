"""``trivium quota``: how much each client may use of a broker."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import click

from trivium.cli.connecting import broker_option, json_option, reach
from trivium.cli.output import printable, write_json, writing
from trivium.client.admin_quotas import alter_quotas, describe_quotas

LIMITS: Final = {
    "producer_byte_rate": "bytes a second that it may write",
    "consumer_byte_rate": "bytes a second that it may read",
    "request_percentage": "percent of the broker's thread that its requests may take",
    "controller_mutation_rate": "partitions a second that it may make and delete",
    "connection_creation_rate": "connections a second from an address",
}
_DEFAULT: Final = "default"

_ENTITY = (
    click.option(
        "--for-user", metavar="NAME", help="A user; 'default' for those without a quota of their own."
    ),
    click.option("--for-client", metavar="ID", help="A client id; 'default' likewise."),
    click.option("--for-ip", metavar="ADDRESS", help="An address; 'default' likewise."),
)


def _entity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_ENTITY):
        command = option(command)
    return command


def _entity(for_user: str | None, for_client: str | None, for_ip: str | None) -> dict[str, str | None]:
    given = {"user": for_user, "client-id": for_client, "ip": for_ip}
    entity = {kind: None if name == _DEFAULT else name for kind, name in given.items() if name is not None}
    if not entity:
        raise click.UsageError("Say whose: --for-user, --for-client, both, or --for-ip.")
    return entity


@click.group("quota")
def command() -> None:
    """Limit what clients may use: of Kafka, Iggy and RustLog alike.

    Who uses more is answered, and then not listened to until it is within its limit again.

    \b
    Limits:
      producer_byte_rate        bytes a second that it may write
      consumer_byte_rate        bytes a second that it may read
      request_percentage        percent of the broker's thread
      controller_mutation_rate  partitions a second, made and deleted
      connection_creation_rate  connections a second (only with --for-ip)

    \b
    Examples:
      trivium quota set producer_byte_rate=1048576 --for-user etl
      trivium quota set consumer_byte_rate=2097152 --for-user default --for-client reports
      trivium quota list
      trivium quota lift producer_byte_rate --for-user etl
    """


@command.command("list")
@broker_option
@json_option
def list_quotas(bootstrap: str, as_json: bool) -> None:
    """Show all limits.

    \b
    Examples:
      trivium quota list
      trivium quota list --json
    """
    with reach(bootstrap) as cluster:
        found = describe_quotas(cluster)
    if as_json:
        write_json({"quotas": found})
        return
    with writing():
        for each in found:
            limits = ", ".join(f"{key}={_plain(value)}" for key, value in sorted(each.limits.items()))
            click.echo(f"{_whose(each.entity)}: {limits}")
        if not found:
            click.echo("There are no quotas yet; 'trivium quota set' makes one.")


@command.command("set")
@click.argument("limits", nargs=-1, required=True, metavar="LIMIT=VALUE...")
@_entity_options
@broker_option
def set_quota(limits: Sequence[str], bootstrap: str, **whose: str | None) -> None:
    """Set limits of a user, a client id, both together, or an address.

    \b
    Examples:
      trivium quota set producer_byte_rate=1048576 consumer_byte_rate=2097152 --for-user etl
      trivium quota set connection_creation_rate=5 --for-ip default
    """
    _alter(dict(map(_limit, limits)), _entity(**whose), bootstrap)


@command.command("lift")
@click.argument("limits", nargs=-1, required=True, metavar="LIMIT...")
@_entity_options
@broker_option
def lift(limits: Sequence[str], bootstrap: str, **whose: str | None) -> None:
    """Take limits away.

    \b
    Examples:
      trivium quota lift producer_byte_rate --for-user etl
    """
    _alter(dict.fromkeys(map(_known, limits)), _entity(**whose), bootstrap)


def _alter(limits: Mapping[str, float | None], entity: Mapping[str, str | None], bootstrap: str) -> None:
    with reach(bootstrap) as cluster:
        alter_quotas(cluster, entity, limits)
    with writing():
        for key, value in limits.items():
            said = "has no limit any more" if value is None else f"is limited to {_plain(value)}"
            click.echo(f"{_whose(entity)}: {key} {said}.")


def _limit(text: str) -> tuple[str, float]:
    key, _, value = text.partition("=")
    try:
        return _known(key), float(value)
    except ValueError:
        raise click.UsageError(
            f"{text!r} is no limit; write LIMIT=VALUE, such as producer_byte_rate=1048576."
        ) from None


def _known(key: str) -> str:
    if key not in LIMITS:
        raise click.UsageError(f"{key!r} is no limit; there are {', '.join(LIMITS)}.")
    return key


def _plain(limit: float) -> str:
    """As it was written: all its digits, and no exponent."""
    return str(int(limit)) if limit.is_integer() else str(limit)


def _whose(entity: Mapping[str, str | None]) -> str:
    return printable(" and ".join(f"{kind} {name or '(default)'}" for kind, name in sorted(entity.items())))
