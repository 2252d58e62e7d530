"""The key for GSSAPI, in our words and in Kafka's; and what JAAS says that would be without effect."""

from pathlib import Path

import pytest

from trivium.server.configuration.configuration import Configuration, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.jaas import BadJaas, parse
from trivium.server.configuration.kerberos import KerberosSettings
from trivium.server.configuration.loading import load

PRINCIPAL = "kafka/broker.example.com@EXAMPLE.COM"
OURS = {
    "listen.kafka": "SASL_PLAINTEXT://127.0.0.1:9092",
    "kerberos.keytab": "/etc/kafka.keytab",
    "kerberos.principal": PRINCIPAL,
}
KAFKAS = {
    "listeners": "SASL_SSL://10.0.0.5:9092,INSIDE://10.0.0.5:9094",
    "listener.security.protocol.map": "SASL_SSL:SASL_PLAINTEXT,INSIDE:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "GSSAPI",
    "sasl.kerberos.service.name": "kafka",
    **{
        f"listener.name.{name}.gssapi.sasl.jaas.config": (
            "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
            f'keyTab="/etc/kafka.keytab" principal="{PRINCIPAL}";'
        )
        for name in ("sasl_ssl", "inside")
    },
}


def mechanisms(configuration: Configuration) -> tuple[str, ...]:
    sasl = configuration.listeners_of(Protocol.KAFKA)[0].sasl
    assert sasl is not None
    return sasl.mechanisms


def refusal(flags: dict[str, str]) -> str:
    with pytest.raises(ConfigurationError) as refused:
        load(flags=flags)
    return str(refused.value)


def test_key_in_our_words_and_in_kafkas_is_the_same() -> None:
    key = KerberosSettings(Path("/etc/kafka.keytab"), PRINCIPAL, ("DEFAULT",))
    ours, kafkas = load(flags=OURS), load(flags=KAFKAS)
    assert ours.kerberos == kafkas.kerberos == key
    assert mechanisms(ours) == ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI")
    assert mechanisms(kafkas) == ("GSSAPI",)


def test_key_that_no_listener_asks_for_is_not_read() -> None:
    assert load(flags=OURS | {"sasl.enabled.mechanisms": "PLAIN"}).kerberos is None
    assert load().kerberos is None


def test_rules_are_kept_in_their_order() -> None:
    rules = "RULE:[2:$1](a)s/a/b/, DEFAULT"
    kerberos = load(flags=OURS | {"sasl.kerberos.principal.to.local.rules": rules}).kerberos
    assert kerberos is not None
    assert kerberos.rules == ("RULE:[2:$1](a)s/a/b/", "DEFAULT")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sasl.kerberos.service.name": "other"}, "clients have to ask for kafka."),
        ({"sasl.kerberos.principal.to.local.rules": "RULE:x"}, "'RULE:x' is no rule"),
    ],
)
def test_settings_that_do_not_fit_the_key_are_refused(changes: dict[str, str], says: str) -> None:
    assert says in refusal(OURS | changes)


@pytest.mark.parametrize("missing", ["kerberos.keytab", "kerberos.principal"])
def test_half_of_a_key_is_refused(missing: str) -> None:
    flags = {name: text for name, text in OURS.items() if name != missing}
    assert refusal(flags).endswith(f"belong together: set {missing} too.")


def test_mechanism_without_a_key_is_refused_with_what_is_missing() -> None:
    flags = {"listen.kafka": OURS["listen.kafka"], "sasl.enabled.mechanisms": "GSSAPI"}
    assert refusal(flags).endswith("set kerberos.keytab and kerberos.principal.")


def test_listeners_with_different_keys_are_refused() -> None:
    name = "listener.name.inside.gssapi.sasl.jaas.config"
    assert "different keys" in refusal(KAFKAS | {name: KAFKAS[name].replace("/etc/", "/opt/")})


@pytest.mark.parametrize("text", ["", "useTicketCache=true", "Krb5LoginModule required useTicketCache=true;"])
def test_jaas_without_a_key_is_refused(text: str) -> None:
    said = refusal(KAFKAS | {"listener.name.inside.gssapi.sasl.jaas.config": text})
    assert "names no key" in said


# -- what would be without effect ----------------------------------------------------------------------

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def test_users_in_jaas_are_not_passed_over_in_silence() -> None:
    """Their names are told, their passwords are not (S15)."""
    text = f'{PLAIN_MODULE} username="admin" password="canary" user_admin="canary" user_ann="canary";'
    said = refusal({"listener.name.sasl_ssl.plain.sasl.jaas.config": text})
    assert "lists passwords of admin, ann:" in said
    assert "trivium user add" in said
    assert "canary" not in said


def test_users_of_controllers_are_passed_over_with_their_listener() -> None:
    text = f'{PLAIN_MODULE} user_admin="secret";'
    load(flags={"controller.listener.names": "CTRL", "listener.name.ctrl.plain.sasl.jaas.config": text})


def test_what_only_other_brokers_need_is_taken() -> None:
    for mechanism, module in (("plain", "PlainLoginModule"), ("scram-sha-256", "ScramLoginModule")):
        text = f'{module} required username="admin" password="secret";'
        load(flags={f"listener.name.sasl_ssl.{mechanism}.sasl.jaas.config": text})


@pytest.mark.parametrize("name", ["sasl.jaas.config", "listener.name.sasl_ssl.sasl.jaas.config"])
def test_jaas_for_no_mechanism_is_refused(name: str) -> None:
    said = refusal({name: f'{PLAIN_MODULE} user_ann="canary";'})
    assert "does not say which mechanism" in said
    assert "canary" not in said


def test_checks_by_java_are_refused_unless_they_are_ours_too() -> None:
    name = "listener.name.sasl_ssl.plain.sasl.server.callback.handler.class"
    assert "com.example.Ldap" in refusal({name: "com.example.Ldap"})
    package = "org.apache.kafka.common.security.oauthbearer"
    load(flags={name.replace("plain", "oauthbearer"): f"{package}.OAuthBearerValidatorCallbackHandler"})


# -- the text itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a.b.C required;", {}),
        ("a.b.C REQUIRED x=1 y = true ;", {"x": "1", "y": "true"}),
        ('C required x="a \\" b; c=d" y=\'e\';', {"x": 'a " b; c=d', "y": "e"}),
        ("C\n  optional\n  x=/a/b.keytab\n  p=kafka/h@R;\n", {"x": "/a/b.keytab", "p": "kafka/h@R"}),
    ],
)
def test_jaas_text_is_a_module_and_its_options(text: str, options: dict[str, str]) -> None:
    module = parse(text)
    assert module.options == options
    assert not options or next(iter(options.values())) not in repr(module)


@pytest.mark.parametrize(
    "text",
    ["", "C", "C required", "C required x=1", "C wanted x=1;", "C required x;", "C required; D required;"],
)
def test_jaas_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(BadJaas):
        parse(text)
