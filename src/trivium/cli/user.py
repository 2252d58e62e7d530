"""``trivium user``: who may log in, at every door."""

import sys
from dataclasses import dataclass

import click

from trivium.cli.connecting import broker_option, confirm, json_option, reach
from trivium.cli.output import printable, write_json
from trivium.cli.security_options import logged_in_as

_NEW_PASSWORD_BYTES = 18

RIGHTS = {
    "all": None,
    "read": ("read_servers", "read_streams", "read_topics", "poll_messages"),
    "write": ("read_servers", "read_streams", "read_topics", "poll_messages", "send_messages"),
    "none": (),
}
"""What a new user may do, in short; everything finer is said by access control lists."""


@dataclass(frozen=True, slots=True)
class UserRow:
    """As it is shown, and as a script gets it."""

    user_id: int
    name: str
    is_active: bool
    rights: str


@click.group("user")
def command() -> None:
    """List, add and remove users, and change passwords.

    A user logs in at every door by one password: Kafka clients by PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512, Iggy
    and RustLog clients by their login.

    \b
    Examples:
      trivium user list
      trivium user add orders --rights write
      trivium user password orders
      trivium user remove orders
    """


@command.command("list")
@broker_option
@json_option
def list_command(bootstrap: str, as_json: bool) -> None:
    """Show the users of the node.

    \b
    Examples:
      trivium user list
      trivium user list --json
    """
    from trivium.client.admin_users import list_users

    with reach(bootstrap) as cluster:
        users = list_users(cluster)
    rows = [
        UserRow(
            each.user_id,
            each.username,
            each.is_active,
            "everything" if each.is_first else ", ".join(_named(each.rights)) or "none of its own",
        )
        for each in users
    ]
    if as_json:
        write_json(rows)
        return
    from trivium.cli.tables import show_table

    show_table("Users", rows)


@command.command("add")
@click.argument("name")
@click.option(
    "--rights",
    type=click.Choice(list(RIGHTS)),
    default="none",
    show_default=True,
    help="What it may do everywhere: write includes read; none: only what access control lists allow.",
)
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--random", "is_random", is_flag=True, help="Make a password, and show it once.")
@broker_option
def add(bootstrap: str, name: str, rights: str, password_stdin: bool, is_random: bool) -> None:
    """Add a user. Its password is asked for, unless told otherwise.

    \b
    Examples:
      trivium user add orders --rights write
      trivium user add orders --random
      pass show orders | trivium user add orders --password-stdin
    """
    from trivium.client.admin_users import create_user

    password = _new_password(password_stdin, is_random)
    with reach(bootstrap, carries_secrets=True) as cluster:
        create_user(cluster, name, password, _bits(rights))
    if is_random:
        click.echo(password)
    else:
        click.echo(f"{printable(name)} may log in.")


@command.command("password")
@click.argument("name")
@click.option("--password-stdin", is_flag=True, help="Read the new password from standard input.")
@click.option("--random", "is_random", is_flag=True, help="Make a password, and show it once.")
@broker_option
def password_command(bootstrap: str, name: str, password_stdin: bool, is_random: bool) -> None:
    """Give a user another password: to oneself, or to others if one may alter users.

    \b
    Examples:
      trivium user password orders
      trivium user password admin --user admin
    """
    from trivium.client.admin_users import set_password

    login = logged_in_as()
    current = login.password if login is not None and login.username == name else None
    password = _new_password(password_stdin, is_random)
    with reach(bootstrap, carries_secrets=True) as cluster:
        set_password(cluster, name, password, current)
    click.echo(password if is_random else f"{printable(name)} has another password.")


@command.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@broker_option
def remove(bootstrap: str, name: str, yes: bool) -> None:
    """Remove a user, its tokens and its credentials. Its sessions may do nothing from then on.

    \b
    Examples:
      trivium user remove orders
      trivium user remove orders --yes
    """
    from trivium.client.admin_users import remove_user

    confirm(f"Remove {name}?", yes)
    with reach(bootstrap) as cluster:
        remove_user(cluster, name)
    click.echo(f"{printable(name)} is removed.")


def _new_password(from_stdin: bool, is_random: bool) -> str:
    if is_random:
        from secrets import token_urlsafe

        return token_urlsafe(_NEW_PASSWORD_BYTES)
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise click.UsageError("There is nobody to ask for a password; say --password-stdin or --random.")
    password: str = click.prompt("New password", hide_input=True, confirmation_prompt=True)
    return password


def _bits(rights: str) -> int:
    from trivium.client.admin_users import NO_RIGHTS
    from trivium.core.users.permissions import GlobalPermissions

    names = RIGHTS[rights]
    if names == ():
        return NO_RIGHTS
    fields = GlobalPermissions._fields
    return sum(1 << number for number, name in enumerate(fields) if names is None or name in names)


def _named(rights: int) -> list[str]:
    from trivium.core.users.permissions import GlobalPermissions

    if rights < 0:
        return []
    return [name for number, name in enumerate(GlobalPermissions._fields) if rights >> number & 1]
