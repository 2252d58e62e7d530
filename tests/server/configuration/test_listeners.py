"""Where a node listens: our way of writing it, and Kafka's."""

from pathlib import Path

import pytest

from trivium.server.configuration.configuration import Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load

KRAFT = """
# One node that was broker and controller of a Kafka.
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@localhost:9093
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,INTERNAL://10.0.0.5:9094,CONTROLLER://:9093
inter.broker.listener.name=INTERNAL
advertised.listeners=PLAINTEXT://kafka.example.org:9092
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,INTERNAL:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


def kafka(**settings: str) -> list[tuple[str, str, str | None]]:
    """Name, address and advertised address of the Kafka listeners."""
    flags = {name.replace("_", "."): text for name, text in settings.items()}
    return [
        (each.name, str(each.address), str(each.advertised) if each.advertised else None)
        for each in load(flags=flags).listeners_of(Protocol.KAFKA)
    ]


def test_properties_of_a_kraft_node_are_honoured(tmp_path: Path) -> None:
    """Issue 4: a Kafka data directory named by a Kafka server.properties (001.22)."""
    path = tmp_path / "server.properties"
    path.write_text(KRAFT)
    configuration = load(path)
    listeners = configuration.listeners_of(Protocol.KAFKA)
    assert [(each.name, str(each.address), str(each.advertised)) for each in listeners] == [
        ("PLAINTEXT", ":9092", "kafka.example.org:9092"),
        ("INTERNAL", "10.0.0.5:9094", "None"),
    ]
    assert configuration.data_directories == (Path("/tmp/kraft-combined-logs"),)
    assert configuration.node_id == 1
    assert configuration.static_settings["listeners"].endswith("CONTROLLER://:9093")
    without_effect = {name for name, each in configuration.settings.items() if not each.takes_effect}
    assert {"num.network.threads", "controller.quorum.voters", "inter.broker.listener.name"} <= without_effect
    assert not without_effect & {"log.retention.hours", "listen.kafka", "controller.listener.names"}


def test_listener_may_have_several_addresses_and_any_port() -> None:
    assert kafka(listen_kafka="127.0.0.1:0, [::1]:0") == [
        ("PLAINTEXT", "127.0.0.1:0", None),
        ("PLAINTEXT", "[::1]:0", None),
    ]


def test_protocols_may_each_have_any_free_port() -> None:
    flags = {f"listen.{protocol.value}": "127.0.0.1:0" for protocol in Protocol}
    assert [each.address.port for each in load(flags=flags).listeners] == [0] * len(Protocol)


@pytest.mark.parametrize("protocol", list(Protocol))
def test_listener_that_is_off_is_none(protocol: Protocol) -> None:
    assert load(flags={f"listen.{protocol.value}": "off"}).listeners_of(protocol) == ()


def test_address_that_is_advertised_counts_for_listeners_of_both_spellings() -> None:
    assert kafka(listen_kafka=":9092", advertise_kafka="h:1") == [("PLAINTEXT", ":9092", "h:1")]
    assert kafka(
        listeners="A://:1,B://:2",
        listener_security_protocol_map="A:PLAINTEXT,B:PLAINTEXT",
        advertise_kafka="h:1",
    ) == [("A", ":1", "h:1"), ("B", ":2", "h:1")]
    assert kafka(listen_kafka=":9092", advertised_listeners="PLAINTEXT://h:1") == [
        ("PLAINTEXT", ":9092", "h:1")
    ]


def test_stronger_listener_forgets_what_was_advertised(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("listeners=PLAINTEXT://:9092\nadvertised.listeners=PLAINTEXT://far.example.org:9092\n")
    (listener,) = load(path, {}, {"listen.kafka": "127.0.0.1:0"}).listeners_of(Protocol.KAFKA)
    assert (str(listener.address), listener.advertised) == ("127.0.0.1:0", None)
    (listener,) = load(path, {}, {"advertise.kafka": "near:1"}).listeners_of(Protocol.KAFKA)
    assert (str(listener.address), str(listener.advertised)) == (":9092", "near:1")


def test_listener_name_is_compared_without_case() -> None:
    assert kafka(listeners="plaintext://:1", advertised_listeners="Plaintext://h:2") == [
        ("PLAINTEXT", ":1", "h:2")
    ]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"listeners": "SSL://:9093"},
            "The listener at :9093 is to be encrypted, and there is no certificate: set tls.certificate",
        ),
        (
            {"listeners": "IN://:1,OUT://:2", "listener_security_protocol_map": "IN:PLAINTEXT,OUT:SASL_SSL"},
            "The listener at :2 is to be encrypted",
        ),
        ({"listeners": "IN://:1"}, "add IN:PLAINTEXT there."),
        ({"listeners": "PLAINTEXT://:1", "listener_security_protocol_map": "A"}, "write NAME:PROTOCOL"),
        ({"listeners": "C://:1", "controller_listener_names": "C"}, "has none for clients"),
        ({"listeners": "127.0.0.1:9092"}, "write NAME://HOST:PORT, such as PLAINTEXT://:9092."),
        ({"listeners": "PLAINTEXT://x"}, "listeners = PLAINTEXT://x (--set listeners) is no address"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "names a listener twice"),
        ({"listeners": ""}, "it takes one or more, with commas."),
        ({"listen_kafka": "9092"}, "write HOST:PORT (port 0: any), or off."),
        ({"listen_kafka": ","}, "listen.kafka (--kafka) is empty: write HOST:PORT, or off."),
        ({"listen_iggy": "127.0.0.1:9092"}, "kafka and iggy both listen on 127.0.0.1:9092: give each a port"),
        ({"listen_kafka": "off", "listen_iggy": "off", "listen_rustlog": "off"}, "No client could connect"),
        ({"advertise_kafka": "0.0.0.0:9092"}, "is no address to send clients to"),
        ({"advertise_kafka": "h:0"}, "is no address to send clients to"),
        (
            {"advertise_kafka": "h"},
            "advertise.kafka = h (--set advertise.kafka) is no address",
        ),
        ({"advertised_listeners": "PLAINTEXT://:9092"}, "is no address to send clients to"),
    ],
)
def test_listener_with_a_mistake_is_refused_in_one_sentence(settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        kafka(**settings)
    assert sentence in str(refused.value)
    assert str(refused.value).endswith(".")
