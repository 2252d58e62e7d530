"""A pipeline from its file, TOML or Python by the file's name."""

from pathlib import Path
from typing import Final

from trivium.pipeline.definition import Definition
from trivium.pipeline.finding import Unreadable, error
from trivium.pipeline.python_file import read_python
from trivium.pipeline.toml_file import read_toml

FILE_BYTES_MAX: Final = 1 << 20
"""A definition is written by hand; what is larger is another kind of file."""


def load(file: Path | str) -> Definition:
    """The definition in a file, or ``Unreadable`` with everything that is wrong in it."""
    path = Path(file)
    if path.suffix not in (".toml", ".py"):
        raise _refused(
            path, "A pipeline is a .toml or a .py file.", "'trivium pipeline new NAME' writes one."
        )
    try:
        with path.open("rb") as opened:
            data = opened.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise _refused(path, "There is no such file.", "'trivium pipeline new NAME' writes one.") from None
    except OSError as problem:
        raise _refused(path, f"The file cannot be read: {problem.strerror}.") from None
    if len(data) > FILE_BYTES_MAX:
        raise _refused(
            path, "The file is too large to be a pipeline.", f"{FILE_BYTES_MAX:,} bytes are the most."
        )
    if path.suffix == ".py":
        return read_python(path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise _refused(path, "The file is not text in UTF-8.", "Save it as UTF-8.") from None
    return read_toml(path, text)


def _refused(path: Path, sentence: str, remedy: str = "") -> Unreadable:
    return Unreadable(str(path), [error("", sentence, remedy)])
