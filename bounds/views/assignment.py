"""What a person or a program sees: answers as JSON values and as text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bounds.adversary.search import WorstInstance
from theory.files.instances import instance_document
from theory.greedy.optimal import Solution
from theory.greedy.servers import LeastServers, Placement
from theory.instance import Configuration, Instance
from theory.numbers import text


def named(instance: Instance, values: Any) -> dict[str, str]:
    """Return exact numbers, shape (J,), as {type: text}."""
    return dict(zip(instance.names, map(text, values), strict=True))


def _configuration(instance: Instance, configurations: tuple[Configuration, ...]) -> dict[str, Any]:
    """Return the `configuration` of one pool, or the `configurations` of several."""
    every = [dict(zip(instance.names, k, strict=True)) for k in configurations]
    if len(every) == 1:
        return {"configuration": every[0]}
    return {"configurations": dict(zip((pool.name for pool in instance.pools), every, strict=True))}


def solution_json(solution: Solution) -> dict[str, Any]:
    """Return the answer of ``solve`` as DESIGN's JSON."""
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    return {
        "greedy": {
            "reward": text(greedy.reward),
            "reward_float": float(greedy.reward),
            "permutation": [instance.names[j] for j in greedy.permutation],
            "stages": [
                {
                    **_configuration(instance, stage.configurations),
                    "fraction": text(stage.fraction),
                    "exhausts": None if stage.exhausts is None else instance.names[stage.exhausts],
                }
                for stage in greedy.stages
            ],
            "served": named(instance, greedy.served),
        },
        "optimal": {
            "reward_float": float(optimal.reward),
            "exact": text(optimal.reward),
            "columns": [
                {
                    "pool": instance.pools[column.pool].name,
                    "configuration": dict(zip(instance.names, column.configuration, strict=True)),
                    "fraction": text(column.fraction),
                }
                for column in optimal.columns
            ],
            "served": named(instance, optimal.served),
            "slot_prices": named(instance, optimal.slot_prices),
            "job_prices": named(instance, optimal.job_prices),
            "server_prices": {
                pool.name: text(price) for pool, price in zip(instance.pools, optimal.server_prices, strict=True)
            },
        },
        "ratio": float(solution.ratio),
        "ratio_exact": text(solution.ratio),
        "guarantee": text(greedy.guarantee),
        "guarantee_stagewise": text(greedy.guarantee_stagewise),
    }


def servers_json(
    solution: Solution, servers: int, placement: Placement, least: LeastServers, bound: Fraction | None
) -> dict[str, Any]:
    """Return what ``solve --servers`` adds."""
    instance = solution.instance
    fluid = servers * solution.greedy.reward
    return {
        "servers": servers,
        "pools": {pool.name: number for pool, number in zip(instance.pools, placement.servers, strict=True)},
        "greedy": {
            "reward": text(placement.reward),
            "reward_float": float(placement.reward),
            "stages": [
                {
                    **_configuration(instance, stage.configurations),
                    "servers": {pool.name: number for pool, number in zip(instance.pools, stage.servers, strict=True)},
                }
                for stage in placement.stages
            ],
            "empty": placement.empty,
        },
        "fluid": text(fluid),
        "loss": text(fluid - placement.reward),
        "loss_bound": None if bound is None else text(bound),
        "least_servers": {"lower": least.lower, "upper": least.upper, "exact": least.lower == least.upper},
    }


def worst_json(worst: WorstInstance) -> dict[str, Any]:
    """Return the answer of ``worst`` as DESIGN's JSON."""
    return {
        "ratio": float(worst.ratio),
        "exact": text(worst.ratio),
        "infimum": float(worst.infimum),
        "infimum_exact": text(worst.infimum),
        "is_worst": worst.exact,
        "complete": worst.complete,
        "starts": worst.starts,
        "workload": named(worst.instance, worst.instance.workload),
        "rewards": named(worst.instance, worst.instance.rewards),
        "instance": instance_document(worst.instance),
    }


