"""A pipeline in a Python file: run as ``python FILE`` would run it, with nothing left behind.

This is the one definition that is code, and only a file that its user names is run (S16). Its folder is where
it imports from; no bytecode is written beside it. The module is not kept under a name: what is not importable
is sent to Spark's workers by value.
"""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from trivium.pipeline.building import Pipeline
from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Finding, Unreadable, from_mistake
from trivium.pipeline.mistake import Mistake

_MODULE: Final = "trivium_pipeline_file"


def read_python(file: Path) -> Definition:
    module = _run(file)
    pipelines = {id(value): value for value in vars(module).values() if isinstance(value, Pipeline)}
    if len(pipelines) != 1:
        said = f"{len(pipelines)} pipelines" if pipelines else "no pipeline"
        remedy = "Keep one in each file." if pipelines else 'Add p = Pipeline("…") at its top level.'
        raise Unreadable(str(file), [from_mistake(Mistake("", f"The file has {said}.", remedy))])
    (pipeline,) = pipelines.values()
    return replace(pipeline.definition(), file=file)


class _Unkept(SourceFileLoader):
    """Source is compiled each time: an old file of bytecode is not trusted, and none is written."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def _run(file: Path) -> ModuleType:
    loader = _Unkept(_MODULE, str(file.absolute()))
    spec = spec_from_loader(_MODULE, loader)
    assert spec is not None
    module = module_from_spec(spec)
    with _importing_from(file.absolute().parent, module):
        try:
            loader.exec_module(module)
        except (Exception, SystemExit) as error:
            raise Unreadable(str(file), [_finding(file.absolute(), error)]) from error
    return module


@contextmanager
def _importing_from(folder: Path, module: ModuleType) -> Iterator[None]:
    """As a script: its folder first. The folder stays, for imports that functions make when they run."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    sys.modules[_MODULE] = module
    try:
        yield
    finally:
        del sys.modules[_MODULE]


def _finding(file: Path, error: BaseException) -> Finding:
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)
    if isinstance(error, Mistake):
        return from_mistake(error, line)
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return from_mistake(Mistake("", f"This is not Python: {error.msg}."), error.lineno)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "pyspark":
        sentence = "The file needs PySpark, which is not installed."
        return from_mistake(Mistake("", sentence, "pip install 'trivium[spark]'."), line)
    if isinstance(error, SystemExit):
        return from_mistake(Mistake("", "The file ends the program instead of defining a pipeline."), line)
    said = " ".join(str(error).split()) or "no reason given"
    return from_mistake(Mistake("", f"The file cannot be run: {type(error).__name__}, {said}."), line)
