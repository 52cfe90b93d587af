"""Results of packproof on any number of job types and one resource: greedy keeps at least 0.69659 of the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.families import one_resource_member
from bounds.results.packproof.five_types import best_rewards, lost_by
from bounds.results.packproof.potential import ROOMS, UNIT, Potential, added, potential
from theory.greedy.optimal import solve
from theory.numbers import text

ROUNDING = UNIT >> 40
"""About 1e-12: more than all roundings of one step of the table together."""


@cache
def identities_hold(slope: str = "1/S") -> bool:
    """Decide the identities of the proof in symbols; `slope` is that of the tangent to the logarithm at S."""
    import sympy as sp

    a, c, i, r, s, t, v = sp.symbols("a c i r s t v", positive=True)
    S, sigma = sp.symbols("S sigma", positive=True)
    after = sp.exp(-2 * t) * (2 * sigma + 2 * a + 2 * t - 1)
    loss_bound = (1 - sigma / i) ** i * sp.exp(2 * sigma - 1) / 2
    share = a / (1 - (r - 1) * a)  # b
    gain = sp.log((1 - r * a) / (1 - (r - 1) * a)) + a / S
    thin = v * (1 / S - 1 / (1 - v * c))
    tangent = sp.log(S) + (s - S) * sp.sympify(slope, {"S": S})
    differences = [
        sp.diff(after, t) - 4 * sp.exp(-2 * t) * (1 - sigma - a - t),
        sp.diff((1 - a) * sp.exp(2 * a), a) - (1 - 2 * a) * sp.exp(2 * a),
        sp.diff(sp.log(loss_bound), sigma) - (2 - 1 / (1 - sigma / i)),
        1 - share - (1 - r * a) / (1 - (r - 1) * a),
        sp.diff(gain, a) - (1 / S - 1 / ((1 - r * a) * (1 - (r - 1) * a))),
        sp.diff(thin, c) + v**2 / (1 - v * c) ** 2,
        sp.diff(thin, v) - (1 / S - 1 / (1 - v * c) ** 2),
        thin.subs(v, (1 - sp.sqrt(S)) / c) - (1 - sp.sqrt(S)) ** 2 / (c * S),
        sp.diff(sp.log(s) - tangent, s) - (1 / s - 1 / S),  # ln s is below its tangent, and equal at S
    ]
    return all(sp.simplify(difference) == 0 for difference in differences)


def hard_steps(count: int, generator: np.random.Generator) -> Iterator[tuple[int, int, Fraction]]:
    """Yield rooms and sizes in units, and shares a, near the ends of what the table takes together."""
    while count:
        n = int(2 ** generator.uniform(1, 12))
        r = int(min(generator.geometric(0.5), n // 2))
        thinnest, thickest = UNIT // (n + 1) + 1, UNIT // n
        size = thinnest if generator.random() < 0.6 else int(generator.integers(thinnest, thickest + 1))
        rooms = (r * size, (r + 1) * size - 1, UNIT >> int(generator.integers(1, 10)))
        room = rooms[int(generator.integers(3))]
        if size <= room < UNIT // 2 or room == UNIT // 2 >= size:
            share = Fraction(1, UNIT // size)
            if generator.random() < 0.3:
                share *= Fraction(int(generator.integers(1, 100)), 100)
            count -= 1
            yield room, size, share


def exceeds(potential: Potential, room: int, size: int, share: Fraction) -> bool:
    """Decide whether a job adds more than the potential has for it: G_r(a) + B(room - v) > B(room)."""
    gain = added(room // size, share, potential.tangent)
    return gain + potential.at(room - size) > potential.at(room) + ROUNDING


def steps_hold(capacity: int, sizes: Sequence[int], values: Sequence[int]) -> bool:
    """Decide the inequalities (a), (b) and (c) of the proof for a server with one job of each type, the last large."""
    best = best_rewards(capacity, sizes, values)
    for i in range(len(sizes) - 1):
        room = capacity - sum(sizes[i + 1 :])
        n, r, a = capacity // sizes[i], room // sizes[i], Fraction(values[i], best[i])
        before, after = sum(values[i:]), sum(values[i + 1 :])
        room_after = Fraction(room - sizes[i], capacity)
        bounds = (Fraction(room, capacity) - Fraction(1, n + 1), Fraction(room * r, capacity * (r + 1)), Fraction(r, n))
        if a * n > 1 or after * (1 - (r - 1) * a) > before * (1 - r * a) or room_after >= min(bounds):
            return False
    return True


def chain_of(generator: np.random.Generator, types: int) -> tuple[int, list[int], list[int]]:
    """Return a server, and sizes and rewards of one job of each type on it, the last with more than half."""
    room = int(2 ** generator.uniform(3, 8))
    capacity = 2 * room + int(generator.integers(1, 3))
    sizes = [capacity - room]
    for _ in range(types - 1):
        if room < 1:
            break
        # a part 1/k of the room, or so little that the room has one more
        size = max(1, room // int(generator.integers(2, 5)) + int(generator.integers(0, 2)))
        sizes.append(min(size, room))
        room -= sizes[-1]
    values = [max(1, int(size * generator.uniform(0.8, 1.2))) for size in sizes]
    return capacity, sizes[::-1], values[::-1]


@cache
def _least_of_members() -> Fraction:
    """Return the least share that greedy keeps of four members of the family of `one-resource-general`."""
    return min(solve(one_resource_member(*member)).ratio for member in ((5, 1), (6, 1), (4, 2), (5, 2)))


@claim(
    "one-resource-all-types",
    "Greedy on one resource attains at least 0.696590",
    "With one additive resource, equal servers and job types each of which fits a server, greedy attains at least "
    "0.696590 of the optimum, whatever the number of types. In the proof the identities are decided in symbols, and "
    "the last step is a table in integers, rounded to the safe side. Beside it, no random and no extreme single step "
    "exceeds the table, random contents of a server satisfy the inequalities of the proof and lose no more, and four "
    "of the known instances (`one-resource-general`) have larger ratios. Coq proves 0.695 (`one-resource-formal`).",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.proved,
    tiny={"share": Fraction("0.6962"), "cells": 16, "thick": 8, "octaves": 6, "steps": 1000, "contents": 15},
    full={"cells": 512, "steps": 400_000, "contents": 7_500},
    controls={
        "the room is not bounded by n": {"rooms": ROOMS[1:]},
        "the room is not bounded by r": {"rooms": ROOMS[:1]},
        "the first rooms are not examined": {"unexamined_octaves": 1},
        "the tangent has slope 1": {"slope": "1"},
        "0.0001 more is kept": {"share": Fraction("0.69669")},
    },
    proof="greedy.md#one-resource-all",
)
def all_types(
    share: Fraction = Fraction("0.69659"),
    cells: int = 128,
    thick: int = 16,
    octaves: int = 8,
    steps: int = 8_000,
    contents: int = 150,
    seed: int = 31,
    *,
    rooms: tuple[str, ...] = ROOMS,
    unexamined_octaves: int = 0,
    slope: str = "1/S",
) -> Outcome:
    """Decide the identities, make the table, and try single steps and contents of servers."""
    identities = identities_hold(slope)
    table = potential(cells, thick, octaves, rooms=rooms, skipped=unexamined_octaves)
    lost = table.lost()
    half = Fraction("0.303266")  # more than exp(-1/2)/2, of which exp(1) > 2.71828 is enough
    words = half**2 * 4 * Fraction("2.71828") > 1 and half < 1 - share
    generator = np.random.default_rng(seed)
    above = sum(exceeds(table, *step) for step in hard_steps(steps, generator))
    failing = 0
    for _ in range(contents):
        chain = chain_of(generator, int(generator.integers(3, 9)))
        failing += not steps_hold(*chain) or lost_by(*chain) > lost
    least = _least_of_members()
    computed = (
        f"identities {'hold' if identities else 'fail'}; the table keeps {float(1 - lost):.9f}, "
        f"{text(share)} asked ({table.steps} cases); "
        f"{above} steps exceed it, {failing} contents fail; the least member keeps {float(least):.6f}"
    )
    return Outcome(computed, identities and words and share <= 1 - lost <= least and not above and not failing)
