"""``python -m tests.interop.dialogues [--first SEED] [--count SEEDS] [FAMILY …]``.

Plays for longer than ``make interop`` has time, and does not stop at the first difference.
"""

import argparse
import tempfile
from pathlib import Path

from tests.interop.dialogues.families import FAMILIES
from tests.interop.dialogues.judge import Judge
from tests.interop.dialogues.pair import Pair, brokers
from tests.interop.dialogues.report import told
from tests.interop.dialogues.shrink import shortest
from tests.interop.kafka import Kafka

SHRINK_SECONDS = 60


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--at", help="brokers that run already: OURS,KAFKAS")
    given = parser.parse_args()
    if given.at:
        play(Pair(*given.at.split(",")), given)
        return
    with tempfile.TemporaryDirectory() as directory, brokers(Kafka.obtain(), Path(directory)) as pair:
        play(pair, given)


def play(pair: Pair, given: argparse.Namespace) -> None:
    versions = pair.versions()
    judge = Judge(pair.ours, pair.kafkas)
    for name in given.families:
        differences = 0
        for seed in range(given.first, given.first + given.count):
            steps = FAMILIES[name].dialogue(seed, versions)
            found = judge.difference(steps)
            if found is not None:
                differences += 1
                left, found = shortest(steps, found, judge.patiently, SHRINK_SECONDS)
                print(told("Kafka", name, seed, left, found), flush=True)
        print(f"{name}: {given.count} dialogues, {differences} differ, {judge.answers} answers", flush=True)


if __name__ == "__main__":
    main()
