"""Faults on request: what a test wants to go wrong between a client and its broker.

    broker.faults.error("Produce", code="NOT_LEADER_OR_FOLLOWER", topic="orders", times=3)
    lost = broker.faults.disconnect("OffsetCommit", when="after", times=1)
    broker.faults.delay("SEND_MESSAGES", 2, protocol="iggy")
    ...
    assert lost.fired == 1

A fault strikes requests of its kind, of its topic if it has one, ``times`` times, after ``skip`` of them have
passed; without ``times``, until it is cleared. The oldest fault that fits a request is the one that strikes.
Faults are asked for in the test's thread and strike in the broker's. Each protocol has its words for requests
and errors (``vocabulary``), and a module that makes faults happen to it: ``sabotage`` for Kafka,
``iggy_sabotage``, ``rustlog_sabotage``.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from trivium.testing.vocabulary import Code, Vocabulary, nearest


class When(Enum):
    """At which moment of a request the connection ends."""

    BEFORE = "before"
    """It is not carried out."""
    AFTER = "after"
    """It is carried out, and its answer is lost."""


@dataclass(frozen=True, slots=True)
class Error:
    """The request is refused with this code, and has no effect."""

    code: Enum
    """One of the protocol's own."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The request is carried out at once, and answered so much later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Disconnect:
    when: When


Effect = Error | Delay | Disconnect


@dataclass(eq=False, slots=True)
class Fault:
    """One fault that was asked for. ``fired`` counts the requests that it has struck."""

    protocol: str
    request: Hashable
    """What sessions of the protocol know such requests by."""
    effect: Effect
    topic: str | None
    times: int | None
    skip: int
    fired: int = field(default=0, init=False)
    passed: int = field(default=0, init=False)
    """Requests that it would have struck and has let pass."""

    @property
    def is_spent(self) -> bool:
        return self.times is not None and self.fired >= self.times

    def strikes(self) -> bool:
        """Whether this request is one that it strikes; it is counted either way."""
        if self.is_spent:
            return False
        if self.passed < self.skip:
            self.passed += 1
            return False
        self.fired += 1
        return True


def _kafka() -> Vocabulary:
    from trivium.testing.sabotage import VOCABULARY

    return VOCABULARY


def _iggy() -> Vocabulary:
    from trivium.testing.iggy_sabotage import VOCABULARY

    return VOCABULARY


def _rustlog() -> Vocabulary:
    from trivium.testing.rustlog_sabotage import VOCABULARY

    return VOCABULARY


_VOCABULARIES: Final[Mapping[str, Callable[[], Vocabulary]]] = {
    "kafka": _kafka,
    "iggy": _iggy,
    "rustlog": _rustlog,
}
"""Loaded when a test first asks for a fault of theirs: most speak one protocol only."""


class Faults:
    """All faults of a broker.

    ``api`` is the name of a request and ``code`` that of an error, or its number, as ``protocol`` has them.
    ``topic`` is the name that a topic has in Kafka, whatever the protocol.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.active: tuple[Fault, ...] = ()
        """Those that may still strike, the oldest first. Replaced as a whole: any thread may read it."""

    # -- asking for them -------------------------------------------------------------------------

    def error(
        self,
        api: str,
        code: Code,
        *,
        protocol: str = "kafka",
        topic: str | None = None,
        times: int | None = None,
        skip: int = 0,
    ) -> Fault:
        """Refuse requests with one of the protocol's errors; they have no effect.

        Of a request that names several topics only ``topic`` is refused, the others are served.
        """
        return self._add(protocol, api, lambda words: Error(words.code_of(code)), topic, times, skip)

    def delay(
        self,
        api: str,
        seconds: float,
        *,
        protocol: str = "kafka",
        topic: str | None = None,
        times: int | None = None,
        skip: int = 0,
    ) -> Fault:
        """Answer requests later. Answers behind them wait too: those of a connection keep their order."""
        if seconds < 0:
            raise ValueError(f"A delay of {seconds} seconds cannot be kept; give 0 or more.")
        return self._add(protocol, api, lambda _words: Delay(seconds), topic, times, skip)

    def disconnect(
        self,
        api: str,
        *,
        when: str = When.BEFORE.value,
        protocol: str = "kafka",
        topic: str | None = None,
        times: int | None = None,
        skip: int = 0,
    ) -> Fault:
        """End the connection ``"before"`` a request is carried out, or ``"after"`` that, unanswered."""
        moments = {moment.value: moment for moment in When}
        if when not in moments:
            raise ValueError(f'A connection can be ended "before" or "after" a request, not "{when}".')
        return self._add(protocol, api, lambda _words: Disconnect(moments[when]), topic, times, skip)

    def clear(self) -> None:
        """From now on nothing goes wrong any more, except for answers that are already late."""
        with self._lock:
            self.active = ()

    def remove(self, fault: Fault) -> None:
        with self._lock:
            self.active = tuple(each for each in self.active if each is not fault)

    def _add(
        self,
        protocol: str,
        api: str,
        effect: Callable[[Vocabulary], Effect],
        topic: str | None,
        times: int | None,
        skip: int,
    ) -> Fault:
        words = _VOCABULARIES[nearest(protocol, _VOCABULARIES, "protocol of this broker")]()
        name, request = words.request(api)
        if topic is not None and not words.names_topic(request):
            raise ValueError(f"A {name} request names no topic; leave out topic={topic!r}.")
        if times is not None and times < 1:
            raise ValueError(f"A fault strikes at least once, not {times} times; leave it out instead.")
        if skip < 0:
            raise ValueError(f"skip={skip} is less than no request; give 0 or more.")
        fault = Fault(protocol.lower(), request, effect(words), topic, times, skip)
        with self._lock:
            self.active = (*self.active, fault)
        return fault

    # -- making them happen ----------------------------------------------------------------------

    def strike(self, protocol: str, request: Hashable, is_about: Callable[[str], bool]) -> Fault | None:
        """The fault that strikes this request, if one does. ``is_about``: whether it is about a topic."""
        for fault in self.active:
            if (
                fault.protocol == protocol
                and fault.request == request
                and (fault.topic is None or is_about(fault.topic))
                and fault.strikes()
            ):
                return fault
        return None
