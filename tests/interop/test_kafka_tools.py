"""Kafka's command line tools, at work on our broker: what they print is what they print about Kafka.

(Mission 001.44, 003.8.) The expectations were read off the same tools in front of a real Kafka 4.3.1.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.interop.brokers import Restartable
from tests.interop.kafka import Kafka

from trivium.testing.broker import Broker

pytestmark = pytest.mark.interop

TOOLS = "org.apache.kafka.tools"


class Tools:
    """The tools by the names of their scripts, each in front of one broker."""

    def __init__(self, kafka: Kafka, broker: Restartable) -> None:
        self.kafka = kafka
        self.broker = broker

    def _arguments(self, words: str) -> list[str]:
        return ["--bootstrap-server", self.broker.bootstrap, *words.split()]

    def topics(self, words: str) -> str:
        return self.kafka.run(f"{TOOLS}.TopicCommand", *self._arguments(words))

    def topics_refused(self, words: str) -> str:
        return self.kafka.refused(f"{TOOLS}.TopicCommand", *self._arguments(words))

    def configs(self, words: str) -> str:
        return self.kafka.run("kafka.admin.ConfigCommand", *self._arguments(words))

    def configs_refused(self, words: str) -> str:
        return self.kafka.refused("kafka.admin.ConfigCommand", *self._arguments(words))

    def groups(self, words: str) -> str:
        return self.kafka.run(f"{TOOLS}.consumer.group.ConsumerGroupCommand", *self._arguments(words))

    def reassign(self, words: str) -> str:
        return self.kafka.run(f"{TOOLS}.reassign.ReassignPartitionsCommand", *self._arguments(words))

    def produce(self, words: str, text: str) -> None:
        self.kafka.run(f"{TOOLS}.ConsoleProducer", *self._arguments(words), text=text)

    def consume(self, words: str) -> list[str]:
        consumer = f"{TOOLS}.consumer.ConsoleConsumer"
        return self.kafka.run(consumer, *self._arguments(f"{words} --timeout-ms 30000")).splitlines()

    def run(self, name: str, words: str = "") -> str:
        return self.kafka.run(f"{TOOLS}.{name}", *self._arguments(words))


@pytest.fixture(scope="module")
def tools(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    broker = Restartable(tmp_path_factory.mktemp("broker"))
    with broker:
        yield Tools(kafka, broker)


@pytest.fixture
def json_file(tmp_path: Path) -> Callable[[object], Path]:
    def write(content: object) -> Path:
        file = tmp_path / "input.json"
        file.write_text(json.dumps(content))
        return file

    return write


def words_of(text: str) -> list[list[str]]:
    """Tables without their alignment."""
    return [line.split() for line in text.splitlines() if line.strip()]


# -- topics and settings -----------------------------------------------------------------------------


def test_topics_tool_creates_describes_extends_and_deletes(tools: Tools) -> None:
    created = tools.topics("--create --topic life --partitions 2 --config retention.ms=1000000")
    assert created == "Created topic life.\n"
    assert "already exists" in tools.topics_refused("--create --topic life --partitions 2")
    assert "life" in tools.topics("--list").split()
    assert tools.topics("--alter --topic life --partitions 3") == ""
    assert "2 would not be an increase" in tools.topics_refused("--alter --topic life --partitions 2")
    first, *partitions = tools.topics("--describe --topic life").splitlines()
    assert "PartitionCount: 3\tReplicationFactor: 1\tConfigs: retention.ms=1000000" in first
    assert partitions == [
        f"\tTopic: life\tPartition: {number}\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: "
        for number in range(3)
    ]
    assert tools.topics("--delete --topic life") == ""
    assert "does not exist as expected" in tools.topics_refused("--describe --topic life")


def test_configs_tool_changes_and_shows_what_a_topic_says(tools: Tools) -> None:
    tools.topics("--create --topic configured")
    entity = "--entity-type topics --entity-name configured"
    done = tools.configs(
        f"--alter {entity} --add-config max.message.bytes=2000000,cleanup.policy=[compact,delete]"
    )
    assert done == "Completed updating config for topic configured.\n"
    _, *shown = tools.configs(f"--describe {entity}").splitlines()
    assert shown == [
        "  cleanup.policy=compact,delete sensitive=false synonyms={"
        "DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}",
        "  max.message.bytes=2000000 sensitive=false synonyms={"
        "DYNAMIC_TOPIC_CONFIG:max.message.bytes=2000000, DEFAULT_CONFIG:message.max.bytes=1048588}",
    ]
    tools.configs(f"--alter {entity} --delete-config cleanup.policy")
    assert "cleanup.policy" not in tools.configs(f"--describe {entity}")
    assert "Unknown topic config name: nonsense" in tools.configs_refused(
        f"--alter {entity} --add-config nonsense=1"
    )
    assert "retention.ms" in tools.configs_refused(f"--alter {entity} --add-config retention.ms=abc")


def test_configs_tool_changes_brokers_group_and_loggers(tools: Tools) -> None:
    broker = "--entity-type brokers --entity-name 1"
    tools.configs(f"--alter {broker} --add-config log.cleaner.threads=2")
    assert "log.cleaner.threads=2 " in tools.configs(f"--describe {broker}")
    every_broker = "--entity-type brokers --entity-default"
    tools.configs(f"--alter {every_broker} --add-config message.max.bytes=2000000")
    assert "message.max.bytes=2000000" in tools.configs(f"--describe {every_broker}")
    tools.configs(f"--alter {every_broker} --delete-config message.max.bytes")
    assert "message.max.bytes" not in tools.configs(f"--describe {every_broker}")
    group = "--entity-type groups --entity-name some"
    tools.configs(f"--alter {group} --add-config consumer.session.timeout.ms=50000")
    assert "consumer.session.timeout.ms=50000 " in tools.configs(f"--describe {group}")
    logger = "--entity-type broker-loggers --entity-name 1"
    assert (
        tools.configs(f"--alter {logger} --add-config root=WARN")
        == "Completed updating config for broker-logger 1.\n"
    )
    assert "root=WARN " in tools.configs(f"--describe {logger}")


# -- records, offsets, groups ------------------------------------------------------------------------


def test_console_tools_write_and_read_keys_headers_and_offsets(tools: Tools) -> None:
    tools.topics("--create --topic console --partitions 1")
    parsed = " ".join(
        f"--reader-property {each}" for each in ("parse.key=true", "key.separator=:", "parse.headers=true")
    )
    tools.produce(f"--topic console --compression-codec zstd {parsed}", "h1:v1,h2:v2\ta:1\nh:x\tb:2\n")
    shown = " ".join(
        f"--formatter-property print.{what}=true" for what in ("key", "headers", "partition", "offset")
    )
    assert tools.consume(f"--topic console --from-beginning --max-messages 2 {shown}") == [
        "Partition:0\tOffset:0\th1:v1,h2:v2\ta\t1",
        "Partition:0\tOffset:1\th:x\tb\t2",
    ]
    assert tools.run("GetOffsetShell", "--topic console") == "console:0:2\n"
    assert tools.run("GetOffsetShell", "--topic console --time earliest") == "console:0:0\n"
    assert tools.run("GetOffsetShell", "--topic console --time max-timestamp") in (
        "console:0:0\n",
        "console:0:1\n",
    )


def test_consumer_groups_tool_describes_resets_and_deletes(tools: Tools) -> None:
    tools.topics("--create --topic grouped --partitions 1")
    tools.produce("--topic grouped", "1\n2\n3\n")
    assert tools.consume("--topic grouped --from-beginning --max-messages 3 --group shown") == ["1", "2", "3"]
    assert "shown" in tools.groups("--list").split()
    header, row = words_of(tools.groups("--describe --group shown"))
    assert header[:6] == ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"]
    assert row[:6] == ["shown", "grouped", "0", "3", "3", "0"]
    header, row = words_of(tools.groups("--describe --group shown --state"))
    assert row[0] == "shown"
    assert row[-2:] == ["Empty", "0"]
    _, row = words_of(tools.groups("--reset-offsets --group shown --topic grouped --to-earliest --execute"))
    assert row == ["shown", "grouped", "0", "0"]
    assert tools.consume("--topic grouped --max-messages 1 --group shown") == ["1"]
    deleted = tools.groups("--delete-offsets --group shown --topic grouped")
    assert ["grouped", "0", "Successful"] in words_of(deleted)
    assert "successful" in tools.groups("--delete --group shown")
    assert "shown" not in tools.groups("--list").split()


def test_delete_records_tool_moves_the_start_of_the_log(
    tools: Tools, json_file: Callable[[object], Path]
) -> None:
    tools.topics("--create --topic shortened --partitions 1")
    tools.produce("--topic shortened", "1\n2\n3\n")
    wish = json_file({"version": 1, "partitions": [{"topic": "shortened", "partition": 0, "offset": 2}]})
    assert "low_watermark: 2" in tools.run("DeleteRecordsCommand", f"--offset-json-file {wish}")
    assert tools.run("GetOffsetShell", "--topic shortened --time earliest") == "shortened:0:2\n"


def test_verifiable_tools_agree_on_what_was_written(tools: Tools) -> None:
    """Kafka's own system tests are made of these two."""
    written = tools.run("VerifiableProducer", "--topic verified --max-messages 300 --acks -1")
    sent = [json.loads(line) for line in written.splitlines()]
    assert [each["offset"] for each in sent if each["name"] == "producer_send_success"] == list(range(300))
    read = tools.run(
        "VerifiableConsumer",
        "--topic verified --group-id verifying --group-protocol classic --reset-policy earliest"
        " --max-messages 300",
    )
    events = [json.loads(line) for line in read.splitlines()]
    assert sum(each["count"] for each in events if each["name"] == "records_consumed") == 300
    [*_, committed] = [each for each in events if each["name"] == "offsets_committed"]
    assert committed["offsets"] == [{"topic": "verified", "partition": 0, "offset": 300}]


