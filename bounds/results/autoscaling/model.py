"""The auto-scaling paper on its model (Section 2) and static program (Section 3): what no policy exceeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import with_rates
from bounds.results.instances.families import not_limited_by_draining
from bounds.results.instances.papers import four_types
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from fluid.chains.loss import stationary_law
from fluid.simulation.loss.policies.static import configurations
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
from theory.errors import InputError, expect_number
from theory.exact.knapsack import feasible
from theory.greedy.optimal import optimal_assignment, solve
from theory.instance import Instance, additive, explicit

FIVE_AND_SEVEN = additive([12], [[5], [7]], [1, 1], [1, 1])
"""Jobs of 5 and of 7 on servers of 12, on which greedy keeps 3/4 of the optimum."""

SMALL: dict[str, Instance] = {
    "sizes 1 and 2": additive([2], [[1], [2]], [1, 3], [1, "1/2"]),
    "sizes 5 and 7": with_rates(FIVE_AND_SEVEN, (1, "1/2")),
    "three types": with_rates(explicit([[1, 0, 0], [0, 1, 0], [1, 1, 1]], [2, 1, 2], ["1/2", 1, "1/2"]), (1, 2, "1/2")),
}
"""Systems small enough for exact chains."""

POLICIES = ("dra", "dra-preemption", "first-fit", "best-fit", "power-of-d", "static")


def _options(name: str, instance: Instance) -> dict[str, object]:
    """Return options that keep the chain of a policy small; the last type has priority."""
    if not name.startswith("dra"):
        return {}
    priority = {t: int(t == instance.names[-1]) for t in instance.names}
    return {"reservation": 1} | ({"priority": priority} if name == "dra-preemption" else {})


def _tail(law: Mapping[tuple[int, ...], float], j: int, n: int) -> float:
    """Return the probability of at least n jobs of type j."""
    return sum(p for y, p in law.items() if y[j] >= n)


def times_workload(instance: Instance, factor: Fraction) -> Instance:
    """Return an instance with `factor` times its workload."""
    if factor <= 0:
        raise InputError("load", f"expected a number above 0, got {factor}")
    return instance.with_workload([factor * rho for rho in instance.workload])


@claim(
    "poisson-domination",
    "A Poisson number dominates the jobs in service",
    "In equilibrium the jobs of each type in service are stochastically dominated by a Poisson number of mean L "
    "rho_j, under every policy. Beside the proof, the exact distributions of small systems on two servers under six "
    "policies, at every level of every type, but for 1e-9.",
    source="Section 2",
    printed="Y_j is stochastically dominated by a variable whose stationary distribution is Poisson with mean L rho_j",
    evidence=Evidence.proved,
    controls={
        "the Poisson mean is half of it": {"poisson": Fraction(1, 2)},
        "the system has twice the arrivals": {"arrivals": Fraction(2)},
    },
    proof="proofs.md#domination",
)
def poisson_domination(
    servers: int = 2,
    load: Fraction = Fraction(1),
    *,
    poisson: Fraction = Fraction(1),
    arrivals: Fraction = Fraction(1),
) -> Outcome:
    """Compare tails of exact laws, at `load` times the workloads; `poisson` and `arrivals` scale one side alone."""
    from scipy.special import pdtrc

    levels, worst = 0, -1.0
    names = list(SMALL)[:2]  # preemption needs sizes, which listed configurations lack
    for name, rule in product(names, POLICIES):
        instance = times_workload(SMALL[name], load * arrivals)
        mean = [servers * float(load * poisson * rho) for rho in SMALL[name].workload]
        law = stationary_law(policy(rule), instance, servers, _options(rule, instance)).totals()
        for j in range(len(instance.types)):
            most = max(y[j] for y in law)
            for n in range(1, most + 1):
                worst = max(worst, _tail(law, j, n) - float(pdtrc(n - 1, mean[j])))  # the tail of Poisson's law
                levels += 1
    computed = f"{levels} tails of {len(names) * len(POLICIES)} exact laws, the largest excess over Poisson {worst:.2e}"
    return Outcome(computed, worst <= 1e-9)


@drawing(
    "Jobs in service on two servers of 12, demands 5 and 7: exact and Poisson distributions",
    "poisson-domination",
    columns=2,
)
def tails_of_jobs() -> Sequence[Panel]:
    from scipy.special import pdtrc

    instance, servers = SMALL["sizes 5 and 7"], 2
    laws = {name: stationary_law(policy(name), instance, servers) for name in ("first-fit", "best-fit", "power-of-d")}
    levels, panels = range(1, 5), []
    for j, demand in enumerate((5, 7)):
        mean = servers * float(instance.workload[j])
        curves = [Curve("Poisson", levels, [float(pdtrc(n - 1, mean)) for n in levels])]
        for rule, law in laws.items():
            curves.append(Curve(rule, levels, [_tail(law.totals(), j, n) for n in levels]))
        ticks = [(n, str(n)) for n in levels]
        panels.append(
            Chart("jobs in service n (number)", "tail (probability)", curves, title=f"jobs of {demand}", xticks=ticks)
        )
    return panels


def _totals(instance: Instance, servers: int) -> list[tuple[int, ...]]:
    """Return the numbers of jobs of each type that whole servers can hold together, however they are packed."""
    rows = [tuple(row) for row in feasible(instance.pools[0].space).tolist()]
    reached = {(0,) * len(instance.types)}
    for _ in range(servers):
        reached = {tuple(a + b for a, b in zip(y, k, strict=True)) for y in reached for k in rows}
    return sorted(reached)


class _Process:
    """The decision process of a policy that may do more than any: pack anew, and drop any jobs, at each arrival.

    Its states are the numbers of jobs that L servers can hold together; reward comes at rate u_j for each of them.
    """

    def __init__(self, instance: Instance, servers: int) -> None:
        types, self.states = instance.types, _totals(instance, servers)
        place = {y: n for n, y in enumerate(self.states)}
        rows, unit = np.array(self.states), np.eye(len(types), dtype=int)
        self.earned = rows @ np.array([t.reward for t in types], object)
        self.arrivals = [servers * t.workload * t.service_rate for t in types]
        self.leaving = [rows[:, j] * t.service_rate for j, t in enumerate(types)]
        #: below[j][n]: the states with no more jobs of any type than state n and an arriving job of type j
        self.below = [(rows[None] <= (rows + unit[j])[:, None]).all(axis=2) for j in range(len(types))]
        self.left = [[place.get(tuple((row - one).tolist()), n) for n, row in enumerate(rows)] for one in unit]

    def gains(self, h: NDArray[Any]) -> NDArray[Any]:
        """Return ``r + Q h`` under the best action by state, in floats or in Fractions as h is.

        No policy gains more than the greatest of them, one gains the least.
        """
        gains: NDArray[Any] = self.earned.astype(h.dtype)
        number = Fraction if h.dtype == object else float
        for rate, leaving, below, left in zip(self.arrivals, self.leaving, self.below, self.left, strict=True):
            gains += number(rate) * (np.where(below, h, -np.inf).max(axis=1) - h)
            gains += leaving.astype(h.dtype) * (h[left] - h)
        return gains

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return exact bounds on the greatest mean reward of any policy, from values found by iteration in floats."""
        fastest = float(sum(self.arrivals) + sum(self.leaving).max())
        h = np.zeros(len(self.states))
        for _ in range(20_000):
            gains = self.gains(h)
            if gains.max() - gains.min() < 1e-5:
                break
            h = h + (gains - gains.min()) / fastest
        exact = self.gains(np.array([Fraction(round(value * 10**9), 10**9) for value in h.tolist()], object))
        return min(exact), max(exact)


