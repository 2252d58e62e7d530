"""What a command writes: text that a terminal cannot mistake for orders, and streams that may end or fill up.

Kept apart from the tables, which need rich: a command that only streams starts faster without it.
"""

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click


@contextmanager
def writing() -> Iterator[None]:
    """Around everything that writes to standard output: a full disk behind it is one sentence, too."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise  # The reader has seen enough, as ``head`` does: click ends in silence.
        # Python would try to write the rest once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise click.ClickException(f"The output could not be written: {error.strerror}.") from error


def write_json(facts: Any) -> None:
    """One document; dataclasses are objects."""
    with writing():
        click.echo(json.dumps(facts, default=asdict, indent=1))


def printable(text: str) -> str:
    """Text as a person can read it: what a terminal would act on, or not show, is spelled out."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )


def shortened(name: str, width: int = 40) -> str:
    return name if len(name) <= width else f"{name[: width // 2]}…{name[-width // 2 + 1 :]}"