def test_performance_tools_write_and_read_everything(tools: Tools) -> None:
    load = "--topic perf --num-records 20000 --record-size 100 --throughput -1"
    assert "20000 records sent" in tools.run("ProducerPerformance", load)
    assert ", 20000, " in tools.run("ConsumerPerformance", "--topic perf --num-records 20000")
    latency = tools.run(
        "EndToEndLatency", "--topic latency --num-records 50 --producer-acks 1 --record-size 10"
    )
    assert "Avg latency" in latency
    _, row = words_of(tools.run("TransactionsCommand", "describe-producers --topic perf --partition 0"))
    assert row[3] == "19999", "the last sequence number of the idempotent producer"


# -- the cluster -------------------------------------------------------------------------------------


def test_cluster_tools_tell_who_and_where(tools: Tools, kafka: Kafka) -> None:
    address = ["--bootstrap-server", tools.broker.bootstrap]
    cluster_id = tools.broker.ready["cluster_id"]
    assert kafka.run(f"{TOOLS}.ClusterTool", "cluster-id", *address) == f"Cluster ID: {cluster_id}\n"
    host, port = tools.broker.bootstrap.split(":")
    _, endpoint = words_of(kafka.run(f"{TOOLS}.ClusterTool", "list-endpoints", *address))
    assert endpoint == ["1", host, port, "null", "unfenced", "broker"]
    status = dict(
        line.split(":", 1) for line in tools.run("MetadataQuorumCommand", "describe --status").splitlines()
    )
    assert (status["ClusterId"].strip(), status["LeaderId"].strip()) == (cluster_id, "1")
    assert status["MaxFollowerLag"].strip() == "0"


