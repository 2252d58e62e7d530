"""Our broker gives members of groups and transactional producers the answers that real Kafka 4.3.1 gave
(mission 003.6-7, 003.26-28, 003.33).
"""

import json
from typing import Any

import pytest
from tests.golden.consumer_group_dialogue import CONSUMER_DIALOGUES
from tests.golden.group_dialogue import ANSWERS, DIALOGUES, STATIC, Talk
from tests.golden.share_group_dialogue import SHARE_DIALOGUES
from tests.golden.transaction_dialogue import TRANSACTION_DIALOGUES
from tests.golden.transaction_talk import TransactionTalk

from trivium.testing import Broker

ALL = {**DIALOGUES, **CONSUMER_DIALOGUES, **SHARE_DIALOGUES}


@pytest.mark.parametrize("name", ALL)
def test_answers_to_members_are_those_of_kafka(name: str) -> None:
    expected = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    with Broker(settings=STATIC) as broker:
        talk = Talk(broker.bootstrap)
        talk.begin()
        ALL[name](talk)
        talk.close()
    assert talk.answers.keys() == expected.keys()
    for label, answer in talk.answers.items():
        assert answer == _without_leader(expected[label]), label


@pytest.mark.parametrize("name", TRANSACTION_DIALOGUES)
def test_answers_to_transactional_producers_are_those_of_kafka(name: str) -> None:
    """Also what is wrong: stale epochs, wrong states, unknown ids, partitions outside, older generations."""
    expected = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    with Broker(settings=STATIC) as broker:
        talk = TransactionTalk(broker.bootstrap)
        talk.begin()
        TRANSACTION_DIALOGUES[name](talk)
        talk.close()
    assert talk.answers.keys() == expected.keys()
    for label, answer in talk.answers.items():
        assert answer == expected[label], label


def _without_leader(answer: Any) -> Any:
    """Kafka's answer, but that a partition of a share group which is refused names no leader (-1). Kafka says
    0 there, and franz-go takes that for the node to ask from now on.
    """
    if isinstance(answer, list):
        return [_without_leader(each) for each in answer]
    if not isinstance(answer, dict):
        return answer
    answer = {name: _without_leader(value) for name, value in answer.items()}
    if "current_leader" in answer and answer["error_code"] != 0:
        answer["current_leader"] = {"leader_id": -1, "leader_epoch": -1}
    return answer
