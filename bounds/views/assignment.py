"""``packproof solve``: greedy beside the optimum, and whole servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from bounds.answers.assignment import Approximated, Solved, WholeServers
from bounds.answers.record import Answer, Fields, encode, named
from bounds.views.checked import as_float
from bounds.views.panels import Bars
from bounds.views.pictures import (
    DASHES,
    GREEDY,
    LETTERS,
    MARK,
    OPTIMAL,
    PAGE,
    PALETTE,
    drawn,
    figure,
    finish,
    note,
    save,
    styled,
)
from bounds.views.shown import Picture, Table, packed_by_name, tables_of
from theory.greedy.assignment import GreedyAssignment
from theory.greedy.optimal import Column, Solution
from theory.greedy.scheme import ApproximateSolution
from theory.greedy.servers import LeastServers, Placement
from theory.greedy.workload_scaling import Scaling, scaling
from theory.instance import Configuration, Instance
from theory.numbers import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCALE = "scale of the workload (times)"
PIECE_LETTERS, PIECE_LINES = 27, 20  # letters and lines that fit a bar of servers


def _of_pools(instance: Instance, configurations: Sequence[Configuration]) -> dict[str, Any]:
    """Return the fields `configuration` of one pool, or `configurations` of several."""
    if len(configurations) == 1:
        return {"configuration": configurations[0], "configurations": None}
    return {"configuration": None, "configurations": named(instance.pools, configurations)}


def column_answer(instance: Instance, column: Column) -> dict[str, Any]:
    """Return a column of an assignment by the names of its pool and types."""
    configuration, pool = named(instance.types, column.configuration), instance.pools[column.pool].name
    return {"pool": pool, "configuration": configuration, "fraction": text(column.fraction)}


def solution_answer(solution: Solution, servers: Answer | None = None) -> Solved:
    """Return the answer of ``solve``."""
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    return encode(
        Solved,
        solution,
        greedy,
        names=instance.names,
        greedy=_greedy_fields(instance, greedy),
        optimal=Fields(
            optimal,
            exact=optimal.reward,
            columns=[column_answer(instance, column) for column in optimal.columns],
            server_prices=named(instance.pools, optimal.server_prices),
        ),
        servers=servers,
    )


def _greedy_fields(instance: Instance, greedy: GreedyAssignment) -> Fields:
    """Return a greedy assignment by the names of its types."""
    names = instance.names
    stages = [
        Fields(
            stage,
            **_of_pools(instance, stage.configurations),
            exhausts=None if stage.exhausts is None else names[stage.exhausts],
        )
        for stage in greedy.stages
    ]
    return Fields(greedy, permutation=[names[j] for j in greedy.permutation], stages=stages)


def approximate_answer(solution: ApproximateSolution) -> Approximated:
    """Return the answer of ``solve --oracle fptas``."""
    return encode(
        Approximated,
        solution,
        names=solution.instance.names,
        oracle="fptas",
        greedy=_greedy_fields(solution.instance, solution.greedy),
        notes=[
            "the share 0.69662 that is proved for one resource is that of the best configurations: it is not proved "
            "for an approximate oracle"
        ],
    )


def servers_answer(
    solution: Solution, servers: int, placement: Placement, least: LeastServers, bound: Fraction | None
) -> WholeServers:
    """Return what ``solve --servers`` adds."""
    instance, fluid = solution.instance, servers * solution.greedy.reward
    stages = [
        Fields(**_of_pools(instance, stage.configurations), servers=named(instance.pools, stage.servers))
        for stage in placement.stages
    ]
    return encode(
        WholeServers,
        names=instance.names,
        servers=servers,
        pools=named(instance.pools, placement.servers),
        greedy=Fields(placement, stages=stages),
        fluid=fluid,
        loss=fluid - placement.reward,
        loss_bound=bound,
        least_servers=bounds_of(least),
    )


def bounds_of(least: LeastServers) -> Fields:
    """Return the bounds of the least number of servers."""
    return Fields(least, exact=least.lower == least.upper)


def sentence(answer: Solved | Approximated) -> str:
    """Return the answer in a sentence."""
    greedy, guaranteed = answer.greedy.reward_float, 100 * as_float(answer.guarantee_stagewise)
    if isinstance(answer, Approximated):
        return (
            f"Greedy reservation with an approximate oracle earns {greedy:,.6g} per server; its run guarantees at "
            f"least {guaranteed:.2f} % of the optimum, where {100 * as_float(answer.guarantee_of_size):.2f} % are "
            "guaranteed at any workload."
        )
    optimal = answer.optimal.reward_float
    return (
        f"Greedy reservation earns {greedy:,.6g} per server, {100 * answer.ratio:.2f} % of the optimal "
        f"{optimal:,.6g}; its run alone guarantees at least {guaranteed:.2f} %."
    )


def tables(answer: Solved | Approximated) -> list[Table]:
    """Return the tables: assignments, what is served by type, prices, and whole servers."""
    if isinstance(answer, Approximated):
        return tables_of(answer)
    servers = answer.servers
    if servers and servers.loss_bound is not None and as_float(servers.loss_bound) >= as_float(servers.fluid):
        servers = replace(servers, loss_bound=None)  # a bound above the reward itself says nothing
    return tables_of(replace(answer, servers=servers))


def pictures(answer: Solved | Approximated) -> list[Picture]:
    """Return the rewards as bars and, for one pool, the configurations of both assignments."""
    if isinstance(answer, Approximated):
        reached = [answer.greedy.reward_float, as_float(answer.upper_bound)]
        bars = Bars("reward per server", ["greedy", "optimum at most"], [("", reached)])
        return [Picture("Reward per server of greedy reservation, and a bound of the optimum.", bars)]
    rewards = [answer.greedy.reward_float, answer.optimal.reward_float]
    both = Picture(
        "Reward per server of greedy reservation, and the optimum.",
        Bars("reward per server", ["greedy", "optimal"], [("", rewards)]),
    )
    parts: dict[str, list[float]] = {}
    for stage in answer.greedy.stages:
        if not stage.configuration:  # several pools
            return [both]
        parts.setdefault(packed_by_name(stage.configuration), [0.0, 0.0])[0] += as_float(stage.fraction)
    for column in answer.optimal.columns:
        parts.setdefault(packed_by_name(column.configuration), [0.0, 0.0])[1] += as_float(column.fraction)
    bars = Bars("servers (share)", ["greedy", "optimal"], _longest(parts), xlim=(0.0, 1.0))
    return [both, Picture("Share of the servers that each assignment gives to each configuration.", bars)]


def evidence(answer: Solved | Approximated) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    if isinstance(answer, Approximated):
        return [("reward and guarantees", "certified")]
    return [("rewards, ratio and guarantees", "certified")]


MOST_PARTS = 10  # colours of stacked bars


def _longest(parts: Mapping[str, Sequence[float]]) -> list[tuple[str, Sequence[float]]]:
    """Return the longest parts of bars as a picture names them; all others together come last."""
    named_parts = sorted(parts.items(), key=lambda part: -sum(part[1]))
    longest = [(drawn(name, 2 * LETTERS), lengths) for name, lengths in named_parts[:MOST_PARTS]]
    if len(named_parts) > MOST_PARTS:
        others = zip(*(lengths for _, lengths in named_parts[MOST_PARTS - 1 :]), strict=True)
        longest[-1] = ("others", [sum(lengths) for lengths in others])
    return longest


def draw_scaling(axes: Axes, curve: Scaling, here: float | None = 1.0) -> None:
    """Draw greedy and optimal reward against the scale of the workload, with the two critical points."""
    scales = np.array([0.0, *map(float, curve.scales), float(curve.saturated) * 1.15])
    for values, colour, label, width, dash in (
        (curve.optimal, OPTIMAL, "optimal", 2.2, DASHES[0]),  # wider, and below: where both coincide, both are seen
        (curve.greedy, GREEDY, "greedy", 1.4, DASHES[1]),
    ):
        rewards = [0.0, *map(float, values), float(values[-1])]
        axes.plot(scales, rewards, color=colour, label=label, linewidth=width, linestyle=dash)
    for point, label in ((curve.full, "all served"), (curve.saturated, "best configuration alone")):
        axes.axvline(float(point), color=MARK, linestyle=":", linewidth=1)
        # beside the line, from the foot of the axes upwards
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "right", "va": "bottom"}
        note(axes, label, (float(point), 0.02), color=MARK, **place)
    at = curve.scales.index(curve.worst[0])
    scale, ratio, greedy, optimal = map(float, (*curve.worst, curve.greedy[at], curve.optimal[at]))
    axes.plot([scale, scale], [greedy, optimal], color="black", linewidth=1.5)
    note(axes, f"worst ratio {ratio:.4f}\nat scale {scale:.3g}", (scale, greedy), (6, -18))
    if here is not None and here != scale:
        axes.axvline(here, color="black", linestyle="--", linewidth=0.8, label="this workload")
    finish(axes, xlabel=SCALE, ylabel="reward (per server)", ylim=(0, None), xlim=(0, scales[-1]))


def draw_ratio(axes: Axes, curve: Scaling) -> None:
    """Draw the ratio of greedy to optimal reward against the scale of the workload."""
    known, greedy, optimal = (np.array(values, float) for values in (curve.scales, curve.greedy, curve.optimal))
    around = np.linspace(float(curve.full) * 0.8, float(curve.saturated) * 1.1, 600)
    scales = np.unique(np.concatenate([around, known]))
    # rewards are linear between the scales that are known; beyond these both serve the same
    ratio = np.interp(scales, known, greedy) / np.interp(scales, known, optimal)
    axes.plot(scales, np.where((scales < known[0]) | (scales > known[-1]), 1.0, ratio), color=GREEDY, linewidth=1.4)
    scale, worst = map(float, curve.worst)
    axes.plot([scale], [worst], "o", color="black")
    note(axes, f"{worst:.4f}", (scale, worst), (6, -3))
    least = 1 - 1 / np.e
    axes.axhline(least, color=MARK, linestyle=":", linewidth=1)
    note(axes, "1 - 1/e: guaranteed always", (scales[-1], least), ha="right", va="bottom", color=MARK)
    axes.set(xlabel=SCALE, ylabel="greedy / optimal (ratio)", ylim=(0.6, 1.01), xlim=(scales[0], scales[-1]))


def draw_assignments(axes: Axes, solution: Solution) -> None:
    """Draw both assignments as bars of servers, each piece a configuration: taller pieces, more servers."""
    instance = solution.instance
    greedy = [
        (k, float(stage.fraction * pool.share))
        for stage in solution.greedy.stages
        for pool, k in zip(instance.pools, stage.configurations, strict=True)
    ]
    optimal = [(column.configuration, float(column.fraction)) for column in solution.optimal.columns]
    colours: dict[Configuration, str] = {}
    for x, pieces in enumerate((greedy, optimal)):
        bottom = 0.0
        for k, share in pieces:
            colour = colours.setdefault(k, PALETTE[len(colours) % len(PALETTE)])
            (piece,) = axes.bar(x, share, 0.92, bottom=bottom, color=colour, alpha=0.75, edgecolor="white")
            if share > 0.045:  # lower pieces have no space for words
                words = _short(instance, k, share)
                shown = axes.text(x, bottom + share / 2, words, ha="center", va="center", fontsize=6)
                shown.set_clip_path(piece)
            bottom += share
        if bottom < 1:
            axes.bar(x, 1 - bottom, 0.92, bottom=bottom, color="#EEEEEE", edgecolor="white")
    axes.set(xticks=[0, 1], xticklabels=["greedy", "optimal"], ylabel="servers (share)", ylim=(0, 1))


def _short(instance: Instance, k: Configuration, share: float) -> str:
    """Return a configuration as a piece of a bar shows it, in as many lines as the piece is high."""
    parts = [f"{n}×{drawn(name, PIECE_LETTERS)}" for name, n in zip(instance.names, k, strict=True) if n]
    if len(" ".join(parts)) <= PIECE_LETTERS:
        return " ".join(parts)
    lines = max(1, int(PIECE_LINES * share))
    return "\n".join(parts if len(parts) <= lines else [*parts[: lines - 1], "…"])


@styled
def picture_of_solution(solution: Solution, path: str | Path) -> None:
    """Draw a solution: both assignments, and both rewards along the scale of the workload."""
    picture, (left, right) = figure(PAGE, 2.9, 2)
    draw_assignments(left, solution)
    left.set_title(f"greedy keeps {float(solution.ratio):.4f} of the optimum")
    if any(solution.instance.workload):
        right.set_title("the same mix, scaled")
        draw_scaling(right, scaling(solution.instance))
    save(picture, path)


@styled
def picture_of_scaling(instance: Instance, path: str | Path, title: str) -> None:
    """Draw rewards and their ratio along the scale of an instance's workload."""
    picture, (left, right) = figure(PAGE, 2.9, 2)
    curve = scaling(instance)
    draw_scaling(left, curve, here=None)
    draw_ratio(right, curve)
    picture.suptitle(title)
    save(picture, path)
