"""VQS-BF of the throughput paper supports no more than 5/6 of the maximum workload, on any number of servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from bounds.claims import Evidence, Outcome, claim
from bounds.results.decisions import Decisions
from bounds.results.instances.drawn import with_rates
from bounds.results.reproduction import drawing
from bounds.results.simulated_queues import shown, simulated
from bounds.views.panels import Chart, Curve, Line, Panel
from fluid.chains.saturated import Saturated
from fluid.simulation.policy_names import policy
from fluid.simulation.slotted.model import slotted_scenario
from theory.errors import InputError
from theory.exact.programs import solve_dense
from theory.instance import Configuration, Instance, additive
from theory.numbers import text, total
from theory.partition.universal import reduced_configurations, universal_partition
from theory.region.membership import traffic_intensity

Row = tuple[int, ...]


@dataclass(frozen=True)
class RowTrap:
    """Sizes whose rows of K_RED carry too little.

    Attributes
    ----------
    capacity : int
    sizes : tuple of int
        One in each of several virtual queues.
    workload : tuple of Fraction
        Jobs of each size for each server, at intensity 1.
    least_J : int
        All sizes are above 1/2^J of the capacity from here on.
    rows : tuple of tuples
        The rows of K_RED, in jobs of each size, that can be the heaviest while jobs of each size wait.
    bound : Fraction
        The intensity above which the queues grow.
    """

    capacity: int
    sizes: tuple[int, ...]
    workload: tuple[Fraction, ...]
    least_J: int  # noqa: N815 (the paper's letter)
    rows: tuple[Row, ...]
    bound: Fraction

    def at(self, intensity: Fraction, ends: Fraction = Fraction(1)) -> Instance:
        """Return the instance at a traffic intensity, with the probability that a job ends in a slot."""
        jobs = [intensity * rho for rho in self.workload]
        return with_rates(additive([self.capacity], [[size] for size in self.sizes], workload=jobs), [ends] * len(jobs))


TWO = RowTrap(120, (46, 33), (Fraction(1), Fraction(2)), 2, ((2, 0), (0, 3)), Fraction(6, 7))
THREE = RowTrap(100, (60, 40, 21), (Fraction(4, 5),) * 3, 3, ((1, 0, 1), (0, 2, 0), (0, 0, 4)), Fraction(5, 6))


def queue_of(trap: RowTrap, size: int, J: int) -> int:
    """Return the virtual queue of a size in the universal partition for J."""
    return universal_partition(J).queue_of(Fraction(size, trap.capacity))


def projected(trap: RowTrap, row: Configuration, J: int) -> Row:
    """Return how many jobs of each size a row of K_RED asks for."""
    return tuple(row[queue_of(trap, size, J)] for size in trap.sizes)


def heaviest_rows(trap: RowTrap, J: int) -> set[Row]:
    """Return the rows of K_RED for J, in jobs of each size, that no other row exceeds whatever queues Q > 0 are."""
    rows = {projected(trap, row, J) for row in reduced_configurations(J)}
    return {row for row in rows if not any(_exceeds(other, row) for other in rows)}


def _exceeds(other: Row, row: Row) -> bool:
    return other != row and all(a >= b for a, b in zip(other, row, strict=True))


def refilled(trap: RowTrap, row: Row, held: Row) -> Row:
    """Return what a server with a row holds after the steps (i) to (iii) of VQS-BF, while jobs of each size wait."""
    contents = list(held)
    first = [j for j, size in enumerate(trap.sizes) if queue_of(trap, size, trap.least_J) == 1]

    def start(j: int) -> bool:
        fits = sum(n * size for n, size in zip(contents, trap.sizes, strict=True)) + trap.sizes[j] <= trap.capacity
        contents[j] += fits
        return fits

    # (i) a job of VQ_1 if k_1 = 1 and it fits: no two of them fit a server
    for j in first:
        if row[j]:
            start(j)
    # (ii) jobs of the other queue, until the server holds as many as the row has
    for j, most in enumerate(row):
        while j not in first and contents[j] < most and start(j):
            pass
    # (iii) the largest job that fits, again and again
    while any(start(j) for j in sorted(range(len(contents)), key=lambda j: -trap.sizes[j])):
        pass
    return tuple(contents)


def parts(row: Row) -> Iterator[Row]:
    """Yield what may be left of the jobs of a row."""
    return product(*(range(n + 1) for n in row))


def normal_of(rows: Sequence[Row]) -> list[Fraction]:
    """Return the w with <w, r> = 1 for each row: there are as many rows as sizes, and they are independent."""
    w = solve_dense([[Fraction(n) for n in row] for row in rows], [1] * len(rows))
    assert w is not None
    return w


def growth(rows: Sequence[Row], workload: Sequence[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Return g / (mu L) of a workload for each server, and the shares p of the rows in the point nearest to it.

    The point sum p_r r is the nearest one of the hull of the rows where no share is negative; else g is not the rate.
    """
    w = normal_of(rows)
    excess = (total(a * b for a, b in zip(w, workload, strict=True)) - 1) / total(a * a for a in w)
    g = [excess * a for a in w]
    columns = [[Fraction(row[j]) for row in rows] for j in range(len(w))]
    shares = solve_dense(columns, [rho - a for rho, a in zip(workload, g, strict=True)])
    assert shares is not None
    return g, shares


