"""How fast exact answers about greedy reservation are, beside scipy and cvxpy in the same run.

Machines differ and are noisy: trust the ratios. Each time is the median of several runs.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import log
from statistics import median

import cvxpy as cp
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from bounds.adversary.workload import worst_workload
from bounds.results.instances.drawn import collection
from bounds.results.instances.papers import four_types
from theory.exact.knapsack import count, feasible, max_reward, maximal
from theory.greedy.optimal import AssignmentProgram, solve
from theory.instance import Additive, Instance, additive
from theory.numbers import to_integers


def seconds(action: Callable[[], object], runs: int = 7) -> float:
    """Return the median time of an action, after one run that is not counted."""
    action()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return median(times)


def say(what: str, ours: float, peer: tuple[str, float] | None = None) -> None:
    """Print one line."""
    beside = "" if peer is None else f"   {peer[0]} {peer[1] * 1000:.3f} ms, {peer[1] / ours:.1f} times ours"
    print(f"{what:64} {ours * 1000:10.3f} ms{beside}", flush=True)


def additive_space(instance: Instance) -> Additive:
    """Return the configurations of an instance of one additive pool."""
    space = instance.pools[0].space
    assert isinstance(space, Additive)
    return space


def milp_value(instance: Instance) -> float:
    """Solve MaxReward with scipy's milp."""
    space = additive_space(instance)
    demands = np.array(space.demands, float).T
    answer = milp(
        -np.array([float(u) for u in instance.rewards]),
        constraints=LinearConstraint(demands, ub=np.array(space.capacity, float)),
        bounds=Bounds(0, np.inf),
        integrality=np.ones(len(instance.rewards)),
    )
    return float(-answer.fun)


def cvxpy_value(instance: Instance, rows: np.ndarray) -> float:
    """Build and solve the assignment program with cvxpy."""
    x, y = cp.Variable(len(rows), nonneg=True), cp.Variable(len(instance.types), nonneg=True)
    rho = np.array([float(w) for w in instance.workload])
    constraints = [y <= rho, y <= rows.T @ x, cp.sum(x) <= 1]
    problem = cp.Problem(cp.Maximize(np.array([float(u) for u in instance.rewards]) @ y), constraints)
    return float(problem.solve(solver=cp.HIGHS))


def many_types(types: int, seed: int) -> Instance:
    """Draw types on (80, 640) whose configurations number more than 10^9."""
    generator = random.Random(seed)
    demands = {(generator.randint(1, 12), generator.randint(2, 96)) for _ in range(types * 2)}
    chosen = sorted(demands)[: types * 2 : 2][:types]
    workload = [Fraction(generator.randint(1, 100), 40) for _ in chosen]
    return additive([80, 640], chosen, [a + Fraction(b, 8) + generator.randint(0, 2) for a, b in chosen], workload)


def one_resource(types: int, capacity: int, seed: int) -> Instance:
    """Draw sizes of 5 to 50 % of a capacity."""
    generator = random.Random(seed)
    sizes = generator.sample(range(capacity // 20, capacity // 2), types)
    rewards = [size + generator.randint(0, capacity // 50) for size in sizes]
    return additive(
        [capacity], [[size] for size in sizes], rewards, [Fraction(generator.randint(1, 100), 100) for _ in sizes]
    )


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the least-squares slope of log time over log size."""
    return float(np.polyfit([log(n) for n in sizes], [log(t) for t in times], 1)[0])


def main() -> None:
    """Print every figure."""
    four = four_types()
    space = four.pools[0].space
    say("12,574 configurations enumerated", seconds(lambda: feasible(space)))
    million = additive([80, 640], [[1, 1], [1, 4], [4, 16], [2, 32], [32, 256], [3, 7]]).pools[0].space
    say(f"{count(million):,} configurations enumerated", seconds(lambda: feasible(million), 3))
    peer = ("scipy milp", seconds(lambda: milp_value(four)))
    say("MaxReward, 4 types on (80, 640)", seconds(lambda: max_reward(space, four.rewards)), peer)
    integers, unit = to_integers(four.rewards)
    assert (
        abs(milp_value(four) - float(sum(a * b for a, b in zip(integers, (16, 3, 10, 1), strict=True)) * unit)) < 1e-6
    )

    generator = np.random.default_rng(1)
    drawn = [collection(generator) for _ in range(200)]
    rows = [len(maximal(i.pools[0].space)) for i in drawn]
    near = [i for i, n in zip(drawn, rows, strict=True) if 150 <= n <= 250][:20]
    each = seconds(lambda: [solve(i) for i in near], 3) / len(near)
    peer = ("fresh cvxpy", seconds(lambda: cvxpy_value(near[0], maximal(near[0].pools[0].space)), 5))
    say(f"certified ratio, 6 types, 150-250 maximal: {1 / each:.0f} a second", each, peer)
    program = AssignmentProgram(near[0])
    factors = [Fraction(n, 7) for n in range(3, 13)]
    loads = [[f * rho for rho in near[0].workload] for f in factors]
    again = seconds(lambda: [program.solve(w) for w in loads], 3) / len(loads)
    say("  re-solved after a change of workload, certified", again, peer)
    again = seconds(lambda: [program.approximate(w) for w in loads], 3) / len(loads)
    say("  re-solved after a change of workload, floats", again, peer)
    say("exactly worst workload of the four types", seconds(lambda: worst_workload(four)))
    say("optimum certified, 50 types on one resource (1000)", seconds(lambda: solve(one_resource(50, 1000, 1)), 3))
    large = many_types(30, 1)
    say(
        f"optimum certified, 30 types, {float(count(large.pools[0].space)):.1e} configurations",
        seconds(lambda: solve(large), 3),
    )

    types = (10, 20, 40, 80)
    times = [median(seconds(lambda n=n, s=s: solve(one_resource(n, 1000, s)), 1) for s in range(3)) for n in types]
    print(f"growth of solve in the number of types (one resource, 1000): J^{exponent(types, times):.2f}")
    capacities = (500, 2000, 8000, 32000)
    times = [median(seconds(lambda c=c, s=s: solve(one_resource(12, c, s)), 1) for s in range(3)) for c in capacities]
    print(f"growth of solve in the capacity (12 types): C^{exponent(capacities, times):.2f}")

    for command in (["-c", "import packproof"], ["-m", "packproof", "--help"]):
        start = seconds(lambda c=command: subprocess.run([sys.executable, *c], capture_output=True, check=True), 5)
        say("python " + " ".join(command), start)


if __name__ == "__main__":
    main()
