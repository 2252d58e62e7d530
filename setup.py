"""Builds the one compiled module, ``trivium.records.kernel``, when a C compiler is there.

The kernel is plain Python in Cython's pure mode: where it cannot be compiled the same file runs
interpreted, slower. Hence ``optional``, and hence the only thing this file does.
"""

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNEL = Extension(
    "trivium.records.kernel",
    sources=["src/trivium/records/kernel.py"],
    depends=["src/trivium/records/allocation.pxd"],
    extra_compile_args=["-O3"],
)

EXTENSIONS = cythonize([KERNEL], include_path=["src"], build_dir="build")
for extension in EXTENSIONS:
    extension.optional = True  # Said to KERNEL itself it would be lost: Cython makes the extension anew.

setup(ext_modules=EXTENSIONS)