def trap_decided(trap: RowTrap) -> dict[str, bool]:
    """Decide what the proof needs of the sizes: rows, contents, intensity and growth."""
    last = trap.least_J + 6
    rows = all(heaviest_rows(trap, J) == set(trap.rows) for J in range(trap.least_J, last))
    contents = all(refilled(trap, row, remaining) == row for row in trap.rows for remaining in parts(row))
    # growth and shares are affine in the intensity, so the two ends decide all that lies between
    ends = [growth(trap.rows, trap.at(z).workload) for z in (trap.bound, Fraction(1))]
    begins = not any(ends[0][0]) and min(ends[1][0]) > 0
    nearest = all(min(shares) >= 0 and sum(shares) == 1 for _, shares in ends)
    intensity = traffic_intensity(trap.at(Fraction(1))) == 1
    return {
        "the rows": rows,
        "the contents": contents,
        "the intensity": intensity,
        "where growth begins": begins,
        "the nearest point": nearest,
    }


def strays(trap: RowTrap, servers: int, options: dict[str, int]) -> str:
    """Return where the policy's own functions leave the rows, each server having 4 jobs of each size or more to choose.

    Every queue of a small box is offered to empty servers, which must take the heaviest rows in turn. Then all sets of
    jobs end on one server (those on the others stay), and it must hold its row again.
    """
    cluster = Saturated(policy("vqs-bf"), trap.at(Fraction(1)), servers, options)
    begun, types = cluster.begun(), len(trap.sizes)
    for queue in product(range(4 * servers, 4 * servers + 6), repeat=types):
        node, waiting = cluster.offered(begun, queue), list(queue)
        for row in cluster.contents(node):
            weights = {r: sum(n * q for n, q in zip(r, waiting, strict=True)) for r in trap.rows}
            if weights.get(row, -1) < max(weights.values()):
                return f"do not: {row} starts for queues {tuple(waiting)}"
            waiting = [q - n for q, n in zip(waiting, row, strict=True)]
    for row, queue in zip(trap.rows, _preferring(trap, servers), strict=True):
        node = cluster.offered(begun, queue)
        for remaining in parts(row):
            gone = [(0, j) for j in range(types) for _ in range(row[j] - remaining[j])]
            after = cluster.contents(cluster.offered(node, (0,) * types, gone))
            if any(remaining) and (cluster.contents(node)[0] != row or after != cluster.contents(node)):
                return f"do not: {after[0]} follows {remaining} in row {row}"
    return ""


def _preferring(trap: RowTrap, servers: int) -> list[tuple[int, ...]]:
    """Return queues at which all servers take a row, for each row: long where no row has more jobs of a size."""
    short, long = 8 * servers, 320 * servers
    most = [max(column) for column in zip(*trap.rows, strict=True)]
    return [tuple(long if n == top else short for n, top in zip(row, most, strict=True)) for row in trap.rows]


