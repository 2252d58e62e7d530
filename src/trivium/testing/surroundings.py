"""What those who make faults happen need of their broker, because they have no clock and no socket."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from trivium.core.caller import Caller

MESSAGE: Final = "A test asked for this error."
"""What a person reads, where an error has words."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    topic_name: Callable[[bytes], str | None]
    """The name of the topic with an id."""
    later: Callable[[float, Callable[[], None]], object]
    """Call something in so many seconds."""
    hang_up: Callable[[Caller], None]
    """End the connection of a caller at once."""
    name_in_kafka: Callable[[int | str, int | str], str | None] = lambda _stream, _topic: None
    """What a topic of a stream is called in Kafka, both by number or name."""