@lru_cache(maxsize=32)
def best_reward(instance: Instance, servers: int) -> tuple[Fraction, Fraction]:
    """Return exact bounds on the mean reward of the best policy; the claim and its controls share the values."""
    return _Process(instance, servers).bounds()


@lru_cache(maxsize=32)
def known_reward(instance: Instance, servers: int, rules: tuple[str, ...]) -> float:
    """Return the largest mean reward of policies by name, in their exact laws."""
    laws = (stationary_law(policy(rule), instance, servers, _options(rule, instance)) for rule in rules)
    return max(law.reward for law in laws) * servers


@claim(
    "upper-bound-lp",
    "No policy earns more than the static program",
    "No policy earns more than the static program with the workload L rho. Beside the proof, on one to three servers "
    "(full: four) of three small systems, exactly. The best policy is bounded by the Bellman inequality in rationals, "
    "for a decision process that may also pack anew and drop jobs at every arrival; on two servers it earns no less "
    "than six policies (where types have no sizes: five) in their exact distributions.",
    source="Section 3",
    printed="the optimum of the program is an upper bound on the reward of any Markov policy",
    evidence=Evidence.proved,
    full={"servers": 4},
    tiny={"servers": 2},
    controls={
        "the program has half of the workload": {"offered": Fraction(1, 2)},
        "rewards of the process are doubled": {"rewards": 2},
    },
    proof="proofs.md#static-bound",
)
def upper_bound_lp(
    servers: int = 3, load: Fraction = Fraction(1), *, offered: Fraction = Fraction(1), rewards: int = 1
) -> Outcome:
    """Bound the best policy from both sides on 1 to `servers` servers, and compare it with the program.

    The program has `offered` times the workload of the process, the process `rewards` times the rewards.
    """
    expect_number(servers, "servers", 2)
    above, widest, below, shown = [], Fraction(0), [], []
    for (name, small), count in product(SMALL.items(), range(1, servers + 1)):
        instance = times_workload(small, load)
        low, high = best_reward(instance.with_rewards([rewards * u for u in instance.rewards]), count)
        program = count * optimal_assignment(times_workload(instance, offered)).reward
        above.append(program - high)
        widest = max(widest, high - low)
        if count == 2:
            sized = name != "three types"  # preemption needs sizes
            best = known_reward(instance, count, tuple(rule for rule in POLICIES if sized or rule != "dra-preemption"))
            below.append(float(high) - best)
            shown.append(f"{name}: program {float(program):.4f}, best policy {float(high):.4f}, best known {best:.4f}")
    computed = (
        f"{len(above)} systems, least margin of the program {float(min(above)):.4f}; best policy known to "
        f"{float(widest):.1e}; two servers: {'; '.join(shown)}"
    )
    return Outcome(computed, min(above) >= 0 and min(below) >= -1e-9)


