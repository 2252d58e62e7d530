"""``trivium topic`` on a broker."""

from typing import Any

import pytest
from tests.cli.commands import complaint, facts, misuse, output, run
from tests.client.live import eventually, fill
from tests.protocols.iggy.raw_client import RawClient, new_topic, text

from trivium.client.cluster import Cluster
from trivium.client.errors import Refused
from trivium.messages.errors import ErrorCode
from trivium.testing import Broker


def topic_facts(bootstrap: str, topic: str, *options: str) -> dict[str, object]:
    (described,) = facts("topic", "describe", topic, "--broker", bootstrap, *options)["topics"]
    assert isinstance(described, dict)
    return described


def test_created_topic_is_listed_and_described(bootstrap: str, name: str) -> None:
    said = output("topic", "create", name, "-p", "3", "-c", "retention.ms=60000", "--broker", bootstrap)
    assert said == f"Created {name}: 3 partitions, 1 replica.\n"
    rows = {row["topic"]: row for row in facts("topic", "list", "--broker", bootstrap)["topics"]}
    assert rows[name] == {"topic": name, "partitions": 3, "replicas": 1, "records": 0, "size_bytes": 0}
    described = topic_facts(bootstrap, name)
    assert described["settings"] == [{"setting": "retention.ms", "value": "60000", "source": "topic"}]
    assert name in output("topic", "list", "--broker", bootstrap)
    assert "retention.ms" in output("topic", "describe", name, "--broker", bootstrap)


