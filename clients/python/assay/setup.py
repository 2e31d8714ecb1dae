"""Only for what pyproject.toml cannot say: with libassay inside, a wheel is one platform's, and every Python's."""

from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

LIBRARY = Path(__file__).parent / "src/assay/lib/libassay.so.1"


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return LIBRARY.exists()


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel})
