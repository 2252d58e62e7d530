"""Stands in for Cython's module of this name: for the type checker, and where the kernel is interpreted.

It has the names that the kernel uses. C types are the Python types that take their place. ``setup.py`` puts
Cython's own in its place.
"""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

_Decorated = TypeVar("_Decorated")
_Value = TypeVar("_Value")

compiled = False

bint: TypeAlias = bool
uint: TypeAlias = int
longlong: TypeAlias = int
ulonglong: TypeAlias = int
Py_ssize_t: TypeAlias = int
p_const_uchar: TypeAlias = Any
p_uchar: TypeAlias = Any
p_ulonglong: TypeAlias = Any
p_void: TypeAlias = Any
void: TypeAlias = None

nogil: Any = None
NULL: Any = None


def cclass(decorated: _Decorated) -> _Decorated:
    return decorated


def cfunc(decorated: _Decorated) -> _Decorated:
    return decorated


def final(decorated: _Decorated) -> _Decorated:
    return decorated


def inline(decorated: _Decorated) -> _Decorated:
    return decorated


def exceptval(_value: int | None = None, *, check: bool) -> Callable[[_Decorated], _Decorated]:
    return cfunc


def declare(_kind: Any, value: _Value) -> _Value:
    return value


def cast(_kind: Any, value: Any) -> Any:
    return value


def address(value: Any) -> Any:
    return value
