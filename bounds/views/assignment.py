"""``packproof solve`` and ``packproof worst``: greedy beside the optimum, whole servers, worst cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds.adversary.search import WorstInstance
from bounds.answers.assignment import Solved, WholeServers
from bounds.answers.record import Answer, Fields, encode, named
from bounds.answers.worst import Worst
from bounds.views.checked import as_float
from bounds.views.pictures import (
    DASHES,
    GREEDY,
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
from bounds.views.text import many, packed, short
from theory.errors import quoted
from theory.files.instances import instance_document
from theory.greedy.optimal import Column, Solution
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
    names = instance.names
    stages = [
        Fields(
            stage,
            **_of_pools(instance, stage.configurations),
            exhausts=None if stage.exhausts is None else names[stage.exhausts],
        )
        for stage in greedy.stages
    ]
    return encode(
        Solved,
        solution,
        greedy,
        names=names,
        greedy=Fields(greedy, permutation=[names[j] for j in greedy.permutation], stages=stages),
        optimal=Fields(
            optimal,
            exact=optimal.reward,
            columns=[column_answer(instance, column) for column in optimal.columns],
            server_prices=named(instance.pools, optimal.server_prices),
        ),
        servers=servers,
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


def worst_answer(worst: WorstInstance) -> Worst:
    """Return the answer of ``worst``."""
    instance = worst.instance
    return encode(
        Worst,
        worst,
        instance,
        names=instance.names,
        exact=worst.ratio,
        is_worst=worst.exact,
        instance=instance_document(instance),
    )


def solution_sentence(answer: Mapping[str, Any]) -> str:
    """Return the answer of ``solve``, as JSON has it, in a sentence; its numbers are those of `solution_lines`."""
    greedy, optimal = (answer[name]["reward_float"] for name in ("greedy", "optimal"))
    return (
        f"Greedy reservation earns {greedy:,.6g} per server, {100 * answer['ratio']:.2f} % of the optimal "
        f"{optimal:,.6g}; its run alone guarantees at least {100 * as_float(answer['guarantee_stagewise']):.2f} %."
    )


def solution_lines(solution: Solution) -> list[str]:
    """Return the answer of ``solve`` as text."""
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    lines = [
        f"greedy reward    {short(greedy.reward)} per server",
        f"optimal reward   {short(optimal.reward)} per server",
        f"ratio            {short(solution.ratio)}",
        f"guaranteed       {short(greedy.guarantee_stagewise)} of the optimum, by the best stage of the greedy run",
        f"                 {short(greedy.guarantee)} of it, by the fractions of the stages alone",
        "",
        "greedy assignment (percent of all servers)",
    ]
    for stage in greedy.stages:
        end = (
            "servers end" if stage.exhausts is None else f"until {quoted(instance.names[stage.exhausts])} is exhausted"
        )
        for p, (pool, k) in enumerate(zip(instance.pools, stage.configurations, strict=True)):
            lines.append(f"  {float(stage.fraction * pool.share):8.4%}  {packed(instance, k, pool=p)}  ({end})")
    if not greedy.stages:
        lines.append("  all servers are empty: there is no workload")
    lines += ["", "optimal assignment (percent of all servers)"]
    for column in optimal.columns:
        lines.append(f"  {float(column.fraction):8.4%}  {packed(instance, column.configuration, pool=column.pool)}")
    lines += ["", "prices at the optimum"]
    for pool, price in zip(instance.pools, optimal.server_prices, strict=True):
        of = f" of {quoted(pool.name)}" if len(instance.pools) > 1 else ""
        lines.append(f"  one more server{of} is worth {short(price)}")
    for name, price in zip(instance.names, optimal.job_prices, strict=True):
        lines.append(f"  one more job of {quoted(name)} is worth {short(price)}")
    return lines


def servers_lines(answer: WholeServers) -> list[str]:
    """Return what ``solve --servers`` adds, as text."""
    least = answer.least_servers
    number = str(least.lower) if least.exact else f"between {least.lower} and {least.upper}"
    bound = []
    if answer.loss_bound is not None and Fraction(answer.loss_bound) < Fraction(answer.fluid):  # else it says nothing
        bound = [f"  Lemma B.1 bounds that loss, for many servers, by {short(answer.loss_bound)}"]
    split = ", ".join(f"{quoted(name)} {size:,}" for name, size in answer.pools.items())
    pools = [f"  of each pool: {split}"] if len(answer.pools) > 1 else []
    times = "once" if answer.servers == 1 else f"{answer.servers:,} times"
    return [
        "",
        f"on {many(answer.servers, 'whole server')} (jobs may be fractions: L times the workload)",
        *pools,
        f"  greedy placement earns {short(answer.greedy.reward)}, "
        f"{short(answer.loss)} less than {times} the fluid value",
        *bound,
        f"  least number of servers that carries the workload: {number}",
    ]


def worst_lines(worst: WorstInstance) -> list[str]:
    """Return the answer of ``worst`` as text."""
    instance = worst.instance
    if worst.exact:
        verdict = "no workload is worse (every order of exhaustion decided exactly)"
    elif worst.complete:
        verdict = f"worst of {many(worst.starts, 'start')}; a local search, so worse instances may exist"
    else:
        verdict = f"stopped early after {many(worst.starts, 'start')}; best so far"
    lines = [f"ratio     {short(worst.ratio)}, attained"]
    if worst.infimum != worst.ratio:
        lines.append(f"infimum   {short(worst.infimum)}, approached as rewards go to their ties")
    lines += [f"          {verdict}", "", "  type, workload, reward"]
    for job_type in instance.types:
        lines.append(f"  {quoted(job_type.name)}, {short(job_type.workload)}, {short(job_type.reward)}")
    return lines


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