def test_broker_api_versions_tool_finds_its_own_versions_usable(tools: Tools) -> None:
    """003.18: whatever is advertised, the newest client can use in a version of its own."""
    lines = tools.run("BrokerApiVersionsCommand").splitlines()
    assert lines[0] == f"{tools.broker.bootstrap} (id: 1 rack: null isFenced: false) -> ("
    served = [line for line in lines[1:-1] if "UNSUPPORTED" not in line]
    assert len(served) > 35
    assert [line for line in served if "[usable:" not in line] == []


def test_log_dirs_tool_shows_directory_and_sizes(tools: Tools) -> None:
    tools.topics("--create --topic sized --partitions 1")
    tools.produce("--topic sized", "1\n")
    found = json.loads(tools.run("LogDirsCommand", "--describe --topic-list sized").splitlines()[-1])
    [directory] = found["brokers"][0]["logDirs"]
    [partition] = directory["partitions"]
    assert (directory["logDir"], directory["error"]) == (str(tools.broker.data), None)
    assert partition["partition"] == "sized-0"
    assert partition["size"] == (tools.broker.data / "sized-0" / f"{0:020}.log").stat().st_size


def test_placement_tools_leave_one_broker_as_it_is(tools: Tools, json_file: Callable[[object], Path]) -> None:
    tools.topics("--create --topic placed --partitions 2")
    wish = json_file({"version": 1, "partitions": [{"topic": "placed", "partition": 0, "replicas": [1]}]})
    assert "No partition reassignments found." in tools.reassign("--list")
    assert "Successfully started partition reassignment for placed-0" in tools.reassign(
        f"--execute --reassignment-json-file {wish}"
    )
    assert "Reassignment of partition placed-0 is completed." in tools.reassign(
        f"--verify --reassignment-json-file {wish}"
    )
    election = tools.run("LeaderElectionCommand", "--election-type preferred --topic placed --partition 1")
    assert "Valid replica already elected for partitions placed-1" in election
    everywhere = "--election-type preferred --all-topic-partitions"
    assert tools.run("LeaderElectionCommand", everywhere) == "", "nothing had to change"


def test_reassign_tool_moves_a_partition_between_directories(
    kafka: Kafka, tmp_path: Path, json_file: Callable[[object], Path]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with Broker([one, two]) as broker:
        broker.create_topic("moved", 1)
        broker.produce("moved", ["v"])
        there = two if (one / "moved-0").is_dir() else one
        part = {"topic": "moved", "partition": 0, "replicas": [1], "log_dirs": [str(there)]}
        wish = json_file({"version": 1, "partitions": [part]})
        main, address = f"{TOOLS}.reassign.ReassignPartitionsCommand", broker.bootstrap
        arguments = ("--bootstrap-server", address, "--reassignment-json-file", str(wish))
        assert "Successfully started" in kafka.run(main, *arguments, "--execute")
        kafka.run(main, *arguments, "--verify")
        assert (there / "moved-0").is_dir()
        assert [record.value for record in broker.records("moved")] == [b"v"]