def short(value: Fraction) -> str:
    """Write a number for people: exact where that is short, rounded beside it otherwise."""
    exact = text(value)
    if value.denominator == 1:
        return exact
    return f"{exact} ({float(value):.6g})" if len(exact) <= 24 else f"{float(value):.9g}"


def packed(instance: Instance, configuration: Configuration) -> str:
    """Write a configuration for people: ``16 small + 3 large``."""
    parts = [f"{slots} {name}" for name, slots in zip(instance.names, configuration, strict=True) if slots]
    return " + ".join(parts) or "empty"


def solution_lines(solution: Solution) -> list[str]:
    """Return the answer of ``solve`` as text."""
    instance, greedy, optimal = solution.instance, solution.greedy, solution.optimal
    several = len(instance.pools) > 1
    unit = "percent of all servers"
    lines = [
        f"greedy reward    {short(greedy.reward)} per server",
        f"optimal reward   {short(optimal.reward)} per server",
        f"ratio            {short(solution.ratio)}",
        f"guaranteed       {short(greedy.guarantee_stagewise)} by the best stage, {short(greedy.guarantee)} by their "
        f"fractions: no linear program needed",
        "",
        f"greedy assignment ({unit})",
    ]
    for stage in greedy.stages:
        ends = "servers end" if stage.exhausts is None else f"until {instance.names[stage.exhausts]} is exhausted"
        for pool, k in zip(instance.pools, stage.configurations, strict=True):
            where = f"{pool.name}: " if several else ""
            lines.append(f"  {float(stage.fraction * pool.share):8.4%}  {where}{packed(instance, k)}  ({ends})")
    if not greedy.stages:
        lines.append("  all servers are empty: there is no workload")
    lines += ["", f"optimal assignment ({unit})"]
    for column in optimal.columns:
        where = f"{instance.pools[column.pool].name}: " if several else ""
        lines.append(f"  {float(column.fraction):8.4%}  {where}{packed(instance, column.configuration)}")
    lines += ["", "prices at the optimum"]
    for pool, price in zip(instance.pools, optimal.server_prices, strict=True):
        of = f" of {pool.name}" if several else ""
        lines.append(f"  one more server{of} is worth {short(price)}")
    for name, price in zip(instance.names, optimal.job_prices, strict=True):
        lines.append(f"  one more job of {name} is worth {short(price)}")
    return lines


def servers_lines(answer: dict[str, Any]) -> list[str]:
    """Return what ``solve --servers`` adds, as text, from its JSON."""
    least = answer["least_servers"]
    number = str(least["lower"]) if least["exact"] else f"between {least['lower']} and {least['upper']}"
    bound = answer["loss_bound"]
    return [
        "",
        f"on {answer['servers']} whole servers (jobs may be fractions: L times the workload)",
        f"  greedy placement earns {short(Fraction(answer['greedy']['reward']))}, "
        f"{short(Fraction(answer['loss']))} less than {answer['servers']} times the fluid value",
        f"  Lemma B.1 bounds that loss, for many servers, by {short(Fraction(bound))}"
        if bound is not None
        else "  Lemma B.1 bounds that loss for one pool only",
        f"  least number of servers that carries the workload: {number}",
    ]


def worst_lines(worst: WorstInstance) -> list[str]:
    """Return the answer of ``worst`` as text."""
    instance = worst.instance
    if worst.exact:
        verdict = "no workload is worse (every order of exhaustion decided exactly)"
    elif worst.complete:
        verdict = f"worst of {worst.starts} starts; a local search, so worse instances may exist"
    else:
        verdict = f"stopped early after {worst.starts} starts; best so far"
    lines = [f"ratio     {short(worst.ratio)}, attained"]
    if worst.infimum != worst.ratio:
        lines.append(f"infimum   {short(worst.infimum)}, approached as rewards go to their ties")
    lines += [f"          {verdict}", "", "  type, workload, reward"]
    for job_type in instance.types:
        lines.append(f"  {job_type.name}, {short(job_type.workload)}, {short(job_type.reward)}")
    return lines
