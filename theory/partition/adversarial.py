"""The law that a partition does worst on, as Proposition 2 makes it."""

from __future__ import annotations

from fractions import Fraction

from theory.partition.cuts import Partition
from theory.partition.laws import Law, discrete


def adversarial_law(partition: Partition) -> Law:
    """Return a law of sizes 1/2 - eps and 1/2 + eps on which upper-rounded queues keep at most 2/3.

    Parameters
    ----------
    partition : Partition
        Any finite one.

    Notes
    -----
    A queue is larger than a job of it, once rounded, unless the job is as large as its queue's largest. There are
    finitely many such sizes, so some eps <= 1/6 avoids them for both jobs. Both together fill a server but do not fit
    once rounded, and of the small ones, larger than 1/3 once rounded, two fit at most: the maximum is 2, and rounded
    2 p_1 >= rho / 2, 1 - p_1 >= rho / 2 give 4/3. The paper prints eps < 1/3, which allows three small ones: 3/4.
    Source: high-throughput bin packing, Proposition 2.

    Examples
    --------
    >>> from theory.partition.cuts import by_cuts
    >>> [str(size) for size, _ in adversarial_law(by_cuts(["1/2"])).atoms]
    ['1/3', '2/3']
    >>> [str(size) for size, _ in adversarial_law(by_cuts(["1/3", "1/2", "2/3"])).atoms]
    ['5/12', '7/12']
    """
    half = Fraction(1, 2)
    ends = {abs(half - upper) for upper in partition.upper}
    epsilon = next(e for e in (Fraction(1, 6 * n) for n in range(1, len(ends) + 2)) if e not in ends)
    return discrete({half - epsilon: half, half + epsilon: half})
