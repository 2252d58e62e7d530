"""Something that was begun and comes to its end once: done, or broken off by a mistake of ours.

Whoever notes that something is under way, or holds something for it, lets an errand hold that. Its steps are
taken on behalf of the errand (``core.behalf``), and so is all that they order: jobs in threads, syncs,
checkpoints. A mistake in any of them ends the errand, which lets go of what it holds; so nothing stays under
way for ever that nobody is at. Then it is the mistake of whoever has asked, or ``broken_off`` hears of it:
whoever begins the node's own work again.
"""

import logging
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ParamSpec

from trivium.core.behalf import act_for, now
from trivium.core.caller import Presence
from trivium.server.event_log import events

P = ParamSpec("P")


class Errand:
    __slots__ = ("_asked", "_broken_off", "_held", "_is_over")

    def __init__(self, broken_off: Callable[[Exception], None] | None = None) -> None:
        """Without ``broken_off`` it is an errand for whoever asks now."""
        self._asked = now.asked if broken_off is None else None
        self._broken_off = broken_off
        self._held = ExitStack()
        self._is_over = False

    def hold(self, let_go: Callable[P, None], /, *arguments: P.args, **named: P.kwargs) -> None:
        """``let_go`` is called at the end, however it comes; what was held last is let go of first."""
        self._held.callback(let_go, *arguments, **named)

    def go(self, step: Callable[P, None], /, *arguments: P.args, **named: P.kwargs) -> None:
        """Take a step."""
        # A presence for each step: one of its own would know the errand in return, and what is held for it
        # would wait for the garbage collector.
        act_for((Presence(self._fail), ""), step, *arguments, **named)

    def end(self) -> None:
        """It is done. Who is told of it is told by somebody else: this hears of no mistake any more."""
        self._is_over = True
        self._held.close()

    def _fail(self, _name: str, error: Exception) -> bool:
        is_news = not self._is_over
        try:
            self.end()
        finally:
            is_told = self._tell(error, is_news=is_news)
        return is_told

    def _tell(self, error: Exception, *, is_news: bool) -> bool:
        """Whether anybody has heard of it."""
        if self._asked is not None:
            return self._asked[0].fail(self._asked[1], error)
        if self._broken_off is None or not is_news:
            return False
        self._broken_off(error)
        return True


def report(work: str, error: Exception, again: str, kind: str = "", **fields: Any) -> None:
    """The line on work that was broken off: what it was, and when it is done ``again``."""
    events.seldom(
        f"{work} broken off by a mistake in Trivium",
        kind,
        level=logging.ERROR,
        cause=error,
        **fields,
        again=again,
    )
