"""The modules of the kernel are compiled as one: what ``setup.py`` makes of them before that."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from trivium.records import kernel

SETUP = Path(__file__).parents[2] / "setup.py"
FOLDER = Path(kernel.__file__).parent
NOT_JOINED = {"__init__.py", "cython.py"}


@pytest.fixture(scope="module")
def setup_script() -> Any:
    spec = importlib.util.spec_from_file_location("trivium_setup", SETUP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write(folder: Path, **modules: str) -> Path:
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source.replace("KERNEL", "trivium.records.kernel"))
    return folder


def test_joined_source_has_every_module_of_the_kernel_once(setup_script: Any) -> None:
    joined = re.findall(r"^# -- (\S+\.py) ", setup_script.joined_source(FOLDER), re.MULTILINE)
    assert sorted(joined) == sorted({path.name for path in FOLDER.glob("*.py")} - NOT_JOINED)


def test_joined_source_imports_nothing_from_the_kernel(setup_script: Any) -> None:
    assert not re.search(r"^from trivium\.records\.kernel", setup_script.joined_source(FOLDER), re.MULTILINE)


def test_joined_modules_follow_what_they_import(setup_script: Any, tmp_path: Path) -> None:
    write(
        tmp_path,
        interpreted="from KERNEL.sum import TWO\nfrom KERNEL.number import ONE\nTHREE = ONE + TWO\n",
        sum="from __future__ import annotations\nfrom KERNEL.number import (\n    ONE,\n)\nTWO = 1 + ONE\n",
        number="from KERNEL import cython\nfrom math import pi\nONE = 1\n",
    )
    joined = setup_script.joined_source(tmp_path)
    assert re.findall(r"^# -- (\w+)", joined, re.MULTILINE) == ["number", "sum", "interpreted"]
    assert joined.index("from __future__") == 0
    assert joined.count("__future__") == 1
    assert "from math import pi" in joined


@pytest.mark.parametrize(
    "second", ["ONE = 2\n", "ONE: int = 2\n", "def ONE(): ...\n", "from math import e as ONE\n"]
)
def test_name_with_two_meanings_is_refused(setup_script: Any, tmp_path: Path, second: str) -> None:
    write(
        tmp_path,
        interpreted="import KERNEL\nfrom KERNEL.number import ONE as _\n" + second,
        number="ONE = 1\n",
    )
    with pytest.raises(SystemExit, match="ONE"):
        setup_script.joined_source(tmp_path)
