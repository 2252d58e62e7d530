"""Secrets stay secret (S15): a node lives through every kind of secret at DEBUG, then everything that it has
written, said or shown is searched for them, in every spelling.
"""

import json
import logging
import os
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from tests.abuse.city import HOST, PASSWORD, SETTINGS, City, IggyDoor, KafkaDoor, RustLogDoor
from tests.protocols.iggy.raw_client import name, request, text
from trivium.cli.main import main
from trivium.core.caller import Caller
from trivium.core.commands.command import Command
from trivium.messages.api import ApiKey, request_class, response_class
from trivium.messages.extensions import ExtensionKey
from trivium.messages.extensions.alter_user import UserAction
from trivium.messages.schema import ListOf, Message, StructType
from trivium.protocols.iggy.code import Code
from trivium.protocols.kafka.api import Endpoint
from trivium.protocols.kafka.login import Sasl
from trivium.protocols.kafka.session import KafkaSession
from trivium.server.metrics import as_text, prepare
from trivium.wire.errors import DecodeError

CANARY: Final = "canary-5f1e"
assert CANARY in PASSWORD
WRONG: Final = f"{CANARY}-wrong"
CHANGED: Final = f"{CANARY}-changed"
SALTED: Final = f"{CANARY}-salted-password-of-32".encode()[:32].ljust(32, b"x")
JWT: Final = f"{CANARY}-header.{CANARY}-claims.{CANARY}-signature"
STATIC: Final = {
    "ssl.keystore.password": f"{CANARY}-keystore",
    "ssl.key.password": f"{CANARY}-key",
    "ssl.truststore.password": f"{CANARY}-truststore",
}


class Heard(NamedTuple):
    """Everything that may be read by somebody who is not meant to know a secret."""

    shown: list[str]
    on_disk: list[bytes]
    secrets: list[bytes]
    """What was made up by the node itself: tokens."""


