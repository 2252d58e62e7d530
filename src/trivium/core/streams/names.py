"""One name for two: a stream and a topic spelled as a Kafka topic, and back (promise S14).

A topic ``t`` of stream ``s`` is ``s.t`` in Kafka, a topic of the stream ``default`` just ``t``. What Kafka's
names cannot carry is written byte by byte as ``-_`` and two hexadecimal digits: every byte that is no
letter, digit, dot, dash or underscore, a dot in the name of a stream (it would end it), the dots of a name
that is ``.`` or ``..``, and a dash that an underscore follows (it would begin such a byte). So no two pairs
have one spelling, except where a topic of ``default`` contains a dot; there the registry decides.
"""

import re
from collections.abc import Callable
from typing import Final

from trivium.core.cluster import INTERNAL_TOPICS
from trivium.core.commands.streams import DEFAULT_STREAM
from trivium.core.faults import Fault, Refused
from trivium.core.topic_names import METADATA_TOPIC, check_topic_name

NAME_BYTES: Final = range(1, 255 + 1)
"""Of a stream, a topic or a group, as Iggy has it: a length of one byte."""

_UNCARRIED: Final = re.compile(rb"[^a-zA-Z0-9._-]|-(?=_)")
_UNCARRIED_IN_STREAM: Final = re.compile(rb"[^a-zA-Z0-9_-]|-(?=_)")
_DOTS: Final = re.compile(rb"\.")
_ESCAPED: Final = re.compile(rb"-_([0-9a-f]{2})")


def is_name(name: str) -> bool:
    return len(name.encode()) in NAME_BYTES


def kafka_name(stream: str, topic: str) -> str:
    """What a new topic is called in Kafka; ``Refused`` if no topic can be."""
    spelled = spell_topic(topic)
    if stream != DEFAULT_STREAM:
        spelled = f"{spell_stream(stream)}.{spelled}"
    try:
        check_topic_name(spelled)
    except Refused as refused:
        raise Refused(Fault.INVALID_TOPIC_NAME, refused.message) from refused
    if spelled in INTERNAL_TOPICS or spelled == METADATA_TOPIC:
        raise Refused(Fault.INVALID_TOPIC_NAME, f"{spelled} is the broker's own.")
    return spelled


def spell_stream(name: str) -> str:
    return _spell(name, _UNCARRIED_IN_STREAM)


def spell_topic(name: str) -> str:
    return _spell(name, _DOTS if name in (".", "..") else _UNCARRIED)


def _spell(name: str, uncarried: re.Pattern[bytes]) -> str:
    return uncarried.sub(lambda found: b"-_%02x" % found[0][0], name.encode()).decode("ascii")


def unspell(text: str) -> str | None:
    """The name that is spelled so; None if none is."""
    try:
        return _ESCAPED.sub(lambda found: bytes((int(found[1], 16),)), text.encode()).decode()
    except UnicodeDecodeError:
        return None


def names_of(topic: str, is_stream: Callable[[str], bool]) -> tuple[str, str]:
    """Stream and topic name of a Kafka topic that another door has made: in a stream that is there already,
    if its name begins with one; else in ``default``.
    """
    prefix, dot, rest = topic.partition(".")
    stream = unspell(prefix) if dot and rest else None
    if (
        stream is not None
        and stream != DEFAULT_STREAM
        and spell_stream(stream) == prefix
        and is_stream(stream)
    ):
        return stream, _readable(rest)
    return DEFAULT_STREAM, _readable(topic)


def _readable(spelled: str) -> str:
    """A topic's name as it was before it was spelled; as it stands, if it never was."""
    name = unspell(spelled)
    return name if name is not None and spell_topic(name) == spelled else spelled
