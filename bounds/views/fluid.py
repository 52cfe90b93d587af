"""``packproof fluid``: fluid paths as an answer, as text, as a table of comma-separated values, and as pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bounds.answers.fluid import Converged, FluidAnswer
from bounds.answers.record import Fields, encode
from bounds.views.panels import Chart, Curve
from bounds.views.pictures import DASHES, GREEDY, MARK, OPTIMAL, PAGE, PALETTE, drawn, figure, finish, save, styled
from bounds.views.shown import Picture, Table, number, packed_by_name, tables_of
from bounds.views.text import UNIT_OF_THE_FILE, packed
from fluid.limits.lyapunov_function import lyapunov
from fluid.limits.reservation import FluidPath, Reservation, fluid_path
from fluid.limits.reservation.segment import Segment, State
from theory.errors import quoted
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


def sentence(answer: FluidAnswer | Converged) -> str:
    """Return the answer in a sentence."""
    if isinstance(answer, Converged):
        law = f"like L^{answer.slope.mean:.2f}" if isfinite(answer.slope.mean) else "at no rate that could be measured"
        return f"Paths of {answer.policy} approach the fluid limit {law} as the number L of servers grows."
    until, reward, goal = answer.time[-1], answer.reward[-1], answer.equilibrium_reward
    mean = "" if answer.exact else " The path is not surely the exact limit: part of who drains, or of what, is a mean."
    near = [
        f"{100 * float(share):g} % from time {time:.4g}"
        for share, time in answer.time_within.items()
        if time is not None
    ]
    within = f"; it stays within {' and '.join(near)}" if near else ""
    at_end = f"At time {until:g} the reward is {reward:.6g} per server, of {goal:.6g} in the greedy assignment"
    return f"{at_end}{within}.{mean}"


def tables(answer: FluidAnswer | Converged) -> list[Table]:
    """Return the regimes, and jobs and configurations at the end; or distances and rewards by the number of servers."""
    if isinstance(answer, Converged):
        return [*tables_of(answer), _by_servers(answer)]
    last = answer.modes[-1:]
    lasting = [one for one in answer.modes if one in last or one.until - one.from_ >= MOMENT]
    return [*tables_of(replace(answer, modes=lasting)), *_at_the_end(answer)]


def _at_the_end(answer: FluidAnswer) -> list[Table]:
    """Return jobs by type and the servers by configuration at the end of the path."""
    when = f"at time {answer.time[-1]:g}"
    jobs = [[quoted(name), number(values[-1])] for name, values in answer.jobs.items()]
    rows = [
        [packed_by_name(one.configuration), number(one.fraction[-1], share=True)]
        for one in answer.assignment
        if one.fraction[-1] > 1e-6
    ]
    head = ["configuration", "of the servers"]
    return [
        Table(f"jobs {when}", ["type", "jobs per server"], jobs, [False, True]),
        Table(f"servers {when}", head, rows, [False, True]),
    ]


def _by_servers(answer: Converged) -> Table:
    """Return the supremum over time and types of the distance to the fluid path, by the number of servers."""
    rows = [
        [f"{size:,}", f"{len(far):,}", number(sum(far) / len(far)), number(max(far)), number(sum(late) / len(late))]
        for size, far, late in zip(answer.servers, answer.distances, answer.late_rewards, strict=True)
    ]
    title = "supremum over time and types of |Y/L - y|, from the empty system"
    head = ["servers L", "runs", "mean distance", "largest", "reward per server, second half"]
    return Table(title, head, rows, [True] * len(head))


def pictures(answer: FluidAnswer | Converged) -> list[Picture]:
    """Return jobs over time, or the distances by the number of servers."""
    if isinstance(answer, Converged):
        means = [sum(far) / len(far) for far in answer.distances]
        curve = Curve("mean distance", [float(size) for size in answer.servers], means)
        chart = Chart("servers L (number)", "distance (jobs per server)", [curve], xscale="log", yscale="log")
        return [Picture("Mean distance of simulated paths to the fluid path.", chart)]
    curves = [Curve(drawn(name), answer.time, values, look="plain") for name, values in answer.jobs.items()]
    return [Picture("Jobs per server over time.", Chart(TIME, "jobs (per server)", curves[:MOST_DRAWN]))]


def evidence(answer: FluidAnswer | Converged) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    return [("all numbers", "statistical" if isinstance(answer, Converged) else "numeric")]


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
    label = f"slope {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]".replace("-", "−")
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
