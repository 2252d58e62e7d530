"""The kernel as a fixture: tests that use it run twice, compiled and interpreted.

Where no compiled kernel was built its half is skipped.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

import trivium.records.arrow
import trivium.records.batch
from trivium.records import kernel as imported
from trivium.records import load_interpreted_kernel

# A busy machine is not a failure: no test here is about time.
settings.register_profile("records", deadline=None)
settings.load_profile("records")

INTERPRETED = load_interpreted_kernel("interpreted_kernel")


@pytest.fixture(scope="module", params=["compiled", "interpreted"])
def kernel(request: pytest.FixtureRequest) -> Iterator[Any]:
    """One of the two kernels, in use by ``batch`` and ``arrow`` while the test runs."""
    chosen: ModuleType = imported if request.param == "compiled" else INTERPRETED
    if request.param == "compiled" and not imported.compiled:
        pytest.skip("no compiled kernel: build it with setup.py build_ext --inplace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trivium.records.batch, "kernel", chosen)
        patch.setattr(trivium.records.arrow, "kernel", chosen)
        yield chosen


@pytest.fixture(scope="module")
def both_kernels() -> tuple[Any, Any]:
    """The compiled and the interpreted kernel, for tests that hold them against each other."""
    if not imported.compiled:
        pytest.skip("no compiled kernel: build it with setup.py build_ext --inplace")
    return imported, INTERPRETED
