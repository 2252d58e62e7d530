"""Holds the dialogues about groups and transactions with a real Kafka and keeps its answers in
``kafka-groups/``.

Run by hand, with Java at hand: ``python -m tests.golden.record_groups``. Nothing else writes these files.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.golden.consumer_group_dialogue import CONSUMER_DIALOGUES
from tests.golden.group_dialogue import ANSWERS, DIALOGUES, Talk
from tests.golden.share_group_dialogue import SHARE_DIALOGUES
from tests.golden.transaction_dialogue import TRANSACTION_DIALOGUES
from tests.golden.transaction_talk import TransactionTalk
from tests.interop.kafka import Kafka

CLUSTER_ID = "dHJpdml1bS1nb2xkZW4tMw"
SETTLE_SECONDS = 1
"""Kafka's group coordinator hears of new topics a little later than its clients do."""

OF_GROUPS = {**DIALOGUES, **CONSUMER_DIALOGUES, **SHARE_DIALOGUES}
ALL = [*OF_GROUPS, *TRANSACTION_DIALOGUES]


def record(name: str) -> dict[str, Any]:
    with (
        tempfile.TemporaryDirectory() as directory,
        Kafka.obtain().broker(Path(directory) / "data", CLUSTER_ID) as address,
    ):
        talk = TransactionTalk(address) if name in TRANSACTION_DIALOGUES else Talk(address)
        talk.begin()
        time.sleep(SETTLE_SECONDS)
        if isinstance(talk, TransactionTalk):
            TRANSACTION_DIALOGUES[name](talk)
        else:
            OF_GROUPS[name](talk)
        talk.close()
    return talk.answers


if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        text = json.dumps(record(name), indent=1, ensure_ascii=False)
        (ANSWERS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