def varied(trap: RowTrap, sizes: Sequence[int], workload: Sequence[Fraction], bound: Fraction) -> RowTrap:
    """Return a trap with other sizes, jobs for each server, or another bound; its rows stay as they are."""
    if not len(sizes) == len(workload) == len(trap.sizes):
        raise InputError("sizes and workload", f"expected {len(trap.sizes)} numbers each")
    if not all(trap.capacity < size * 2**trap.least_J for size in sizes) or max(sizes) > trap.capacity:
        raise InputError("sizes", f"expected more than {trap.capacity}/{2**trap.least_J}, and at most {trap.capacity}")
    if min(workload) <= 0 or not 0 < bound < 1:
        raise InputError("workload and bound", "expected positive numbers, and a bound below 1")
    return replace(trap, sizes=tuple(sizes), workload=tuple(map(Fraction, workload)), bound=bound)


def judged(trap: RowTrap, servers: Sequence[int]) -> Outcome:
    """Decide a trap, and follow the policy on each of these numbers of servers."""
    decided = trap_decided(trap)
    failed = [name for name, holds in decided.items() if not holds]
    wrong = ""
    for number, J in product(servers, (trap.least_J, trap.least_J + 1)):
        wrong = wrong or strays(trap, number, {"partition": J})
    g, _ = growth(trap.rows, trap.at(Fraction(1)).workload)
    computed = f"not shown: {', '.join(failed)}; " if failed else "rows, contents, intensity and growth are decided; "
    computed += f"above {text(trap.bound)} the queues of {trap.sizes} on {trap.capacity} grow, at intensity 1 by "
    computed += f"({', '.join(map(text, g))}) mu L a slot; the policy's own functions {wrong or 'agree'}"
    return Outcome(computed, not failed and not wrong)


@claim(
    "vqs-bf-two-sizes",
    "With two sizes VQS-BF supports at most 6/7",
    "There are two sizes with which VQS-BF supports no more than 6/7 of the maximum workload, on any number L >= 1 of "
    "servers and whatever the mean of geometric service. In a slot jobs end, come, and start, in this order. Jobs of "
    "46 and 33 on servers of 120, Poisson arrivals, workloads z and 2 z for each server, so that the traffic "
    "intensity is z, any J >= 2, jobs end with probability mu in (0, 1] in a slot: for every z > 6/7 the number of "
    "jobs tends to infinity with probability 1. The rows of K_RED (for J to 8), the contents of servers and the rate "
    "of growth are decided in integers and rationals. Beside the proof, the policy's own functions are followed on "
    "one and two servers (full: and three).",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="VQS-BF achieves at least 2/3 rho*; to tighten the lower bounds is left open",
    evidence=Evidence.proved,
    full={"servers": (1, 2, 3)},
    controls={
        "jobs of 43 for 46": {"sizes": (43, 33)},
        "6/7 is replaced by 5/6": {"bound": Fraction(5, 6)},
        "workloads z and 3/2 z": {"workload": (Fraction(1), Fraction(3, 2))},
    },
    proof="partitions.md#vqs-bf-five-sixths",
)
def two_sizes(
    sizes: tuple[int, ...] = TWO.sizes,
    workload: tuple[Fraction, ...] = TWO.workload,
    bound: Fraction = TWO.bound,
    servers: tuple[int, ...] = (1, 2),
) -> Outcome:
    return judged(varied(TWO, sizes, workload, bound), servers)


@claim(
    "vqs-bf-five-sixths",
    "With three sizes VQS-BF supports at most 5/6",
    "There are three sizes with which VQS-BF supports no more than 5/6 of the maximum workload, on any number L >= 1 "
    "of servers and whatever the mean of geometric service. In a slot jobs end, come, and start, in this order. Jobs "
    "of 60, 40 and 21 on servers of 100, Poisson arrivals, workloads 4/5 z each for each server, so that the traffic "
    "intensity is z, any J >= 3, jobs end with probability mu in (0, 1] in a slot: for every z > 5/6 the number of "
    "jobs tends to infinity with probability 1. The rows of K_RED (for J to 9), the contents of servers and the rate "
    "of growth are decided in integers and rationals. Beside the proof, the policy's own functions are followed on "
    "one and two servers (full: and three).",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="VQS-BF achieves at least 2/3 rho*; to tighten the lower bounds is left open",
    evidence=Evidence.proved,
    tiny={"servers": (1,)},
    full={"servers": (1, 2, 3)},
    controls={
        "jobs of 20 for 21": {"sizes": (60, 40, 20)},
        "jobs of 39 for 40": {"sizes": (60, 39, 21)},
        "jobs of 61 for 60": {"sizes": (61, 40, 21)},
        "5/6 is replaced by 4/5": {"bound": Fraction(4, 5)},
    },
    proof="partitions.md#vqs-bf-five-sixths",
)
def three_sizes(
    sizes: tuple[int, ...] = THREE.sizes,
    workload: tuple[Fraction, ...] = THREE.workload,
    bound: Fraction = THREE.bound,
    servers: tuple[int, ...] = (1, 2),
) -> Outcome:
    return judged(varied(THREE, sizes, workload, bound), servers)