def _blocking(load: float, slots: int) -> float:
    """Erlang's formula for the probability that a job finds all slots taken."""
    refused = 1.0
    for n in range(1, slots + 1):
        refused = load * refused / (n + load * refused)
    return refused


def reserved_slots(instance: Instance, servers: int) -> list[int]:
    """Return the slots of each type that static reservation has on all servers."""
    slots: list[int] = configurations(Setting(instance, servers)).sum(axis=0).tolist()
    return slots


def slots_of_another_workload(instance: Instance, servers: int) -> list[int]:
    """Return the slots that are reserved for workloads times 1/2, 1, 3/2, ..."""
    workload = [rho * (n + 1) / 2 for n, rho in enumerate(instance.workload)]
    return reserved_slots(instance.with_workload(workload), servers)


def slots_without_a_fiftieth(instance: Instance, servers: int) -> list[int]:
    """Return the slots of each type but one in fifty."""
    return [n - n // 50 for n in reserved_slots(instance, servers)]


def erlang_reward(
    instance: Instance, servers: int, slots: Callable[[Instance, int], list[int]] = reserved_slots
) -> float:
    """Return the mean reward per server of static reservation: an Erlang system for each type."""
    reward = 0.0
    for t, n in zip(instance.types, slots(instance, servers), strict=True):
        load = servers * float(t.workload)
        reward += float(t.reward) * load * (1 - _blocking(load, n)) if load else 0.0
    return reward / servers


@claim(
    "static-limit",
    "Static reservation nears the optimum in four systems",
    "Static reservation of the optimal assignment earns the optimum as the number of servers grows: by Erlang's "
    "formula for the slots that the policy reserves, the gap to U* falls by a factor between 1.8 and 2.2 when L grows "
    "from 10^4 to 4 10^4 servers (that is, like L^-1/2), and is below 1 % then, for four systems; the formula agrees "
    "with the policy's exact distribution on two servers.",
    source="Section 3",
    printed="static reservation is asymptotically optimal: its normalized reward tends to U*",
    evidence=Evidence.numeric,
    full={"servers": 160_000},
    tiny={"servers": 16_000},
    controls={
        "slots are reserved for another workload": {"slots": slots_of_another_workload},
        "one slot in fifty is missing": {"slots": slots_without_a_fiftieth},
    },
)
def static_limit(
    servers: int = 40_000, within: float = 0.01, *, slots: Callable[[Instance, int], list[int]] = reserved_slots
) -> Outcome:
    """Compare the gaps at a quarter of the servers and at all of them, where it is below the part `within` of U*."""
    expect_number(servers, "servers", 4)
    systems = {"four VM types": four_types(), "tight": FIVE_AND_SEVEN}
    systems |= {name: instance for name, instance in not_limited_by_draining().items() if name.startswith("random")}
    factors, gaps, shown = [], [], []
    for name, instance in list(systems.items())[:4]:
        best = float(solve(instance).optimal.reward)
        earlier, gap = (best - erlang_reward(instance, count, slots) for count in (servers // 4, servers))
        factors.append(earlier / gap if gap else 0.0)  # 2 for a gap that falls like L^-1/2
        gaps.append(gap / best)
        shown.append(f"{name} {gaps[-1]:.5f}")
    laws = [(stationary_law(policy("static"), instance, 2), instance) for instance in SMALL.values()]
    worst = max(abs(law.reward - erlang_reward(instance, 2)) for law, instance in laws)
    computed = (
        f"gap at L = {servers:,} as a part of U*: {', '.join(shown)}; factors of a fourfold L {min(factors):.3f} to "
        f"{max(factors):.3f}; formula and exact law differ by {worst:.1e}"
    )
    return Outcome(computed, min(factors) > 1.8 and max(factors) < 2.2 and max(gaps) < within and worst < 1e-9)


@drawing("Static reservation: what it lacks of the optimum, by Erlang's formula", "static-limit")
def erlang() -> Sequence[Panel]:
    sizes, curves = [10**2 * 4**n for n in range(7)], []
    for name, instance in (("four VM types", four_types()), ("demands 5, 7 on 12", FIVE_AND_SEVEN)):
        best = float(solve(instance).optimal.reward)
        gaps = [1 - erlang_reward(instance, servers) / best for servers in sizes]
        curves.append(Curve(name, sizes, gaps))
    slope = Curve("falls like 1/√L", sizes, [0.5 * (n / sizes[0]) ** -0.5 for n in sizes], look="plain")
    return [Chart("servers L (number)", "lost (share of optimum)", [*curves, slope], xscale="log", yscale="log")]
