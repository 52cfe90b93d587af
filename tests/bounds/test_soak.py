"""Long random sweeps, run by `make soak` only."""

from __future__ import annotations

import numpy as np
import pytest

from bounds import checker
from bounds.certificates.assignment import assignment_certificate
from bounds.results.instances.drawn import random_instance
from theory.greedy.optimal import solve


@pytest.mark.soak
def test_ten_thousand_instances_keep_the_guarantee() -> None:
    generator = np.random.default_rng(2026)
    for i in range(10_000):
        solution = solve(random_instance(generator, pools=1 + i % 3))
        greedy, best = solution.greedy.reward, solution.optimal.reward
        assert greedy >= solution.greedy.guarantee * best
        assert greedy >= solution.greedy.guarantee_stagewise * best
        if i % 10 == 0:
            checker.check(assignment_certificate(solution))
