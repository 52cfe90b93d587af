"""The bound on one resource that Coq proves, 0.695 for any number of job types, with its table made again in floats."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.families import one_resource_member
from bounds.results.packproof.all_types import chain_of
from bounds.results.packproof.five_types import lost_by
from theory.greedy.optimal import solve

TANGENT, ORDER = 0.6078, 2**12
"""S and M of ``proofs/PotentialCheck.v``."""


def most_gained(n: int, r: int) -> float:
    """Return the greatest (1 - r b)/(1 - (r - 1) b) (1 + b/(S M))^M for 0 <= b <= 1/n, nearly."""
    place = 1 - TANGENT
    if r > 1:  # where (1 - r b)(1 - (r - 1) b) = S
        place = (2 * r - 1 - sqrt(1 + 4 * r * (r - 1) * TANGENT)) / (2 * r * (r - 1))
    b = min(1 / n, place)
    return (1 - r * b) / (1 - (r - 1) * b) * (1 + b / (TANGENT * ORDER)) ** ORDER


def slope_of(low: float, thick: int) -> float:
    """Return the slope that types which fit the server at least `thick` times need in a room of at least `low`."""
    after, longest = max(0.0, low - 2 / thick), 1 + 1 / thick
    ratio = min(longest, (1 - sqrt(TANGENT)) / after) if after else longest
    return ratio * (1 / TANGENT - 1 / (1 - ratio * after)) / (1 - 1 / (thick * TANGENT))


def table(cells: int, thick: int, slope: float = 1) -> list[tuple[float, float]]:
    """Return the potential at both ends of each cell, as ``proofs/PotentialCheck.v`` makes it.

    Examples
    --------
    >>> [(round(low, 3), round(high, 3)) for low, high in table(4, 4)]
    [(1.0, 1.207), (1.207, 1.456), (1.456, 1.757), (1.757, 2.12)]
    """
    gains = {(n, r): most_gained(n, r) for n in range(2, thick) for r in range(1, n // 2 + 1)}
    potential: list[tuple[float, float]] = []
    for k in range(cells):
        low = potential[-1][1] if potential else 1.0
        for (n, r), gain in gains.items():
            if k * n < 2 * cells * (r + 1) and 2 * cells * r < (k + 1) * (n + 1):
                room = min((k + 1 - 2 * cells / (n + 1)), 2 * cells * r / n, (k + 1) * r / (r + 1))
                if room > 0:
                    low = max(low, gain * potential[min(k, int(np.ceil(room - 1e-9))) - 1][1])
        potential.append((low, low / (1 - slope * slope_of(k / (2 * cells), thick) / (2 * cells))))
    return potential


def allowed(potential: list[tuple[float, float]], room: float) -> float:
    """Return the potential of a room below 1/2."""
    cell = min(int(2 * len(potential) * room), len(potential) - 1)
    low, high = potential[cell]
    return low + (high - low) * (2 * len(potential) * room - cell)


def exceeding(potential: list[tuple[float, float]], steps: int, generator: np.random.Generator) -> int:
    """Count random steps that the potential does not allow: types of any size, near whole parts of server and room."""
    failing = 0
    for _ in range(steps):
        room = float(generator.uniform(0.0, 0.5))
        n = int(2 ** generator.uniform(1, 9))
        size = min(room, (1 / n, 1 / (n + 1) + 1e-9, room / (1 + n // 3))[int(generator.integers(3))])
        n, r = int(1 / size + 1e-12), int(room / size + 1e-12)
        b = float(generator.choice([1.0, generator.random()])) / n
        gain = (1 - r * b) * (1 + b / (TANGENT * ORDER)) ** ORDER
        allows = (1 - (r - 1) * b) * allowed(potential, room)
        failing += gain * allowed(potential, max(0.0, room - size)) > allows * (1 + 1e-9)
    return failing


@claim(
    "one-resource-formal",
    "By Coq, one resource attains at least 0.695",
    "With one additive resource, one pool of equal servers and job types that fit a server, greedy attains at least "
    "139/200 = 0.695 of every assignment, whatever the number of types. Coq makes the table of the potential and "
    "decides it; `one-resource-all-types` has a finer one for 0.696590. Beside the theorem, the table is made again in "
    "floats and keeps this share, no random step exceeds it, random contents of a server lose no more, and two known "
    "instances have larger ratios.",
    source="packproof",
    printed="not in the paper: it has 1/2, and 1 - 1/e under the monotone greedy property",
    evidence=Evidence.formal,
    tiny={"steps": 2_000, "contents": 30},
    full={"steps": 100_000, "contents": 3_000},
    controls={
        "thin types add half of that": {"slope": 0.5},
        "0.0001 more is kept": {"share": Fraction("0.6951")},
    },
    theorems=("PotentialCheck.one_resource_all_types",),
)
def formal_table(
    share: Fraction = Fraction(139, 200),
    cells: int = 400,
    thick: int = 40,
    steps: int = 8_000,
    contents: int = 150,
    seed: int = 41,
    *,
    slope: float = 1,
) -> Outcome:
    """Make the table in floats, and try single steps, contents of servers and instances."""
    potential = table(cells, thick, slope)
    kept = 1 - TANGENT * (1 + 1 / ORDER) / (1 + 1 / ORDER) ** ORDER * potential[-1][1]
    generator = np.random.default_rng(seed)
    above = exceeding(potential, steps, generator)
    chains = (chain_of(generator, int(generator.integers(3, 9))) for _ in range(contents))
    losing = sum(lost_by(*chain) > 1 - share for chain in chains)
    least = min(solve(one_resource_member(*member)).ratio for member in ((5, 1), (4, 2)))
    computed = (
        f"the table keeps {kept:.6f} (claimed: {float(share):g}); {above} steps exceed it, {losing} contents lose "
        f"more; the least instance keeps {float(least):.6f}"
    )
    return Outcome(computed, kept >= share and least >= share and not above and not losing)
