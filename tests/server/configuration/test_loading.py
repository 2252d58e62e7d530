"""A node's configuration from file, environment and flags."""

from pathlib import Path

import pytest

from trivium.server.configuration.address import Address
from trivium.server.configuration.configuration import Durability, LogFormat, Protocol
from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.loading import load
from trivium.server.configuration.own_settings import FLAGS, KAFKA_NAMES, OWN

DOCUMENT = Path(__file__).parents[3] / "docs" / "configuration.md"


def written(folder: Path, text: str, name: str = "trivium.toml") -> Path:
    (folder / name).write_text(text)
    return folder / name


def refusal(path: Path | None = None, **flags: str) -> str:
    """What is said to a file, or to flags (with underscores for dots and two of them for dashes)."""
    with pytest.raises(ConfigurationError) as refused:
        load(path, {}, {name.replace("__", "-").replace("_", "."): text for name, text in flags.items()})
    assert str(refused.value).endswith((".", "…"))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_configuration_without_any_source_listens_on_loopback() -> None:
    """001.1: Kafka clients find a broker on port 9092."""
    configuration = load()
    assert configuration.data_directories == (Path("trivium-data"),)
    assert configuration.metadata_directory == Path("trivium-data")
    assert (configuration.node_id, configuration.cluster_id) == (None, None)
    assert configuration.durability is Durability.FSYNC
    assert (configuration.log_level, configuration.log_format) == ("info", LogFormat.TEXT)
    assert [
        (each.protocol.value, str(each.address), each.advertised) for each in configuration.listeners
    ] == [
        ("kafka", "127.0.0.1:9092", None),
        ("iggy", "127.0.0.1:8090", None),
        ("rustlog", "127.0.0.1:7070", None),
        ("console", "127.0.0.1:8080", None),
    ]
    assert all(setting.is_default for setting in configuration.settings.values())


def test_stronger_source_wins_and_is_named(tmp_path: Path) -> None:
    path = written(
        tmp_path, "data = '/file'\nnode-id = 7\n[kafka]\nnum.partitions = 2\nmessage.max.bytes = 9\n"
    )
    environ = {"TRIVIUM_DATA": "/environment", "TRIVIUM_KAFKA_NUM_PARTITIONS": "3"}
    configuration = load(path, environ, {"data": "/flag"})
    assert configuration.data_directories == (Path("/flag"),)
    assert configuration.broker_setting("num.partitions") == 3
    sources = {name: configuration.settings[name].source for name in ("data", "num.partitions", "node-id")}
    assert sources == {
        "data": "--data",
        "num.partitions": "TRIVIUM_KAFKA_NUM_PARTITIONS",
        "node-id": "trivium.toml",
    }
    assert configuration.settings["message.max.bytes"].source == "trivium.toml [kafka]"
    assert configuration.settings["log.segment.bytes"].source == "default"


def test_stronger_source_wins_whichever_name_it_uses(tmp_path: Path) -> None:
    path = written(tmp_path, "log.dirs=/kafka\nbroker.id=4\nlisteners=PLAINTEXT://:1\n", "server.properties")
    configuration = load(path, {"TRIVIUM_LISTEN_KAFKA": "127.0.0.1:2"}, {"data": "/ours", "node-id": "5"})
    assert configuration.data_directories == (Path("/ours"),)
    assert configuration.node_id == 5
    assert [each.address.port for each in configuration.listeners_of(Protocol.KAFKA)] == [2]
    path = written(tmp_path, "data = '/ours'\n")
    assert load(path, {}, {"log.dirs": "/kafka"}).data_directories == (Path("/kafka"),)


def test_source_with_both_names_of_a_setting_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "data = '/a'\n[kafka]\nlog.dirs = '/b'\n")
    assert refusal(path) == (
        "data (trivium.toml) and log.dirs (trivium.toml [kafka]) say the same thing: keep one of them."
    )


