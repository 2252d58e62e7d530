"""Builds the one compiled module, ``trivium.records.kernel``, when a C compiler is there.

The kernel is plain Python in Cython's pure mode: where it cannot be compiled the same file runs
interpreted, slower. Hence ``optional=True``, and hence the only thing this file does.
"""

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNEL = Extension("trivium.records.kernel", ["src/trivium/records/kernel.py"], extra_compile_args=["-O3"], optional=True)

setup(ext_modules=cythonize([KERNEL], language_level=3, annotate=False, build_dir="build"))
