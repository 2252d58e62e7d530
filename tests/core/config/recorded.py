"""What Kafka 4.3.1 said about its settings (``tests/golden/kafka-configs``)."""

import json
from pathlib import Path
from typing import Any

from trivium.core.config.broker import BROKER
from trivium.core.config.group import GROUP
from trivium.core.config.layers import Layers
from trivium.core.config.topic import TOPIC

_FOLDER = Path(__file__).parents[2] / "golden" / "kafka-configs"

TABLES = {"topic": TOPIC, "group": GROUP, "broker": BROKER}


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_FOLDER / f"{name}.jsonl").read_text().splitlines()]


def layers_of(given: dict[str, Any]) -> Layers:
    return Layers(this_broker=given["this_broker"], all_brokers=given["all_brokers"], static=given["static"])
