"""Files with secrets, and who else on this machine may read them.

A file that everybody may read is no place for a secret: a node with such a key or password does not start,
and says what to do. That goes for files that are this user's to put right. What belongs to another user, or
comes by a mount that cannot be written (secrets that are put into containers), is for whoever put it there to
judge: a warning, as for a file that a group may read.
"""

import os
from enum import Enum, auto
from pathlib import Path
from typing import Final

_GROUP_OR_OTHERS: Final = 0o077
_OTHERS_READ: Final = 0o004
_OTHERS_PASS: Final = 0o001


class Readers(Enum):
    OWNER = auto()
    SOME = auto()
    """Others may, and it is not for us to say that they may not."""
    EVERYBODY = auto()
    """And that can be put right."""


def readers(path: Path) -> Readers:
    """Of a file or directory; one that is not there has none but its owner."""
    try:
        real = path.resolve(strict=True)
        facts = real.stat()
        if not facts.st_mode & _GROUP_OR_OTHERS:
            return Readers.OWNER
        is_open = facts.st_mode & _OTHERS_READ and all(
            directory.stat().st_mode & _OTHERS_PASS for directory in real.parents
        )
        is_ours = facts.st_uid == os.geteuid() and not os.statvfs(real).f_flag & os.ST_RDONLY
    except OSError:
        return Readers.OWNER
    return Readers.EVERYBODY if is_open and is_ours else Readers.SOME


def refusal(path: Path, what: str) -> str | None:
    """Why a node with this file does not start; None if it may."""
    if readers(path) is not Readers.EVERYBODY:
        return None
    return f"Everybody on this machine may read {path}, and it holds {what}: chmod 600 {path}"
