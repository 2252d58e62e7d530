"""A broker for tests of consumer groups, and patience with clients that do things in their own time."""

import time
from collections.abc import Callable

from trivium.testing import Broker

PATIENCE_SECONDS = 60
"""How long a client may take before a test gives up; none needs more than a second or two."""


def group_broker() -> Broker:
    """A new group begins at once, and sessions may be short."""
    return Broker(
        settings={
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "100",
            "offsets.topic.num.partitions": "3",
            "num.partitions": "4",
        }
    )


def until(condition: Callable[[], bool], turn: Callable[[], object]) -> None:
    """Let the clients have their turns until the condition holds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the clients did not get there"
        turn()
