"""What a real Kafka and real clients wrote: ``tests/golden/kafka-batches``, and more where it is at hand."""

import json
from pathlib import Path
from typing import Any

from trivium.records.record import Record

_ROOT = Path(__file__).parents[2]
BATCHES = _ROOT / "tests" / "golden" / "kafka-batches"
RECORDINGS = _ROOT.parent / "shared" / "golden" / "kafka-4.3.1"
"""The whole recording, beside the repository. Tests that want it are skipped without it."""

EXPECTED: dict[str, list[list[Any]]] = json.loads((BATCHES / "expected.json").read_text())
PARTITIONS = sorted(EXPECTED)
PRODUCED = [json.loads(line) for line in (BATCHES / "produced.jsonl").read_text().splitlines()]


def read_partition(name: str) -> bytes:
    return (BATCHES / f"{name}.log").read_bytes()


def expected_records(name: str) -> list[Record]:
    return [
        Record(offset, timestamp, _bytes(key), _bytes(value), _headers(headers))
        for offset, timestamp, _type, key, value, headers in EXPECTED[name]
    ]


def _headers(headers: list[tuple[str, str | None]]) -> tuple[tuple[str, bytes | None], ...]:
    return tuple((bytes.fromhex(name).decode(), _bytes(value)) for name, value in headers)


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)
