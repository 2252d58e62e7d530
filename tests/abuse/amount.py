"""How much is tried: a slice in the plain run, ``make abuse N=100`` a hundred times a share of the work.

Whoever throws dice takes a seed from here. It stands in the name of the test, so that a failure shows it, and
``make abuse SEED=7`` throws the same dice again.
"""

import os
from typing import Final

import pytest

TIMES: Final = int(os.environ.get("TRIVIUM_ABUSE") or 0)
"""0: the slice of the plain run."""
_SEED: Final = os.environ.get("TRIVIUM_ABUSE_SEED")
_SEEDS: Final = [int(_SEED)] if _SEED else [1, 2] if TIMES else [1]
"""As many as there are processes, in the long form."""
IS_LONG: Final = TIMES > 0

seeded = pytest.mark.parametrize("seed", _SEEDS, ids=lambda seed: f"SEED={seed}")


def amount(in_slice: int, per_time: int) -> int:
    """How much a test with one seed does: what is in the slice, or its part of so much for each time."""
    return per_time * TIMES // len(_SEEDS) if IS_LONG else in_slice
