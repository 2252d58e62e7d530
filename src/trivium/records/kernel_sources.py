"""What the sources of the kernel are, as one number: a compiled one carries that of those it was made from.

``setup.py`` runs this file by itself, so it imports nothing of ours. Times of files would be cheaper and say
less: a checkout, a copy or an installation gives files whatever time it likes.
"""

import os
import zlib
from pathlib import Path
from typing import Final

_CHOOSES: Final = "__init__.py"
"""The only module of the folder that is never compiled: it chooses the form."""


def fingerprint(folder: Path) -> int:
    number = 0
    for name in sorted(os.listdir(folder)):
        if name.endswith((".py", ".pxd")) and name != _CHOOSES:
            number = zlib.crc32((folder / name).read_bytes(), number)
    return number
