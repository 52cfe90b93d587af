"""``packproof fluid``: fluid paths as an answer, as text, as a table of comma-separated values, and as pictures."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bounds.answers.fluid import Converged, FluidAnswer
from bounds.answers.record import Fields, encode
from bounds.views.drawing import draw, picture_of_panels
from bounds.views.panels import Chart, Curve, Line
from bounds.views.pictures import MARK, OPTIMAL, PAGE, PALETTE, drawn, figure, save, share_legend, styled
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
    from matplotlib.axes import Axes

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
    # the narrowest band that is reached says the most
    near = [(float(share), time) for share, time in answer.time_within.items() if time is not None]
    share, time = min(near, default=(0.0, 0.0))
    within = f"; it stays within {100 * share:g} % of that from time {time:.4g} on" if near else ""
    at_end = f"At time {until:g} the reward is {reward:.6g} per server, of {goal:.6g} in the greedy assignment"
    return f"{at_end}{within}.{mean}"


def tables(answer: FluidAnswer | Converged) -> list[Table]:
    """Return the regimes, and jobs and configurations at the end; or distances and rewards by the number of servers."""
    if isinstance(answer, Converged):
        return [*tables_of(answer), _by_servers(answer)]
    last = answer.modes[-1:]
    lasting = [one for one in answer.modes if one in last or one.until - one.from_ >= MOMENT]
    return [*tables_of(replace(answer, modes=lasting)), _nearing(answer), *_at_the_end(answer)]


def _nearing(answer: FluidAnswer) -> Table:
    """Return from which time on the reward stays near that of the greedy assignment."""
    times = answer.time_within.items()
    rows = [[number(float(near), share=True), "not by then" if time is None else number(time)] for near, time in times]
    title = "how near the reward stays to that of the greedy assignment"
    return Table(title, ["within", "from time on"], rows, [True, True])


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
        slope = answer.slope.mean
        chart = _distances(answer.servers, answer.distances, slope, f"slope {number(slope, 3)}")
        return [Picture("Distance of simulated paths to the fluid path.", chart)]
    return [Picture("Jobs per server over time.", Chart(TIME, "jobs (per server)", _jobs(answer)))]


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
MOST_SWITCHES = 20  # of a path that are drawn

TIME = f"time ({UNIT_OF_THE_FILE})"


def panels(answer: FluidAnswer) -> list[Chart]:
    """Return jobs per server, reward, and the fraction of servers in each configuration over time; and the switches."""
    switches = [one.from_ for one in answer.modes[1 : MOST_SWITCHES + 1]]
    lines = [Line("change of regime", time, upright=True) for time in switches]
    path, ends = Curve("fluid path", answer.time, answer.reward, look="plain"), (0.0, answer.time[-1])
    greedy = Line("greedy", answer.equilibrium_reward)
    return [
        Chart(TIME, "jobs (per server)", _jobs(answer), lines, xlim=ends, ylim=(0.0, None)),
        Chart(TIME, "reward (per server)", [path], [*lines, greedy], xlim=ends, ylim=(0.0, None)),
        Chart(TIME, "servers (share)", _layers(answer), lines, xlim=ends, ylim=(0.0, 1.0)),
    ]


def _jobs(answer: FluidAnswer) -> list[Curve]:
    """Return the jobs of the first types over time."""
    return [Curve(drawn(name), answer.time, jobs, look="plain") for name, jobs in answer.jobs.items()][:MOST_DRAWN]


def _layers(answer: FluidAnswer) -> list[Curve]:
    """Return the configurations with the greatest fractions of servers, the others together as the last one."""
    used = [one for one in answer.assignment if any(one.configuration.values())]
    used.sort(key=lambda one: -max(one.fraction))
    largest, others = used[: MOST_DRAWN - 1], used[MOST_DRAWN - 1 :]
    largest.sort(key=lambda one: tuple(one.configuration.values()), reverse=True)
    layers = [
        Curve(_held(one.configuration), answer.time, [min(max(x, 0.0), 1.0) for x in one.fraction], look="layer")
        for one in largest
    ]
    if others:
        rest = np.sum([one.fraction for one in others], axis=0)
        layers.append(Curve("others", answer.time, rest.tolist(), look="layer"))
    return layers


def _held(configuration: Mapping[str, int]) -> str:
    """Return a configuration as the name of a layer."""
    return packed_by_name({drawn(name): count for name, count in configuration.items()})


def picture_of_path(path: FluidPath, target: str | Path) -> None:
    """Draw `panels` of a path."""
    picture_of_panels(panels(fluid_answer(path, 400)), target, "", columns=3)


def picture_of_crosscheck(check: CrossCheck, target: str | Path) -> None:
    """Draw jobs of the fluid path within bands of simulated ones, and the distance against the number of servers."""
    rate = check.rate
    slope = f"slope {rate.mean:.2f} [{rate.low:.2f}, {rate.high:.2f}]"
    distances = _distances(check.servers, check.distances.tolist(), rate.mean, slope)
    # the smallest system, then the largest one
    panels = [_beside_runs(check, 0), _beside_runs(check, -1), distances]
    picture_of_panels(panels, target, "", columns=3)


def _beside_runs(check: CrossCheck, place: int) -> Chart:
    """Return the fluid path by type, in bands from the least to the most of the runs of the size at a place."""
    runs, times = check.simulated[place], check.times.tolist()
    curves = [
        Curve(drawn(name), times, path.tolist(), low.tolist(), high.tolist(), look="plain")
        for name, path, low, high in zip(
            check.instance.names, check.fluid.T, runs.min(axis=0).T, runs.max(axis=0).T, strict=True
        )
    ]
    title = f"{many(check.servers[place], 'server')}, {many(len(runs), 'run')}"
    ends = (0.0, times[-1])
    return Chart(TIME, "jobs (per server)", curves[:MOST_DRAWN], title=title, xlim=ends, ylim=(0.0, None))


def _distances(servers: Sequence[int], distances: Sequence[Sequence[float]], slope: float, name: str) -> Chart:
    """Return the distance of each path to the fluid one, and the line that was fitted to their logarithms."""
    far = np.array(distances, float)
    sizes = np.repeat(servers, far.shape[1])
    curves = [Curve("path", sizes.tolist(), far.ravel().tolist(), look="dots")]
    if isfinite(slope):
        # the fitted line has the slope and goes through the middle of the logarithms
        fit = np.exp(np.log(far).mean() + slope * (np.log(servers) - np.log(sizes).mean()))
        curves.append(Curve(name.replace("-", "−"), list(servers), fit.tolist(), look="reference"))
    label = "sup |Y/L − y| (jobs per server)"
    return Chart("servers L (number)", label, curves, xscale="log", yscale="log")


@styled
def picture_of_phases(model: Reservation, starts: Sequence[State], until: float, target: str | Path) -> None:
    """Draw paths of a two-type system from several states in its capacity region, and V along them."""
    instance = model.instance
    picture, (left, right) = figure(PAGE, 3.1, 2)
    region = np.array([(0.0, 0.0), *(tuple(map(float, v)) for v in region_slice(instance, 0, 1).vertices)])
    left.fill(*region.T, color=OPTIMAL, alpha=0.08, lw=0)
    left.plot(*region[1:].T, color=MARK, lw=1, label="capacity region")
    times, curves = np.linspace(0.0, until, 600), []
    value = _lacking(model)
    for i, start in enumerate(starts):
        path = fluid_path(model, until, start)
        jobs = path.jobs(times)
        _draw_path(left, jobs, PALETTE[i % len(PALETTE)])
        name = f"from ({jobs[0, 0]:.3g}, {jobs[0, 1]:.3g})"
        curves.append(Curve(name, times.tolist(), [value(path.state(float(t))) for t in times], look="plain"))
    left.plot(*map(float, model.equilibrium.served), "*", color="black", ms=8, label="greedy assignment")
    left.plot(*model.workload, "x", color="black", ms=6, label="workload")
    top = np.maximum(region.max(axis=0), model.workload) * 1.06
    xlabel, ylabel = (f"{drawn(name)}, in service (jobs per server)" for name in instance.names)
    left.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, top[0]), ylim=(0, top[1]))
    ends = (0.0, until)
    chart = Chart(TIME, "greatest V − V (least weights)", curves, yscale="log", xlim=ends, ylim=(1e-5, None))
    draw(right, chart, beside=False)
    share_legend(picture, [left, right])
    save(picture, target)


def _draw_path(axes: Axes, jobs: NDArray[np.float64], colour: str) -> None:
    """Draw a path with its start, and an arrow at 40 % of its way."""
    axes.plot(*jobs.T, color=colour, lw=1.2)
    axes.plot(*jobs[0], "o", color=colour, ms=4, clip_on=False)
    length = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(jobs, axis=0), axis=1))))
    at = int(np.searchsorted(length, 0.4 * length[-1]))
    if length[-1] > 0:
        axes.annotate("", jobs[at + 1], jobs[at], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6})


def _lacking(model: Reservation) -> Callable[[State], float]:
    """Return by how much V of a state lacks its greatest value, as a function; at least 1e-6, as its axis has no 0."""
    function = lyapunov(model.instance)
    # V is greatest at the greedy assignment: its configurations by their fractions of servers
    greedy = {stage.configurations[0]: stage.fraction for stage in model.equilibrium.stages}
    masses = [greedy.get(k, Fraction(0)) for k in function.configurations]
    highest = float(sum(z * x for z, x in zip(function.weights, masses, strict=True)))
    return lambda state: max(highest - function.value(model, *state), 1e-6)
