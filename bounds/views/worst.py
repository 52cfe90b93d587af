"""``packproof worst``: the worst instance found, alone or of all with a number of types and of resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

from bounds.adversary.by_size import EVERY_ON_ONE, WorstBySize, on_record, proven_from_below
from bounds.adversary.chains import proven_bound
from bounds.adversary.search import WorstInstance
from bounds.answers.record import encode
from bounds.answers.worst import BySize, Worst
from bounds.views.checked import as_float
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Line
from bounds.views.pictures import drawn
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
    bars = Bars("workload (jobs per server)", [drawn(name) for name in answer.workload], [("", lengths)])
    return [Picture("The worst workload that was found, by type.", bars)]


def evidence(answer: Worst | BySize) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("what the instance attains", "certified")]


def ratios_on_record() -> dict[tuple[int, int], Fraction]:
    """Return the least ratios of the claim ``worst-by-size``, by types and resources."""
    return {size: ratio for size, (ratio, _) in on_record().items()}


def panel_of_sizes() -> Chart:
    """Return the least ratio on record for each number of types and resources, above what is proved from below."""
    ratios = ratios_on_record()
    types, resources = (sorted(set(numbers)) for numbers in zip(*ratios, strict=True))
    # numbers of resources stand side by side, so that equal values are all seen
    shift = {one: 0.08 * (place - (len(resources) - 1) / 2) for place, one in enumerate(resources)}
    curves = [*_segments("proved, any resources", [(J, 0.3, float(proven_bound(J))) for J in types])]
    # more is proved for some numbers of resources
    more = [size for size in ratios if proven_from_below(*size) > proven_bound(size[0])]
    segments = [(J + shift[R], 0.12, float(proven_from_below(J, R))) for J, R in more]
    curves += _segments("proved, these resources", segments)
    curves += [
        Curve(
            many(R, "resource"),
            [J + shift[R] for J in types if (J, R) in ratios],
            [float(ratios[J, R]) for J in types if (J, R) in ratios],
            look="dots",
        )
        for R in resources
    ]
    lines = [Line("1 resource, any types", float(EVERY_ON_ONE)), Line("1 − 1/e", 1 - exp(-1))]
    ticks = [(float(J), str(J)) for J in types]
    return Chart("job types (number)", "least reward found (share of the optimum)", curves, lines, xticks=ticks)


def _segments(name: str, parts: Sequence[tuple[float, float, float]]) -> Iterator[Curve]:
    """Yield level parts of one curve, each a middle, half of its width, and a height."""
    for place, (x, half, height) in enumerate(parts):
        yield Curve(name, [x - half, x + half], [height, height], look="plain", continues=place > 0)


def picture_of_sizes(path: str | Path) -> None:
    """Draw `panel_of_sizes`."""
    picture_of_panels([panel_of_sizes()], path, "", height=3.1, alone=4.6)
