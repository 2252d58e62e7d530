"""Our broker answers as Apache Kafka 4.3.1 does, right and wrong requests alike, in dialogues from seeds.

``TRIVIUM_DIALOGUES`` plays so many of each family, ``TRIVIUM_DIALOGUES_FIRST`` begins with that seed. What
may differ stands in ``dialogues/allowed.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.interop.dialogues.families import FAMILIES
from tests.interop.dialogues.judge import Judge
from tests.interop.dialogues.pair import brokers
from tests.interop.dialogues.report import told
from tests.interop.dialogues.shrink import shortest
from tests.interop.dialogues.wanted import COUNT, FIRST
from tests.interop.dialogues.words import Versions
from tests.interop.kafka import Kafka

pytestmark = pytest.mark.interop

SHRINK_SECONDS = 60


@dataclass(frozen=True)
class Table:
    judge: Judge
    versions: Versions


@pytest.fixture(scope="module")
def table(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with brokers(kafka, tmp_path_factory.mktemp("dialogues")) as pair:
        yield Table(Judge(pair.ours, pair.kafkas), pair.versions())


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_in_dialogues_are_those_of_kafka(table: Table, name: str) -> None:
    for seed in range(FIRST, FIRST + COUNT):
        steps = FAMILIES[name].dialogue(seed, table.versions)
        found = table.judge.difference(steps)
        if found is not None:
            left, found = shortest(steps, found, table.judge.patiently, SHRINK_SECONDS)
            pytest.fail(told("Kafka", name, seed, left, found), pytrace=False)
