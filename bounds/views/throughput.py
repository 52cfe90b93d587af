"""``packproof throughput``: the workload that a law of sizes allows, bins for items, their text and their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from pathlib import Path

import numpy as np

from bounds.answers.record import Fields, encode
from bounds.answers.throughput import ItemBins, ItemKind, Throughput
from bounds.views.drawing import picture_of_panels
from bounds.views.panels import Bars, Chart, Curve, Line, Span, Spans
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many, short
from theory.errors import quoted
from theory.files.items import ItemList
from theory.files.sizes import Sizes
from theory.greedy.counted import MOST_PARTS, Bins, NearMiss, near_misses
from theory.greedy.servers import fewest_bins
from theory.numbers import text
from theory.partition.bounding import Bracket
from theory.partition.guarantees import Guarantee
from theory.partition.laws import Law
from theory.partition.mixing import initial_cells
from theory.partition.rounded import supportable
from theory.partition.universal import Guaranteed

MOST_ATOMS = 20  # sizes of a law that is not counted, up to which those that nearly fit are named


def throughput_answer(
    sizes: Sizes,
    best: Bracket,
    vqs: Guaranteed,
    gap: Fraction,
    rounded: tuple[Fraction | None, ...] | None = None,
    bins: tuple[int, Bins] | None = None,
) -> Throughput:
    """Return the answer of ``throughput``; the bracket and what VQS guarantees are per server.

    `gap` is the distance that was asked for; `rounded`, the workloads of the upper- and lower-rounded queues of the
    file's partition on all servers; `bins`, a number of jobs and the bounds of the bins that they need.
    """
    servers = sizes.servers
    lower, upper = servers * best.lower, servers * best.upper
    exact = lower if lower == upper else None
    partition = None if rounded is None else {"upper_rounded": rounded[0], "lower_rounded": rounded[1]}
    return encode(
        Throughput,
        sizes,
        maximum=Fields(lower=lower, upper=upper, exact=exact),
        gap=best.gap,
        reached=best.gap <= gap,
        cells=len(best.below.cells),
        mean_size=sizes.law.mean,
        vqs=servers * vqs.workload,
        vqs_J=vqs.J,
        vqs_lost=vqs.lost,
        vqs_guarantee=lower * 2 / 3,
        best_fit_guarantee=lower / 2,
        rounds=[{"cells": cells, "lower": servers * low, "upper": servers * high} for cells, low, high in best.history],
        partition=partition,
        bins=bins and Fields(bins[1], jobs=bins[0], at_least=bins[1].lower, at_most=bins[1].upper),
        notes=[*_unused(sizes.unused), *_notes_of_law(sizes)] or None,
    )


def _notes_of_law(sizes: Sizes) -> list[str]:
    """Return what is to be said of sizes of which a few nearly fit a server; a long sample always has such sizes."""
    atoms = [size for size, _ in sizes.law.atoms]
    counts = sizes.counts or [MOST_PARTS] * len(atoms)  # of a law, as many as fit
    if not sizes.counts and len(atoms) > MOST_ATOMS:
        return []
    return [_note(miss, "size", "a bin", Fraction(1)) for miss in near_misses(Fraction(1), atoms, counts)]


def _unused(names: Sequence[str]) -> list[str]:
    return [f"items.{name} is not used: the bounds are those of the sizes" for name in names]


def _note(miss: NearMiss, called: str, of: str, capacity: Fraction) -> str:
    """Say which items exceed a bin by very little, and by how much."""
    sizes = _decimal(miss.largest)
    if miss.smallest < miss.largest:
        sizes = f"{_decimal(miss.smallest)} to {sizes}"
    excess = f"{_decimal(miss.excess)} ({100 * float(miss.excess / capacity):.2g} % of it)"
    return (
        f"{miss.items} items of {called} {sizes} exceed {of} by {excess}, so that no bin holds them all:"
        f" where sizes are rounded, write them exactly, such as {text(capacity / miss.items)}"
    )


def _decimal(value: Fraction) -> str:
    """Write a number as a decimal where that is exact, and as a fraction elsewhere."""
    decimal = f"{float(value):.10g}"
    return decimal if Fraction(decimal) == value else text(value)


def sentence(answer: Throughput | ItemBins) -> str:
    """Return the answer in a sentence."""
    if isinstance(answer, ItemBins):
        kinds = many(len(answer.kinds), "kind")
        return f"{many(answer.items, 'item')} of {kinds} need {_between(answer.at_least, answer.at_most)}."
    on, maximum = many(answer.servers, "server"), answer.maximum
    shares = dict.fromkeys(f"{100 * answer.vqs / bound:.2f}" for bound in (maximum.upper, maximum.lower))
    bins = answer.bins
    packed = f" The {many(bins.jobs, 'job')} need {_between(bins.at_least, bins.at_most)}." if bins else ""
    of_vqs = f"VQS supports at least {answer.vqs:.6g} of them, {' to '.join(shares)} % of the maximum"
    if maximum.exact is not None:
        return f"On {on} a workload of exactly {short(maximum.exact)} jobs can be supported; {of_vqs}.{packed}"
    wider = "" if answer.reached else " (NOT the gap asked for: the bounds are right, but wider)"
    between = f"between {maximum.lower:.6g} and {maximum.upper:.6g} jobs"
    return f"On {on} a workload of {between} can be supported{wider}; {of_vqs}.{packed}"


def _between(least: int, most: int) -> str:
    return f"exactly {many(least, 'bin')}" if least == most else f"at least {least:,} and at most {many(most, 'bin')}"


def tables(answer: Throughput | ItemBins) -> list[Table]:
    """Return the tables of bounds, of the bins, and of what fills them."""
    parts = tables_of(answer)
    if isinstance(answer, ItemBins):
        packing = [
            [
                f"{filled.bins:,}",
                " + ".join(f"{places} of {_kind(answer.kinds[int(k)])}" for k, places in filled.places.items()),
            ]
            for filled in answer.packing
        ]
        parts.append(Table("a packing in the larger number of bins", ["bins", "each with"], packing, [True, False]))
    elif answer.bins and answer.bins.proper is None:
        unsolved = "the lower bound of the bins is by the sizes alone, as the configuration program was not solved"
        parts.append(Table("how the bins are bounded", [""], [[unsolved]], [False]))
    return parts


def evidence(answer: Throughput | ItemBins) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known: bounds of a maximum are what ``--certificate`` writes."""
    return [] if isinstance(answer, ItemBins) else [("the bounds of the maximum", "certified")]


