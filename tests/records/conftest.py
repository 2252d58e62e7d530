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
import trivium.records.iggy
from trivium.records import kernel as imported
from trivium.records.kernel import interpreted

# A busy machine is not a failure: no test here is about time.
settings.register_profile("records", deadline=None)
settings.load_profile("records")


@pytest.fixture(scope="module", params=["compiled", "interpreted"])
def kernel(request: pytest.FixtureRequest) -> Iterator[Any]:
    """One of the two kernels, in use by ``batch``, ``arrow`` and ``iggy`` while the test runs."""
    form: ModuleType = native_form() if request.param == "compiled" else interpreted
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trivium.records.batch, "kernel", form)
        patch.setattr(trivium.records.arrow, "kernel", form)
        patch.setattr(trivium.records.iggy, "kernel", form)
        yield form


@pytest.fixture(scope="module")
def both_kernels() -> tuple[Any, Any]:
    """The compiled and the interpreted kernel, for tests that hold them against each other."""
    return native_form(), interpreted


def native_form() -> ModuleType:
    if not imported.compiled:
        pytest.skip("no compiled kernel: build it with setup.py build_ext --inplace")
    return imported
