"""Run the tests of this folder without a test library, and stop at the first failure: most mutants die at once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

FILES = (
    "accepted",
    "reading",
    "functions",
    "instances",
    "assignments",
    "worst",
    "shares",
    "groups",
    "rules",
    "regions",
    "sizes",
    "alterations",
    "limits",
)
"""The files, the fastest first."""


def tests() -> list[Callable[[], None]]:
    """Return the tests in the order in which they run."""
    modules = [vars(import_module(f"tests.checker.test_{file}")) for file in FILES]
    return [test for module in modules for name, test in module.items() if name.startswith("test_")]


def main() -> int:
    """Return 0 if all tests pass; the first that fails raises."""
    for test in tests():
        test()
    return 0


if __name__ == "__main__":
    sys.exit(main())
