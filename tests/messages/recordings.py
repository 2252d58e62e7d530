"""What was recorded from real Kafka, in ``tests/golden/kafka-wire`` (its README says how)."""

import json
from pathlib import Path
from typing import Any

_DIRECTORY = Path(__file__).parents[1] / "golden/kafka-wire"


def read_recording(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_DIRECTORY / name).read_text(encoding="utf-8").splitlines()]
