"""What a node would open to whom, as its configuration has it: for its start, and for ``trivium doctor``.

A node that others can reach and that lets strangers do everything is what somebody has to ask for in so many
words (``access.anonymous = allow``, or PLAINTEXT before the address, as ``server.properties`` of Kafka's
have it): it does not happen because nobody thought of it, and it is always said.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from trivium.core.access import LOGIN_REQUIRED, Anonymous
from trivium.server.configuration.address import is_loopback
from trivium.server.configuration.configuration import Configuration, Listener, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.security import ClientAuth, SecurityProtocol
from trivium.server.event_log import events
from trivium.server.listeners import CannotListen
from trivium.server.secret_files import Readers, readers, refusal


class Weight(Enum):
    FINE = "fine"
    NOTE = "note"
    RISK = "risk"


class Finding(NamedTuple):
    weight: Weight
    about: str
    says: str
    advice: str = ""


def refuse_open_doors(configuration: Configuration) -> None:
    """``CannotListen`` if strangers could come in from elsewhere, and nobody has said that they shall."""
    if configuration.anonymous is Anonymous.DENY or configuration.authorization is not None:
        return
    for listener in configuration.listeners:
        if is_open(listener) and not is_loopback(listener.address.host):
            is_asked_for = listener.is_spelled_out and listener.security is SecurityProtocol.PLAINTEXT
            if configuration.anonymous is Anonymous.ALLOW or is_asked_for:
                events.warning(
                    "whoever reaches this address may do everything without a login",
                    address=listener.address,
                    because=f"{listener.name}://" if is_asked_for else "access.anonymous=allow",
                )
                continue
            raise CannotListen(
                f"Whoever reaches {listener.address} could do everything without a login: set "
                "access.anonymous to allow if that is meant and to deny if it is not, or listen on 127.0.0.1."
            )


def is_open(listener: Listener) -> bool:
    """Whether requests are taken there from those who have not shown who they are."""
    if listener.protocol is Protocol.CONSOLE or listener.protocol.value in LOGIN_REQUIRED:
        return False
    is_encrypted = listener.tls is not None and listener.security.is_encrypted
    if is_encrypted and listener.tls is not None and listener.tls.client_auth is ClientAuth.REQUIRED:
        return False
    return listener.sasl is None or not listener.sasl.is_required


def findings(configuration: Configuration, config_path: Path | None = None) -> Iterator[Finding]:
    """Everything worth knowing, listener by listener, then the node as a whole."""
    for listener in configuration.listeners:
        yield from _of_listener(listener, configuration)
    yield from _of_rights(configuration)
    yield from _of_files(configuration, config_path)


def _of_listener(listener: Listener, configuration: Configuration) -> Iterator[Finding]:
    about = f"{listener.protocol.value} {listener.address}"
    is_far = not is_loopback(listener.address.host)
    reach = "others can reach it" if is_far else "only this machine reaches it"
    if listener.protocol is Protocol.CONSOLE:
        yield Finding(
            Weight.RISK if is_far else Weight.FINE,
            about,
            f"{reach}; metrics and pages need no login.",
            "Listen on 127.0.0.1, or put a proxy with a login before it." if is_far else "",
        )
        return
    if is_open(listener):
        yield _of_open_door(about, reach, is_far, configuration)
    else:
        yield Finding(Weight.FINE, about, f"{reach}; clients have to show who they are.")
    if is_far and not listener.security.is_encrypted:
        yield Finding(
            Weight.RISK,
            about,
            "What passes there can be read and changed on the way, passwords too.",
            "Encrypt it: SASL_SSL:// or tls:// before the address, with tls.certificate and tls.key.",
        )


def _of_open_door(about: str, reach: str, is_far: bool, configuration: Configuration) -> Finding:
    anonymous = configuration.anonymous
    if anonymous is Anonymous.DENY:
        return Finding(Weight.FINE, about, f"{reach}; who has not logged in is refused everything.")
    if configuration.authorization is not None:
        may = "may do what the lists allow to User:ANONYMOUS and User:*"
        return Finding(
            Weight.NOTE if is_far else Weight.FINE, about, f"{reach}; who has not logged in {may}."
        )
    until = "" if anonymous is Anonymous.ALLOW else ", until there is a second user"
    return Finding(
        Weight.RISK if is_far else Weight.NOTE,
        about,
        f"{reach}; everybody may do everything without a login{until}.",
        "Set access.anonymous = deny, or let clients log in (SASL_SSL).",
    )


def _of_rights(configuration: Configuration) -> Iterator[Finding]:
    authorization = configuration.authorization
    if authorization is None:
        yield Finding(
            Weight.NOTE,
            "rights",
            "Access control lists do not count: users have Iggy's rights, and who comes by a certificate may "
            "do everything.",
            "Set access.acls = on.",
        )
    else:
        users = ", ".join(sorted(authorization.super_users)) or "nobody but the first user"
        yield Finding(Weight.FINE, "rights", f"Access control lists count. May do everything: {users}.")
        if authorization.is_open_without_entries:
            yield Finding(
                Weight.RISK,
                "rights",
                "Everybody may use what no list is about, new topics and the cluster itself among it.",
                "Set access.open-without-acls = false.",
            )
        if "User:ANONYMOUS" in authorization.super_users or "User:*" in authorization.super_users:
            yield Finding(Weight.RISK, "rights", "Strangers are super users.", "Take them out.")
    if not configuration.audit.is_kept:
        yield Finding(
            Weight.NOTE, "audit", "Nobody writes down who came in and what was refused.", "Set audit.file."
        )
    iggy = [each for each in configuration.listeners if each.protocol.value in LOGIN_REQUIRED]
    if iggy and configuration.first_user is None:
        yield Finding(
            Weight.NOTE,
            "users",
            "A new node's first user is iggy with the password iggy, which everybody knows.",
            "Set iggy.root.username and iggy.root.password, or change the password.",
        )


def refuse_open_files(configuration: Configuration, config_path: Path | None) -> None:
    """``ConfigurationError`` if everybody on this machine may read secrets that the node is given in files.
    Keys of certificates are looked at where they are read.
    """
    files: list[tuple[Path, str]] = []
    if config_path is not None and _has_secrets(configuration, config_path):
        files.append((config_path, "secrets"))
    if configuration.kerberos is not None:
        files.append((configuration.kerberos.keytab, "the key of a Kerberos service"))
    for path, what in files:
        why_not = refusal(path, what)
        if why_not is not None:
            raise ConfigurationError(why_not)


def _has_secrets(configuration: Configuration, config_path: Path) -> bool:
    """Whether there are any in this file."""
    return any(
        each.definition.is_sensitive and each.source.partition(" [")[0] == config_path.name
        for each in configuration.settings.values()
    )


def _of_files(configuration: Configuration, config_path: Path | None) -> Iterator[Finding]:
    for path in _keys(configuration):
        if others_may_read(path):
            yield Finding(
                Weight.RISK,
                str(path),
                "Other users of this machine may read the key, and pass for this node.",
                f"chmod 600 {path}",
            )
    if config_path is not None and _has_secrets(configuration, config_path) and others_may_read(config_path):
        yield Finding(
            Weight.RISK,
            str(config_path),
            "Other users of this machine may read it, and there are secrets in it.",
            f"chmod 600 {config_path}, or give secrets in the environment.",
        )
    keytab = None if configuration.kerberos is None else configuration.kerberos.keytab
    if keytab is not None and others_may_read(keytab):
        yield Finding(
            Weight.RISK,
            str(keytab),
            "Other users of this machine may read the key, and let themselves in as whom they like.",
            f"chmod 600 {keytab}",
        )
    for directory in configuration.data_directories:
        if others_may_read(directory):
            yield Finding(
                Weight.NOTE,
                str(directory),
                "Other users of this machine may look into the data.",
                f"chmod 700 {directory}",
            )


def _keys(configuration: Configuration) -> list[Path]:
    keys = [listener.tls.key.path for listener in configuration.listeners if listener.tls is not None]
    return list(dict.fromkeys(path for path in keys if path is not None))


def others_may_read(path: Path) -> bool:
    return readers(path) is not Readers.OWNER
