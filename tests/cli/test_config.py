"""``trivium config``: settings with their sources, for people and for scripts."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trivium.cli.main import main
from trivium.core.config.broker import BROKER
from trivium.core.config.group import GROUP
from trivium.core.config.topic import TOPIC
from trivium.server.configuration.own_settings import OWN


@pytest.fixture(autouse=True)
def _no_settings_around(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in os.environ:
        if name.startswith("TRIVIUM_"):
            monkeypatch.delenv(name)


def config(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(main, ["config", *arguments], env=environ)


def shown(result: Result) -> dict[str, list[str]]:
    """The rows of the table by setting: value, source, note."""
    assert result.exit_code == 0, result.output
    rows = [line.split("  ") for line in result.output.splitlines()[4:]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    return {row[0]: row[1:] for row in cells if row}


def test_config_with_nothing_set_says_so() -> None:
    assert config().output == "Nothing is set; --all shows what a node is by default.\n"


def test_config_shows_what_is_set_and_where(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("log.dirs=/kafka\nnum.io.threads=4\nssl.keystore.password=canary\n")
    result = config(
        str(path), "--kafka", "127.0.0.1:0", "--set", "num.partitions=3", TRIVIUM_DURABILITY="page-cache"
    )
    assert shown(result) == {
        "data": ["/kafka", "server.properties line 1, log.dirs"],
        "durability": ["page-cache", "TRIVIUM_DURABILITY"],
        "listen.kafka": ["127.0.0.1:0", "--kafka"],
        "num.io.threads": ["4", "server.properties line 2", "has no effect here"],
        "num.partitions": ["3", "--set num.partitions"],
        "ssl.keystore.password": ["(hidden)", "server.properties line 3", "has no effect here"],
    }


def test_config_all_shows_every_setting() -> None:
    names = set(shown(config("--all")))
    assert set(OWN) <= names
    assert {"num.partitions", "auto.create.topics.enable"} <= names


def test_config_json_is_for_scripts() -> None:
    result = config("--json", "--data", "/a", "--data", "/b")
    assert json.loads(result.output) == [
        {
            "name": "data",
            "value": "/a,/b",
            "source": "--data",
            "is_default": False,
            "is_secret": False,
            "takes_effect": True,
        }
    ]


def test_config_never_shows_a_secret() -> None:
    """S15."""
    for options in ((), ("--json",), ("--all",), ("--all", "--json")):
        result = config("--set", "ssl.key.password=canary", "--set", "rsm.config.x=canary", *options)
        assert result.exit_code == 0
        assert "ssl.key.password" in result.output
        assert "canary" not in result.output


def test_config_with_a_mistake_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    result = config("--set", "num.partitons=3")
    assert (result.exit_code, result.output) == (
        1,
        "Error: num.partitons (--set num.partitons) is no setting; the nearest is num.partitions.\n",
    )
    missing = config(str(tmp_path / "missing.toml"))
    assert (missing.exit_code, missing.output.count("\n")) == (1, 1)


def test_config_set_without_a_value_is_a_usage_error() -> None:
    result = config("--set", "num.partitions")
    assert result.exit_code == 2
    assert "--set takes NAME=VALUE, such as num.partitions=3; 'num.partitions' is not that." in result.output


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        ("--data", "data"),
        ("--iggy", "listen.iggy"),
        ("--rustlog", "listen.rustlog"),
        ("--console", "listen.console"),
        ("--node-id", "node-id"),
        ("--durability", "durability"),
    ],
)
def test_config_flag_names_its_setting(option: str, setting: str) -> None:
    value = {"--node-id": "5", "--durability": "fsync"}.get(option, "127.0.0.1:1")
    assert shown(config(option, value)) == {setting: [value, option]}


def test_explain_says_what_a_setting_is_for_and_how_it_is_written() -> None:
    result = config("explain", "listen.kafka")
    assert result.output == (
        "listen.kafka (node)\n"
        "  Where Kafka clients connect.\n"
        "\n"
        "  takes     a list with commas\n"
        "  default   127.0.0.1:9092\n"
        "  changes   before the start\n"
        "  write     [listen] kafka = … in trivium.toml\n"
        "            TRIVIUM_LISTEN_KAFKA\n"
        "            --kafka\n"
        "            listeners=… in server.properties\n"
    )


def test_explain_of_a_name_of_several_explains_each() -> None:
    result = config("explain", "compression.type", "--json")
    assert [(each["of"], each["falls_back_to"]) for each in json.loads(result.output)] == [
        ("broker", None),
        ("topic", "compression.type"),
    ]


def test_explain_of_a_setting_without_effect_says_so() -> None:
    assert "Known to Kafka; it has no effect here." in config("explain", "num.io.threads").output


def test_explain_names_trivium_s_own_word() -> None:
    assert "same as   data" in config("explain", "log.dirs").output


def test_explain_of_an_unknown_name_is_one_sentence_and_exit_code_1() -> None:
    result = config("explain", "retentoin.ms")
    assert (result.exit_code, result.output) == (
        1,
        "Error: retentoin.ms is no setting; the nearest is retention.ms.\n",
    )


@pytest.mark.parametrize("table", [OWN, BROKER, TOPIC, GROUP], ids=["node", "broker", "topic", "group"])
def test_explain_works_for_every_setting(table: dict[str, object]) -> None:
    for name in table:
        assert config("explain", name).exit_code == 0, name
