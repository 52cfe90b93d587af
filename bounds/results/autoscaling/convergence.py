"""Claims of the auto-scaling paper on dynamic reservation as servers grow: Theorem 4.1 and Proposition 5.4."""

from __future__ import annotations

from collections.abc import Mapping
from math import e
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import FRESH_SEED, THIRD_FRESH_SEED, Decisions
from bounds.results.instances.drawn import at_worst, full_of_the_first
from bounds.results.instances.families import WITHOUT_38, limited_by_draining, not_limited_by_draining
from bounds.results.instances.papers import tight_family
from fluid.limits.convergence import Limit, crosscheck, reservation_limit
from fluid.limits.reservation import Reservation, fluid_path, minimum_rates
from fluid.simulation.driver import run_once
from fluid.simulation.loss.model import LossScenario
from fluid.simulation.options import Expression
from fluid.simulation.policy_names import policy
from fluid.statistics import Interval
from theory.errors import InputError
from theory.greedy.assignment import global_greedy
from theory.greedy.optimal import solve
from theory.instance import Instance, additive, explicit

SEED = FRESH_SEED

RESERVED = {"four VM types, 6 times": "4 * (log L)^2"}  # g where (log L)^2 is no more than the jobs that a server holds

SLOPES = (-1.0, -0.2)  # a distance that falls like L^-1/2, with g/L and the largest of many fluctuations on top


def slots_are_scarce() -> Instance:
    """Return jobs of sizes 1 and 3 on servers of 3: the small jobs fill the servers that hold no large one.

    A slot for a large job is made by three departures of small ones, so the reservation and the migrations both matter:
    with a constant g a constant part of the large jobs finds no slot, and without migration drained servers hardly
    empty.
    """
    return additive([3], [[1], [3]], rewards=[1, 7], workload=[6, "3/4"])


def system_named(name: str) -> Instance:
    """Return a system of Theorem 4.1's claim by its name."""
    if name == "scarce slots":
        return slots_are_scarce()
    return at_worst(tight_family(3) if name == "tight" else explicit(WITHOUT_38, [8, 3, 10]))


RUNS: Mapping[str, tuple[int, int]] = MappingProxyType({"scarce slots": (40, 22), "no Def. 3.8": (40, 12)})

SMALLER = {"servers": 200, "fewer": 10, "until": 20.0, "within": 0.05}
"""Sizes at which a sample tells dynamic reservation from its variants, on the system of scarce slots."""

SCARCE_SLOTS = {**SMALLER, "runs": {"scarce slots": (20, 20)}, "starts": ("empty",)}

FEW_RUNS = {**SCARCE_SLOTS, "runs": {"scarce slots": (20, 8)}}
"""Enough for variants that earn much less."""


def expression(name: str, text: str) -> Expression:
    """Return the function of the number of servers that a reader wrote for a parameter."""
    try:
        return Expression.of(text)
    except ValueError as error:
        raise InputError(name, f"expected a function of L, got {text!r} ({error})") from error


@claim(
    "theorem-4.1",
    "Dynamic reservation approaches greedy reward, in simulation",
    "The stationary reward of dynamic reservation, g(L) = (log L)^1.5, tends to the greedy reward: at the largest L "
    "it is within 2 % of it, closer than at the smallest, and above 1 - 1/e of the optimum, both from empty servers "
    "and from servers full of jobs of the first type. Systems: small jobs that fill what large ones leave; three "
    "types without the monotone greedy property at their worst workload, unequal service rates (full: and the tight "
    "family of three types).",
    source="Theorem 4.1",
    printed=(
        "the reward of DRA over the optimum tends to U(g) / U* >= 1/2 at least; 1 - 1/e by Def. 3.8 (statement lost; "
        "from the proof in Appendix J)"
    ),
    evidence=Evidence.statistical,
    full={
        "servers": 25_600,
        "until": 60.0,
        "runs": dict.fromkeys(("scarce slots", "no Def. 3.8", "tight"), (200, 20)),
    },
    tiny={**SMALLER, "runs": {"scarce slots": (20, 40)}},
    controls={
        "the policy is power of two choices": {**FEW_RUNS, "rule": "power-of-d"},
        "no migration": {**FEW_RUNS, "migration": False},
        "g = 0": {**FEW_RUNS, "reservation": "0"},
        "g = 1": {**FEW_RUNS, "reservation": "1"},
        "g = 3": {**SCARCE_SLOTS, "reservation": "3"},
        "g = L / 5": {**SCARCE_SLOTS, "reservation": "L / 5"},
    },
)
def theorem_4_1(
    servers: int = 1600,
    fewer: int = 50,
    until: float = 20.0,
    reservation: str = "(log L)^1.5",
    within: float = 0.02,
    *,
    runs: Mapping[str, tuple[int, int]] = RUNS,
    starts: tuple[str, ...] = ("empty", "full"),
    migration: bool = True,
    rule: str = "dra",
) -> Outcome:
    """Compare the reward, from ``until / 2`` to `until`, with its limit at `servers`, and with that at `fewer`.

    `runs` has the runs at `fewer` and at `servers` servers by the name of a system.
    """
    options = {"reservation": expression("reservation", reservation), "migration": migration} if rule == "dra" else {}
    decisions, good, shown = Decisions(2 * len(starts) * len(runs)), True, []
    for name, counts in runs.items():
        instance = system_named(name)
        limit, best = float(global_greedy(instance).reward), float(solve(instance).optimal.reward)
        for start in starts:
            rewards = []
            for size, count in zip((fewer, servers), counts, strict=True):
                full = full_of_the_first(instance, size) if start == "full" else None
                scenario = LossScenario(instance, size, until, until / 2, initial=full, bins=4, options=options)
                seeds = [np.random.SeedSequence((THIRD_FRESH_SEED, size, start == "full", run)) for run in range(count)]
                rewards.append(decisions.mean([run_once(policy(rule), scenario, seed).mean_reward for seed in seeds]))
            small, large = rewards
            good &= (1 - within) * limit < large.low and large.high < (1 + within) * limit
            good &= small.high < large.low and large.low > (1 - 1 / e) * best
            shown.append(f"{name}, {start}: {small.mean / limit:.4f}, then {_part(large, limit)} of greedy")
    computed = (
        f"at L = {fewer} and {servers:,}: {'; '.join(shown)}; {', then '.join(map(str, runs.values()))} runs, "
        f"{decisions}, seed {THIRD_FRESH_SEED}"
    )
    return Outcome(computed, bool(good))


