"""Every loop over records, and what happens to every batch on its way into the log and out of it. And one
loop over files, ``sync_line``, and ``room`` for bytes to come, which say why they are here.

The kernel is one source in two forms. ``interpreted`` is the modules of this folder as they stand; ``native``
is the same modules compiled as one (``setup.py``), which is there if a C compiler was at hand. Here one of
them is chosen; ``TRIVIUM_KERNEL=python`` in the environment asks for the interpreted one. A compiled form
that was made from other sources than those that are here is passed over, with a sentence in the log.

The source is plain Python in Cython's pure mode and means the same either way (the tests hold both to it).
What keeps it safe when compiled, where a wrong index is a crash and not an ``IndexError``:

- Bytes are read through ``Cursor`` (records), ``Window`` (batches), ``UserHeaders`` (Iggy) and
  ``BlobsReader`` (Arrow), and where ``sent_messages`` and ``json_bytes`` have looked for their end; they are
  written through ``Writer`` and ``stamp_all``; and nowhere else. Each compares with its end before it
  moves, so the compiler's own bounds checks are off. ``integers``, ``text`` and ``xxh3`` look only at places
  that one of these has found to be there.
- Input is ``bytes``, or held by a ``Window``: nobody can shrink it while a pointer looks at it.
- No arithmetic may leave 64 bits: Python's integers would grow where C's wrap around. Lengths are
  compared with what remains, never added up first.

C tells an exception by the value returned: ``exceptval`` names one that is rare, and what would return
nothing returns True. Compiled, all modules share one namespace: ``setup.py`` refuses a name with two
meanings.
"""

import logging
import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from trivium.records.kernel_sources import fingerprint

_NATIVE = f"{__name__}.native"


def _native() -> ModuleType | None:
    """The compiled form, if there is one and it was made from these sources."""
    try:
        native = import_module(_NATIVE)
    except ImportError as error:
        if error.name == _NATIVE:
            return None
    else:
        if getattr(native, "made_from", None) == fingerprint(Path(__file__).parent):
            return native
    logging.getLogger("trivium").warning(
        "The compiled kernel was made from other sources than these, so the slower interpreted one is used; "
        "`pip install --editable .` in the checkout builds it anew."
    )
    return None


if TYPE_CHECKING:
    import trivium.records.kernel.interpreted as form
else:
    form = None if os.environ.get("TRIVIUM_KERNEL") == "python" else _native()
    if form is None:
        import trivium.records.kernel.interpreted as form

compiled = form.compiled

read_header = form.read_header
check_batch = form.check_batch
check_batches = form.check_batches
walk_batches = form.walk_batches
sound_run = form.sound_run
stamp_all = form.stamp_all

parse = form.parse
build = form.build
check = form.check
retain = form.retain
scan_keys = form.scan_keys
find_timestamp = form.find_timestamp
find_latest = form.find_latest

to_columns = form.to_columns
from_columns = form.from_columns
partitions_of = form.partitions_of

batches_from_messages = form.batches_from_messages
Sending = form.Sending
Messages = form.Messages

build_values = form.build_values
Values = form.Values

bytes_from_json = form.bytes_from_json
json_from_bytes = form.json_from_bytes

sync_in_line = form.sync_in_line
room_for = form.room_for