def test_example_of_the_documentation_is_taken(tmp_path: Path) -> None:
    example = DOCUMENT.read_text().split("```toml\n")[1].split("```")[0]
    configuration = load(written(tmp_path, example))
    kafka = configuration.listeners_of(Protocol.KAFKA)[0]
    assert (str(kafka.address), str(kafka.advertised)) == ("0.0.0.0:9092", "broker.example.org:9092")
    assert configuration.listeners_of(Protocol.RUSTLOG) == ()
    assert configuration.log_format is LogFormat.JSON
    assert configuration.limits.slow_reader_ms == 30_000
    assert configuration.limits.connections_max_per_address == 200
    assert configuration.broker_setting("auto.create.topics.enable") is False


def test_documentation_has_every_setting_with_its_default() -> None:
    rows = [line.split("|")[1:4] for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    documented = {name.strip(" `"): default.strip(" `") for name, default, _ in rows}
    assert set(documented) == set(OWN)
    for name, definition in OWN.items():
        if definition.default is not None:
            assert documented[name] == definition.default_text


def test_tables_of_names_agree() -> None:
    assert set(FLAGS) | set(KAFKA_NAMES) <= set(OWN)


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (
            {"num_partitons": "3"},
            "num.partitons (--set num.partitons) is no setting; the nearest is num.partitions.",
        ),
        ({"qqq": "3"}, "qqq (--set qqq) is no setting."),
        (
            {"num_partitions": "0"},
            "num.partitions = '0' (--set num.partitions) is not allowed: "
            "it takes a whole number of 32 bits, at least 1.",
        ),
        (
            {"durability": "maybe"},
            "durability = 'maybe' (--durability) is not allowed: it takes one of fsync, page-cache.",
        ),
        (
            {"node__id": "-3"},
            "node-id = '-3' (--node-id) is not allowed: it takes a whole number of 32 bits, at least 0.",
        ),
        ({"data": ""}, "data = '' (--data) is not allowed: it takes one or more, with commas."),
        ({"node_id": "1", "broker_id": "2"}, "must be the same: keep one of them."),
        ({"cluster__id": "a b"}, "cluster-id = 'a b' (--set cluster-id) is no id"),
        ({"log_roll_ms": "0"}, "These settings contradict each other: log.roll.ms must be greater than"),
        (
            {"limits_request-memory-bytes": "2000000"},
            "make it at least socket.request.max.bytes (104857600).",
        ),
        (
            {"authorizer_class_name": "x.Y"},
            "authorizer.class.name = x.Y (--set authorizer.class.name) is not known here: write org.apache",
        ),
        (
            {"access_acls": "on", "super_users": "User:a;bob"},
            "access.super-users has 'bob', which is no principal: write User:bob.",
        ),
        (
            {"config_providers": "env"},
            "config.providers (--set config.providers) asks for values from elsewhere",
        ),
        ({"process_roles": "controller"}, "a node of Trivium is always both."),
        ({"max_connections_per_ip_overrides": "me"}, "it takes a list of ADDRESS:NUMBER."),
    ],
)
def test_mistake_is_one_sentence(flags: dict[str, str], sentence: str) -> None:
    assert sentence in refusal(None, **flags)


def test_broker_id_that_kafka_leaves_open_is_left_open() -> None:
    assert load(flags={"broker.id": "-1"}).node_id is None
    assert load(flags={"node.id": "3", "broker.id": "3"}).node_id == 3


def test_memory_for_requests_follows_the_largest_request() -> None:
    assert load().limits.request_memory_bytes == 268_435_456
    assert load(flags={"queued.max.request.bytes": "-1"}).limits.request_memory_bytes == 268_435_456
    assert load(flags={"queued.max.request.bytes": "200000000"}).limits.request_memory_bytes == 200_000_000
    assert load(flags={"socket.request.max.bytes": "500000000"}).limits.request_memory_bytes == 500_000_000


