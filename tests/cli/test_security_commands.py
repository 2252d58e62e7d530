"""``trivium acl``, ``quota``, ``audit`` and ``doctor``."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.commands import complaint, facts, misuse, output, run

from trivium.testing.broker import Broker


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    settings = {"access.acls": "on", "super.users": "User:ANONYMOUS", "access.anonymous": "allow"}
    with Broker(settings=settings) as broker:
        yield broker.bootstrap


def test_acl_is_added_listed_and_removed(guarded: str) -> None:
    said = output("acl", "allow", "User:ann", "read", "WRITE", "--topic", "orders", "-b", guarded)
    assert said == "User:ann may read topic orders.\nUser:ann may write topic orders.\n"
    output("acl", "deny", "User:*", "all", "--topic", "ord", "--prefix", "--host", "10.0.0.7", "-b", guarded)
    found = facts("acl", "list", "--topic", "orders", "-b", guarded)["acls"]
    assert [(each["principal"], each["permission"], each["operation"]) for each in found] == [
        ("User:*", "deny", "all"),
        ("User:ann", "allow", "read"),
        ("User:ann", "allow", "write"),
    ]
    assert "User:ann" in output("acl", "list", "-b", guarded)
    output("acl", "allow", "User:ann", "create-tokens", "--tokens-of", "User:bob", "-b", guarded)
    output("acl", "allow", "User:ann", "describe", "--cluster", "-b", guarded)
    assert {each["resource"] for each in facts("acl", "list", "-b", guarded)["acls"]} == {
        "topic",
        "user",
        "cluster",
    }
    gone = facts("acl", "remove", "User:ann", "--operation", "write", "--yes", "-b", guarded)["acls"]
    assert [each["operation"] for each in gone] == ["write"]
    output("acl", "remove", "User:ann", "--yes", "-b", guarded)
    assert "no such list" in complaint("acl", "remove", "User:ann", "--yes", "-b", guarded)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("allow User:ann fly --topic t", "'fly' is no operation"),
        ("allow ann read --topic t", "write User:ann"),
        ("allow User:ann read", "Say to what"),
        ("allow User:ann read --topic t --group g", "One resource at a time"),
    ],
)
def test_acl_with_a_mistake_is_one_sentence(words: str, sentence: str) -> None:
    assert sentence in misuse("acl", *words.split())


def test_acl_where_lists_do_not_count_says_what_to_do(bootstrap: str) -> None:
    assert "access.acls = on" in complaint("acl", "list", "-b", bootstrap)


def test_quota_is_set_listed_and_lifted(guarded: str) -> None:
    said = output(
        "quota",
        "set",
        "producer_byte_rate=1000",
        "request_percentage=12.5",
        "--for-user",
        "ann",
        "-b",
        guarded,
    )
    assert said.splitlines()[0] == "user ann: producer_byte_rate is limited to 1000."
    output(
        "quota", "set", "consumer_byte_rate=5", "--for-user", "default", "--for-client", "app", "-b", guarded
    )
    listed = output("quota", "list", "-b", guarded)
    assert "user ann: producer_byte_rate=1000, request_percentage=12.5" in listed
    assert "client-id app and user (default): consumer_byte_rate=5" in listed
    assert len(facts("quota", "list", "-b", guarded)["quotas"]) == 2
    output("quota", "lift", "producer_byte_rate", "request_percentage", "--for-user", "ann", "-b", guarded)
    output(
        "quota", "lift", "consumer_byte_rate", "--for-user", "default", "--for-client", "app", "-b", guarded
    )
    assert (
        output("quota", "list", "-b", guarded) == "There are no quotas yet; 'trivium quota set' makes one.\n"
    )
    said = output("quota", "set", "producer_byte_rate=1048577", "--for-user", "ann", "-b", guarded)
    assert said == "user ann: producer_byte_rate is limited to 1048577.\n"
    output("quota", "lift", "producer_byte_rate", "--for-user", "ann", "-b", guarded)
    refused = complaint("quota", "set", "producer_byte_rate=0", "--for-user", "ann", "-b", guarded)
    assert "must be greater than 0" in refused


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("set producer_byte_rate=1", "Say whose"),
        ("set nonsense=1 --for-user a", "'nonsense' is no limit"),
        ("set producer_byte_rate=fast --for-user a", "write LIMIT=VALUE"),
    ],
)
def test_quota_with_a_mistake_is_one_sentence(words: str, sentence: str) -> None:
    assert sentence in misuse("quota", *words.split())


def test_audit_is_read_back(tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    settings = {"access.acls": "on", "access.anonymous": "allow", "audit.file": str(trail)}
    with Broker(settings=settings) as broker:
        assert run("topic", "create", "t", "-b", broker.bootstrap).exit_code == 1
    shown = output("audit", str(trail), "--refused")
    assert "REFUSED  User:ANONYMOUS@127.0.0.1 (kafka)  CREATE TOPIC t: no list allows it" in shown
    assert output("audit", str(trail), "--logins") == ""
    assert len(output("audit", str(trail), "--last", "1", "--json").splitlines()) == 1
    assert "cannot be read" in complaint("audit", str(tmp_path / "none"))


def test_file_that_is_no_audit_trail_is_one_sentence(tmp_path: Path) -> None:
    trail = tmp_path / "notes.txt"
    trail.write_text("one\ntwo\n")
    assert complaint("audit", str(trail)).endswith("is no audit trail: none of its lines is an event.")


def test_lines_of_a_trail_that_are_no_events_are_counted(tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    trail.write_text('{"event": "login", "time": "t"}\n{"event": "lo\n{"event": "login", "time": "u"}\n[]\n')
    result = run("audit", str(trail))
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 2)
    assert result.stderr == "2 lines are no event, and left out; see line 2.\n"


def test_audit_line_cannot_order_the_terminal_about(tmp_path: Path) -> None:
    """S14."""
    trail = tmp_path / "audit.jsonl"
    trail.write_text('{"time":"t","event":"access","name":"\\u001b[2J","allowed":false}\nnonsense\n')
    assert "\x1b" not in output("audit", str(trail))


def test_doctor_tells_and_strict_fails() -> None:
    said = output("doctor", "--kafka", "0.0.0.0:9092")
    assert "RISK  kafka 0.0.0.0:9092: others can reach it; everybody may do everything" in said
    assert run("doctor", "--kafka", "0.0.0.0:9092", "--strict").exit_code == 1
    assert "Nothing is risky." in output("doctor")
    weights = {each["weight"] for each in facts("doctor")["findings"]}
    assert weights <= {"fine", "note"}
    assert "is no setting" in complaint("doctor", "--set", "nonsense=1")
