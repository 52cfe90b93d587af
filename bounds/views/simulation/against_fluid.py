"""``packproof simulate --against-fluid``: simulated paths of growing size beside the policy's fluid limit."""

from __future__ import annotations

from typing import Any

from bounds.views.simulation import Report, Request
from fluid.files.simulation_table import InitialJobs, read_simulation
from fluid.limits.convergence import CrossCheck, crosscheck, limit_of
from fluid.simulation.policy_names import policy
from theory.errors import InputError
from theory.files import read_instance

FEWEST = 3
"""Replications of each size, at least, for an interval of the slope."""


def run(request: Request) -> Report:
    """Compare L/16, L/4 and L servers with the fluid path, from the empty system.

    Raises
    ------
    InputError
        A policy without a known limit, or arrivals, service or a start that the limit is not known for.
    """
    limit_of(request.policy)
    if request.replications < FEWEST:
        raise InputError(
            f"--replications: expected at least {FEWEST} of each size for an interval of the slope, got "
            f"{request.replications}"
        )
    unread = {
        "--store": request.store is not None,
        "--log": request.log > 0,
        "--engine": request.engine != "local",
        "--warmup": request.warmup != request.until / 5,
    }
    for option in (name for name, given in unread.items() if given):
        raise InputError(f"{option}: of no meaning beside --against-fluid, which runs here, and compares whole paths")
    instance = read_instance(request.instance)
    given = read_simulation(request.instance, instance, policy(request.policy).options)
    if (
        request.trace is not None
        or given.trace is not None
        or not given.arrivals.is_poisson
        or given.service.name != "exponential"
    ):
        raise InputError("--against-fluid: expected Poisson arrivals and exponential service")
    if given.initial != InitialJobs():
        raise InputError("--against-fluid: expected a system that starts empty")
    if request.servers < 160:
        raise InputError(f"--against-fluid: expected at least 160 servers, got {request.servers}")
    sizes = [request.servers // 16, request.servers // 4, request.servers]
    check = crosscheck(
        instance,
        sizes,
        request.until,
        request.replications,
        policy=request.policy,
        options=dict(given.options),
        seed=request.seed,
    )
    answer = _json(check, request.policy)

    def draw(path: Any) -> None:
        from bounds.views.fluid_pictures import picture_of_crosscheck

        picture_of_crosscheck(check, path)

    return Report(answer, lambda: _lines(check, request.policy), draw)


def _json(check: CrossCheck, policy: str) -> dict[str, Any]:
    rate, names = check.rate, check.instance.names
    late, gap = check.rewards(check.edges[-1] / 2), check.gap(check.edges[-1] / 2)
    return {
        "policy": policy,
        "servers": list(check.servers),
        "distances": check.distances.tolist(),
        "slope": {"mean": rate.mean, "ci95": [rate.low, rate.high]},
        "time": check.times.tolist(),
        "fluid": {name: check.fluid[:, j].tolist() for j, name in enumerate(names)},
        "greedy_reward": float(check.greedy.reward),
        "late_rewards": late.tolist(),
        "gap_slope": None if gap is None else {"mean": gap.mean, "ci95": [gap.low, gap.high]},
    }


def _lines(check: CrossCheck, policy: str) -> list[str]:
    rate = check.rate
    lines = [f"{policy} against its fluid limit: supremum over time and types of |Y/L - y|, from the empty system"]
    for size, far in zip(check.servers, check.distances, strict=True):
        lines.append(f"  {size:>10,} servers  mean {far.mean():.5f}, largest {far.max():.5f} of {len(far)} runs")
    lines.append(f"  slope of its logarithm on log L  {rate.mean:.3f}  [{rate.low:.3f}, {rate.high:.3f}]")
    half = check.edges[-1] / 2
    lines.append(f"reward per server over [{half:g}, {2 * half:g}] beside the greedy {float(check.greedy.reward):.6g}")
    for size, rewards in zip(check.servers, check.rewards(half), strict=True):
        lines.append(f"  {size:>10,} servers  mean {rewards.mean():.6g}")
    gap = check.gap(half)
    if gap is None:
        lines.append("  some run has more than the greedy reward: no rate of what lacks")
    else:
        lines.append(f"  what lacks falls like L to the {gap.mean:.3f}  [{gap.low:.3f}, {gap.high:.3f}]")
    return lines
