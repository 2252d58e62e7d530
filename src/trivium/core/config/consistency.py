"""Settings that are right one by one and wrong together: ``InvalidValue``, in Kafka's words."""

from collections.abc import Mapping
from typing import Final

from trivium.core.config.broker import BROKER
from trivium.core.config.group import GROUP
from trivium.core.config.layers import Layers, broker_value, group_value, in_force, topic_value
from trivium.core.config.valid import InvalidValue, Value

_GROUP_KINDS: Final = ("consumer", "share", "streams")


def check_topic(own: Mapping[str, str], layers: Layers) -> None:
    """A topic with these settings of its own, on a broker with those."""
    if topic_value("remote.storage.enable", own, layers):
        raise InvalidValue(
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        )
    lag_min = _number(topic_value("min.compaction.lag.ms", own, layers))
    lag_max = _number(topic_value("max.compaction.lag.ms", own, layers))
    if lag_min > lag_max:
        raise InvalidValue(
            "conflict topic config setting "
            f"min.compaction.lag.ms ({lag_min}) > max.compaction.lag.ms ({lag_max})"
        )


def check_group(own: Mapping[str, str], layers: Layers) -> None:
    """A group with these settings of its own, within the bounds that the broker sets."""
    for name in GROUP:
        _check_bounds(name, name, group_value(name, own, layers), layers)
    for kind in _GROUP_KINDS:
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        _check_order(
            session, group_value(session, own, layers), heartbeat, group_value(heartbeat, own, layers)
        )


def check_broker(layers: Layers) -> None:
    """A broker with these settings.

    Kafka lets a broker have a lag that no topic could have, and from then on refuses every change of topics
    that have no lag of their own; here it is refused where it is made.
    """
    if _number(in_force("log.roll.ms", layers)) < 1:
        raise InvalidValue("log.roll.ms must be greater than or equal to 1")
    if _number(in_force("log.retention.ms", layers)) == 0:
        raise InvalidValue("log.retention.ms must be unlimited (-1) or, greater than or equal to 1")
    lag_min = _number(broker_value("log.cleaner.min.compaction.lag.ms", layers))
    lag_max = _number(broker_value("log.cleaner.max.compaction.lag.ms", layers))
    if lag_min > lag_max:
        raise InvalidValue(
            "conflict broker config setting "
            f"log.cleaner.min.compaction.lag.ms ({lag_min}) > log.cleaner.max.compaction.lag.ms ({lag_max})"
        )
    queued = _number(broker_value("queued.max.request.bytes", layers))
    if 0 < queued < _number(broker_value("socket.request.max.bytes", layers)):
        raise InvalidValue("queued.max.request.bytes must be larger or equal to socket.request.max.bytes")
    if not broker_value("max.connections.per.ip", layers) and not broker_value(
        "max.connections.per.ip.overrides", layers
    ):
        raise InvalidValue(
            "max.connections.per.ip can be set to zero only if "
            "max.connections.per.ip.overrides property is set."
        )
    for name in GROUP:
        broker_name = f"group.{name}"
        if broker_name in BROKER:
            _check_bounds(broker_name, name, broker_value(broker_name, layers), layers)
    for kind in _GROUP_KINDS:
        session, heartbeat = f"group.{kind}.session.timeout.ms", f"group.{kind}.heartbeat.interval.ms"
        _check_order(session, broker_value(session, layers), heartbeat, broker_value(heartbeat, layers))


def _check_bounds(name: str, group_name: str, value: Value, layers: Layers) -> None:
    """Names tell the bounds: those of ``consumer.x`` are ``group.consumer.min.x`` and ``….max.x``."""
    kind, _, rest = group_name.partition(".")
    rest = rest.removeprefix("num.")
    low, high = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
    if low in BROKER and _number(value) < _number(broker_value(low, layers)):
        raise InvalidValue(f"{name} must be greater than or equal to {low}")
    if high in BROKER and _number(value) > _number(broker_value(high, layers)):
        raise InvalidValue(f"{name} must be less than or equal to {high}")


def _check_order(greater: str, greater_value: Value, smaller: str, smaller_value: Value) -> None:
    if _number(greater_value) <= _number(smaller_value):
        raise InvalidValue(f"{greater} must be greater than {smaller}")


def _number(value: Value) -> int:
    """Of a setting that is a whole number and has a default."""
    assert isinstance(value, int)
    return value
