"""All that the kernel does for others, gathered from its modules.

Imported, this is the kernel in its interpreted form. ``setup.py`` begins here too: this module and all those
of the kernel that it imports, compiled as one, are the form called ``native``.
"""

from trivium.records.kernel import cython
from trivium.records.kernel.batches import (
    check_batch,
    check_batches,
    read_header,
    sound_run,
    stamp_all,
    walk_batches,
)
from trivium.records.kernel.columns import from_columns, to_columns
from trivium.records.kernel.json_bytes import bytes_from_json, json_from_bytes
from trivium.records.kernel.partitions import partitions_of
from trivium.records.kernel.polled_messages import Messages
from trivium.records.kernel.room import room_for
from trivium.records.kernel.sections import (
    build,
    check,
    find_latest,
    find_timestamp,
    parse,
    retain,
    scan_keys,
)
from trivium.records.kernel.sent_messages import Sending, batches_from_messages
from trivium.records.kernel.sync_line import sync_in_line
from trivium.records.kernel.values import Values, build_values

compiled: bool = cython.compiled

__all__ = [
    "Messages",
    "Sending",
    "Values",
    "batches_from_messages",
    "build",
    "build_values",
    "bytes_from_json",
    "check",
    "check_batch",
    "check_batches",
    "compiled",
    "find_latest",
    "find_timestamp",
    "from_columns",
    "json_from_bytes",
    "parse",
    "partitions_of",
    "read_header",
    "retain",
    "room_for",
    "scan_keys",
    "sound_run",
    "stamp_all",
    "sync_in_line",
    "to_columns",
    "walk_batches",
]
