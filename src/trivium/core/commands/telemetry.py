"""Metrics of clients (KIP-714): which ones the broker wants, and taking them in."""

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from trivium.core.access import Row, for_everybody
from trivium.core.commands.command import Command, command
from trivium.core.faults import Fault
from trivium.wire.buffer import Buffer
from trivium.wire.uuid_text import ZERO_UUID

_WHY_FREE = "a client may always say how it is doing, and is asked for nothing else"


class Subscription(NamedTuple):
    """What a client shall push, and how often. Without metrics there is nothing to push."""

    fault: Fault | None = None
    client_instance_id: bytes = ZERO_UUID
    subscription_id: int = 0
    metrics: Sequence[str] = ()
    """Beginnings of names; ``*`` for all of them."""
    push_interval_ms: int = 0
    push_bytes_max: int = 0


@command
class GetSubscription(Command[Subscription]):
    """A client without an id (all zeros) gets one."""

    ROW: ClassVar[Row] = for_everybody(_WHY_FREE)
    client_instance_id: bytes

    def refused(self, fault: Fault, message: str | None = None) -> Subscription:
        return Subscription(fault)


@command
class PushMetrics(Command[Fault | None]):
    ROW: ClassVar[Row] = for_everybody(_WHY_FREE)
    client_instance_id: bytes
    subscription_id: int
    is_last: bool
    """The client ends: it may push this one early, and nothing after it."""
    compression: int
    metrics: Buffer

    def refused(self, fault: Fault, message: str | None = None) -> Fault | None:
        return fault