def pictures(answer: Throughput | ItemBins) -> list[Picture]:
    """Return what each policy supports beside the maximum."""
    if isinstance(answer, ItemBins):
        return []
    lengths = {
        "maximum, at most": answer.maximum.upper,
        "VQS, this law": answer.vqs,
        "VQS, any law": answer.vqs_guarantee,
        "Best-Fit, any law": answer.best_fit_guarantee,
    }
    bars = Bars("workload on all servers (jobs)", list(lengths), [("", list(lengths.values()))])
    return [Picture("The workload that policies support at least, beside the most that any policy can.", bars)]


MOST_NAMES = 3  # names of items of one kind that a line of text gives


def items_answer(items: ItemList) -> ItemBins:
    """Bound the bins of a list of items and return the answer."""
    bins = fewest_bins(items.instance(), items.counts)
    called = items.names or [None] * len(items.counts)
    rows = zip(items.sizes, items.counts, bins.prices, called, strict=True)
    columns = zip(items.resources, items.capacity, zip(*items.sizes, strict=True), strict=True)
    notes = _unused(items.unused)
    notes += [
        _note(miss, quoted(name), f"the {quoted(name)} of a bin", most)
        for name, most, sizes in columns
        for miss in near_misses(most, sizes, items.counts)
    ]
    if not bins.solved:
        notes.append("the lower bound is by the sizes alone, as the configuration program was not solved")
    return encode(
        ItemBins,
        items,
        names=items.resources,
        items=sum(items.counts),
        at_least=bins.lower,
        at_most=bins.upper,
        exact=bins.lower == bins.upper,
        kinds=[{"size": size, "count": count, "price": price, "called": names} for size, count, price, names in rows],
        packing=[
            {"bins": number, "places": {str(k): places for k, places in enumerate(column) if places}}
            for column, number in bins.columns
        ],
        notes=notes or None,
    )


def _kind(kind: ItemKind) -> str:
    """Return what items of a kind are called, where they have names, and their size."""
    called = kind.called or []
    more = f" and {len(called) - MOST_NAMES} more" if len(called) > MOST_NAMES else ""
    return f"{', '.join(map(quoted, called[:MOST_NAMES]))}{more}{' ' * bool(called)}({_size(kind)})"


def _size(kind: ItemKind) -> str:
    return ", ".join(f"{quoted(name)} {size}" for name, size in kind.size.items())


LARGEST_TABLE = 2_000_000  # pricing table (types times size units) up to which Theorem 1's own bounds are drawn


def rounded_bounds(law: Law, number: int) -> tuple[Fraction, Fraction | None] | None:
    """Return Theorem 1's two bounds for about `number` cells, per server; None if their table would be large."""
    cells = initial_cells(law, number)
    ends = [cell.top for cell in cells] + [cell.bottom for cell in cells]
    # the table has a row a cell and a column a unit of the finest common grid
    if lcm(*(end.denominator for end in ends)) * len(cells) > LARGEST_TABLE:
        return None
    shares = [cell.probability for cell in cells]
    low = supportable([cell.top for cell in cells], shares)
    high = supportable([cell.bottom for cell in cells], shares)
    assert low is not None
    return low.workload, None if high is None else high.workload


