"""What `fluid.statistics` gives to users: everything public that it defines, and what no simulation shows of it."""

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


def test_batches_leave_out_the_beginning() -> None:
    """Of 23 averages the first three are left over: the series is nearest to its stationary law at the end."""
    series = [100.0] * 3 + [1.0, 3.0] * 10
    means = statistics.batch_means(series, batches=10)
    assert (means.mean, means.half_width, means.samples) == (2.0, 0.0, 10)
