"""``trivium serve`` seen from outside: starting, stopping, and every way in which it cannot start."""

import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.server.serving import Served, run_serve
from tests.server.wire import PRODUCE_VERSION, Peer, commit, create_topic, fetch, produce
from trivium.messages.api import ApiKey


def one_sentence(stderr: str) -> str:
    """What a person reads: the last line, and no traceback anywhere."""
    assert "Traceback" not in stderr
    *_, last = stderr.strip().splitlines()
    assert last.startswith("Error: ")
    return last


# -- starting and stopping ---------------------------------------------------------------------------


def test_ready_file_when_clients_can_connect_names_the_addresses(tmp_path: Path) -> None:
    """Mission 001.1."""
    with Served(tmp_path) as served:
        assert served.ready["pid"] == served.process.pid
        assert served.ready["data"] == [str(served.data)]
        with Peer(served.bootstrap) as peer:
            assert peer.is_served()


def test_greeting_after_start_says_where_and_what_an_ack_means(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        served.stop()
        assert served.bootstrap in served.greeting
        assert served.console in served.greeting
        assert str(served.data) in served.greeting
        assert "survives a power failure" in served.greeting


def test_greeting_of_three_doors_names_their_addresses_and_none_that_stays_closed(tmp_path: Path) -> None:
    with Served(tmp_path, "--iggy", "127.0.0.1:0", "--rustlog", "127.0.0.1:0") as served:
        served.stop()
        assert served.ready["iggy"] in served.greeting
        assert served.ready["rustlog"] in served.greeting
        assert "closed" not in served.greeting


def test_greeting_with_page_cache_says_what_is_not_survived(tmp_path: Path) -> None:
    with Served(tmp_path, "--durability", "page-cache") as served:
        served.stop()
        assert "not a power failure" in served.greeting


def test_greeting_without_compiled_kernel_says_so(tmp_path: Path) -> None:
    with Served(tmp_path, environment={"TRIVIUM_KERNEL": "python"}) as served:
        served.stop()
        assert served.greeting.count("kernel is not in use") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_once_stops_cleanly(tmp_path: Path, number: int) -> None:
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "kept")
        assert served.stop(number) == 0
        assert (served.data / ".kafka_cleanshutdown").exists()
        assert not (tmp_path / "ready.json").exists()
        assert "Traceback" not in served.log_text


def test_stop_with_a_long_poll_waiting_answers_it(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "quiet")
        with Peer(served.bootstrap) as peer:
            peer.ask(fetch("quiet", max_wait_ms=600_000), 6)
            # The fetch is waiting once a request behind it on another connection has been answered.
            with Peer(served.bootstrap) as other:
                assert other.is_served()
            served.process.send_signal(signal.SIGTERM)
            assert peer.answer(ApiKey.FETCH, 6)[0] == 1
        assert served.process.wait(30) == 0


def test_hangup_without_a_terminal_changes_nothing(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        served.process.send_signal(signal.SIGHUP)
        with Peer(served.bootstrap) as peer:
            assert peer.is_served()
        assert served.stop() == 0


def test_records_after_a_clean_stop_are_there_again(tmp_path: Path) -> None:
    """Mission 001.46."""
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "kept")
        with Peer(served.bootstrap) as peer:
            peer.ask(produce("kept", b"still here", acks=-1), PRODUCE_VERSION)
            peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        assert served.stop() == 0
        served.start()
        with Peer(served.bootstrap) as peer:
            peer.ask(fetch("kept"), 6)
            assert b"still here" in peer.frame()


# -- what it cannot do -------------------------------------------------------------------------------


def test_busy_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_serve("--data", str(tmp_path / "data"), "--kafka", f"127.0.0.1:{port}", "--console", "off")
    assert done.returncode == 1
    assert f"Port {port} on 127.0.0.1 is in use" in one_sentence(done.stderr)
    assert not (tmp_path / "data").exists(), "a node that cannot listen touches nothing"


def test_foreign_directory_is_one_sentence_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "holiday.jpg").write_bytes(b"mine")
    done = run_serve("--data", str(tmp_path), "--kafka", "127.0.0.1:0", "--console", "off")
    assert done.returncode == 1
    assert "holiday.jpg" in one_sentence(done.stderr)
    assert (tmp_path / "holiday.jpg").read_bytes() == b"mine"


def test_unwritable_directory_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    done = run_serve("--data", str(tmp_path / "file" / "data"), "--kafka", "127.0.0.1:0", "--console", "off")
    assert done.returncode == 1
    said = one_sentence(done.stderr)
    assert f"{tmp_path / 'file'}" in said
    assert "Not a directory; choose one that can be written to." in said
    assert "Errno" not in said


