"""``packproof fluid``: fluid paths as an answer, as text, as a table of comma-separated values, and as pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bounds.answers.fluid import FluidAnswer
from bounds.answers.record import Fields, encode
from bounds.views.pictures import DASHES, GREEDY, MARK, OPTIMAL, PAGE, PALETTE, drawn, figure, finish, save, styled
from bounds.views.text import UNIT_OF_THE_FILE, packed
from fluid.limits.lyapunov_function import lyapunov
from fluid.limits.reservation import FluidPath, Reservation, fluid_path
from fluid.limits.reservation.segment import Segment, State
from theory.errors import listed, quoted
from theory.instance import Configuration
from theory.numbers import many
from theory.region.slices import region_slice

if TYPE_CHECKING:
    from fluid.limits.convergence import CrossCheck


NEAR = (0.1, 0.01, 0.001)  # shares of the equilibrium reward within which the path is said to be
MOMENT = 1e-9  # regimes that last less are left out of the text


def sample_times(path: FluidPath, points: int) -> NDArray[np.float64]:
    """Return equally spaced times, and every switch."""
    return np.unique(np.concatenate([np.linspace(0.0, path.until, points), path.switches]))


def _shown(path: FluidPath, configuration: Configuration) -> str:
    return packed(path.model.instance, configuration, "idle")


def _regime_row(path: FluidPath, segment: Segment) -> Fields:
    """Return what happens between two switches: the regime, and which type drives each configuration followed."""
    names, regime = path.model.instance.names, segment.regime
    follows = [
        Fields(stage, driver=names[stage.driver] if stage.driver >= 0 else None)
        for stage in regime.followed
        if stage.moves
    ]
    times: dict[str, Any] = {"from": segment.start, "until": segment.stop}
    return Fields(mode=regime.kind, follows=follows, drains=regime.asked, blocked=_blocked(path, segment), **times)


def _blocked(path: FluidPath, segment: Segment) -> list[str]:
    """Return the types of which no more jobs are admitted than there are free slots."""
    return [n for n, blocked in zip(path.model.instance.names, segment.regime.blocked, strict=True) if blocked]


def fluid_answer(path: FluidPath, points: int) -> FluidAnswer:
    """Return the answer of ``fluid``."""
    times, names = sample_times(path, points), path.model.instance.names
    return encode(
        FluidAnswer,
        path,
        names=names,
        time=times,
        jobs=path.jobs(times).T,
        reward=path.rewards(times),
        admitted=path.admitted(times).T,
        assignment=[
            Fields(configuration=k, fraction=[max(0.0, x) for x in masses]) for k, masses in path.masses(times).items()
        ],
        equilibrium_reward=path.goal.reward,
        equilibrium=[Fields(stage, configuration=stage.configurations[0]) for stage in path.goal.stages],
        modes=[_regime_row(path, segment) for segment in path.segments],
        gross_margin=path.gross_margin(times).min(),
        error=path.error,
        time_within={f"{share:g}": path.time_within(share) for share in NEAR},
    )


def path_lines(path: FluidPath) -> list[str]:
    """Return the answer of ``fluid`` as text."""
    names, (jobs, masses) = path.model.instance.names, path.state(path.until)
    reward, goal = float(path.rewards([path.until])[0]), float(path.goal.reward)
    lines = [f"reward at time {path.until:g}   {reward:.6g} per server; greedy assignment {goal:.6g}"]
    for share in NEAR:
        time = path.time_within(share)
        lines.append(f"within {100 * share:g} % of it   {'not yet' if time is None else f'from time {time:.4g}'}")
    mean = "not surely the exact limit: part of who drains, or of what drains, is a mean"
    lines.append("exact limit" if path.exact else mean)
    lines.append(f"numerical error about {path.error:.1g} at most, in jobs and servers per server")
    lines += ["", "regimes"]
    lines += [
        _regime_line(path, one) for one in path.segments if one is path.segments[-1] or one.stop - one.start >= MOMENT
    ]
    lines += ["", f"at time {path.until:g}"]
    shares = sorted(masses.items(), reverse=True)
    lines += [f"  {100 * mass:8.4f}%  {_shown(path, k)}" for k, mass in shares if mass > 1e-6]
    lines += [f"  {y:10.6f}  jobs of {quoted(name)} per server" for name, y in zip(names, jobs.tolist(), strict=True)]
    return lines


def _regime_line(path: FluidPath, segment: Segment) -> str:
    names, regime = path.model.instance.names, segment.regime
    followed = [
        f"{_shown(path, stage.configuration)} with {quoted(names[stage.driver])}"
        for stage in regime.followed
        if stage.moves and stage.driver >= 0
    ]
    parts = {
        "follows": ", ".join(followed),
        "drains": ", ".join(_shown(path, k) for k in regime.asked),
        "rest to": _shown(path, regime.rest) if any(regime.rest) else "",
        "blocked": listed(_blocked(path, segment)),
    }
    happens = "; ".join(f"{verb} {what}" for verb, what in parts.items() if what)
    return f"  {segment.start:9.4f}  {regime.kind:8s}  {happens}"


def path_csv(path: FluidPath, points: int) -> str:
    """Return times, jobs, admitted rates, reward and fractions of configurations, one row a time."""
    times, names = sample_times(path, points), path.model.instance.names
    masses = path.masses(times)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["time", *(f"jobs {name}" for name in names), *(f"admitted {name}" for name in names), "reward"]
        + [_shown(path, k) for k in masses]
    )
    table = np.column_stack([times, path.jobs(times), path.admitted(times), path.rewards(times), *masses.values()])
    writer.writerows(table.tolist())
    return buffer.getvalue()


MOST_DRAWN = len(PALETTE)  # types and configurations that are drawn, one a colour

TIME = f"time ({UNIT_OF_THE_FILE})"


def _look(j: int) -> dict[str, Any]:
    """Return how the curve of a type is drawn."""
    return {"color": PALETTE[j], "ls": DASHES[j % len(DASHES)], "lw": 1.4}


@styled
def picture_of_path(path: FluidPath, target: str | Path) -> None:
    """Draw jobs per server, reward, and the fraction of servers in each configuration; switches as dotted lines."""
    times, names = sample_times(path, 400), [drawn(name) for name in path.model.instance.names]
    picture, (left, middle, right) = figure(PAGE, 2.6, 3)
    for j, (name, jobs) in enumerate(zip(names[:MOST_DRAWN], path.jobs(times).T, strict=False)):
        left.plot(times, jobs, label=name, **_look(j))
    middle.plot(times, path.rewards(times), color=GREEDY, lw=1.4, label="fluid path")
    middle.axhline(float(path.goal.reward), color="black", lw=1, ls="--", label="greedy assignment")
    labels, layers = _layers(path.masses(times), names)
    right.stackplot(times, layers, colors=PALETTE, labels=labels)
    for axes, label, top in (
        (left, "jobs (per server)", None),
        (middle, "reward (per server)", None),
        (right, "servers (share)", 1),
    ):
        finish(axes, xlabel=TIME, ylabel=label, ylim=(0, top))
        axes.set_xlim(0, path.until)
        for time in path.switches[:20]:
            axes.axvline(time, color=MARK, ls=":", lw=0.8)
    save(picture, target)


def _layers(masses: Mapping[Configuration, Any], names: Sequence[str]) -> tuple[list[str], list[Any]]:
    """Return names and masses of the configurations with the greatest masses, then those of all others together."""
    used = sorted((k for k in masses if any(k)), key=lambda k: -float(masses[k].max()))
    drawn, others = sorted(used[: MOST_DRAWN - 1], reverse=True), used[MOST_DRAWN - 1 :]
    labels = [" ".join(f"{n}×{name}" for name, n in zip(names, k, strict=True) if n) for k in drawn]
    layers = [np.clip(masses[k], 0.0, 1.0) for k in drawn]
    if others:
        return [*labels, "others"], [*layers, np.sum([masses[k] for k in others], axis=0)]
    return labels, layers


@styled
def picture_of_crosscheck(check: CrossCheck, target: str | Path) -> None:
    """Draw jobs of the fluid path within bands of simulated ones, and the distance against the number of servers."""
    from matplotlib.ticker import LogLocator

    names, times = [drawn(name) for name in check.instance.names[:MOST_DRAWN]], check.times
    picture, (left, middle, right) = figure(PAGE, 2.6, 3)
    # the smallest system, then the largest one
    for axes, servers, runs in zip(
        (left, middle), check.servers[:: len(check.servers) - 1], check.simulated[[0, -1]], strict=True
    ):
        for j, name in enumerate(names):
            low, high = runs[:, :, j].min(axis=0), runs[:, :, j].max(axis=0)
            axes.fill_between(times, low, high, color=PALETTE[j], alpha=0.35, lw=0)
            axes.plot(times, check.fluid[:, j], label=name, **_look(j))
        axes.set_title(f"{many(servers, 'server')}: fluid path, {many(len(runs), 'run')}")
        finish(axes, xlabel=TIME, ylabel="jobs (per server)", xlim=(0, times[-1]), ylim=(0, None))
    sizes, rate = np.repeat(check.servers, check.distances.shape[1]), check.rate
    right.loglog(sizes, check.distances.ravel(), "o", color=GREEDY, ms=4, alpha=0.6)
    # the fitted line has the slope and goes through the middle of the logarithms
    fit = np.exp(np.log(check.distances).mean() + rate.mean * (np.log(check.servers) - np.log(sizes).mean()))
    label = f"slope {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    right.loglog(check.servers, fit, color="black", lw=1, label=label)
    finish(right, xlabel="servers L (number)", ylabel="sup |Y/L - y| (jobs per server)")
    # plain numbers, and the sizes that were simulated: the labels of a logarithmic scale would stand over each other
    right.set_xticks(check.servers, [f"{servers:,}" for servers in check.servers])
    right.set_xticks([], minor=True)
    right.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    right.yaxis.set_major_formatter("{x:g}")
    right.yaxis.set_minor_formatter("{x:g}")
    save(picture, target)


@styled
def picture_of_phases(model: Reservation, starts: Sequence[State], until: float, target: str | Path) -> None:
    """Draw paths of a two-type system from several states in its capacity region, and V along them."""
    instance, names = model.instance, [drawn(name) for name in model.instance.names]
    picture, (left, right) = figure(PAGE, 2.9, 2)
    region = np.array([(0.0, 0.0), *(tuple(map(float, v)) for v in region_slice(instance, 0, 1).vertices)])
    left.fill(*region.T, color=OPTIMAL, alpha=0.08, lw=0)
    left.plot(*region[1:].T, color=MARK, lw=1, label="capacity region")
    function = lyapunov(instance)
    # V is greatest at the greedy assignment: its configurations by their fractions of servers
    greedy = {stage.configurations[0]: stage.fraction for stage in model.equilibrium.stages}
    masses = [greedy.get(k, Fraction(0)) for k in function.configurations]
    highest = float(sum(z * x for z, x in zip(function.weights, masses, strict=True)))
    times = np.linspace(0.0, until, 600)
    for i, start in enumerate(starts):
        path, colour = fluid_path(model, until, start), PALETTE[i % len(PALETTE)]
        jobs = path.jobs(times)
        left.plot(*jobs.T, color=colour, lw=1.2)
        left.plot(*jobs[0], "o", color=colour, ms=4, clip_on=False)
        length = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(jobs, axis=0), axis=1))))
        at = int(np.searchsorted(length, 0.4 * length[-1]))  # the arrow, at 40 % of the way
        if length[-1] > 0:
            left.annotate("", jobs[at + 1], jobs[at], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})
        lacks = [highest - function.value(model, *path.state(float(t))) for t in times]
        right.semilogy(times, np.maximum(lacks, 1e-6), color=colour, lw=1.2)
    left.plot(*map(float, model.equilibrium.served), "*", color="black", ms=8, label="greedy assignment")
    left.plot(*model.workload, "x", color="black", ms=6, label="workload")
    top = np.maximum(region.max(axis=0), model.workload) * 1.06
    labels = [f"jobs of {name} (per server)" for name in names]
    finish(left, xlabel=labels[0], ylabel=labels[1], xlim=(0, top[0]), ylim=(0, top[1]))
    right.set(xlabel=TIME, ylabel="greatest V less V (value)", xlim=(0, until), ylim=(1e-5, None))
    save(picture, target)
