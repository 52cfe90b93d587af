"""Pictures of fluid paths: jobs, reward and configurations over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bounds.fluid_report import sample_times
from bounds.pictures import GREEDY, MARK, PALETTE, figure, save
from fluid.reservation import FluidPath

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
    goal = float(path.model.equilibrium.reward)
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
