"""Refusing a part of a command: the items that a test has chosen, while the others are carried out.

A command that names many things has them in one field, and its result is a list with an outcome for each.
Everything else is refused as a whole or not at all.
"""

from collections.abc import Callable
from typing import Any, Final

from trivium.core.caller import Caller
from trivium.core.commands.command import Command, Engine, Reply, TopicRef
from trivium.core.commands.records import Fetch
from trivium.core.commands.topics import DescribedTopic, DescribedTopics, DescribeTopics
from trivium.core.faults import Refused

IsMeant = Callable[[TopicRef], bool]
"""Whether a topic, by name or id, is one of those that a test has chosen."""

_ITEM_FIELDS: Final = ("parts", "topics", "queries", "groups")
"""What the fields are called that hold the things a command names."""


def names(command: Command[Any], is_meant: IsMeant) -> bool:
    """Whether a command is also about a topic that is meant; who asks for all topics asks for that one."""
    field = _items_field(command)
    if field is None:
        return False
    items = getattr(command, field)
    return items is None or any(_names(item, is_meant) for item in items)


def refuse(
    engine: Engine,
    command: Command[Any],
    caller: Caller,
    is_meant: IsMeant | None,
    why: Refused,
    reply: Reply[Any],
) -> None:
    """Refuse what is meant, carry out the rest. ``is_meant`` None: all of it is."""
    if isinstance(command, DescribeTopics):
        # Brokers are part of the answer, and nobody finds a way without them: only the topics are refused.
        engine.execute(command, caller, lambda result: reply(_without_topics(result, is_meant, why)))
        return
    parts = None if is_meant is None else _split(command, is_meant)
    if parts is None:
        reply(command.refused(why.fault, why.message))
        return
    meant, others = parts
    outcome = meant.refused(why.fault, why.message)
    if not isinstance(outcome, list):
        reply(command.refused(why.fault, why.message))
        return
    if isinstance(others, Fetch):
        # With an error to tell, Kafka does not wait for records.
        others = others.changed(max_wait_ms=0)
    engine.execute(others, caller, lambda result: reply([*outcome, *result]))


def _split(command: Command[Any], is_meant: IsMeant) -> tuple[Command[Any], Command[Any]] | None:
    """The command for what is meant and the same for everything else; None if there is nothing else."""
    field = _items_field(command)
    items = None if field is None else getattr(command, field)
    if field is None or items is None:
        return None
    others = [item for item in items if not _names(item, is_meant)]
    if not others:
        return None
    meant = [item for item in items if _names(item, is_meant)]
    return command.changed(**{field: meant}), command.changed(**{field: others})


def _items_field(command: Command[Any]) -> str | None:
    return next((field for field in _ITEM_FIELDS if hasattr(command, field)), None)


def _names(item: Any, is_meant: IsMeant) -> bool:
    """Whether one of the things that a command names is a topic that is meant, or has to do with one."""
    if isinstance(item, str | bytes):
        return is_meant(item)
    if hasattr(item, "topic"):
        return is_meant(item.topic)
    if hasattr(item, "name"):
        return is_meant(item.name)
    if hasattr(item, "parts"):
        return item.parts is None or any(_names(part, is_meant) for part in item.parts)
    return isinstance(item, tuple) and _names(item[0], is_meant)


def _without_topics(result: DescribedTopics, is_meant: IsMeant | None, why: Refused) -> DescribedTopics:
    return result._replace(
        topics=[
            DescribedTopic(topic.topic, why.fault, why.message, topic.name, topic.topic_id)
            if is_meant is None or is_meant(topic.topic)
            else topic
            for topic in result.topics
        ]
    )
