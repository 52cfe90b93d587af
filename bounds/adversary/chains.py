"""Chains: skeletons of instances on which greedy uses one type a stage, against a single optimal configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import gcd, prod

from theory.instance import Configuration
from theory.numbers import to_integers


def proven_bound(types: int) -> Fraction:
    """Return 1 - (1 - 1/J)^J, the share of the optimum that greedy attains on every instance with J types.

    Examples
    --------
    >>> proven_bound(3)
    Fraction(19, 27)
    """
    return 1 - Fraction(types - 1, types) ** types


@dataclass(frozen=True)
class Chain:
    """What an instance must fulfil so that greedy exhausts its types one after another.

    In stage i greedy fills servers with type i alone, `alone[i]` jobs each; the optimum uses one configuration, `best`,
    on all servers. The workload is `best`, and the optimum is 1.

    Attributes
    ----------
    alone : tuple of int, shape (J,)
        The most jobs n_i of each type that a server holds.
    best : tuple of int, shape (J,)
        The optimal configuration m; m_J = n_J, and a_i = m_i/n_i sum to less than 1 over the types i < J.

    Notes
    -----
    Let v_i be the reward of a server in stage i. Since the types i..J of m are feasible there, v_i >= sum_{j >= i} a_j
    v_j. With equality in each stage, v_1 = 1 and v_{i+1} = (1 - a_i) v_i, and greedy's reward is 1 - P S with P =
    prod_{i < J} (1 - a_i) and S = sum_{i < J} a_i; no chain with these a_i attains less, since P = prod of 1 - x_i over
    the first J - 1 stages and S = 1 - x_J in the stage bound. Source: packproof.
    """

    alone: Configuration
    best: Configuration

    @cached_property
    def fractions(self) -> tuple[Fraction, ...]:
        """a_i = m_i/n_i, shape (J,): the length of each stage but the last."""
        return tuple(Fraction(m, n) for m, n in zip(self.best, self.alone, strict=True))

    @cached_property
    def ratio(self) -> Fraction:
        """1 - P S, the share of the optimum that greedy attains.

        Examples
        --------
        >>> Chain((4, 3, 1), (1, 1, 1)).ratio
        Fraction(17, 24)
        """
        a = self.fractions[:-1]
        return 1 - prod((1 - x for x in a), start=Fraction(1)) * sum(a)

    @cached_property
    def stage_rewards(self) -> tuple[Fraction, ...]:
        """The reward v_i of a server in each stage, shape (J,)."""
        v = [Fraction(1)]
        for a in self.fractions[:-1]:
            v.append(v[-1] * (1 - a))
        return tuple(v)

    @cached_property
    def rewards(self) -> tuple[Fraction, ...]:
        """The reward of a job, v_i/n_i, shape (J,)."""
        return tuple(v / n for v, n in zip(self.stage_rewards, self.alone, strict=True))

    @cached_property
    def forbidden(self) -> tuple[Configuration, ...]:
        """The minimal configurations that must not fit, for greedy to keep to the chain.

        Those are worth more than v_i, where i is their first type; since v decreases, they then beat the stages before
        i no matter what. Ties are greedy's: no feasible configuration has more jobs of type i than n_i e_i.

        Examples
        --------
        >>> Chain((2, 1), (1, 1)).forbidden
        ((0, 2), (2, 1), (3, 0))
        """
        every, _ = to_integers([*self.rewards, *self.stage_rewards])
        width = len(self.alone)
        u, v = every[:width], every[width:]

        def beats(k: Configuration) -> bool:
            first = next((i for i, n in enumerate(k) if n), None)
            return first is not None and sum(a * n for a, n in zip(u, k, strict=True)) > v[first]

        minimal: set[Configuration] = set()

        def grow(k: Configuration, last: int) -> None:
            """Add jobs of the types up to `last`, the last types first, while nothing is forbidden."""
            for j in range(last, -1, -1):
                more = (*k[:j], k[j] + 1, *k[j + 1 :])
                if not beats(more):
                    grow(more, j)
                elif not any(beats((*more[:i], more[i] - 1, *more[i + 1 :])) for i in range(width) if more[i]):
                    minimal.add(more)

        grow((0,) * width, width - 1)
        return tuple(sorted(minimal))


def even_chains(types: int) -> Iterator[Chain]:
    """Yield the chains that attain `proven_bound` with n_i <= 2 J for i < J and n_J <= 2, small numbers of jobs first.

    Equality needs a_i = 1/J for every i < J.
    """
    for counts in sorted(product((1, 2), repeat=types), key=sum):
        yield Chain((*(types * c for c in counts[:-1]), counts[-1]), counts)


def chains(types: int, resources: int, most: int | None = None) -> Iterator[Chain]:
    """Yield chains with n_J = 1, m_i <= 2 and n_1 >= n_2 >= .. in order of their ratio, the least first.

    On one resource those are left out that no demands realise, by two necessary conditions. A job of type i needs more
    than 1/(n_i + 1) of a server, since n_i + 1 do not fit, and m must fit: sum_i m_i/(n_i + 1) < 1. And since the types
    i..J of m, with one more job of type i, must not fit, while m does: d_i > sum_{j < i} m_j d_j, so that 1/n_i >
    sum_{j < i} m_j/(n_j + 1). The order n_1 >= n_2 >= .. follows there; on more resources it is a choice. The largest
    n_i is `most`: 3 J unless given, 6 J on one resource.

    >>> next(chains(3, 1))
    Chain(alone=(4, 3, 1), best=(1, 1, 1))
    """
    limit = most or (6 if resources == 1 else 3) * types
    pairs = [(m, n) for n in range(limit, 1, -1) for m in (1, 2) if m < n and gcd(m, n) == 1]
    sets = _increasing(pairs, types - 1) if resources == 1 else combinations_with_replacement(pairs, types - 1)
    rows = []
    for chosen in sets:
        a = [m / n for m, n in chosen]
        if sum(a) < 1:
            rows.append((round(1 - prod(1 - x for x in a) * sum(a), 12), sum(n for _, n in chosen), chosen))
    for _, _, chosen in sorted(rows, key=lambda row: (*row[:2], [-n for _, n in row[2]])):
        yield Chain((*(n for _, n in chosen), 1), (*(m for m, _ in chosen), 1))


def _increasing(pairs: list[tuple[int, int]], length: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield the sequences of pairs (m, n) that meet both conditions on one resource."""

    def extend(chosen: tuple[tuple[int, int], ...], least: float) -> Iterator[tuple[tuple[int, int], ...]]:
        """Go on after pairs that take up at least so much of a server."""
        if len(chosen) == length:
            yield chosen
            return
        for m, n in pairs:
            if n * least < 1 - 1e-9 and 2 * (least + m / (n + 1)) < 1 - 1e-9:
                yield from extend((*chosen, (m, n)), least + m / (n + 1))

    return extend((), 0.0)
