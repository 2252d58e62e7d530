"""Kafka record batches: header, checksum, compression, control records, and the compiled kernel.

Importing ``trivium.records.kernel`` gives the compiled module where one was built, else the same source
interpreted. ``TRIVIUM_KERNEL=python`` in the environment asks for the interpreted one in any case.
"""

import os
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType


def load_interpreted_kernel(name: str) -> ModuleType:
    """A new module ``name`` from the kernel's source, whether or not it has been compiled."""
    loader = SourceFileLoader(name, str(Path(__file__).with_name("kernel.py")))
    spec = spec_from_loader(name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


if os.environ.get("TRIVIUM_KERNEL") == "python":
    sys.modules[f"{__name__}.kernel"] = load_interpreted_kernel(f"{__name__}.kernel")
