"""``packproof solve``: greedy beside the optimum, and whole servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from bounds.answers.assignment import Approximated, Solved, WholeServers
from bounds.answers.record import Answer, Fields, encode, named
from bounds.views.checked import as_float
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Line, Panel
from bounds.views.pictures import LETTERS, drawn
from bounds.views.shown import Picture, Table, packed_by_name, tables_of
from theory.greedy.assignment import GreedyAssignment
from theory.greedy.optimal import Column, Solution
from theory.greedy.scheme import ApproximateSolution
from theory.greedy.servers import LeastServers, Placement
from theory.greedy.workload_scaling import Scaling, scaling
from theory.instance import Configuration, Instance
from theory.numbers import text


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
        bars = Bars("reward (per server)", ["greedy", "optimum at most"], [("", reached)])
        return [Picture("Reward per server of greedy reservation, and a bound of the optimum.", bars)]
    rewards = [answer.greedy.reward_float, answer.optimal.reward_float]
    both = Picture(
        "Reward per server of greedy reservation, and the optimum.",
        Bars("reward (per server)", ["greedy", "optimal"], [("", rewards)]),
    )
    if any(not stage.configuration for stage in answer.greedy.stages):  # several pools
        return [both]
    columns = [(0, stage.configuration, stage.fraction) for stage in answer.greedy.stages]
    columns += [(1, column.configuration, column.fraction) for column in answer.optimal.columns]
    bars = _shares((row, packed_by_name(k), as_float(share)) for row, k, share in columns if k)
    return [Picture("Share of the servers that each assignment gives to each configuration.", bars), both]


def evidence(answer: Solved | Approximated) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    if isinstance(answer, Approximated):
        return [("reward and guarantees", "certified")]
    return [("rewards, ratio and guarantees", "certified")]


SCALE = "scale of the workload (times)"


def scaled(curve: Scaling, here: float | None = 1.0) -> Chart:
    """Return greedy and optimal reward against the scale of the workload, with the two critical points."""
    scales = [0.0, *map(float, curve.scales), float(curve.saturated) * 1.15]
    rewards = [[0.0, *map(float, values), float(values[-1])] for values in (curve.optimal, curve.greedy)]
    at = curve.scales.index(curve.worst[0])
    scale, share = map(float, curve.worst)
    least = f"least share: {100 * share:.1f} %"
    gap = Curve(least, [scale] * 2, [float(curve.greedy[at]), float(curve.optimal[at])])
    lines = [Line("all served", float(curve.full), upright=True)]
    lines += [Line("best configuration alone", float(curve.saturated), upright=True)]
    lines += [Line("this workload", here, upright=True)] if here not in (None, scale) else []
    curves = [Curve(name, scales, y, look="plain") for name, y in zip(("optimal", "greedy"), rewards, strict=True)]
    return Chart(SCALE, "reward (per server)", [*curves, gap], lines, ylim=(0, None))


def share_by_scale(curve: Scaling) -> Chart:
    """Return the share of the optimal reward that greedy attains, against the scale of the workload."""
    known, greedy, optimal = (np.array(values, float) for values in (curve.scales, curve.greedy, curve.optimal))
    around = np.linspace(float(curve.full) * 0.8, float(curve.saturated) * 1.1, 600)
    scales = np.unique(np.concatenate([around, known]))
    # rewards are linear between the scales that are known; beyond these both serve the same
    share = np.interp(scales, known, greedy) / np.interp(scales, known, optimal)
    share = np.where((scales < known[0]) | (scales > known[-1]), 1.0, share)
    scale, worst = map(float, curve.worst)
    curves = [
        Curve("greedy", scales.tolist(), share.tolist(), look="plain"),
        Curve(f"least: {100 * worst:.2f} %", [scale], [worst], look="dots"),
    ]
    least = 1 - float(np.exp(-1))
    return Chart(SCALE, "reward of greedy (share of the optimum)", curves, [Line("1 − 1/e, guaranteed", least)])


def assignments(solution: Solution) -> Bars:
    """Return both assignments as bars of servers, each piece a configuration."""
    instance = solution.instance
    columns = [
        (0, k, stage.fraction * pool.share)
        for stage in solution.greedy.stages
        for pool, k in zip(instance.pools, stage.configurations, strict=True)
    ]
    columns += [(1, column.configuration, column.fraction) for column in solution.optimal.columns]
    return _shares((row, packed_by_name(named(instance.types, k)), float(share)) for row, k, share in columns)


def _shares(columns: Iterable[tuple[int, str, float]]) -> Bars:
    """Return bars of servers by configuration: its row, what it holds, and its share of the servers."""
    parts: dict[str, list[float]] = {}
    for row, configuration, share in columns:
        parts.setdefault(configuration, [0.0, 0.0])[row] += share
    return Bars("servers (share)", ["greedy", "optimal"], _longest(parts), xlim=(0.0, 1.0))


MOST_PARTS = 10  # colours of stacked bars


def _longest(parts: Mapping[str, Sequence[float]]) -> list[tuple[str, Sequence[float]]]:
    """Return the longest parts of bars as a picture names them; all others together come last."""
    named_parts = sorted(parts.items(), key=lambda part: -sum(part[1]))
    longest = [(drawn(name, 2 * LETTERS), lengths) for name, lengths in named_parts[:MOST_PARTS]]
    if len(named_parts) > MOST_PARTS:
        others = zip(*(lengths for _, lengths in named_parts[MOST_PARTS - 1 :]), strict=True)
        longest[-1] = ("others", [sum(lengths) for lengths in others])
    return longest


def picture_of_solution(solution: Solution, path: str | Path) -> None:
    """Draw a solution: both assignments, and both rewards along the scale of the workload."""
    panels: list[Panel] = [assignments(solution)]
    if any(solution.instance.workload):
        panels.append(scaled(scaling(solution.instance)))
    share = "" if solution.ratio == 1 else f"{100 * float(solution.ratio):.2f} % of "
    title = f"Greedy reservation attains {share}the optimum"
    picture_of_panels(panels, path, title)


def picture_of_scaling(instance: Instance, path: str | Path, title: str) -> None:
    """Draw rewards and their ratio along the scale of an instance's workload."""
    curve = scaling(instance)
    picture_of_panels([scaled(curve, here=None), share_by_scale(curve)], path, title)
