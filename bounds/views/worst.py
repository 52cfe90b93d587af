"""``packproof worst``: the worst instance found, alone or of all with a number of types and of resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from bounds.adversary.by_size import EVERY_ON_ONE, WorstBySize, on_record, proven_from_below
from bounds.adversary.chains import proven_bound
from bounds.adversary.search import WorstInstance
from bounds.answers.record import encode
from bounds.answers.worst import BySize, Worst
from bounds.views.checked import as_float
from bounds.views.panels import Bars
from bounds.views.pictures import GREEDY, MARK, PALETTE, drawn, figure, finish, save, styled
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many
from theory.errors import quoted
from theory.files.instances import instance_document, parse_instance
from theory.instance import Additive
from theory.numbers import text


def by_size_answer(worst: WorstBySize, certificate: str | None = None) -> BySize:
    """Return the answer; `certificate` is the kind of the one that was written."""
    instance = worst.instance
    return encode(
        BySize,
        worst,
        instance,
        names=instance.names,
        exact=worst.ratio,
        infimum=worst.ratio,
        is_worst=worst.attained,
        instance=instance_document(instance),
        certificate=certificate,
    )


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


def sentence(answer: Worst | BySize) -> str:
    """Return the answer in a sentence."""
    verdict = f"greedy reservation keeps {100 * answer.ratio:.3f} % of the optimal reward"
    if isinstance(answer, BySize):
        size = f"{many(answer.types, 'job type')} and {many(answer.resources, 'resource')}"
        if answer.attained:
            return f"On the worst instance with {size} {verdict}, and no instance of this size is worse."
        from_below = f"it is proved to keep at least {100 * answer.bound:.3f} %"
        stopped = "" if answer.complete else " The search was stopped early."
        return f"On the worst instance found with {size} {verdict}; on every one {from_below}.{stopped}"
    if answer.is_worst:
        return f"On the worst workload of these types {verdict}: every order of exhaustion was decided exactly."
    ended = f"a local search from {many(answer.starts, 'start')}, so worse instances may exist"
    stopped = "" if answer.complete else ", stopped early"
    return f"On the worst instance that was found {verdict} ({ended}{stopped})."


def tables(answer: Worst | BySize) -> list[Table]:
    """Return the tables: numbers, workload and rewards by type, and the demands of the instance."""
    return [*tables_of(answer), *_demands(answer.instance)]


def _demands(document: Mapping[str, Any]) -> list[Table]:
    """Return the demands of the types of an instance with one pool, and the capacity of a server."""
    instance = parse_instance(document, "instance", workload_needed=False)
    space = instance.pools[0].space
    if len(instance.pools) > 1 or not isinstance(space, Additive):
        return []
    rows = [["capacity of a server", *_amounts(space, space.capacity)]]
    rows += [[quoted(name), *_amounts(space, row)] for name, row in zip(instance.names, space.demands, strict=True)]
    return [Table("demands", ["", *map(quoted, space.resources)], rows, [False, *(True for _ in space.resources)])]


def _amounts(space: Additive, units: Sequence[int]) -> list[str]:
    return [text(amount * unit) for amount, unit in zip(units, space.unit, strict=True)]


def pictures(answer: Worst | BySize) -> list[Picture]:
    """Return the workload by type as bars."""
    lengths = [as_float(x) for x in answer.workload.values()]
    bars = Bars("jobs per server", [drawn(name) for name in answer.workload], [("", lengths)])
    return [Picture("The worst workload that was found, by type.", bars)]


def evidence(answer: Worst | BySize) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("what the instance attains", "certified")]


def ratios_on_record() -> dict[tuple[int, int], Fraction]:
    """Return the least ratios of the claim ``worst-by-size``, by types and resources."""
    return {size: ratio for size, (ratio, _) in on_record().items()}


@styled
def picture_of_sizes(path: str | Path) -> None:
    """Draw the least ratio on record for each number of types and resources, above the share proved from below."""
    picture, axes = figure(4.6, 3.1)
    ratios = {size: float(ratio) for size, ratio in ratios_on_record().items()}
    every = sorted({types for types, _ in ratios})
    for place, resources in enumerate(sorted({r for _, r in ratios})):
        here = [(types, ratios[types, resources]) for types in every if (types, resources) in ratios]
        shift = 0.08 * (place - 1.5)  # so that equal values are all seen
        points = ([x + shift for x, _ in here], [y for _, y in here])
        look = {"marker": "osD^"[place % 4], "color": PALETTE[place], "linestyle": "none"}
        axes.plot(*points, **look, label=many(resources, "resource"))
    for types in every:
        bound = float(proven_bound(types))
        axes.hlines(
            bound, types - 0.3, types + 0.3, color=MARK, label="proven from below" if types == every[0] else "_"
        )
    named: set[int] = set()
    for types, resources in ratios:
        below = proven_from_below(types, resources)
        if below > proven_bound(types):  # more is proved for this number of resources
            centre = types + 0.08 * (resources - 2.5)
            label = "_" if resources in named else f"the same, {many(resources, 'resource')}"
            axes.hlines(float(below), centre - 0.12, centre + 0.12, color=MARK, linestyle="--", label=label)
            named.add(resources)
    axes.axhline(float(EVERY_ON_ONE), color=MARK, linestyle=":", label="any number of types, 1 resource")
    axes.axhline(1 - np.exp(-1), color=GREEDY, linestyle=":", label="1 − 1/e")
    axes.set_xticks(every)
    finish(axes, xlabel="job types (number)", ylabel="least reward found (share of the optimum)")
    save(picture, path)
