"""docs/clients.md names the versions that are really tried."""

import json
import re

from tests.interop.kafka import POM, ROOT
from tests.interop.puppets import JAVA_CLIENTS, SOURCES

PAGE = (ROOT / "docs" / "clients.md").read_text()


def row(client: str) -> str:
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| {client}")]
    return line


def test_page_names_every_generation_of_the_java_client() -> None:
    assert ", ".join(JAVA_CLIENTS) in row("Java")


def test_page_names_the_kafka_whose_tools_are_run() -> None:
    [version] = re.findall(r"<kafka.version>(.+)</kafka.version>", POM.read_text())
    assert f"| {version} |" in row("Kafka's command line tools")


def test_page_names_the_kafkajs_that_is_installed() -> None:
    package = json.loads((SOURCES / "kafkajs" / "package.json").read_text())
    assert f"| {package['dependencies']['kafkajs']} |" in row("KafkaJS")


def test_page_names_the_franz_go_that_is_built() -> None:
    [version] = re.findall(r"github.com/twmb/franz-go v(\S+)", (SOURCES / "franz-go" / "go.mod").read_text())
    assert f"| {version} |" in row("franz-go")


def test_page_names_the_python_clients_that_are_required() -> None:
    required = (ROOT / "pyproject.toml").read_text()
    for client in ("confluent-kafka", "kafka-python", "aiokafka"):
        [version] = re.findall(rf'"{client}>=([0-9.]+)"', required)
        assert f"| {version} or newer |" in row(client)
