"""``trivium produce`` and ``trivium consume``: what goes in comes out."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands import complaint, facts, misuse, output, run
from tests.client.live import fill

from trivium.cli.consume import Output
from trivium.cli.record_text import by_template
from trivium.client.cluster import Cluster
from trivium.client.group_offsets import committed_offsets
from trivium.client.producer import Producer
from trivium.client.reader import Chunk
from trivium.client.topology import TopicPartition
from trivium.records.batch import TimestampType
from trivium.records.record import Record

COMMAND = [sys.executable, "-m", "trivium"]


def objects(*arguments: str) -> list[Any]:
    """What ``consume --json`` prints."""
    return [json.loads(line) for line in output("consume", *arguments, "--json").splitlines()]


def test_lines_become_records_and_records_lines(bootstrap: str, topic: str) -> None:
    said = output("produce", topic, "-p", "0", "--broker", bootstrap, stdin=b"one\ntwo\n\nfour")
    assert said == f"Sent 4 records to {topic}.\n"
    assert output("consume", topic, "--broker", bootstrap) == "one\ntwo\n\nfour\n"


def test_file_is_sent_line_by_line(bootstrap: str, topic: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.txt"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(5000)))
    options = ("--compression", "zstd", "--broker", bootstrap)
    assert output("produce", topic, str(path), "--acks", "1", *options) == f"Sent 5,000 records to {topic}.\n"
    assert sorted(map(int, output("consume", topic, "--broker", bootstrap).split())) == list(range(5000))


def test_keys_headers_and_nulls_arrive(bootstrap: str, topic: str) -> None:
    options = ("-k", ":", "-H", "source=test", "--empty-as-null", "--broker", bootstrap)
    output("produce", topic, *options, stdin=b"a:1:2\nb:\n")
    found = {each["key"]: each for each in objects(topic, "--broker", bootstrap)}
    assert found["a"]["value"] == "1:2"
    assert found["b"]["value"] is None
    assert found["a"]["headers"] == [{"name": "source", "value": "test"}]
    assert found["a"]["timestamp_type"] == "create_time"


def test_json_that_consume_prints_is_what_produce_takes(
    bootstrap: str, cluster: Cluster, topic: str, name: str
) -> None:
    with Producer(cluster) as producer:
        producer.send(
            topic,
            b"\xff\x00",
            key=b"\xfe",
            headers=[("h", b"\xfd"), ("h", None)],
            timestamp_ms=5,
            partition=1,
        )
        producer.send(topic, None, key="ключ".encode(), timestamp_ms=6, partition=1)
    printed = output("consume", topic, "--json", "--broker", bootstrap)
    assert json.loads(printed.splitlines()[0]) == {
        "topic": topic,
        "partition": 1,
        "offset": 0,
        "timestamp_ms": 5,
        "timestamp_type": "create_time",
        "key_base64": "/g==",
        "value_base64": "/wA=",
        "headers": [{"name": "h", "value_base64": "/Q=="}, {"name": "h", "value": None}],
    }
    copy = f"{name}-copy"
    output("topic", "create", copy, "-p", "2", "--broker", bootstrap)
    report = facts("produce", copy, "--broker", bootstrap, stdin=printed.encode())
    assert report == {
        "topic": copy,
        "records": 2,
        "partitions": [{"partition": 1, "first_offset": 0, "last_offset": 1}],
    }
    assert output("consume", copy, "--json", "--broker", bootstrap) == printed.replace(topic, copy)


def test_line_that_is_no_record_is_named_and_those_before_it_are_sent(bootstrap: str, topic: str) -> None:
    said = complaint("produce", topic, "--json", "--broker", bootstrap, stdin=b'{"value": "a"}\n\nnonsense\n')
    assert said.startswith("Line 3 is no JSON")
    assert said.endswith("the 1 records before it were sent.")
    assert output("consume", topic, "--broker", bootstrap) == "a\n"
    said = complaint("produce", topic, "-k", "\t", "--broker", bootstrap, stdin=b"no key\n")
    assert said == "Line 1 has no '\\t' between key and value; nothing was sent."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--json", "-k", ":"), "the lines say key, headers and partition themselves"),
        (("-H", "novalue"), "write NAME=VALUE"),
        (("-k", ""), "nothing cannot separate"),
        (("--acks", "2"), "'2' is not one of"),
        (("-z", "rar"), "'rar' is not one of"),
    ],
)
def test_flags_of_produce_that_make_no_sense_are_refused(
    bootstrap: str, topic: str, options: tuple[str, ...], sentence: str
) -> None:
    assert sentence in misuse("produce", topic, *options, "--broker", bootstrap)


def test_partition_that_is_not_there_is_one_sentence(bootstrap: str, topic: str) -> None:
    for command in ("produce", "consume"):
        assert "it has 2, num" in complaint(command, topic, "-p", "2", "--broker", bootstrap, stdin=b"a\n")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--from", "earliest"), "abcde"),
        (("--from", "latest"), ""),
        (("--from", "3"), "de"),
        (("--from", "-2"), "de"),
        (("--from", "-99"), "abcde"),
        (("--from", "@1750000001500"), "cde"),
        (("--from", "2025-06-15T15:06:43"), "de"),
        (("--from", "2025-06-15T17:06:43+02:00"), "de"),
        (("--from", "1h"), ""),
        (("--max", "2"), "ab"),
        (("--from", "1", "-n", "1", "-p", "0"), "b"),
    ],
)
def test_consume_begins_and_ends_where_it_is_told(
    bootstrap: str, cluster: Cluster, topic: str, options: tuple[str, ...], expected: str
) -> None:
    fill(cluster, topic, b"a", b"b", b"c", b"d", b"e", timestamp_ms=1_750_000_000_000)
    assert output("consume", topic, *options, "--broker", bootstrap).split() == list(expected)


def test_records_behind_the_end_are_left_out(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """They came while the others were printed; who wants them says --follow."""
    key = TopicPartition("orders", 0)
    records = [Record(offset, 0, None, b"%d" % offset) for offset in range(5)]
    printed = Output(by_template("{value}", is_terminal=False), records_max=None)
    printed.write([Chunk(key, records, TimestampType.CREATE_TIME, 0)], {key: 3})
    assert capsysbinary.readouterr().out == b"0\n1\n2\n"
    assert printed.records == 3


def test_offset_that_no_partition_has_is_one_sentence(bootstrap: str, cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a")
    said = complaint("consume", topic, "--from", "7", "--broker", bootstrap)
    assert said == "No partition has the offset 7; choose one between 0 and 1."


def test_fields_are_added_by_options_or_a_template(bootstrap: str, cluster: Cluster, topic: str) -> None:
    with Producer(cluster) as producer:
        producer.send(
            topic, b"v", key=b"k", headers=[("h", b"1")], timestamp_ms=1_750_000_000_123, partition=1
        )
    line = output("consume", topic, "-k", "-o", "-t", "--headers", "--broker", bootstrap)
    assert line == "2025-06-15T15:06:40.123Z\t1:0\tk\tv\th=1\n"
    template = r"{topic}/{partition}\t{offset} {{{key}}} {timestamp_ms}"
    line = output("consume", topic, "--format", template, "--broker", bootstrap)
    assert line == f"{topic}/1\t0 {{k}} 1750000000123\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--format", "{nothing}"), "there is no field {nothing}"),
        (("--format", "{value!r}"), "there is no field {value}"),
        (("--format", "{value"), "write {{ and }} for braces themselves"),
        (("--format", "x", "--json"), "Choose one of --format, --json"),
        (("--json", "-k"), "Choose one of --format, --json"),
        (("--from", "sometime"), "is no place in a topic"),
        (("--group", "g", "-p", "0"), "--group or --partition"),
        (("--group", "g", "--from", "5"), "trivium group reset"),
    ],
)
def test_flags_of_consume_that_make_no_sense_are_refused(
    bootstrap: str, topic: str, options: tuple[str, ...], sentence: str
) -> None:
    result = run("consume", topic, *options, "--broker", bootstrap)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())


def test_values_go_byte_for_byte_into_a_pipe_and_escaped_to_a_terminal(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    """S14."""
    fill(cluster, topic, b"\x1b[31m\xff\ttab")
    command = [*COMMAND, "consume", topic, "--broker", bootstrap]
    piped = subprocess.run(command, capture_output=True, check=True)
    assert piped.stdout == b"\x1b[31m\xff\ttab\n"
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=theirs, check=True)
    assert os.read(ours, 1000) == b"\\x1b[31m\\xff\\ttab\r\n"
    os.close(theirs)
    os.close(ours)


def test_reader_that_stops_reading_ends_consume_in_silence(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    with Producer(cluster) as producer:
        for number in range(20_000):
            producer.send(topic, b"%d" % number)
    command = [*COMMAND, "consume", topic, "--broker", bootstrap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        reader.stdout.readline()
        reader.stdout.close()
        assert reader.stderr.read() == b""


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """Also where the tests run in the background of a shell, which makes all that it starts ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_follow_prints_what_comes_and_ends_quietly_by_ctrl_c(
    bootstrap: str, cluster: Cluster, topic: str, name: str
) -> None:
    """In a group, so that the commit on the way out is seen too."""
    fill(cluster, topic, b"first")
    command = [*COMMAND, "consume", topic, "--follow", "--group", name, "--broker", bootstrap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.readline() == b"first\n"
        fill(cluster, topic, b"second")
        assert reader.stdout.readline() == b"second\n"
        reader.send_signal(signal.SIGINT)
        assert reader.wait(60) == 0
        assert reader.stderr.read() == b""
    assert committed_offsets(cluster, name)[TopicPartition(topic, 0)].offset == 2


def test_group_goes_on_and_commits_only_what_was_printed(
    bootstrap: str, cluster: Cluster, topic: str, name: str
) -> None:
    fill(cluster, topic, b"a", b"b", b"c")
    options = (topic, "--group", name, "--broker", bootstrap)
    assert output("consume", *options, "--max", "2") == "a\nb\n"
    assert committed_offsets(cluster, name)[TopicPartition(topic, 0)].offset == 2
    assert output("consume", *options) == "c\n"
    assert output("consume", *options) == ""


def test_slow_writer_does_not_wait_for_a_full_batch(bootstrap: str, cluster: Cluster, topic: str) -> None:
    command = [*COMMAND, "produce", topic, "-p", "0", "--broker", bootstrap]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write(b"at once\n")
        writer.stdin.flush()
        deadline = time.monotonic() + 60
        while output("consume", topic, "--broker", bootstrap) != "at once\n":
            assert time.monotonic() < deadline
        writer.stdin.close()
        assert writer.wait(60) == 0
