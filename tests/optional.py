"""Packages that tests use where they are installed: a test that reaches for a missing one is skipped."""

import importlib

import pytest


class _Package:
    """Stands for a package and imports it when it is used first: to collect tests needs few of them."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith(("__", "pytest_")):  # pytest and doctest look at everything in a module
            raise AttributeError(attribute)
        try:
            return getattr(importlib.import_module(self._name), attribute)
        except ModuleNotFoundError as error:
            if error.name != self._name.partition(".")[0]:
                raise
        pytest.skip(f"{self._name} is not installed", allow_module_level=True)


def optional(name):
    """Return a package, or what skips the tests that use it; `conftest.py` lists those that CI has to have."""
    return _Package(name)
