"""``packproof simulate --against-fluid``: simulated paths of growing size beside the policy's fluid limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bounds.views.text import Answer, Ends, ends
from fluid.files.initial import InitialJobs
from fluid.files.scenarios import Times
from fluid.files.tables import parse_continuous
from fluid.limits.convergence import CrossCheck, crosscheck, limit_of
from fluid.simulation.policy_interface import Policy
from theory.errors import InputError
from theory.files.instances import parse_instance

FEWEST = 3
"""Replications of each size, at least, for an interval of the slope."""

LEAST = 160
"""Servers, at least: the smallest of the three sizes is a sixteenth."""


class Slope(Answer, frozen=True, kw_only=False):
    """A fitted exponent with its 95 % interval."""

    mean: float
    ci95: Ends


class Converged(Answer, frozen=True, kw_only=False):
    """Distances from the fluid path by size, and how fast they fall."""

    policy: str
    servers: list[int]
    distances: list[list[float]]
    slope: Slope
    time: list[float]
    fluid: dict[str, list[float]]
    greedy_reward: float
    late_rewards: list[list[float]]
    gap_slope: Slope | None


def compare(
    document: Mapping[str, Any], policy: Policy, source: str, times: Times, *, replications: int, seed: int
) -> CrossCheck:
    """Compare L/16, L/4 and L servers with the fluid path, from the empty system.

    Raises
    ------
    InputError
        A policy without a known limit; arrivals, service or a start that the limit is not known for; too few servers
        or replications.
    """
    limit_of(policy.name)
    if replications < FEWEST:
        raise InputError(
            f"--replications: expected at least {FEWEST} of each size for an interval of the slope, got {replications}"
        )
    instance = parse_instance({name: value for name, value in document.items() if name != "simulation"}, source)
    given = parse_continuous(document.get("simulation", {}), instance, source, None, policy.options)
    if given.trace is not None or not given.arrivals.is_poisson or given.service.name != "exponential":
        raise InputError("--against-fluid: expected Poisson arrivals and exponential service")
    if given.initial != InitialJobs():
        raise InputError("--against-fluid: expected a system that starts empty")
    if times.servers < LEAST:
        raise InputError(f"--against-fluid: expected at least {LEAST} servers, got {times.servers}")
    sizes = [times.servers // 16, times.servers // 4, times.servers]
    options = dict(given.options)
    return crosscheck(instance, sizes, times.until, replications, policy=policy.name, options=options, seed=seed)


def convergence_answer(check: CrossCheck, policy: str) -> Converged:
    """Return the answer of a comparison."""
    rate, half = check.rate, check.edges[-1] / 2
    gap = check.gap(half)
    return Converged(
        policy,
        list(check.servers),
        check.distances.tolist(),
        Slope(rate.mean, ends(rate)),
        check.times.tolist(),
        {name: check.fluid[:, j].tolist() for j, name in enumerate(check.instance.names)},
        float(check.greedy.reward),
        check.rewards(half).tolist(),
        None if gap is None else Slope(gap.mean, ends(gap)),
    )


def convergence_lines(check: CrossCheck, policy: str) -> list[str]:
    """Return a comparison as text."""
    rate, half = check.rate, check.edges[-1] / 2
    lines = [f"{policy} against its fluid limit: supremum over time and types of |Y/L - y|, from the empty system"]
    for size, far in zip(check.servers, check.distances, strict=True):
        lines.append(f"  {size:>10,} servers  mean {far.mean():.5f}, largest {far.max():.5f} of {len(far)} runs")
    lines.append(f"  slope of its logarithm on log L  {rate.mean:.3f}  [{rate.low:.3f}, {rate.high:.3f}] (95 %)")
    lines.append(f"reward per server over [{half:g}, {2 * half:g}] beside the greedy {float(check.greedy.reward):.6g}")
    for size, rewards in zip(check.servers, check.rewards(half), strict=True):
        lines.append(f"  {size:>10,} servers  mean {rewards.mean():.6g}")
    gap = check.gap(half)
    if gap is None:
        return [*lines, "  some run has more than the greedy reward: the gap has no rate"]
    return [*lines, f"  the gap to it falls like L to the {gap.mean:.3f}  [{gap.low:.3f}, {gap.high:.3f}] (95 %)"]