def _part(reward: Interval, limit: float) -> str:
    return f"{reward.mean / limit:.4f} [{reward.low / limit:.4f}, {reward.high / limit:.4f}]"


def simplified(instance: Instance, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fluid path with the simplified drain rates."""
    return fluid_path(Reservation(instance), float(times[-1]), rates=minimum_rates).jobs(times)


DRAINED = {"systems": ("drains one type",), "sizes": (40, 640), "runs": 8}
"""One system, and sizes at which the distance of a variant is seen not to fall."""


@claim(
    "prop-5.4",
    "Simulated paths converge to the fluid limit",
    "Scaled paths of dynamic reservation converge to the fluid limit: the supremum over [0, 10] and all types of "
    "|Y_j/L - y_j| falls with a power of L near -1/2 (the interval of the slope lies in [-1, -0.2]), where draining "
    "limits the path and where it does not; quick: an instance of each kind, full: six of each.",
    source="Proposition 5.4",
    printed="scaled paths converge to Lipschitz fluid limits (no rate)",
    evidence=Evidence.statistical,
    full={
        "sizes": (500, 2000, 8000, 32000),
        "runs": 12,
        "systems": (*not_limited_by_draining(), *limited_by_draining()),
    },
    tiny={"sizes": (30, 480), "runs": 14, "until": 4.0, "systems": ("two types", "drains one type")},
    controls={
        "the limit with the simplified drain rates": {
            "systems": ("four VM types, 6 times",),
            "sizes": (100, 800),
            "runs": 7,
            "until": 1.0,
            "limit": simplified,
        },
        "no migration": {**DRAINED, "migration": False},
        "g = 3": {**DRAINED, "reservation": "3"},
        "g = L / 5": {**DRAINED, "reservation": "L / 5"},
    },
)
def proposition_5_4(
    sizes: tuple[int, ...] = (250, 1000, 4000),
    runs: int = 18,
    until: float = 10.0,
    reservation: str = "(log L)^2",
    *,
    systems: tuple[str, ...] = ("two types", "drains two types"),
    migration: bool = True,
    limit: Limit = reservation_limit,
) -> Outcome:
    """Fit the slope of log distance on log L for each of the systems."""
    if len(set(sizes)) < 2 or runs < 2:
        raise InputError("sizes, runs", "expected two numbers of servers or more, and two runs or more of each")
    instances = not_limited_by_draining() | limited_by_draining()
    decisions, shown, good = Decisions(len(systems)), [], True
    for name in systems:
        options = {"reservation": expression("reservation", RESERVED.get(name, reservation)), "migration": migration}
        check = crosscheck(instances[name], sizes, until, runs, options=options, seed=SEED, bins=300, limit=limit)
        logs = np.repeat(np.log(sizes), runs)
        rate = decisions.slope(logs, np.log(check.distances).ravel())  # -1/2 but for g/L and fluctuations
        good &= SLOPES[0] <= rate.low and rate.high <= SLOPES[1]
        shown.append(f"{name}: {check.distances[-1].mean():.4f}, {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]")
    computed = (
        f"distance at L = {sizes[-1]}, slope over L = {list(sizes)}: {'; '.join(shown)}; {runs} runs each, {decisions}"
    )
    return Outcome(f"{computed}, seed {SEED}", good)
