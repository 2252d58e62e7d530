"""Several sources become one: the strongest value of each setting.

A setting that has a name of ours and one of Kafka's is one setting: whichever name the strongest source uses
counts. One source that uses both contradicts itself, or soon will, and is refused. A source that says where
Kafka clients connect also forgets what weaker ones advertise: that was the address of another listener.
"""

from collections.abc import Mapping
from typing import Final

from trivium.server.configuration.errors import ConfigurationError
from trivium.server.configuration.given import Given
from trivium.server.configuration.own_settings import KAFKA_NAMES

_SAME: Final = [(own, *kafka_names) for own, kafka_names in KAFKA_NAMES.items()]
_LISTEN: Final = "listen.kafka"
_ADVERTISE: Final = ("advertise.kafka", *KAFKA_NAMES["advertise.kafka"])


def merge(*layers: Mapping[str, Given]) -> dict[str, Given]:
    """What counts, of layers with the weakest first."""
    merged: dict[str, Given] = {}
    for layer in layers:
        for names in _SAME:
            used = [name for name in names if name in layer]
            if not used:
                continue
            if names[0] in used:
                _refuse_both(layer, used)
            for name in (*names, *_ADVERTISE) if names[0] == _LISTEN else names:
                merged.pop(name, None)
        merged |= layer
    return merged


def _refuse_both(layer: Mapping[str, Given], used: list[str]) -> None:
    if len(used) > 1:
        first, second = layer[used[0]], layer[used[1]]
        raise ConfigurationError(
            f"{first.name} ({first.source}) and {second.name} ({second.source}) say the same thing: "
            "keep one of them."
        )