def bracket_panel(sizes: Sizes, best: Bracket) -> Chart:
    """Return the bounds of each round against the number of cells, beside those of rounding alone."""
    servers, ends = sizes.servers, ("at most", "at least")
    cells = [n for n, _, _ in best.history]
    # a round has bounds on its own cells, which may be wider than those before it
    upper = np.minimum.accumulate([float(servers * high) for _, _, high in best.history])
    lower = np.maximum.accumulate([float(servers * low) for _, low, _ in best.history])
    curves = [Curve(name, cells, y.tolist()) for name, y in zip(ends, (upper, lower), strict=True)]
    rounded = [(n, rounded_bounds(sizes.law, n)) for n in (1, 2, 4, 8, 16, 32)]
    plain = [(n, *bounds) for n, bounds in rounded if bounds is not None]
    bound = float(servers / sizes.law.mean)
    for place, name in ((2, "rounded down"), (1, "rounded up")):
        points = [(row[0], float(servers * end)) for row in plain if (end := row[place]) is not None]
        near = [(n, end) for n, end in points if end <= 1.3 * bound]
        if near:
            curves.append(Curve(name, [n for n, _ in near], [end for _, end in near]))
    is_exact = max(low for _, low, _ in best.history) == min(high for _, _, high in best.history)
    workload = f"{lower[-1]:.5g}" if is_exact else f"{lower[-1]:.5g} to {upper[-1]:.5g}"
    title = f"Supportable workload: {workload} jobs"
    least = min(min(curve.y) for curve in curves)
    return Chart(
        "cells (number)",
        "workload on all servers (jobs)",
        curves,
        [Line("1/mean size", bound)],
        title,
        xscale="log",
        ylim=(0.9 * least, 1.35 * bound),
        xticks=[(n, f"{n}") for n in (1, 3, 10, 30, 100, 300) if n <= max(cells[-1], 32)],
    )


def law_panel(law: Law, best: Bracket) -> Chart:
    """Return the distribution of sizes with the cuts of the cells, and the prices of sizes."""
    ends = {end for piece in law.pieces for end in (piece.lower, piece.upper)}
    places = sorted({Fraction(0), *ends, *(size for size, _ in law.atoms)})
    steps = [(x, below(law, x, with_atom=atom)) for x in places for atom in (False, True)]
    tops = [cell.top for cell in best.below.cells]
    sizes = np.linspace(float(law.least), float(law.greatest), 400)
    curves = [
        Curve("jobs", [float(x) for x, _ in steps], [y for _, y in steps], look="plain"),
        Curve("cuts of the cells", [float(x) for x in tops], [below(law, x) for x in tops], look="dots"),
        Curve("price", sizes.tolist(), best.above.at(sizes).tolist(), look="plain"),
    ]
    label = "jobs up to a size, price (share)"
    return Chart("size (share of a server)", label, curves, title="Sizes, and prices of at most 1 on any server")


def below(law: Law, size: Fraction, *, with_atom: bool = True) -> float:
    """Return the probability of sizes up to a size, or below it."""
    spread = 0.0
    for piece in law.pieces:
        part = (size - piece.lower) / (piece.upper - piece.lower)
        spread += float(piece.probability * min(Fraction(1), max(Fraction(0), part)))
    return spread + sum(float(p) for x, p in law.atoms if x < size or (with_atom and x == size))


def picture_of_throughput(sizes: Sizes, best: Bracket, path: str | Path) -> None:
    """Draw the bracket as it closes, and the law with its cuts and prices."""
    picture_of_panels([bracket_panel(sizes, best), law_panel(sizes.law, best)], path, "")


def picture_of_guarantees(
    curves: Mapping[str, Sequence[Guarantee]], universal: Mapping[str, Guarantee], path: str | Path
) -> None:
    """Draw the best guarantee against the number of cuts, by least size; and what each best partition looks like.

    Parameters
    ----------
    curves : mapping
        By least size: the best partition of 0, 1, 2, ... cuts.
    universal : mapping
        By least size: the universal partition on those sizes.
    path : str or Path

    Raises
    ------
    InputError
        If the picture cannot be written there.
    """
    shown = [
        Curve(f"sizes above {least}", [len(g.cuts) for g in best], [float(g.ratio) for g in best])
        for least, best in curves.items()
    ]
    marks = list(universal.values())
    cuts, ratios = [len(mark.cuts) for mark in marks], [float(mark.ratio) for mark in marks]
    shown.append(Curve("universal partition", cuts, ratios, look="stars"))
    ylabel, most = "guarantee (share of the maximum workload)", [Line("2/3, the most of any", 2 / 3)]
    chart = Chart("cuts (number)", ylabel, shown, most, ylim=(0, 0.72))
    rows = [(least, f"{many(len(g.cuts), 'cut')}: {g.ratio}", g) for least, best in curves.items() for g in best]
    rows += [(least, f"universal: {mark.ratio}", mark) for least, mark in universal.items()]
    rows.sort(key=lambda row: list(curves).index(row[0]))
    spans = []
    for y, (least, _, g) in enumerate(rows):
        ends = [float(g.least), *map(float, g.cuts), 1.0]
        spans += [Span(y, low, high, "", f"sizes above {least}") for low, high in pairwise(ends)]
    partitions = Spans("size (share of a server)", [name for _, name, _ in rows], spans)
    picture_of_panels([chart, partitions], path, "", height=3.2)
