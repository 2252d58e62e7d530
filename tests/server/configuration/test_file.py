"""Configuration files: which kind a file is, and what is said to one that cannot be read."""

from pathlib import Path

import pytest

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.file import read_file
from trivium.server.configuration.given import Given


def given(folder: Path, name: str, text: str | bytes) -> list[Given]:
    data = text.encode() if isinstance(text, str) else text
    (folder / name).write_bytes(data)
    return read_file(folder / name)


def test_toml_names_come_with_their_table(tmp_path: Path) -> None:
    text = "node-id = 1\n[listen]\nkafka = 'off'\n[kafka]\nlog.retention.ms = -1\nlog.preallocate = true\n"
    assert given(tmp_path, "n.toml", text) == [
        Given("node-id", "1", "n.toml"),
        Given("listen.kafka", "off", "n.toml [listen]"),
        Given("log.retention.ms", "-1", "n.toml [kafka]"),
        Given("log.preallocate", "true", "n.toml [kafka]"),
    ]


def test_toml_dotted_keys_are_tables(tmp_path: Path) -> None:
    assert given(tmp_path, "n.toml", "listen.kafka = 'off'\nkafka.num.partitions = 3\n") == [
        Given("listen.kafka", "off", "n.toml [listen]"),
        Given("num.partitions", "3", "n.toml [kafka]"),
    ]


def test_properties_come_with_their_line(tmp_path: Path) -> None:
    text = "# a broker\n\nnum.partitions = 3\nlog.dirs=/a,\\\n    /b\nnum.partitions: 4\n"
    assert given(tmp_path, "server.properties", text) == [
        Given("num.partitions", "3", "server.properties line 3"),
        Given("log.dirs", "/a,/b", "server.properties line 4"),
        Given("num.partitions", "4", "server.properties line 6"),
    ]


@pytest.mark.parametrize(
    ("text", "source"),
    [("data = '/x'\n", "broker.conf"), ("log.dirs=/x\n", "broker.conf line 1")],
    ids=["TOML", "properties"],
)
def test_file_with_another_suffix_is_told_by_its_content(tmp_path: Path, text: str, source: str) -> None:
    assert [each.source for each in given(tmp_path, "broker.conf", text)] == [source]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("num.partitions = 3", "num.partitions (n.toml [num]) is a name of Kafka's: write it below [kafka]."),
        (
            "[kafka]\ndurability = 'x'",
            "durability (n.toml [kafka]) is no name of Kafka's: write it above",
        ),
        (
            "[listn]\nkafka = 'off'",
            "listn.kafka (n.toml [listn]) is no setting; the nearest is listen",
        ),
        ("nodeid = 1", "nodeid (n.toml) is no setting; the nearest is node-id."),
        ("kafka = 'off'", "kafka (n.toml) is no setting"),
        (
            "[kafka]\nnum.partitons = 3",
            "num.partitons (n.toml [kafka]) is no setting; the nearest is num",
        ),
        ("data = [['a']]", "is neither text, number, true or false, nor a list of texts without commas."),
        ("data = ['a,b']", "is neither text, number, true or false, nor a list of texts without commas."),
        (
            "node-id = 2020-01-01",
            "is neither text, number, true or false, nor a list of texts without commas.",
        ),
        ("data = ", "n.toml is no TOML: "),
        (
            "[kafka]\nmax.connections = 1\nmax.connections.per.ip = 1",
            'write the longer of two such names in quotes: "max.connections.per.ip" = 5.',
        ),
        (b"data = '\xff'", "is not UTF-8, which TOML has to be."),
    ],
)
def test_toml_with_a_mistake_is_refused_in_one_sentence(
    tmp_path: Path, text: str | bytes, sentence: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        given(tmp_path, "n.toml", text)
    assert sentence in str(refused.value)


def test_properties_that_are_damaged_are_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"four hex digits must follow \\u\.$"):
        given(tmp_path, "server.properties", "log.dirs=\\u12\n")


def test_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"missing.toml cannot be read: No such file or directory\.$"
    ):
        read_file(tmp_path / "missing.toml")
    with pytest.raises(ConfigurationError, match=r"cannot be read: Is a directory\.$"):
        read_file(tmp_path)
