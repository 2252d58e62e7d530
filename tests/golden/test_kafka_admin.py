"""Our broker gives an administrator the answers that real Kafka 4.3.1 gave (mission 001.13-33, 001.44)."""

import json
from typing import Any

import pytest
from tests.golden.admin_dialogues import DIALOGUES
from tests.golden.admin_player import ANSWERS, STATIC, plain, question
from tests.server.wire import Peer

from trivium.messages.schema import Request
from trivium.testing.broker import Broker


@pytest.mark.parametrize("name", DIALOGUES)
def test_answers_to_an_administrator_are_those_of_kafka(name: str) -> None:
    expected = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    answers: dict[str, Any] = {}
    with Broker(settings=STATIC) as broker, Peer(broker.bootstrap) as peer:

        def ask(label: str, request: Request, version: int) -> Any:
            answer = question(peer, request, version)
            answers[label] = plain(answer)
            return answer

        DIALOGUES[name](ask)
    assert answers.keys() == expected.keys()
    for label, answer in answers.items():
        assert answer == expected[label], label
