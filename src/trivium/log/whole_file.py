"""Small files that are read and replaced as a whole: checkpoints, properties, snapshots, rebuilt indexes.

A replacement is written beside the file, synced, renamed over it, and the directory is synced: after a
crash at any point the old content is there or the new one, whole, and when ``replace`` has returned it
is the new one. The remains of a replacement that did not finish carry ``names.TEMPORARY`` and mean nothing.
"""

import os.path

from trivium.log.files import Files
from trivium.log.names import TEMPORARY
from trivium.wire.buffer import Buffer


def read(files: Files, path: str) -> bytes:
    file = files.open_to_read(path)
    try:
        return file.read(file.size(), 0)
    finally:
        file.close()


def replace(files: Files, path: str, data: Buffer, *, durably: bool = True) -> None:
    """Not ``durably``: without the syncs. A crash may then leave the new name with less than its content."""
    temporary = path + TEMPORARY
    file = files.open(temporary, create=True)
    try:
        # A predecessor may have died here and left more bytes than we are going to write.
        file.truncate(0)
        file.write(data, 0)
        if durably:
            file.sync()
    finally:
        file.close()
    files.rename(temporary, path)
    if durably:
        files.sync_directory(os.path.dirname(path) or ".")