class Ear(logging.Handler):
    """Takes every record down, with everything that hangs on it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(f"{record.getMessage()} {vars(record)!r} {logging.Formatter().format(record)}")


def spellings(secret: bytes) -> Iterator[bytes]:
    yield secret
    yield secret.hex().encode()
    yield repr(secret)[2:-1].encode()
    yield quote(secret).encode()
    for encoded in (b64encode(secret), urlsafe_b64encode(secret)):
        yield encoded.rstrip(b"=")[:-1]  # the last letter depends on what follows


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    directory = tmp_path_factory.mktemp("city")
    trail = directory / "audit.jsonl"
    ear = Ear()
    root = logging.getLogger()
    level = root.level
    root.addHandler(ear)
    root.setLevel(logging.DEBUG)
    try:
        made = live(directory, trail, ear)
    finally:
        root.removeHandler(ear)
        root.setLevel(level)
    return made


def live(directory: Path, trail: Path, ear: Ear) -> Heard:
    data = directory / "data"
    settings = STATIC | {"audit.file": str(trail), "audit.topic": "true", "audit.allowed-one-in": "1"}
    shown, secrets = ear.heard, []
    city = City(settings, data)
    execute = city.node.broker.execute

    def noting(command: Command[Any], caller: Caller, reply: Any) -> None:
        shown.append(f"{command!r} {caller!r}")

        def answered(result: Any) -> None:
            shown.append(repr(result))
            reply(result)

        execute(command, caller, answered)

    city.node.broker.execute = noting  # type: ignore[method-assign]
    secrets.append(city.token)
    secrets += log_in_everywhere(city)
    change_users(city)
    resources = [
        {"resource_type": kind, "resource_name": which, "configuration_keys": None}
        for kind, which in ((4, str(city.node.cluster.node_id)), (4, ""), (2, "orders"))
    ]
    asked = {"resources": resources, "include_synonyms": True, "include_documentation": True}
    shown.append(city.kafka.say(ApiKey.DESCRIBE_CONFIGS, 4, asked).data.decode("latin-1"))
    shown.append(repr(city.configuration))
    shown.append(as_text(prepare(city.node, 0.0)).decode())
    city.close()
    shown.append(trail.read_text())
    shown += command_line(data, trail)
    files = [path for path in directory.rglob("*") if path.is_file()]
    return Heard(shown, [path.read_bytes() for path in files], secrets)


def log_in_everywhere(city: City) -> list[bytes]:
    """Rightly, wrongly, and with what is no login at all; tokens that came of it."""
    iggy = IggyDoor(city, "bob")
    made = iggy.ask(request(Code.CREATE_PERSONAL_ACCESS_TOKEN, text("token") + bytes(8)))
    token = made[9:]
    iggy.status(Code.LOGIN_USER, text("bob") + text(WRONG) + bytes(8))
    iggy.status(Code.LOGIN_USER, text("bob") + text(WRONG))
    iggy.status(Code.LOGIN_WITH_PERSONAL_ACCESS_TOKEN, text(f"{CANARY}-token"))
    iggy.status(Code.LOGIN_WITH_PERSONAL_ACCESS_TOKEN, text(token.decode()))
    rustlog = RustLogDoor(city, "bob")
    for password in (WRONG, PASSWORD):
        rustlog.say(json.dumps({"Login": {"username": "bob", "password": password}}).encode())
    rustlog.say(json.dumps({"Login": {"username": {"x": WRONG}, "password": [WRONG]}}).encode())
    for mechanism, message in (
        ("PLAIN", f"\0bob\0{PASSWORD}"),
        ("PLAIN", f"\0bob\0{WRONG}"),
        ("PLAIN", WRONG),
        ("SCRAM-SHA-256", "n,,n=bob,r=abc"),
        ("SCRAM-SHA-256", WRONG),
        ("OAUTHBEARER", f"n,,\x01auth=Bearer {JWT}\x01\x01"),
    ):
        by_sasl(city, mechanism, message.encode())
    return [token]


class SaslDoor(KafkaDoor):
    """A door where one logs in."""

    def __init__(self, city: City) -> None:
        super().__init__(city, "bob")
        sasl = Sasl(("PLAIN", "SCRAM-SHA-256", "OAUTHBEARER"), is_required=True)
        here = Endpoint("broker", 9092)
        self.session = KafkaSession(city.node.speakers.kafka, HOST, here, self._woken.set, sasl=sasl)


def by_sasl(city: City, mechanism: str, message: bytes) -> None:
    door = SaslDoor(city)
    door.say(ApiKey.SASL_HANDSHAKE, 1, {"mechanism": mechanism})
    try:
        door.say(ApiKey.SASL_AUTHENTICATE, 2, {"auth_bytes": message})
    except DecodeError as error:  # it was refused, and the connection ends
        logging.getLogger("trivium").debug("refused", exc_info=error)


def change_users(city: City) -> None:
    user = {"username": "bob", "password": CHANGED, "current_password": None}
    for action, current in (
        (UserAction.SET_PASSWORD, None),
        (UserAction.SET_PASSWORD, WRONG),
        (UserAction.CREATE, None),
    ):
        city.kafka.say(ExtensionKey.ALTER_USER, 0, user | {"action": action, "current_password": current})
    upsertion = {
        "name": "carl",
        "mechanism": 1,
        "iterations": 4096,
        "salt": b"salt",
        "salted_password": SALTED,
    }
    for iterations in (4096, 1):
        changed = [upsertion | {"iterations": iterations}]
        city.kafka.say(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, {"upsertions": changed})
    for key in (ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN):
        city.kafka.say(key, 2, {"hmac": f"{CANARY}-hmac".encode()})
    configs = [{"name": "ssl.keystore.password", "config_operation": 0, "value": f"{CANARY}-set"}]
    resources = [{"resource_type": 4, "resource_name": "", "configs": configs}]
    city.kafka.say(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": resources})
    IggyDoor(city, "ann").status(Code.CHANGE_PASSWORD, name("ann") + text(PASSWORD) + text(f"{CANARY}-iggy"))


def command_line(data: Path, trail: Path) -> list[str]:
    """What a person sees who looks at the same node from outside."""
    settings = SETTINGS | STATIC | {"data": str(data)}
    flags = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    shown = []
    # What tells the tests how long to try would be taken for a setting.
    nothing_said = {name: None for name in os.environ if name.startswith("TRIVIUM_")}
    for arguments in (
        ("config", *flags, "--all"),
        ("config", *flags, "--all", "--json"),
        ("doctor", *flags),
        ("doctor", *flags, "--json"),
        ("inspect", str(data)),
        ("inspect", str(data), "--metadata"),
        ("inspect", str(data), "--metadata", "--json"),
        ("audit", str(trail)),
        ("audit", str(trail), "--json"),
    ):
        result = CliRunner().invoke(main, arguments, env=nothing_said)
        assert result.exit_code == 0, (arguments, result.output)
        shown.append(result.output)
    return shown


def test_no_secret_is_in_anything_that_was_said_or_shown(heard: Heard) -> None:
    everything = "\n".join(heard.shown).encode()
    assert len(everything) > 100_000, "something was said"
    assert b"ANONYMOUS" in everything or b"User:bob" in everything
    assert places(everything, spellings_of(heard)) == []


def test_no_secret_lies_on_the_disk_as_it_was_given(heard: Heard) -> None:
    """Hashes do, and must."""
    everything = b"\n".join(heard.on_disk)
    assert b"orders" in everything
    stored = (f"{CANARY}-set".encode(),)  # a setting, which Kafka keeps as it is, too
    found = places(everything.replace(stored[0], b""), spellings_of(heard))
    assert found == []


def spellings_of(heard: Heard) -> list[bytes]:
    return [each for secret in (CANARY.encode(), *heard.secrets) for each in spellings(secret)]


def places(everything: bytes, wanted: list[bytes]) -> list[bytes]:
    """Where any of them stands, with what is around it."""
    return [
        everything[max(0, found.start() - 80) : found.end() + 20]
        for each in wanted
        for found in re.finditer(re.escape(each), everything)
    ]


# -- messages that are shown ----------------------------------------------------------------------

SECRET: Final = re.compile(r"password|secret|hmac|salt|auth_bytes|(stored|server)_key|_hash$")
PUBLIC: Final = {"metadata_hash"}


def fields_of(cls: Any) -> Iterator[str]:
    for each in cls.fields:
        kind = each.type.element if isinstance(each.type, ListOf) else each.type
        if isinstance(kind, StructType):
            yield from fields_of(kind)
        else:
            yield each.name


@pytest.mark.parametrize("key", [*ApiKey, *ExtensionKey], ids=lambda key: key.name)
def test_message_that_is_shown_leaves_its_secrets_out(key: int) -> None:
    from tests.messages.samples import _message

    for cls in (request_class(key), response_class(key)):
        secret = {each for each in fields_of(cls) if SECRET.search(each)} - PUBLIC
        message: Message = _message(cls, max(cls.VERSIONS), 1)
        shown = repr(message)
        for each in secret:
            assert f"{each}=(hidden)" in shown, (cls.__name__, each)
