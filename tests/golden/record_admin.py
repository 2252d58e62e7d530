"""Holds the dialogues of ``admin_dialogues`` with a real Kafka and keeps its answers in ``kafka-admin/``.

Run by hand, with Java at hand: ``python -m tests.golden.record_admin``. Nothing else writes these files.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.golden.admin_dialogues import DIALOGUES
from tests.golden.admin_player import ANSWERS, plain, question
from tests.interop.kafka import Kafka
from tests.server.wire import Peer

from trivium.messages.api import ApiKey
from trivium.messages.schema import Request

CLUSTER_ID = "dHJpdml1bS1nb2xkZW4tMg"
CHANGES = (
    ApiKey.CREATE_TOPICS,
    ApiKey.DELETE_TOPICS,
    ApiKey.CREATE_PARTITIONS,
    ApiKey.ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
)
SETTLING_SECONDS = 0.3
"""Kafka answers a change before its brokers have followed: the next question would meet the old state."""


def record(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    with (
        tempfile.TemporaryDirectory() as directory,
        Kafka.obtain().broker(Path(directory) / "data", CLUSTER_ID) as address,
        Peer(address) as peer,
    ):

        def ask(label: str, request: Request, version: int) -> Any:
            assert label not in answers, label
            answer = question(peer, request, version)
            if request.API_KEY in CHANGES:
                time.sleep(SETTLING_SECONDS)
            answers[label] = plain(answer)
            return answer

        DIALOGUES[name](ask)
    return answers


if __name__ == "__main__":
    for name in sys.argv[1:] or DIALOGUES:
        text = json.dumps(record(name), indent=1, ensure_ascii=False)
        (ANSWERS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
