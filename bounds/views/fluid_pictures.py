"""Pictures of fluid paths: jobs, reward and configurations over time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bounds.views.fluid import sample_times
from bounds.views.pictures import GREEDY, MARK, OPTIMAL, PALETTE, figure, save
from fluid.limits.lyapunov import Lyapunov, lyapunov
from fluid.limits.reservation import FluidPath, Reservation, fluid_path
from fluid.limits.reservation.segment import State
from theory.region import region_slice

if TYPE_CHECKING:
    from fluid.limits.convergence import CrossCheck

MOST_DRAWN = len(PALETTE)


def picture_of_path(path: FluidPath, target: str | Path, points: int = 400) -> None:
    """Draw jobs per server, reward, and the fraction of servers in each configuration; switches as dotted lines."""
    times = sample_times(path, points)
    names = path.model.instance.names
    made, (left, middle, right) = figure(14.0, 4.2, 3)
    jobs = path.jobs(times)
    for j in range(min(len(names), MOST_DRAWN)):
        left.plot(times, jobs[:, j], color=PALETTE[j], lw=2, label=names[j])
    left.set(xlabel="time", ylabel="jobs per server", ylim=(0, None))
    left.legend(fontsize=8, frameon=False)
    middle.plot(times, path.rewards(times), color=GREEDY, lw=2, label="fluid path")
    goal = float(path.goal.reward)
    middle.axhline(goal, color="black", lw=1, ls="--", label="greedy assignment")
    middle.set(xlabel="time", ylabel="reward per server", ylim=(0, None))
    middle.legend(fontsize=8, frameon=False, loc="lower right")
    masses = path.masses(times)
    used = sorted((k for k in masses if any(k)), key=lambda k: -float(masses[k].max()))
    drawn = sorted(used[: MOST_DRAWN - 1], reverse=True)
    labels = [" ".join(f"{n}×{name}" for name, n in zip(names, k, strict=True) if n) for k in drawn]
    layers = [np.clip(masses[k], 0.0, 1.0) for k in drawn]
    if len(used) > len(drawn):
        layers.append(np.sum([masses[k] for k in used[MOST_DRAWN - 1 :]], axis=0))
        labels.append("others")
    right.stackplot(times, layers, colors=PALETTE, labels=labels)
    right.set(xlabel="time", ylabel="fraction of servers", ylim=(0, 1))
    right.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for axes in (left, middle, right):
        axes.set_xlim(0, path.until)
        for time in path.switches[:20]:
            axes.axvline(time, color=MARK, ls=":", lw=0.8)
    save(made, target)


def picture_of_crosscheck(check: CrossCheck, target: str | Path) -> None:
    """Draw jobs of the fluid path within bands of simulated ones, and the distance against the number of servers."""
    names = check.instance.names
    made, axes = figure(13.0, 4.2, 3)
    smallest, largest = 0, len(check.servers) - 1
    for axis, i in ((axes[0], smallest), (axes[1], largest)):
        runs = check.simulated[i]
        for j in range(min(len(names), MOST_DRAWN)):
            low, high = runs[:, :, j].min(axis=0), runs[:, :, j].max(axis=0)
            axis.fill_between(check.times, low, high, color=PALETTE[j], alpha=0.35, lw=0)
            axis.plot(check.times, check.fluid[:, j], color=PALETTE[j], lw=1.5, label=names[j])
        axis.set(xlabel="time", ylabel="jobs per server", xlim=(0, check.times[-1]), ylim=(0, None))
        axis.set_title(f"{check.servers[i]:,} servers: fluid path, range of {len(runs)} runs", fontsize=10)
    axes[0].legend(fontsize=8, frameon=False)
    sizes = np.repeat(check.servers, check.distances.shape[1])
    axes[2].loglog(sizes, check.distances.ravel(), "o", color=GREEDY, ms=4, alpha=0.6)
    rate = check.rate
    middle = np.exp(np.log(check.distances).mean() + rate.mean * (np.log(check.servers) - np.log(sizes).mean()))
    fitted = f"slope {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    axes[2].loglog(check.servers, middle, color="black", lw=1, label=fitted)
    axes[2].set(xlabel="servers L", ylabel="sup |Y/L - y|")
    axes[2].legend(frameon=False, fontsize=9)
    save(made, target)


def picture_of_phases(model: Reservation, starts: Sequence[State], until: float, target: str | Path) -> None:
    """Draw paths of a two-type system from several states in its capacity region, and V along them."""
    made, (left, right) = figure(11.0, 4.6, 2)
    region = np.array([(0.0, 0.0), *(tuple(map(float, v)) for v in region_slice(model.instance, 0, 1).vertices)])
    left.fill(region[:, 0], region[:, 1], color=OPTIMAL, alpha=0.08, lw=0)
    left.plot(*region[1:].T, color=MARK, lw=1, label="capacity region")
    function = lyapunov(model.instance)
    highest = float(sum(z * x for z, x in zip(function.weights, _greedy_masses(model, function), strict=True)))
    times = np.linspace(0.0, until, 600)
    for i, start in enumerate(starts):
        path, colour = fluid_path(model, until, start), PALETTE[i % len(PALETTE)]
        jobs = path.jobs(times)
        left.plot(jobs[:, 0], jobs[:, 1], color=colour, lw=1.6)
        left.plot(*jobs[0], "o", color=colour, ms=6, clip_on=False)
        length = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(jobs, axis=0), axis=1))))
        at = int(np.searchsorted(length, 0.4 * length[-1]))
        if length[-1] > 0:
            left.annotate("", jobs[at + 1], jobs[at], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})
        lacks = [highest - function.value(model, *path.state(float(t))) for t in times]
        right.semilogy(times, np.maximum(lacks, 1e-6), color=colour, lw=1.6)
    left.plot(*(float(y) for y in model.equilibrium.served), "*", color="black", ms=12, label="greedy assignment")
    left.plot(*model.workload, "x", color="black", ms=8, label="workload")
    names = model.instance.names
    top = np.maximum(region.max(axis=0), model.workload) * 1.06
    left.set(
        xlabel=f"jobs of {names[0]} per server",
        ylabel=f"jobs of {names[1]} per server",
        xlim=(0, top[0]),
        ylim=(0, top[1]),
    )
    left.legend(fontsize=8, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncol=3)
    right.set(xlabel="time", ylabel="greatest V less V", xlim=(0, until), ylim=(1e-5, None))
    save(made, target)


def _greedy_masses(model: Reservation, function: Lyapunov) -> list[Fraction]:
    """Return the fraction of servers of each configuration of V in the greedy assignment."""
    used = {stage.configurations[0]: stage.fraction for stage in model.equilibrium.stages}
    return [used.get(k, Fraction(0)) for k in function.configurations]
