"""Plays a dialogue on both sides, step by step, and says where their answers part.

A difference counts only if a second play, with a pause after every step, shows it too. Iggy's server loses
its place on a connection whose messages it refuses before it has read them, and ours may take a damaged
request for one of another release. So what follows a refusal of either is asked on a new connection.
"""

import time
from collections.abc import Sequence
from typing import Any

from tests.interop.dialogues.difference import Difference
from tests.interop.iggy.dialogues.allowed import INTENDED, Intended, status
from tests.interop.iggy.dialogues.server import Server
from tests.interop.iggy.dialogues.side import Side
from tests.interop.iggy.dialogues.step import NO_DAMAGE, Step

PATIENT_SECONDS = 0.1
"""The pause of a second play."""


class Judge:
    def __init__(self, ours: Server, theirs: Server) -> None:
        self._servers = ours, theirs
        self.answers = 0

    def difference(self, steps: Sequence[Step]) -> Difference[Step] | None:
        """The first difference that shows itself also with patience."""
        if self._play(steps, 0.0) is None:
            return None
        return self.patiently(steps)

    def patiently(self, steps: Sequence[Step]) -> Difference[Step] | None:
        return self._play(steps, PATIENT_SECONDS)

    def _play(self, steps: Sequence[Step], pause_seconds: float) -> Difference[Step] | None:
        ours, theirs = (Side(server) for server in self._servers)
        try:
            return self._compare(steps, ours, theirs, pause_seconds)
        finally:
            ours.close()
            theirs.close()
            for server in self._servers:
                server.clear()

    def _compare(
        self, steps: Sequence[Step], ours: Side, theirs: Side, pause_seconds: float
    ) -> Difference[Step] | None:
        for index, step in enumerate(steps):
            mine, other = ours.ask(step), theirs.ask(step)
            if mine != other:
                meant = _meant(step, mine, other)
                if meant is None:
                    return Difference(index, step, mine, other)
                if not meant.goes_on:
                    return None
            self.answers += 1
            if status(mine) and (step.name == "SEND_MESSAGES" or step.damage != NO_DAMAGE):
                for side in (ours, theirs):
                    side.begin_anew(step.peer)
            time.sleep(pause_seconds)
        return None


def _meant(step: Step, ours: Any, theirs: Any) -> Intended | None:
    return next((each for each in INTENDED if each.applies(step, ours, theirs)), None)
