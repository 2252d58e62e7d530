"""``python -m tests.interop.iggy.dialogues [--first SEED] [--count SEEDS] [FAMILY …]``.

Plays for longer than ``make interop`` has time, and does not stop at the first difference.
"""

import argparse
import tempfile
from pathlib import Path

from tests.interop.dialogues.report import told
from tests.interop.dialogues.shrink import shortest
from tests.interop.iggy.dialogues.families import FAMILIES
from tests.interop.iggy.dialogues.judge import Judge
from tests.interop.iggy.dialogues.pair import Pair, iggy_server, servers

SHRINK_SECONDS = 15


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory, servers(iggy_server(), Path(directory)) as pair:
        play(pair, given)


def play(pair: Pair, given: argparse.Namespace) -> None:
    judge = Judge(pair.ours, pair.theirs)
    for name in given.families:
        differences = 0
        for seed in range(given.first, given.first + given.count):
            steps = FAMILIES[name].dialogue(seed)
            found = judge.difference(steps)
            if found is not None:
                differences += 1
                left, found = shortest(steps, found, judge.patiently, SHRINK_SECONDS)
                print(told("Iggy", name, seed, left, found), flush=True)
        print(f"{name}: {given.count} dialogues, {differences} differ, {judge.answers} answers", flush=True)


if __name__ == "__main__":
    main()
