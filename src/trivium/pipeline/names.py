"""Names of pipelines, sources, flows and expectations, and of the columns that every record brings.

A name becomes a view of SQL, a folder of checkpoints and part of a consumer group: letters, digits and
underscores are all that is safe in each of them.
"""

import re
from typing import Final

from trivium.pipeline.mistake import Mistake

NAME_CHARACTERS_MAX: Final = 100
"""A pipeline's and a flow's name make a group's name and a folder's; file systems take 255 bytes."""

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PIPELINE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def check_name(key: str, name: object) -> str:
    """The name of a source, flow or expectation."""
    return _checked(key, name, _NAME, "letters, digits and _, beginning with a letter")


def check_pipeline_name(name: object) -> str:
    return _checked("name", name, _PIPELINE, "letters, digits, - and _, beginning with a letter or digit")


def _checked(key: str, name: object, pattern: re.Pattern[str], rule: str) -> str:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise Mistake(key, f"{name!r} is no name here.", f"Names are made of {rule}.")
    if len(name) > NAME_CHARACTERS_MAX:
        raise Mistake(
            key, f"The name {name[:20]}… is too long.", f"{NAME_CHARACTERS_MAX} characters are the most."
        )
    return name