SEED = 20261128
"""Of the simulation from a backlog; with a tenth of these slots, under another seed, it decided nothing at z = 0.8."""


@claim(
    "vqs-bf-from-a-backlog",
    "VQS-BF queues grow from a backlog at 0.88",
    "The instance of vqs-bf-five-sixths in simulation, from a backlog of 240, 160 and 80 jobs of 60, 40 and 21 for "
    "each server: at z = 0.88 the number of waiting jobs grows at a rate between 3/4 and 5/4 of the rate of the proof, "
    "0.096 mu L a slot, and at z = 0.8 it falls. On 2 servers with service of one slot, and on 10 servers with mu = "
    "1/2.",
    source="packproof, on Theorem 4 of the throughput paper",
    printed="not in the paper",
    evidence=Evidence.statistical,
    tiny={"servers": (2,), "ends": (Fraction(1),), "slots": 5_000, "slots_below": 1_000, "replications": 60},
    full={"replications": 40},
    controls={
        "0.8 instead of 0.88": {"above": Fraction(80, 100)},
        "BF-J/S instead of VQS-BF": {"rule": "bf-js"},
    },
)
def from_a_backlog(
    above: Fraction = Fraction(88, 100),
    below: Fraction = Fraction(80, 100),
    servers: tuple[int, ...] = (2, 10),
    ends: tuple[Fraction, ...] = (Fraction(1), Fraction(1, 2)),
    slots: int = 60_000,
    slots_below: int = 4_000,
    replications: int = 12,
    *,
    rule: str = "vqs-bf",
) -> Outcome:
    """Simulate an intensity above the bound and one below it, for each number of servers with its mean of service."""
    if not servers or len(servers) != len(ends):
        raise InputError(
            "ends", f"expected a probability for each of {len(servers)} numbers of servers, got {len(ends)}"
        )
    decisions, good, seen = Decisions(2 * len(servers)), True, list[str]()
    for number, mu in zip(servers, ends, strict=True):
        # at z = 0.8 a third of the backlog and more is left in the end
        backlog = tuple(n * 80 * number for n in (3, 2, 1))
        grown, fallen = (
            decisions.growth(simulated(rule, scenario, replications, SEED))
            for scenario in (
                slotted_scenario(THREE.at(above, mu), number, slots, slots // 10, queue=backlog),
                slotted_scenario(THREE.at(below, mu), number, slots_below, slots_below // 10, queue=backlog),
            )
        )
        proved = float(sum(growth(THREE.rows, THREE.at(above).workload)[0]) * mu * number)
        good &= bool(0.75 * proved < grown.low and grown.high < 1.25 * proved and fallen.high < 0)
        system = f"L = {number}, mu = {text(mu)}"
        seen.append(f"{system}, z = {text(above)}: {shown(grown)}, proved {proved:.4g}")
        seen.append(f"{system}, z = {text(below)}: {shown(fallen)}")
    return Outcome(f"{'; '.join(seen)}; {decisions}, seed {SEED}", good)


@drawing(
    "How fast the jobs that wait under VQS-BF grow, on any number of servers",
    "vqs-bf-two-sizes",
    "vqs-bf-five-sixths",
    "vqs-bf-from-a-backlog",
)
def rates() -> Sequence[Panel]:
    curves, lines = [], []
    for name, trap in (("three sizes", THREE), ("two sizes", TWO)):
        z = [trap.bound + (1 - trap.bound) * Fraction(n, 10) for n in range(11)]
        jobs = [float(sum(growth(trap.rows, trap.at(x).workload)[0])) for x in z]
        curves.append(Curve(name, [float(x) for x in z], jobs, look="plain"))
        lines.append(Line(text(trap.bound), float(trap.bound), upright=True))
    return [Chart("intensity z (share)", "growth (jobs a slot, over μL)", curves, lines)]
