"""What `fluid.statistics` gives to users: everything public that it defines, and nothing that it imports."""

from __future__ import annotations

import inspect

import packproof
from fluid import statistics


def test_all_is_what_is_defined_here() -> None:
    here = {
        name
        for name, value in vars(statistics).items()
        if not name.startswith("_") and callable(value) and inspect.getmodule(value) is statistics
    }
    assert set(statistics.__all__) == here
    assert sorted(statistics.__all__) == statistics.__all__
    assert packproof.statistics is statistics
