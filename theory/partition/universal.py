"""The universal partition, its reduced configurations, and the workload that VQS guarantees for a law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theory.exact.programs import LinearProgram
from theory.instance import Configuration
from theory.partition.cuts import Interval, Partition
from theory.partition.laws import Law


def universal_cells(J: int) -> list[Interval]:
    """Return the 2J intervals I_j of (1/2^J, 1], in the order of (18).

    Examples
    --------
    >>> [(str(a), str(b)) for a, b in universal_cells(2)]
    [('2/3', '1'), ('1/2', '2/3'), ('1/3', '1/2'), ('1/4', '1/3')]
    """
    cells = []
    for m in range(J):
        power = Fraction(1, 2**m)
        cells += [(power * 2 / 3, power), (power / 2, power * 2 / 3)]
    return cells


def universal_partition(J: int) -> Partition:
    """Return the universal partition of (0, 1]: (18), with the sizes up to 1/2^J in the last queue.

    Raises
    ------
    ValueError
        If J < 2.

    Notes
    -----
    Source: high-throughput bin packing, Section V-A.
    """
    if J < 2:
        raise ValueError(f"expected J of at least 2, got {J}")
    cells = [(interval,) for interval in universal_cells(J)]
    cells[-1] = ((Fraction(0), cells[-1][0][1]),)
    return Partition(tuple(cells))


def reduced_configurations(J: int) -> list[Configuration]:
    """Return K_RED (19), shape (4J - 4, 2J), in the order of the definition.

    Examples
    --------
    >>> reduced_configurations(2)
    [(1, 0, 0, 0), (0, 0, 2, 0), (0, 0, 0, 3), (0, 1, 0, 1)]
    """

    def configuration(**slots: int) -> Configuration:
        k = [0] * (2 * J)
        for name, number in slots.items():
            k[int(name[1:])] += number
        return tuple(k)

    # the four families of (19): 2^m of I_2m; 3 2^(m-1) of I_(2m+1); one of I_1 beside 2^m // 3 of I_2m, or 2^(m-1) of
    # I_(2m+1)
    rows = [configuration(**{f"_{2 * m}": 2**m}) for m in range(J)]
    rows += [configuration(**{f"_{2 * m + 1}": 3 * 2 ** (m - 1)}) for m in range(1, J)]
    rows += [configuration(_1=1, **{f"_{2 * m}": 2**m // 3}) for m in range(2, J)]
    rows += [configuration(_1=1, **{f"_{2 * m + 1}": 2 ** (m - 1)}) for m in range(1, J)]
    return rows


DEEPEST = 30
"""Greatest J: sizes below 2^-30 of a server are not distinguished."""


@dataclass(frozen=True)
class Guaranteed:
    """The workload that VQS guarantees for a law, per server, with its proof.

    Attributes
    ----------
    workload : Fraction
        The largest rho with rho P in conv K_RED.
    J : int
    lost : Fraction
        Probability of sizes up to 1/2^J, which are rounded up to it (Corollary 1); 0 if all sizes are larger.
    columns : tuple of (configuration, fraction)
        From K_RED, fractions summing to 1.
    prices : tuple of Fraction, shape (2J,)
        Q >= 0 with <k, Q> <= 1 on K_RED and <P, Q> = 1 / workload.
    """

    workload: Fraction
    J: int
    lost: Fraction
    columns: tuple[tuple[Configuration, Fraction], ...]
    prices: tuple[Fraction, ...]


def least_J(law: Law, share: Fraction = Fraction(0), limit: int = DEEPEST) -> int | None:  # noqa: N802 (the paper's letter)
    """Return the least J >= 2 with F(1/2^J) < share, or = 0 where share is 0; None if there is none up to a limit.

    Notes
    -----
    Source: high-throughput bin packing, Theorem 3 and Corollary 1 (there J >= 1; the partition needs 2).

    Examples
    --------
    >>> from theory.partition.laws import uniform
    >>> least_J(uniform("1/10", "9/10")), least_J(uniform(0, 1)), least_J(uniform(0, 1), Fraction(1, 100))
    (4, None, 7)
    """
    for J in range(2, limit + 1):
        below = law.cumulative(Fraction(1, 2**J))
        if below < share or below == 0:
            return J
    return None


def vqs_workload(law: Law, share: Fraction = Fraction(1, 100), J: int | None = None) -> Guaranteed:
    """Return the workload that VQS guarantees for a law on one server, exactly.

    Parameters
    ----------
    law : Law
    share : Fraction
        Where sizes come arbitrarily close to 0: Corollary 1's epsilon.
    J : int, optional
        Least J with all sizes above 1/2^J unless given, else Corollary 1's.

    Raises
    ------
    ValueError
        If more than `share` of the jobs are smaller than 2^-30.

    Examples
    --------
    >>> from theory.partition.laws import discrete
    >>> vqs_workload(discrete({"2/5": "1/2", "3/5": "1/2"})).workload
    Fraction(4, 3)
    """
    chosen = J or least_J(law) or least_J(law, share)
    if chosen is None:
        raise ValueError(f"expected less than {float(share):.3%} of the jobs to be of sizes up to 2^-{DEEPEST}")
    partition = universal_partition(chosen)
    probabilities = partition.probabilities(law)
    reduced = reduced_configurations(chosen)
    # max rho with rho P_j <= sum of k_j x_k and sum of x_k <= 1 over K_RED
    program = LinearProgram([(None, 0)] * len(probabilities) + [(None, 1)])
    program.add_columns([1], [dict(enumerate(probabilities))])
    program.add_columns(
        [0] * len(reduced), [{2 * chosen: 1, **{j: -slots for j, slots in enumerate(k)}} for k in reduced]
    )
    vertex = program.solve()
    used = [(k, x) for k, x in zip(reduced, vertex.primal[1:], strict=True) if x]
    # y >= 0 with <k, y> <= 1 and <P, y> = 1 / rho, by duality; a queue without jobs needs no price
    prices = tuple(
        price / vertex.objective if p else Fraction(0) for price, p in zip(vertex.dual, probabilities, strict=False)
    )
    lost = law.cumulative(Fraction(1, 2**chosen))
    return Guaranteed(vertex.objective, chosen, lost, tuple(used), prices)