def test_limits_are_those_of_kafka_by_default() -> None:
    """003.30, S3: a request has at most 100 MiB."""
    limits = load().limits
    assert (limits.frame_bytes_max, limits.fetch_bytes_max) == (104_857_600, 57_671_680)
    assert (limits.connections_max, limits.connections_max_per_address) == (2**31 - 1, 2**31 - 1)
    assert (limits.connection_idle_ms, limits.listen_backlog, limits.fetch_sessions_max) == (
        600_000,
        50,
        1000,
    )


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("socket.request.max.bytes", "1000", "frame_bytes_max", 1000),
        ("max.connections", "5", "connections_max", 5),
        ("max.connections.per.ip", "6", "connections_max_per_address", 6),
        (
            "max.connections.per.ip.overrides",
            "::1:7, a.b:8",
            "connections_max_by_address",
            {"::1": 7, "a.b": 8},
        ),
        ("max.connection.creation.rate", "9", "connections_per_second_max", 9),
        ("connections.max.idle.ms", "10", "connection_idle_ms", 10),
        ("connections.max.idle.ms", "-1", "connection_idle_ms", (1 << 63) - 1),
        ("limits.requests-in-flight", "11", "requests_in_flight_max", 11),
        ("limits.request-memory-bytes", "120000000", "request_memory_bytes", 120_000_000),
        ("limits.response-memory-bytes", "13000000", "response_memory_bytes", 13_000_000),
        ("limits.first-request-ms", "14", "first_request_ms", 14),
        ("limits.slow-sender-ms", "15", "slow_sender_ms", 15),
        ("limits.slow-reader-ms", "16", "slow_reader_ms", 16),
        ("fetch.max.bytes", "1700", "fetch_bytes_max", 1700),
        ("max.incremental.fetch.session.cache.slots", "18", "fetch_sessions_max", 18),
        ("socket.listen.backlog.size", "19", "listen_backlog", 19),
    ],
)
def test_limit_has_a_setting(name: str, text: str, field: str, value: object) -> None:
    assert getattr(load(flags={name: text}).limits, field) == value


def test_static_settings_are_what_a_kafka_would_have_been_given() -> None:
    flags = {
        "data": "/a,/b",
        "node-id": "3",
        "listen.kafka": "127.0.0.1:1",
        "advertise.kafka": "h:2",
        "num.partitions": "4",
    }
    assert load(flags=flags).static_settings == {
        "log.dirs": "/a,/b",
        "node.id": "3",
        "broker.id": "3",
        "listeners": "PLAINTEXT://127.0.0.1:1",
        "advertised.listeners": "PLAINTEXT://h:2",
        "num.partitions": "4",
    }
    assert "listeners" not in load(flags={"listen.kafka": "off"}).static_settings


def test_metadata_directory_may_lie_elsewhere() -> None:
    configuration = load(flags={"log.dirs": "/a,/b", "metadata.log.dir": "/m"})
    assert configuration.metadata_directory == Path("/m")
    assert load(flags={"log.dirs": "/a,/b"}).metadata_directory == Path("/a")
    assert load(flags={"log.dir": "/c"}).data_directories == (Path("/c"),)


def test_home_directory_is_found() -> None:
    assert load(flags={"data": "~/log"}).data_directories == (Path.home() / "log",)


def test_setting_without_effect_is_marked() -> None:
    settings = load(flags={"num.io.threads": "4", "num.partitions": "4", "zookeeper.connect": "h:1"}).settings
    effects = {
        name: settings[name].takes_effect
        for name in ("num.io.threads", "num.partitions", "zookeeper.connect")
    }
    assert effects == {"num.io.threads": False, "num.partitions": True, "zookeeper.connect": False}


def test_secret_is_in_nothing_that_can_be_shown() -> None:
    """S15."""
    flags = {"ssl.keystore.password": "canary", "password.encoder.secret": "canary", "rsm.config.x": "canary"}
    configuration = load(flags=flags)
    assert "canary" not in repr(configuration) + repr(dict(configuration.settings))
    assert configuration.static_settings["ssl.keystore.password"] == "canary"


def test_setting_given_by_kafkas_name_is_shown_as_ours(tmp_path: Path) -> None:
    text = "\nlisteners=PLAINTEXT://:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
    settings = load(written(tmp_path, text, "server.properties")).settings
    assert (settings["listen.kafka"].text, settings["listen.kafka"].source) == (
        ":9092",
        "server.properties line 2, listeners",
    )


def test_addresses_are_values() -> None:
    assert Address.parse("[::1]:5") == Address("::1", 5)
    assert str(Address.parse("[::1]:5")) == "[::1]:5"
    assert Address.parse(":5") == Address("", 5)
    for text in ("", "5", "a:", "a:65536", "::1:5", "a b:5", "[x]:5", "a:-1", "a:5:6"):
        with pytest.raises(ValueError, match="HOST:PORT"):
            Address.parse(text)
