"""``packproof worst --types J --resources R``: the answer, its text, and the picture of the table."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from bounds.adversary.by_size import EVERY_ON_ONE, WorstBySize, on_record, proven_from_below
from bounds.adversary.chains import proven_bound
from bounds.answers.record import encode
from bounds.answers.worst import BySize
from bounds.views.pictures import GREEDY, MARK, PALETTE, figure, finish, save, styled
from bounds.views.text import many, short
from theory.files.instances import instance_document


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


def by_size_lines(worst: WorstBySize, certificate: str | None = None) -> list[str]:
    """Return the answer as text."""
    on_so_many = f" on {many(worst.resources, 'resource')}" if worst.bound > proven_bound(worst.types) else ""
    lines = [
        f"ratio     {short(worst.ratio)}, attained by the instance below",
        f"bound     {short(worst.bound)}: greedy attains at least that with {many(worst.types, 'type')}{on_so_many}",
    ]
    if worst.attained:
        lines.append("          the bound is attained, so that no instance with so many types is worse" + on_so_many)
    else:
        lines.append("          the least value found; instances between the two may exist")
        if worst.resources == 1 and worst.types > 2:
            lines.append("          on one resource no instance with three types or more attains the bound")
    if not worst.complete:
        lines.append("          stopped early; best so far")
    if worst.chain is not None:
        alone, best = (" ".join(map(str, k)) for k in (worst.chain.alone, worst.chain.best))
        lines.append(f"chain     greedy fills servers with {alone} jobs of each type alone, the optimum with {best}")
    if worst.refuted or worst.undecided:
        lines.append(
            f"          of the chains that would attain less, {worst.refuted} were refuted on "
            f"{many(worst.resources, 'resource')}, and {worst.undecided} given up undecided"
        )
    space = worst.instance.pools[0].space
    lines += ["", f"  capacity  {' '.join(map(str, space.capacity))}", "  type, demands, workload, reward"]  # type: ignore[union-attr]
    for job_type, row in zip(worst.instance.types, space.demands, strict=True):  # type: ignore[union-attr]
        needs = " ".join(map(str, row))
        lines.append(f"  {job_type.name}, {needs}, {short(job_type.workload)}, {short(job_type.reward)}")
    # which certificate there is depends on what was decided in time
    if certificate == "worst":
        lines += ["", "the certificate shows the ratio, and that no workload of these types is worse"]
    elif certificate == "assignment":
        lines += ["", "the certificate shows the ratio; other workloads of these types were not decided in time"]
    return lines


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
    axes.axhline(1 - np.exp(-1), color=GREEDY, linestyle=":", label="1 - 1/e")
    axes.set_xticks(every)
    finish(axes, xlabel="job types (number)", ylabel="least reward found (share of the optimum)")
    save(picture, path)
