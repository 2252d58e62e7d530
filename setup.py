"""Builds the one compiled module, ``trivium.records.kernel.native``, when a C compiler is there.

The kernel is plain Python in Cython's pure mode, in more than a dozen modules. Compiled one by one they could
share C functions only by declarations in a second language, and no C compiler would inline what lies in
another module, which is most of what the loops call. So they are joined to one source first, each after
those that it imports. Where that cannot be compiled the modules run interpreted, slower: hence ``optional``.
"""

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "trivium.records.kernel"
FOLDER = Path("src", *PACKAGE.split("."))
ROOT = "interpreted"
JOINED = Path("build", "kernel", "native.py")

STAND_IN = "cython"
"""The module that the interpreted kernel has instead of Cython's own of this name."""
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "auto_pickle": False,
}

fingerprint = runpy.run_path(str(FOLDER.with_name("kernel_sources.py")))["fingerprint"]
"""Compiled in, so that a kernel that has grown old is known as such."""


def joined_source(folder: Path) -> str:
    """The modules of the kernel as one, without what they import from each other."""
    modules: dict[str, str] = {}
    _add(ROOT, folder, modules)
    _refuse_names_with_two_meanings(modules)
    parts = [f"# -- {name}.py {'-' * 60}\n\n{source}" for name, source in modules.items()]
    return "\n".join(["from __future__ import annotations", f"import {STAND_IN}", *parts])


def _add(name: str, folder: Path, modules: dict[str, str]) -> None:
    """Append a module after those that it imports, its imports of them left out."""
    source = (folder / f"{name}.py").read_text()
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.startswith(f"{PACKAGE}."):
            imported = node.module.removeprefix(f"{PACKAGE}.")
            if imported not in modules:
                _add(imported, folder, modules)
        elif node.module not in ("__future__", PACKAGE):
            continue
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or 0) - node.lineno + 1)
    modules[name] = "\n".join(lines) + "\n"


def _refuse_names_with_two_meanings(modules: dict[str, str]) -> None:
    """Within one module the second meaning of a name would silently take the place of the first."""
    known: dict[str, str] = {}
    for module, source in modules.items():
        for name, origin in _meanings(source, f"{PACKAGE}.{module}"):
            if known.setdefault(name, origin) != origin:
                raise SystemExit(f"The kernel has {name} from {known[name]} and from {origin}: rename one.")


def _meanings(source: str, module: str) -> Iterator[tuple[str, str]]:
    """The names that a module gives a meaning, each with where that comes from."""
    for node in ast.parse(source).body:
        match node:
            case ast.ImportFrom(module=origin, names=imported):
                yield from ((alias.asname or alias.name, origin or "") for alias in imported)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, module
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, module


def main() -> None:
    from Cython.Build import cythonize
    from setuptools import Extension, setup

    source = f"{joined_source(FOLDER)}\nmade_from = {fingerprint(FOLDER)}\n"
    JOINED.parent.mkdir(parents=True, exist_ok=True)
    if not JOINED.exists() or JOINED.read_text() != source:
        JOINED.write_text(source)  # Only if it is news: Cython goes by the time of the file.
    native = Extension(
        f"{PACKAGE}.native",
        sources=[str(JOINED)],
        depends=[str(path) for path in FOLDER.glob("*.pxd")],
        extra_compile_args=["-O3"],
    )
    extensions = cythonize([native], include_path=["src"], compiler_directives=DIRECTIVES)
    for extension in extensions:
        extension.optional = (
            True  # Said to ``native`` itself it would be lost: Cython makes the extension anew.
        )
    setup(ext_modules=extensions)


if __name__ == "__main__":
    main()
