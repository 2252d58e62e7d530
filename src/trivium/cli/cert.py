"""``trivium cert``: certificates for encrypted listeners, as far as a machine can make its own."""

from pathlib import Path

import click

DEFAULT_DIRECTORY = "trivium-certs"


@click.group("cert")
def command() -> None:
    """Make certificates for encrypted listeners.

    \b
    Example:
      trivium cert dev
    """


@command.command("dev")
@click.argument("directory", default=DEFAULT_DIRECTORY, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--host", "hosts", metavar="NAME", multiple=True, help="A name or address that clients use; repeatable."
)
@click.option(
    "--client", "clients", metavar="NAME", multiple=True, help="A client with a certificate; repeatable."
)
@click.option(
    "--days", type=click.IntRange(1, 825), default=397, show_default=True, help="How long they count."
)
def dev(directory: Path, hosts: tuple[str, ...], clients: tuple[str, ...], days: int) -> None:
    """Make a private authority and certificates, for development.

    DIRECTORY (trivium-certs) gets ca.pem, which clients trust, and server.pem with its key, which the broker
    uses. Called again it keeps the authority and makes the rest anew; a running broker takes that up by
    itself.

    \b
    Examples:
      trivium cert dev
      trivium cert dev certs --host broker.test --client orders
      trivium serve --kafka SSL://127.0.0.1:9092 --set tls.certificate=trivium-certs/server.pem \\
                    --set tls.key=trivium-certs/server-key.pem
    """
    from trivium.server.dev_certificates import CannotCertify, DevAuthority, names_of_this_machine

    try:
        authority = DevAuthority(directory)
        server = authority.server_pair([*hosts, *names_of_this_machine()], days)
        pairs = [authority.client_pair(name, days) for name in clients]
    except CannotCertify as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Clients trust   {authority.pair.certificate}")
    click.echo(f"The broker has  {server.certificate} and {server.key}")
    for pair in pairs:
        click.echo(f"A client has    {pair.certificate} and {pair.key}")
