"""The auto-scaling paper on its model (Section 2) and static program (Section 3): what no policy exceeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Level, Outcome, claim
from bounds.results.instances import four_types, not_limited_by_draining, with_rates
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Panel
from fluid.chains.loss import stationary_law
from fluid.simulation.loss.policies.static import configurations
from fluid.simulation.policy_names import policy
from fluid.simulation.state import Setting
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


@claim(
    "poisson-domination",
    "In equilibrium the jobs of each type in service are stochastically dominated by a Poisson number of mean L rho_j, "
    "under every policy. Beside the proof, the exact laws of small systems on two servers under six policies, at every "
    "level of every type, but for 1e-9.",
    source="Section 2",
    printed="Y_j is stochastically dominated by a variable whose stationary distribution is Poisson with mean L rho_j",
    evidence=Evidence.proved,
    breaks=("the Poisson mean is half of it", "the system has twice the arrivals"),
    proof="proofs.md#domination",
)
def poisson_domination(level: Level, broken: str) -> Outcome:
    from scipy.special import pdtrc

    servers, levels, worst = 2, 0, -1.0
    names = list(SMALL)[:2]  # preemption needs sizes, which listed configurations lack
    for name, rule in product(names, POLICIES):
        instance = SMALL[name]
        mean = [servers * float(rho) * (0.5 if broken.startswith("the Poisson") else 1.0) for rho in instance.workload]
        if broken.startswith("the system"):
            instance = instance.with_workload([2 * rho for rho in instance.workload])
        law = stationary_law(policy(rule), instance, servers, _options(rule, instance)).totals()
        for j in range(len(instance.types)):
            most = max(y[j] for y in law)
            for n in range(1, most + 1):
                worst = max(worst, _tail(law, j, n) - float(pdtrc(n - 1, mean[j])))  # the tail of Poisson's law
                levels += 1
    computed = f"{levels} tails of {len(names) * len(POLICIES)} exact laws, the largest excess over Poisson {worst:.2e}"
    return Outcome(computed, worst <= 1e-9)


@drawing(
    "Jobs in service on two servers of 12, demands 5 and 7: exact laws and the Poisson law",
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


@claim(
    "upper-bound-lp",
    "No policy earns more than the static program with the workload L rho. Beside the proof, on one to three servers "
    "(full: four) of three small systems, exactly. The best policy is bounded by the Bellman inequality in rationals, "
    "for a decision process that may also pack anew and drop jobs at every arrival; on two servers it earns no less "
    "than six policies (where types have no sizes: five) in their exact laws.",
    source="Section 3",
    printed="the optimum of the program is an upper bound on the reward of any Markov policy",
    evidence=Evidence.proved,
    breaks=("the program has half of the workload", "rewards of the process are doubled"),
    proof="proofs.md#static-bound",
)
def upper_bound_lp(level: Level, broken: str) -> Outcome:
    """Bound the best policy from both sides, and compare it with the program."""
    above, widest, below, shown = [], Fraction(0), [], []
    for (name, instance), servers in product(SMALL.items(), range(1, 4 if level is Level.quick else 5)):
        dear = instance.with_rewards([2 * u for u in instance.rewards]) if broken.startswith("rewards") else instance
        low, high = _Process(dear, servers).bounds()
        part = Fraction(1, 2) if broken.startswith("the program has") else 1
        offered = instance.with_workload([part * rho for rho in instance.workload])
        bound = servers * optimal_assignment(offered).reward
        above.append(bound - high)
        widest = max(widest, high - low)
        if servers == 2:
            rules = [rule for rule in POLICIES if rule != "dra-preemption" or name != "three types"]  # that needs sizes
            laws = [stationary_law(policy(rule), instance, 2, _options(rule, instance)) for rule in rules]
            best = max(law.reward for law in laws) * servers
            below.append(float(high) - best)
            shown.append(f"{name}: program {float(bound):.4f}, best policy {float(high):.4f}, best known {best:.4f}")
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


@claim(
    "static-limit",
    "Static reservation of the optimal assignment earns the optimum as the number of servers grows: by Erlang's "
    "formula for the slots that the policy reserves, the gap to U* falls by a factor between 1.8 and 2.2 when L grows "
    "from 10^4 to 4 10^4 servers (that is, like L^-1/2), and is below 1 % then, for four systems; the formula agrees "
    "with the policy's exact law on two servers.",
    source="Section 3",
    printed="static reservation is asymptotically optimal: its normalized reward tends to U*",
    evidence=Evidence.numeric,
    breaks=("slots are reserved for another workload", "one slot in fifty is missing"),
)
def static_limit(level: Level, broken: str) -> Outcome:
    systems = {"four VM types": four_types(), "tight": FIVE_AND_SEVEN}
    systems |= {name: instance for name, instance in not_limited_by_draining().items() if name.startswith("random")}
    largest = 40_000 if level is Level.quick else 160_000
    factors, gaps, shown = [], [], []
    for name, instance in list(systems.items())[:4]:
        best = float(solve(instance).optimal.reward)
        smaller, gap = (best - erlang_reward(instance, servers, broken) for servers in (largest // 4, largest))
        factors.append(smaller / gap if gap else 0.0)  # 2 for a gap that falls like L^-1/2
        gaps.append(gap / best)
        shown.append(f"{name} {gaps[-1]:.5f}")
    worst = 0.0
    for instance in SMALL.values():
        law = stationary_law(policy("static"), instance, 2)
        worst = max(worst, abs(law.reward - erlang_reward(instance, 2)))
    computed = (
        f"gap at L = {largest:,} as a part of U*: {', '.join(shown)}; factors of a fourfold L {min(factors):.3f} to "
        f"{max(factors):.3f}; formula and exact law differ by {worst:.1e}"
    )
    return Outcome(computed, min(factors) > 1.8 and max(factors) < 2.2 and max(gaps) < 0.01 and worst < 1e-9)


def erlang_reward(instance: Instance, servers: int, broken: str = "") -> float:
    """Return the mean reward per server of static reservation: an Erlang system for each type."""
    planned = instance
    if broken.startswith("slots"):
        planned = instance.with_workload([rho * (n + 1) / 2 for n, rho in enumerate(instance.workload)])
    slots = configurations(Setting(planned, servers)).sum(axis=0).tolist()
    if broken.startswith("one slot"):
        slots = [n - n // 50 for n in slots]
    reward = 0.0
    for t, n in zip(instance.types, slots, strict=True):
        load = servers * float(t.workload)
        reward += float(t.reward) * load * (1 - _blocking(load, n)) if load else 0.0
    return reward / servers


@drawing("Static reservation: what it lacks of the optimum, by Erlang's formula", "static-limit")
def erlang() -> Sequence[Panel]:
    sizes, curves = [10**2 * 4**n for n in range(7)], []
    for name, instance in (("four VM types", four_types()), ("demands 5, 7 on 12", FIVE_AND_SEVEN)):
        best = float(solve(instance).optimal.reward)
        gaps = [1 - erlang_reward(instance, servers) / best for servers in sizes]
        curves.append(Curve(name, sizes, gaps))
    slope = Curve("falls like L^-1/2", sizes, [0.5 * (n / sizes[0]) ** -0.5 for n in sizes], look="plain")
    return [Chart("servers L (number)", "lost (share of optimum)", [*curves, slope], xscale="log", yscale="log")]
