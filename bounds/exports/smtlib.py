"""SMT-LIB scripts of QF_LIA queries: a solver (z3, cvc5) must answer each of them with ``unsat``.

Each query asks for a counterexample of one statement of the certificate, without enumerating configurations: the slots
of a configuration are integer variables, and the capacities are linear inequalities in them. Queries without variables
state the arithmetic of the evidence.

What a solver proves, by kind:

- assignment: the greedy run (each stage's configuration is MaxReward of the types with work left, ties as Definition
  2.2 has them; the stage ends when a type is exhausted or no servers are left) and its reward; the optimum from both
  sides (the columns are feasible and earn it; no configuration is worth more than its server, and the prices sum to
  it); the ratio. Not stated: the permutation of types, the guarantees, whole servers.
- region: the traffic intensity from both sides; no configuration is beyond a facet, and on each facet there is a
  vertex made of configurations that fit. Not stated: that no facet is missing (the files for lrs and cdd say that).
- throughput: no configuration of sizes on the grid of prices is worth more than 1, nor one with one size off the
  points; the upper bound follows from the price of an average job. Two things are taken from packproof: that at most
  one size of a dearest configuration is off the points, and the price of an average job. Not stated: the lower bound,
  and the workload of VQS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

from bounds import checker
from bounds.exports.document import (
    Certificate,
    Configuration,
    Exported,
    ListedColumns,
    boundary_of,
    legend,
    listed_columns,
    quoted,
    rationals,
)

ZERO, ONE = Fraction(0), Fraction(1)

Term = int | str  # a numeral or the name of a variable


@dataclass(frozen=True)
class Query:
    """A search for a counterexample: assertions that cannot all hold if the statement is true."""

    states: str
    variables: tuple[str, ...]
    assertions: tuple[str, ...]


def term(value: Term) -> str:
    """Write a numeral or a name; SMT-LIB has no negative numerals."""
    return value if isinstance(value, str) else str(value) if value >= 0 else f"(- {-value})"


def weighted(weights: Sequence[int], terms: Sequence[Term]) -> str:
    """Write the sum of weight times term."""
    parts = [f"(* {term(w)} {term(t)})" for w, t in zip(weights, terms, strict=True) if w]
    return _joined("+", parts, "0")


def all_of(formulas: Sequence[str]) -> str:
    """Write a conjunction."""
    return _joined("and", formulas, "true")


def any_of(formulas: Sequence[str]) -> str:
    """Write a disjunction."""
    return _joined("or", formulas, "false")


def _joined(operator: str, parts: Sequence[str], empty: str) -> str:
    return f"({operator} {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else empty


def fits(pool: checker.Pool, slots: Sequence[Term]) -> str:
    """State that numbers of slots of each type are a configuration of the pool."""
    positive = [f"(>= {term(t)} 0)" for t in slots]
    if pool.generators:
        below = [all_of([f"(<= {term(t)} {c})" for t, c in zip(slots, top, strict=True)]) for top in pool.generators]
        return all_of([*positive, any_of(below)])
    columns = zip(*pool.demands, strict=True)
    room = [f"(<= {weighted(column, slots)} {c})" for column, c in zip(columns, pool.capacity, strict=True)]
    return all_of([*positive, *room])


def compared(sign: str, left: Sequence[tuple[Fraction | int, Fraction | int]], right: Fraction | int) -> str:
    """State that a sum of products compares with a number, all of it times what makes it whole.

    >>> compared("=", [(Fraction(1, 2), Fraction(4)), (1, Fraction(1, 3))], Fraction(7, 3))
    '(= (+ (* 1 12) (* 2 1)) 14)'
    """
    # multiplied by both common denominators, all numbers are whole and the comparison is the same
    first = lcm(*(a.denominator for a, _ in left))
    second = lcm(lcm(*(b.denominator for _, b in left)), right.denominator)
    weights = [int(a * first) for a, _ in left]
    return f"({sign} {weighted(weights, [int(b * second) for _, b in left])} {term(int(right * first * second))})"


def whole(values: Sequence[Fraction]) -> list[int]:
    """Scale numbers by their common denominator."""
    scale = lcm(*(value.denominator for value in values))
    return [int(value * scale) for value in values]


def denied(states: str, facts: Sequence[str]) -> Query:
    """Ask whether one of the facts, which have no variables, is false."""
    return Query(states, (), (f"(not {all_of(facts)})",))


def script(queries: Sequence[Query], comments: Sequence[str]) -> str:
    """Write queries one after the other; ``(reset)`` between them lets each stand alone."""
    lines = list(comments)
    for number, query in enumerate(queries, 1):
        lines += ["(reset)"] if number > 1 else []
        lines += [f"; query {number}: {query.states}", "(set-logic QF_LIA)"]
        lines += [f"(declare-const {name} Int)" for name in query.variables]
        lines += [f"(assert {assertion})" for assertion in query.assertions]
        lines += ["(check-sat)"]
    return "\n".join([*lines, ""])


# ---- queries of a certificate ----------------------------------------------------------------------------------------


def smtlib(certificate: Certificate) -> list[Exported]:
    """Write all queries of a certificate as one script."""
    queries, names = KINDS[certificate.kind](certificate)
    states = "No configuration, and no number of the evidence, contradicts the certificate."
    expected = f"{len(queries)} times unsat"
    comments = [f"; {states}", f"; expected: {expected}", *legend(";", names)]
    return [Exported("queries.smt2", states, expected, script(queries, comments))]


def _slots(m: checker.Model, pool: int) -> list[str]:
    """Return the variables that are the slots of each type in a configuration of a pool."""
    return [f"k{pool + 1}_{j + 1}" for j in range(len(m.names))]


def _names(m: checker.Model) -> list[str]:
    """Return what the variables stand for: k2_3 are the slots of the third type on a server of the second pool."""
    pools = [f"k{p}_*={quoted(pool.name)}" for p, pool in enumerate(m.pools, 1)]
    return pools + [f"k*_{j}={quoted(name)}" for j, name in enumerate(m.names, 1)]


def _carried(m: checker.Model, columns: ListedColumns, servers: Sequence[Fraction], sign: str) -> list[str]:
    """State that columns are configurations, at least 0, fit the servers, and have slots that compare to work."""
    facts = []
    for p, k, amount in columns:
        facts += [fits(m.pools[p], k), compared(">=", [(1, amount)], 0)]
    for p, most in enumerate(servers):
        facts.append(compared("<=", [(1, amount) for q, _, amount in columns if p == q], most))
    for j, work in enumerate(m.workload):
        facts.append(compared(sign, [(k[j], amount) for _, k, amount in columns if k[j]], work))
    return facts


# ---- assignments -----------------------------------------------------------------------------------------------------


def _assignment(certificate: Certificate) -> tuple[list[Query], list[str]]:
    m = checker.model(certificate.instance)
    evidence, claims = certificate.evidence, certificate.claims
    beta = rationals(evidence.get("slot_prices"), m.names, "slot prices")
    gamma = rationals(evidence.get("server_prices"), [pool.name for pool in m.pools], "server prices")
    greedy, optimal, ratio = (
        checker.rational(claims.get(name), f"claims.{name}") for name in ("greedy", "optimal", "ratio")
    )
    queries = []
    for p, pool in enumerate(m.pools):
        slots = _slots(m, p)
        *weights, price = whole([*beta, gamma[p]])
        states = f"pool {quoted(pool.name)}: no configuration is worth more than its server"
        dearer = f"(> {weighted(weights, slots)} {term(price)})"
        queries.append(Query(states, tuple(slots), (fits(pool, slots), dearer)))
    queries += _greedy(m, evidence.get("stages"), greedy)
    columns = listed_columns(m, evidence.get("columns"))
    shares = [pool.share for pool in m.pools]
    facts = _carried(m, columns, shares, "<=")
    earned = [(m.rewards[j] * slots, amount) for _, k, amount in columns for j, slots in enumerate(k) if slots]
    facts.append(compared("=", earned, optimal))
    queries.append(denied("the columns are feasible and earn the optimum", facts))
    facts = [compared(">=", [(1, price)], 0) for price in (*beta, *gamma)]
    facts += [compared("<=", [(1, price)], reward) for price, reward in zip(beta, m.rewards, strict=True)]
    alpha = [reward - price for reward, price in zip(m.rewards, beta, strict=True)]
    bound = [*zip(alpha, m.workload, strict=True), *zip(gamma, shares, strict=True)]
    facts.append(compared("=", bound, optimal))
    queries.append(denied("the prices bound every reward by the optimum", facts))
    fact = compared("=", [(ratio, optimal)], greedy) if optimal else compared("=", [(1, ratio)], 1)
    queries.append(denied("the ratio is that of greedy to the optimum (1 where the optimum is 0)", [fact]))
    return queries, _names(m)


def _greedy(m: checker.Model, stages: Any, reward: Fraction) -> list[Query]:
    """Replay greedy: MaxReward by one query a stage and pool, lengths and reward by arithmetic."""
    queries, facts = [], []
    remaining, servers, earned = list(m.workload), ONE, [(ZERO, ZERO)]
    for number, stage in enumerate(checker.items(stages, "evidence.stages"), 1):
        configurations, fraction, exhausts = checker.fields(stage, "a stage", "configurations", "fraction", "exhausts")
        ks = [m.configuration(k, "a configuration") for k in m.by_pool(configurations, "configurations")]
        length = checker.rational(fraction, "a fraction")
        for p, (pool, k) in enumerate(zip(m.pools, ks, strict=True)):
            states = f"greedy stage {number}, pool {quoted(pool.name)}: MaxReward of the types with work left"
            queries.append(_max_reward(m, states, p, k, remaining))
        slots = checker.slots_of(m, ks)
        remaining = [work - length * s for work, s in zip(remaining, slots, strict=True)]
        servers -= length
        earned.append((length, checker.total(m.rewards, slots)))
        # format 1 names one type or none, format 2 lists all
        ended = exhausts if isinstance(exhausts, list) else [] if exhausts is None else [exhausts]
        facts += [compared(">", [(1, length)], 0), compared(">=", [(1, servers)], 0)]
        facts += [compared(">=", [(1, work)], 0) for work in remaining]
        # a stage ends with a type that it serves to the end, or with the last servers
        over = [compared("=", [(1, remaining[j])], 0) for j, s in enumerate(slots) if s]
        facts.append(any_of([compared("=", [(1, servers)], 0), *over]))
        for name in ended:
            checker.require(name in m.names, "a stage exhausts an unknown type")
            facts += [compared("=", [(1, remaining[m.names.index(name)])], 0)]
    over = [compared("=", [(1, servers)], 0), all_of([compared("=", [(1, work)], 0) for work in remaining])]
    facts += [any_of(over), compared("=", earned, reward)]
    return [*queries, denied("greedy's stages last as long as they can and earn its reward", facts)]


def _max_reward(m: checker.Model, states: str, p: int, k: Configuration, left: Sequence[Fraction]) -> Query:
    """Ask for a configuration that MaxReward prefers: more reward, or equal reward and lexicographically greater."""
    slots = _slots(m, p)
    rewards = whole(m.rewards)
    idle = [f"(= {name} 0)" for name, work in zip(slots, left, strict=True) if not work]
    earned, best = weighted(rewards, slots), term(sum(u * n for u, n in zip(rewards, k, strict=True)))
    first = [
        all_of([*(f"(= {slots[i]} {k[i]})" for i in range(j)), f"(> {slots[j]} {k[j]})"]) for j in range(len(slots))
    ]
    preferred = any_of([f"(> {earned} {best})", all_of([f"(= {earned} {best})", any_of(first)])])
    allowed = all_of([fits(m.pools[p], k), *(f"(= {n} 0)" for n, work in zip(k, left, strict=True) if not work)])
    better = all_of([fits(m.pools[p], slots), *idle, preferred])
    return Query(states, tuple(slots), (any_of([f"(not {allowed})", better]),))


# ---- regions ---------------------------------------------------------------------------------------------------------


def _region(certificate: Certificate) -> tuple[list[Query], list[str]]:
    m = checker.model(certificate.instance)
    evidence, claims = certificate.evidence, certificate.claims
    z = checker.rational(claims.get("traffic_intensity"), "claims.traffic_intensity")
    beta = rationals(evidence.get("prices"), m.names, "evidence.prices")
    columns = listed_columns(m, evidence.get("columns"))
    facts = _carried(m, columns, [z * pool.share for pool in m.pools], "=")
    facts.append(compared("<" if claims.get("supportable") is True else ">=", [(1, z)], 1))
    facts += [compared(">=", [(1, number)], 0) for number in (z, *beta)]
    facts.append(any_of([compared(">", [*zip(beta, m.workload, strict=True)], 0), compared("=", [(1, z)], 0)]))
    queries = [
        denied("the columns carry the workload within the traffic intensity", facts),
        _beyond(
            m,
            "no servers within less than the traffic intensity",
            [z * b for b in beta],
            checker.total(beta, m.workload),
        ),
    ]
    boundary = boundary_of(m, certificate)
    if boundary is None:
        return queries, _names(m)
    points = [checker.slots_of(m, made) for made in boundary.vertices]
    checker.require(bool(points), "the region has no vertex")
    facts = [fits(pool, k) for made in boundary.vertices for pool, k in zip(m.pools, made, strict=True)]
    for number, (normal, offset) in enumerate(zip(boundary.normals, boundary.offsets, strict=True), 1):
        queries.append(_beyond(m, f"no configurations are beyond facet {number}", normal, offset))
        # the highest vertex must attain the offset
        values = [checker.total(normal, point) for point in points]
        highest = points[values.index(max(values))]
        facts.append(compared("=", [*zip(normal, highest, strict=True)], offset))
    queries.append(denied("the vertices fit, and each facet holds one", facts))
    return queries, _names(m)


def _beyond(m: checker.Model, states: str, normal: Sequence[Fraction], offset: Fraction) -> Query:
    """Ask for one configuration of each pool such that an average server is worth more than the offset."""
    weights, slots, fit = [], [], []
    for p, pool in enumerate(m.pools):
        names = _slots(m, p)
        weights += [pool.share * a for a in normal]
        slots += names
        fit.append(fits(pool, names))
    *scaled, most = whole([*weights, offset])
    return Query(states, tuple(slots), (*fit, f"(> {weighted(scaled, slots)} {term(most)})"))


# ---- laws of sizes ---------------------------------------------------------------------------------------------------


def _throughput(certificate: Certificate) -> tuple[list[Query], list[str]]:
    law, servers = checker.size_law(certificate.instance)
    above = certificate.evidence.get("above")
    grid_text, listed = checker.fields(above, "evidence.above", "grid", "points")
    grid = checker.whole(grid_text, "grid")
    checker.require(grid > 0, "there is no grid")
    points, prices = checker.priced_points(listed)
    slots = [f"n{i}" for i in range(1, len(points) + 1)]
    used = [i for i, point in enumerate(points) if point and prices[i]]
    names, lengths = [slots[i] for i in used], [points[i] for i in used]
    *worth, one = whole([*(prices[i] for i in used), ONE])
    positive = all_of([f"(>= {n} 0)" for n in names])
    room = f"(<= {weighted(lengths, names)} {grid})"
    states = "no configuration of sizes at the points is worth more than 1"
    queries = [Query(states, tuple(names), (positive, room, f"(> {weighted(worth, names)} {one})"))]
    for i, ((a, low), (b, high)) in enumerate(pairwise(zip(points, prices, strict=True)), 1):
        if b - a < 2 or not law.has_between(Fraction(a, grid), Fraction(b, grid)):
            continue
        # the price at g/grid, a < g < b, is low + (high - low) (g - a)/(b - a); everything is times (b - a) and `one`
        slope, start = int((high - low) * one), int(low * one) * (b - a)
        value = weighted([*((b - a) * w for w in worth), slope], [*names, "g"])
        queries.append(
            Query(
                f"nor with one size between points {i} and {i + 1}",
                (*names, "g"),
                (
                    all_of([positive, f"(> g {a})", f"(< g {b})"]),
                    f"(<= {weighted([*lengths, 1], [*names, 'g'])} {grid})",
                    f"(> {value} {term((b - a) * one - start + slope * a)})",
                ),
            )
        )
    places = [Fraction(point, grid) for point in points]
    average = law.expectation(places, prices)
    upper = checker.rational(certificate.claims.get("upper"), "claims.upper")
    queries.append(
        denied(
            "the upper bound is the servers over the price of an average job",
            [compared("=", [(upper, average)], servers)],
        )
    )
    return queries, [f"grid={grid}", *(f"n{i}=point {p}" for i, p in enumerate(points, 1))]


KINDS: dict[str, Callable[[Certificate], tuple[list[Query], list[str]]]] = {
    "assignment": _assignment,
    "region": _region,
    "throughput": _throughput,
}
