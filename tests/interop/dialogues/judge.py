"""Plays a dialogue on both sides, step by step, and says where their answers part.

Kafka answers many a change before its own brokers have followed it. So a question that changes nothing is put
again for a while before its answer counts, and a difference counts only if a second play, with a pause after
every step, shows it too.
"""

import itertools
import os
import time
from collections.abc import Sequence
from typing import Any

from tests.interop.dialogues.allowed import CLOSED, INTENDED, WAITS
from tests.interop.dialogues.difference import Difference
from tests.interop.dialogues.side import ANSWER_SECONDS, MAY_WAIT, WAITING_SECONDS, Side
from tests.interop.dialogues.step import Step

from trivium.messages.api import ApiKey

PATIENT_SECONDS = 0.4
"""The pause of a second play."""
AGAIN_SECONDS = 1.0
READS = frozenset(
    key
    for key in ApiKey
    if key.name.startswith(("DESCRIBE_", "LIST_")) or key in (ApiKey.METADATA, ApiKey.OFFSET_FETCH)
) | {
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    ApiKey.FIND_COORDINATOR,
    ApiKey.API_VERSIONS,
    ApiKey.CONSUMER_GROUP_DESCRIBE,
    ApiKey.SHARE_GROUP_DESCRIBE,
}


_plays = itertools.count(int(time.time()) % 10**4 * 10**5 + os.getpid() % 100 * 10**3)
"""Numbers that no earlier play has had, neither of this process nor of one before it."""


class Judge:
    def __init__(self, ours: str, kafkas: str) -> None:
        self._bootstraps = ours, kafkas
        self.answers = 0

    def difference(self, steps: Sequence[Step]) -> Difference[Step] | None:
        """The first difference that shows itself also with patience."""
        if self._play(steps, 0.0) is None:
            return None
        return self._play(steps, PATIENT_SECONDS)

    def patiently(self, steps: Sequence[Step]) -> Difference[Step] | None:
        return self._play(steps, PATIENT_SECONDS)

    def _play(self, steps: Sequence[Step], pause_seconds: float) -> Difference[Step] | None:
        prefix = f"z{next(_plays):09}z"
        ours, kafkas = (Side(bootstrap, prefix) for bootstrap in self._bootstraps)
        try:
            return self._compare(steps, ours, kafkas, pause_seconds)
        finally:
            ours.close()
            kafkas.close()

    def _compare(
        self, steps: Sequence[Step], ours: Side, kafkas: Side, pause: float
    ) -> Difference[Step] | None:
        asked: dict[int, Step] = {}
        for index, step in enumerate(steps):
            peer = ours.free_peer(step.peer)
            asked[peer] = step
            if step.until is not None:
                for side in (ours, kafkas):
                    side.settle(step, peer)
                continue
            pair = _asked(step, peer, ours, kafkas)
            if pair[0] != pair[1]:
                return _judged(Difference(index, step, *pair))
            self.answers += 1
            if pause and step.key not in READS:
                time.sleep(pause)
            for waiting in ours.waiting():
                pair = _heard(waiting, ours, kafkas)
                if pair[0] != pair[1]:
                    return _judged(Difference(index, asked[waiting], *pair))
        return None


def _judged(found: Difference[Step]) -> Difference[Step] | None:
    is_meant = any(each.applies(found.step, found.ours, found.theirs) for each in INTENDED)
    return None if is_meant else found


def _asked(step: Step, peer: int, ours: Side, kafkas: Side) -> tuple[Any, Any]:
    deadline = time.monotonic() + AGAIN_SECONDS
    while True:
        seconds = WAITING_SECONDS if step.key in MAY_WAIT else ANSWER_SECONDS
        mine = ours.ask(step, peer, seconds)
        theirs = kafkas.ask(step, peer, WAITING_SECONDS if mine == WAITS else ANSWER_SECONDS)
        if mine == theirs or step.key not in READS or CLOSED in (mine, theirs):
            return mine, theirs
        if time.monotonic() > deadline:
            return mine, theirs
        time.sleep(0.05)


def _heard(peer: int, ours: Side, kafkas: Side) -> tuple[Any, Any]:
    """What has come meanwhile on a connection that waits; one broker's answer waits for the other's."""
    mine, theirs = ours.hear(peer, 0.0), None
    if mine == WAITS:
        theirs = kafkas.hear(peer, 0.0)
        if theirs == WAITS:
            return mine, theirs
        return ours.hear(peer, ANSWER_SECONDS), theirs
    return mine, kafkas.hear(peer, ANSWER_SECONDS)