def test_damaged_directory_is_named_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data", "meta.properties").touch()
    done = run_serve("--data", "data", "--kafka", "127.0.0.1:0", "--console", "off")
    assert done.returncode == 1
    assert one_sentence(done.stderr).startswith("Error: data/meta.properties has no version")


def test_second_broker_on_a_directory_is_one_sentence(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        done = run_serve("--data", str(served.data), "--kafka", "127.0.0.1:0", "--console", "off")
        assert done.returncode == 1
        assert "in use by another broker" in one_sentence(done.stderr)
        with Peer(served.bootstrap) as peer:
            assert peer.is_served()


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    [
        (("--kafka", "nowhere"), 1, "HOST:PORT"),
        (("--set", "num.partitoins=3"), 1, "num.partitions"),
        (("absent.toml",), 1, "absent.toml"),
        (("--no-such-flag",), 2, "--no-such-flag"),
        (("--set", "nonsense"), 2, "NAME=VALUE"),
        (("--kafka", "192.0.2.1:0"), 1, "no address of this machine"),
        (("--ready-file", "/nonexistent/ready.json"), 1, "/nonexistent/ready.json"),
    ],
)
def test_wrong_configuration_is_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], code: int, part: str
) -> None:
    kafka = () if "--kafka" in arguments else ("--kafka", "127.0.0.1:0")
    done = run_serve("--data", str(tmp_path / "data"), "--console", "off", *kafka, *arguments)
    assert done.returncode == code
    assert part in one_sentence(done.stderr)


# -- what it says ------------------------------------------------------------------------------------


def test_log_as_json_has_one_object_for_each_event(tmp_path: Path) -> None:
    with Served(tmp_path, "--set", "logging.format=json") as served:
        served.stop()
        events = [json.loads(line) for line in served.log_text.splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "starting"
    assert names[-1] == "stopped"
    assert {"directory opened", "listening", "stopping"} < set(names)
    assert all({"time", "level"} < set(event) for event in events)


def test_log_at_level_error_is_silent_when_nothing_is_wrong(tmp_path: Path) -> None:
    with Served(tmp_path, "--set", "logging.level=error") as served:
        served.stop()
        assert served.log_text == ""


def test_start_after_a_kill_reports_what_recovery_did(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "torn")
        with Peer(served.bootstrap) as peer:
            peer.ask(produce("torn", b"x" * 100), PRODUCE_VERSION)
            peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
        served.kill()
        with (served.data / "torn-0" / f"{0:020}.log").open("ab") as segment:
            segment.write(b"half a batch")
        served.start()
        assert "stopped_cleanly=False" in served.log_text
        assert "cut_bytes=12" in served.log_text


# -- the console port --------------------------------------------------------------------------------


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=20) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_console_of_a_serving_node_is_alive_and_ready(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        assert get(f"http://{served.console}/health") == (200, "alive\n")
        assert get(f"http://{served.console}/ready") == (200, "ready\n")
        assert get(f"http://{served.console}/nothing")[0] == 404


def test_ready_with_one_directory_that_cannot_be_opened_says_which(tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"")
    with Served(tmp_path, "--data", str(tmp_path / "broken" / "logs")) as served:
        status, text = get(f"http://{served.console}/ready")
        assert status == 503
        assert str(tmp_path / "broken" / "logs") in text
        assert get(f"http://{served.console}/health")[0] == 200


def test_metrics_after_some_requests_count_them(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        create_topic(served.bootstrap, "counted")
        with Peer(served.bootstrap) as peer:
            for _ in range(3):
                peer.ask(produce("counted", b"x", acks=-1), PRODUCE_VERSION)
                peer.answer(ApiKey.PRODUCE, PRODUCE_VERSION)
            peer.ask(fetch("counted", offset=99), 6)
            peer.answer(ApiKey.FETCH, 6)
            peer.ask(commit("watchers", "counted", 1), 2)
            peer.answer(ApiKey.OFFSET_COMMIT, 2)
            status, text = get(f"http://{served.console}/metrics")
    assert status == 200
    lines = text.splitlines()
    assert 'trivium_request_seconds_count{api="Produce",protocol="kafka"} 3.0' in lines
    assert 'trivium_errors_total{api="Fetch",error="OFFSET_OUT_OF_RANGE",protocol="kafka"} 1.0' in lines
    assert 'trivium_log_end_offset{partition="0",topic="counted"} 3.0' in lines
    assert 'trivium_group_lag{group="watchers",partition="0",topic="counted"} 2.0' in lines
    assert "trivium_connections 1.0" in lines
    syncs = next(line for line in lines if line.startswith("trivium_sync_seconds_count"))
    assert float(syncs.split()[-1]) >= 3
