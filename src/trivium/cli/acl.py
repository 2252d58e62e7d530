"""``trivium acl``: who may do what, and who may not."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from trivium.cli.connecting import broker_option, confirm, json_option, reach
from trivium.cli.output import printable, write_json, writing
from trivium.client.admin_acls import (
    MATCH,
    OPERATIONS,
    Acl,
    AclFilter,
    create_acls,
    delete_acls,
    describe_acls,
)

CLUSTER_NAME = "kafka-cluster"

_RESOURCES = (
    click.option("--topic", metavar="NAME", help="A topic; '*' for all."),
    click.option("--group", metavar="NAME", help="A consumer group; '*' for all."),
    click.option("--transactional-id", metavar="ID", help="A transactional id; '*' for all."),
    click.option("--tokens-of", metavar="PRINCIPAL", help="A user, for tokens in its name."),
    click.option("--cluster", is_flag=True, help="The cluster itself."),
)


def _resource_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_RESOURCES):
        command = option(command)
    return command


def _resource(options: dict[str, Any]) -> tuple[str, str] | None:
    """The one that was named, with its type; None for none."""
    kinds = {"topic": "topic", "group": "group", "transactional_id": "transactional-id", "tokens_of": "user"}
    named = [(kind, options[option]) for option, kind in kinds.items() if options[option]]
    if options["cluster"]:
        named.append(("cluster", CLUSTER_NAME))
    if len(named) > 1:
        raise click.UsageError(
            "One resource at a time: --topic, --group, --transactional-id, --tokens-of, --cluster."
        )
    return named[0] if named else None


@click.group("acl")
def command() -> None:
    """Say who may do what: access control lists, the same for Kafka, Iggy and RustLog clients.

    They count where the node has access.acls = on. A deny wins over every allow.

    \b
    Examples:
      trivium acl allow User:ann read describe --topic orders
      trivium acl allow User:etl write --topic raw. --prefix
      trivium acl deny 'User:*' all --topic secrets --host 10.0.0.7
      trivium acl list --topic orders
      trivium acl remove User:ann --topic orders --yes
    """


@command.command("list")
@_resource_options
@click.option("--principal", metavar="PRINCIPAL", help="Only what is about this one, such as User:ann.")
@broker_option
@json_option
def list_acls(principal: str | None, bootstrap: str, as_json: bool, **options: Any) -> None:
    """Show lists; with a resource, all that cover it.

    \b
    Examples:
      trivium acl list
      trivium acl list --topic orders --principal User:ann
    """
    resource = _resource(options)
    kind, name = resource or (None, None)
    with reach(bootstrap) as cluster:
        found = describe_acls(cluster, AclFilter(kind, name, MATCH if name else None, principal))
    _show("Access control lists", found, as_json)


@command.command("allow")
@click.argument("principal")
@click.argument("operations", nargs=-1, required=True, metavar="OPERATION...")
@_resource_options
@click.option("--prefix", "is_prefix", is_flag=True, help="All resources whose names begin so.")
@click.option("--host", default="*", show_default=True, help="Only from this address.")
@broker_option
def allow(
    principal: str, operations: Sequence[str], is_prefix: bool, host: str, bootstrap: str, **options: Any
) -> None:
    """Allow operations to a principal, such as User:ann; User:* is everybody.

    \b
    Examples:
      trivium acl allow User:ann read --topic orders
      trivium acl allow User:ann read --group reports
      trivium acl allow User:etl write --topic raw. --prefix
    """
    _create("allow", principal, operations, is_prefix, host, bootstrap, options)


@command.command("deny")
@click.argument("principal")
@click.argument("operations", nargs=-1, required=True, metavar="OPERATION...")
@_resource_options
@click.option("--prefix", "is_prefix", is_flag=True, help="All resources whose names begin so.")
@click.option("--host", default="*", show_default=True, help="Only from this address.")
@broker_option
def deny(
    principal: str, operations: Sequence[str], is_prefix: bool, host: str, bootstrap: str, **options: Any
) -> None:
    """Deny operations to a principal, whatever else is allowed.

    \b
    Examples:
      trivium acl deny User:bob write --topic orders
      trivium acl deny 'User:*' all --topic secrets --host 10.0.0.7
    """
    _create("deny", principal, operations, is_prefix, host, bootstrap, options)


def _create(
    permission: str,
    principal: str,
    operations: Sequence[str],
    is_prefix: bool,
    host: str,
    bootstrap: str,
    options: dict[str, Any],
) -> None:
    for operation in operations:
        if operation.lower() not in OPERATIONS:
            raise click.UsageError(f"{operation!r} is no operation; there are {', '.join(OPERATIONS)}.")
    if ":" not in principal:
        raise click.UsageError(f"{principal!r} is no principal; write User:{principal}.")
    resource = _resource(options)
    if resource is None:
        raise click.UsageError("Say to what: --topic, --group, --transactional-id, --tokens-of or --cluster.")
    kind, name = resource
    pattern = "prefixed" if is_prefix else "literal"
    new = [Acl(kind, name, pattern, principal, permission, each.lower(), host) for each in operations]
    with reach(bootstrap) as cluster:
        create_acls(cluster, new)
    with writing():
        for each in new:
            click.echo(printable(_sentence(each)))


@command.command("remove")
@click.argument("principal")
@_resource_options
@click.option("--operation", type=click.Choice(list(OPERATIONS)), help="Only this operation.")
@click.option("--yes", "-y", "is_sure", is_flag=True, help="Do not ask.")
@broker_option
@json_option
def remove(
    principal: str, operation: str | None, is_sure: bool, bootstrap: str, as_json: bool, **options: Any
) -> None:
    """Remove what is said about a principal: on one resource, or everywhere.

    \b
    Examples:
      trivium acl remove User:ann --topic orders
      trivium acl remove User:bob --yes
    """
    kind, name = _resource(options) or (None, None)
    wanted = AclFilter(kind, name, None, principal, None, operation)
    with reach(bootstrap) as cluster:
        found = describe_acls(cluster, wanted)
        if not found:
            raise click.ClickException(f"There is no such list about {printable(principal)}.")
        confirm(f"Remove {len(found)} lists about {principal}?", is_sure)
        gone = delete_acls(cluster, wanted)
    _show("Removed", gone, as_json)


def _sentence(each: Acl) -> str:
    to = f"{each.resource} {each.name}{'*' if each.pattern == 'prefixed' else ''}"
    where = "" if each.host == "*" else f" from {each.host}"
    may = "may" if each.permission == "allow" else "may not"
    return f"{each.principal} {may} {each.operation} {to}{where}."


def _show(title: str, found: Sequence[Acl], as_json: bool) -> None:
    if as_json:
        write_json({"acls": list(found)})
        return
    if not found:
        with writing():
            click.echo("There are none; 'trivium acl allow' makes one.")
        return
    from trivium.cli.tables import show_table

    with writing():
        show_table(title, found)
