"""Our door for Iggy answers as a server of 0.8 does, to right and wrong requests, in dialogues from seeds.

``IGGY_SERVER`` names that server. ``TRIVIUM_DIALOGUES`` plays so many of each family,
``TRIVIUM_DIALOGUES_FIRST`` begins with that seed. What may differ stands in ``dialogues/allowed.py``.
"""

from collections.abc import Iterator

import pytest
from tests.interop.dialogues.report import told
from tests.interop.dialogues.shrink import shortest
from tests.interop.dialogues.wanted import COUNT, FIRST
from tests.interop.iggy.dialogues.families import FAMILIES
from tests.interop.iggy.dialogues.judge import Judge
from tests.interop.iggy.dialogues.pair import iggy_server, servers
from tests.interop.kafka import Unavailable
from tests.interop.test_dialogues import SHRINK_SECONDS

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    try:
        program = iggy_server()
    except Unavailable as reason:
        pytest.skip(str(reason))
    with servers(program, tmp_path_factory.mktemp("dialogues")) as pair:
        yield Judge(pair.ours, pair.theirs)


@pytest.mark.parametrize("name", FAMILIES)
def test_answers_in_dialogues_are_those_of_iggy(judge: Judge, name: str) -> None:
    for seed in range(FIRST, FIRST + COUNT):
        steps = FAMILIES[name].dialogue(seed)
        found = judge.difference(steps)
        if found is not None:
            left, found = shortest(steps, found, judge.patiently, SHRINK_SECONDS)
            pytest.fail(told("Iggy", name, seed, left, found), pytrace=False)