def test_list_tells_records_and_sizes(bootstrap: str, cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a" * 1000, b"b" * 1000)
    rows = {row["topic"]: row for row in facts("topic", "list", "--broker", bootstrap)["topics"]}
    assert rows[topic]["records"] == 2
    assert rows[topic]["size_bytes"] > 2000


def test_list_goes_without_sizes_where_they_may_not_be_known(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(cluster: Cluster) -> None:
        raise Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "broker 1")

    monkeypatch.setattr("trivium.cli.topic.describe_log_dirs", refuse)
    rows = {row["topic"]: row for row in facts("topic", "list", "--broker", bootstrap)["topics"]}
    assert (rows[topic]["records"], rows[topic]["size_bytes"]) == (0, None)


def test_list_shows_internal_topics_only_when_asked(bootstrap: str, topic: str, name: str) -> None:
    output("consume", topic, "--group", f"{name}-g", "--broker", bootstrap)

    def listed(*options: str) -> set[str]:
        found = facts("topic", "list", "--broker", bootstrap, *options)["topics"]
        return {row["topic"] for row in found}

    assert "__consumer_offsets" not in listed()
    assert "__consumer_offsets" in listed("--internal")


def test_description_tells_leaders_and_offsets(bootstrap: str, cluster: Cluster, topic: str) -> None:
    fill(cluster, topic, b"a", b"b", partition=1)
    partitions = topic_facts(bootstrap, topic)["partitions"]
    assert isinstance(partitions, list)
    assert [(row["partition"], row["start"], row["end"]) for row in partitions] == [(0, 0, 0), (1, 0, 2)]
    assert {(row["leader"], *row["replicas"], *row["in_sync"]) for row in partitions} == {(1, 1, 1)}


def test_description_has_all_settings_when_asked(bootstrap: str, topic: str) -> None:
    settings = topic_facts(bootstrap, topic, "--all-settings")["settings"]
    assert isinstance(settings, list)
    assert {"cleanup.policy", "max.message.bytes"} <= {row["setting"] for row in settings}
    assert topic_facts(bootstrap, topic)["settings"] == []


def test_topic_is_shown_by_its_name_at_each_door() -> None:
    """Issue 5, item 7: a topic of one's own stream, one of Kafka's, and one of the broker's own."""
    with Broker(listen_iggy="127.0.0.1:0") as broker, RawClient(broker.address("iggy")) as iggy:
        broker.create_topic("plain")
        iggy.login()
        iggy.get(202, text("shop"))
        iggy.get(302, new_topic("shop", "orders/new"))
        shown = facts("topic", "show", "plain", "shop.orders-_2fnew", "__trivium", "-b", broker.bootstrap)
        assert {each["topic"]: each["doors"] for each in shown["topics"]} == {
            "plain": {
                "kafka": "plain",
                "iggy": {"stream": "default", "stream_id": 0, "topic": "plain", "topic_id": 0},
                "rustlog": "plain",
            },
            "shop.orders-_2fnew": {
                "kafka": "shop.orders-_2fnew",
                "iggy": {"stream": "shop", "stream_id": 1, "topic": "orders/new", "topic_id": 0},
                "rustlog": "shop.orders-_2fnew",
            },
            "__trivium": {"kafka": "__trivium", "iggy": None, "rustlog": "__trivium"},
        }
        table = output("topic", "show", "shop.orders-_2fnew", "-b", broker.bootstrap)
        (line,) = [line for line in table.splitlines() if line.startswith(" iggy")]
        assert " ".join(line.split()) == "iggy stream shop, topic orders/new stream 1, topic 0"


def test_topic_of_a_broker_without_streams_is_shown_without_a_place_in_them(
    bootstrap: str, topic: str
) -> None:
    assert topic_facts(bootstrap, topic)["doors"] == {"kafka": topic, "iggy": None, "rustlog": topic}
    assert "iggy" not in output("topic", "show", topic, "--broker", bootstrap)


def test_missing_topic_is_named_and_the_others_are_described(bootstrap: str, topic: str) -> None:
    result = run("topic", "describe", topic, "nowhere", "--broker", bootstrap)
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no topic nowhere; 'trivium topic list' shows what there is.\n"
    assert topic in result.stdout


def test_existing_topic_is_refused_unless_that_is_fine(bootstrap: str, topic: str) -> None:
    assert "exists already" in complaint("topic", "create", topic, "--broker", bootstrap)
    assert output("topic", "create", topic, "--if-not-exists", "--broker", bootstrap) == ""


def test_dry_run_creates_nothing(bootstrap: str, name: str) -> None:
    assert facts("topic", "create", name, "--dry-run", "--broker", bootstrap)["dry_run"] is True
    assert "There is no topic" in complaint("topic", "describe", name, "--broker", bootstrap)


@pytest.mark.parametrize("setting", ["retention.ms", "=5"])
def test_setting_without_a_value_is_a_wrong_flag(bootstrap: str, name: str, setting: str) -> None:
    assert "write NAME=VALUE" in misuse("topic", "create", name, "-c", setting, "--broker", bootstrap)


def test_setting_that_is_not_known_is_explained_by_the_broker(bootstrap: str, name: str) -> None:
    said = complaint("topic", "create", name, "-c", "no.such=1", "--broker", bootstrap)
    assert "INVALID_CONFIG" in said
    assert "no.such" in said


def test_altered_topic_has_more_partitions_and_other_settings(bootstrap: str, topic: str) -> None:
    broker = ("--broker", bootstrap)
    output("topic", "alter", topic, "-p", "3", "--set", "segment.ms=5000", "-s", "retention.ms=7", *broker)
    output("topic", "alter", topic, "--unset", "retention.ms", *broker)

    def seen() -> tuple[Any, int]:
        described = topic_facts(bootstrap, topic)
        assert isinstance(described["partitions"], list)
        return described["settings"], len(described["partitions"])

    eventually(seen, ([{"setting": "segment.ms", "value": "5000", "source": "topic"}], 3))


def test_alteration_of_nothing_is_a_wrong_command(bootstrap: str, topic: str) -> None:
    assert "Say what to change" in misuse("topic", "alter", topic, "--broker", bootstrap)


def test_dry_run_alters_nothing(bootstrap: str, topic: str) -> None:
    said = output("topic", "alter", topic, "-p", "9", "--dry-run", "--broker", bootstrap)
    assert said == f"{topic} could be changed.\n"
    partitions = topic_facts(bootstrap, topic)["partitions"]
    assert isinstance(partitions, list)
    assert len(partitions) == 2


def test_deletion_needs_a_yes_where_nobody_can_be_asked(bootstrap: str, topic: str) -> None:
    assert "say --yes" in misuse("topic", "delete", topic, "--broker", bootstrap)
    assert output("topic", "delete", topic, "--yes", "--broker", bootstrap) == f"Deleted {topic}.\n"
    assert "There is no topic" in complaint("topic", "delete", topic, "--yes", "--broker", bootstrap)
    assert facts("topic", "delete", topic, "-y", "--if-exists", "--broker", bootstrap) == {"deleted": []}


def test_oldest_records_are_deleted_by_offset_and_by_time(
    bootstrap: str, cluster: Cluster, topic: str
) -> None:
    fill(cluster, topic, *[b"v"] * 5, timestamp_ms=1_750_000_000_000)

    def starts(*options: str) -> list[int]:
        rows = facts("topic", "records", topic, "--broker", bootstrap, *options)["partitions"]
        return [row["start"] for row in rows]

    assert starts() == [0, 0]
    assert starts("-p", "0", "--delete-before", "2", "--yes") == [2]
    assert starts("--delete-before", "@1750000003000", "--yes") == [3, 0]
    assert starts("--delete-before", "latest", "--yes") == [5, 0]
    assert "no partition 7" in complaint("topic", "records", topic, "-p", "7", "--broker", bootstrap)
