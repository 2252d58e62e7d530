"""``trivium inspect`` on a directory that Kafka wrote: what people and scripts see, what a mistake costs."""

import base64
import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.golden.recording import Recording, contents, unpack

from trivium.cli.inspect_metadata import survey_metadata
from trivium.cli.main import main
from trivium.core.metadata import MetadataImage
from trivium.log.metadata_log import METADATA_DIRECTORY
from trivium.messages.stored.metadata_topics import ConfigRecord


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return unpack("clean", tmp_path_factory.mktemp("clean"))


@pytest.fixture
def data(recording: Recording, tmp_path: Path) -> Path:
    """A copy, to be damaged."""
    shutil.copytree(recording.data, tmp_path / "data")
    return tmp_path / "data"


def inspect(path: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["inspect", str(path), *options])


def facts(path: Path, *options: str) -> Any:
    result = inspect(path, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def complaint(result: Result) -> str:
    """The one sentence that a person gets instead of a traceback."""
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    return result.output


def test_inspect_shows_every_partition_and_changes_nothing(data: Path, recording: Recording) -> None:
    before = contents(data)
    shown = inspect(data)
    assert shown.exit_code == 0
    assert "stopped cleanly" in shown.output
    rows = {row["name"]: row for row in facts(data)["partitions"]}
    for (topic, number), seen in recording.partitions():
        row = rows[f"{topic}-{number}"]
        assert (row["log_end_offset"], row["notes"]) == (seen["high_watermark"], [])
    assert contents(data) == before


def test_inspect_partition_shows_its_records(recording: Recording) -> None:
    found = facts(recording.data, "-p", "plain-0", "-r", "3", "--from", "40")
    (expected,) = (seen["records"][40:43] for key, seen in recording.partitions() if key == ("plain", 0))
    assert [(row["offset"], row["value"].encode().hex()) for row in found["records"]] == [
        (record["offset"], record["value"]) for record in expected
    ]
    assert "records" in inspect(recording.data, "-p", "plain-0", "-r", "3").output


def test_inspect_knows_which_topics_are_compacted_and_may_have_gaps(data: Path) -> None:
    """A missing segment is damage in a topic that is not compacted (R7)."""
    segments = sorted((data / "segmented-0").glob("*.log"))
    missing = segments[4]
    for path in (data / "segmented-0").glob(f"{missing.stem}.*"):
        path.unlink()
    found = facts(data, "-p", "segmented-0", "-r", "300", "--limit", "300")
    assert "are missing" in found["notes"][0]
    assert found["records"][-1]["offset"] == int(missing.stem) - 1
    assert facts(data, "-p", "compacted-0", "-r", "300")["notes"] == []


def test_inspect_of_a_corrupt_partition_shows_what_lies_before_the_damage(data: Path) -> None:
    """Nobody needs to look more than whose log is damaged."""
    log = data / "plain-0" / "00000000000000000000.log"
    damaged = bytearray(log.read_bytes())
    damaged[900] ^= 0x55
    log.write_bytes(damaged)
    found = facts(data, "-p", "plain-0", "-r", "50")
    (note,) = found["notes"]
    assert note.startswith("plain-0 is corrupt from offset 20:")
    assert found["batches"][-1]["last_offset"] == 19
    assert [row["offset"] for row in found["records"]] == list(range(20))
    assert note in inspect(data, "-p", "plain-0").output


def test_inspect_metadata_shows_the_cluster(recording: Recording) -> None:
    shown = inspect(recording.data, "--metadata")
    assert shown.exit_code == 0
    for title in ("features", "brokers", "topics", "configs", "users", "access", "quotas"):
        assert title in shown.output
    found = facts(recording.data, "--metadata")
    topics = {row["name"]: row for row in found["topics"]}
    assert {name: row["configs"] for name, row in topics.items()} == {
        name: listed["dynamic_configs"] for name, listed in recording.manifest["topics"].items()
    }
    assert topics["grown"]["partitions"] == 4
    assert {"user": "bob", "mechanism": "SCRAM-SHA-512", "iterations": 4096} in found["users"]
    assert len(found["access"]) == len(recording.manifest["acls"])
    assert {"entity": {"user": None}, "limits": {"request_percentage": 150.5}} in found["quotas"]
    assert {"feature": "metadata.version", "level": 30} in found["features"]


def test_inspect_metadata_keeps_the_secrets_of_users(recording: Recording) -> None:
    """S15, with the keys that lie in the directory as canaries."""
    output = inspect(recording.data, "-m").output + inspect(recording.data, "-m", "--json").output
    for credentials in recording.metadata().scram.by_user.values():
        for credential in credentials.values():
            for secret in (credential.salt, credential.stored_key, credential.server_key):
                for spelling in (secret.hex(), base64.b64encode(secret).decode(), repr(secret)):
                    assert spelling not in output


def test_inspect_metadata_withholds_settings_that_may_be_secret() -> None:
    image = MetadataImage()
    for name in ("ssl.keystore.password", "listener.name.a.sasl.jaas.config", "log.retention.ms"):
        image.replay(ConfigRecord(resource_type=4, resource_name="1", name=name, value="canary"))
    (row,) = survey_metadata(image, "/somewhere")["configs"]
    assert row.configs == {
        "listener.name.a.sasl.jaas.config": "(withheld)",
        "log.retention.ms": "canary",
        "ssl.keystore.password": "(withheld)",
    }


def test_inspect_of_a_damaged_metadata_log_is_one_sentence(data: Path) -> None:
    log = data / METADATA_DIRECTORY / "00000000000000000000.log"
    damaged = bytearray(log.read_bytes())
    damaged[-5] ^= 1
    log.write_bytes(damaged)
    assert f"{METADATA_DIRECTORY} is corrupt from offset" in complaint(inspect(data, "--metadata"))


def test_inspect_without_a_metadata_log_shows_partitions_and_says_where_metadata_is(data: Path) -> None:
    shutil.rmtree(data / METADATA_DIRECTORY)
    assert "has no metadata log" in complaint(inspect(data, "--metadata"))
    assert inspect(data, "-p", "compacted-0").exit_code == 0


def test_inspect_of_what_is_no_log_directory_is_one_sentence(tmp_path: Path) -> None:
    assert "has no meta.properties" in complaint(inspect(tmp_path))


def test_inspect_of_a_partition_that_is_not_there_is_one_sentence(recording: Recording) -> None:
    assert "There is no partition nowhere-0" in complaint(inspect(recording.data, "-p", "nowhere-0"))


def test_inspect_takes_one_view_at_a_time(recording: Recording) -> None:
    result = inspect(recording.data, "--metadata", "-p", "plain-0")
    assert result.exit_code == 2
    assert "Choose one of --metadata and --partition" in result.output


@pytest.mark.parametrize("option", ["--records", "--from", "--limit"])
def test_inspect_refuses_an_option_that_needs_a_partition(recording: Recording, option: str) -> None:
    result = inspect(recording.data, option, "3")
    assert result.exit_code == 2
    assert "go with --partition" in result.output


def test_inspect_from_an_offset_that_the_partition_has_not_says_which_it_has(recording: Recording) -> None:
    for offset in ("29", "51", str(1 << 80)):
        said = complaint(inspect(recording.data, "-p", "trimmed-0", "--from", offset))
        assert f"trimmed-0 has no offset {offset}: choose --from between 30 and its end, 50." in said
    assert facts(recording.data, "-p", "trimmed-0", "--from", "50")["batches"] == []


@pytest.mark.parametrize("times", [1, 1000])
def test_inspect_looks_again_when_a_broker_deletes_what_it_looks_at(
    data: Path, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = data / "plain-0" / "00000000000000000000.log"
    real_open, left = os.open, iter(range(times))

    def deleted(path: str, *rest: Any, **options: Any) -> int:
        if str(path) == str(segment) and next(left, None) is not None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return real_open(path, *rest, **options)

    monkeypatch.setattr(os, "open", deleted)
    result = inspect(data)
    if times == 1:
        assert result.exit_code == 0
    else:
        assert f"{segment} vanished while it was looked at" in complaint(result)


@pytest.mark.parametrize("name", ["plain-0/00000000000000000000.log", "meta.properties"])
def test_inspect_of_what_may_not_be_read_says_who_may(
    data: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, who may read everything: the refusal is played."""
    real_open = os.open

    def guarded(path: str, *rest: Any, **options: Any) -> int:
        if str(path) == str(data / name):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real_open(path, *rest, **options)

    monkeypatch.setattr(os, "open", guarded)
    said = complaint(inspect(data))
    assert f"You may not read {data / name}; run this as the user" in said
