"""The exact linear programs of a certificate, in one form, with the solutions that the certificate holds.

All of them have the form: maximise c x subject to A x <= b and x >= 0, with b >= 0. A solution of the dual is y >= 0
with y A >= c, and y b is then an upper bound of c x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from bounds import checker
from bounds.exports.document import (
    Boundary,
    Certificate,
    Configuration,
    ListedColumns,
    Unsuited,
    boundary_of,
    listed_columns,
    numbered,
    rationals,
)
from theory.errors import TooLargeError
from theory.numbers import many

MAX_COLUMNS = 20_000
"""Most maximal configurations, over all pools, that a program lists; beyond, it has the certificate's columns only."""

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class Row:
    """One inequality: the sum of coefficient times variable is at most the bound."""

    name: str
    coefficients: dict[str, Fraction]
    bound: Fraction


@dataclass(frozen=True)
class Program:
    """Maximise the objective, by variable, subject to the rows, all variables at least 0.

    `states` says in one sentence what the claimed optimum is; the legend, what variables and rows stand for. If the
    certificate is right, the amounts `primal` (zeros left out) reach the optimum; `dual` has one price a row.
    """

    name: str
    states: str
    legend: tuple[str, ...]
    objective: dict[str, Fraction]
    rows: tuple[Row, ...]
    optimum: Fraction
    primal: dict[str, Fraction]
    dual: tuple[Fraction, ...]


@dataclass(frozen=True)
class _Servers:
    """The columns of the pools of a model: a variable for every configuration."""

    model: checker.Model
    columns: list[list[Configuration]]
    complete: bool

    def variable(self, pool: int, configuration: Configuration) -> str:
        return f"x{pool + 1}_{self.columns[pool].index(configuration) + 1}"

    def variables(self) -> dict[str, tuple[int, Configuration]]:
        return {f"x{p + 1}_{i}": (p, k) for p, ks in enumerate(self.columns) for i, k in enumerate(ks, 1)}

    def rows(self, jobs: Callable[[int], dict[str, Fraction]]) -> list[Row]:
        """Return a row for every type, whose jobs need slots, and one for every pool, whose servers are its share."""
        variables = self.variables()
        slots = [
            Row(
                f"slots_{j + 1}", jobs(j) | {x: Fraction(-k[j]) for x, (_, k) in variables.items() if k[j]}, Fraction(0)
            )
            for j in range(len(self.model.names))
        ]
        servers = [
            Row(f"servers_{p + 1}", {x: ONE for x, (q, _) in variables.items() if q == p}, pool.share)
            for p, pool in enumerate(self.model.pools)
        ]
        return slots + [row for row in servers if row.coefficients]

    def prices(self, slot_prices: Sequence[Fraction]) -> list[Fraction]:
        """Return the greatest value of a column of each pool that has columns."""
        return [max(checker.total(slot_prices, k) for k in ks) for ks in self.columns if ks]

    def legend(self) -> tuple[str, ...]:
        """Say what the identifiers mean."""
        pools = numbered("servers_", [pool.name for pool in self.model.pools])
        return (*numbered("slots_", self.model.names), *pools)

    @property
    def words(self) -> str:
        """Say over which configurations the program ranges."""
        number = sum(map(len, self.columns))
        if self.complete:
            return f"over all configurations (the {number:,} maximal ones are listed)"
        return f"over the {many(number, 'configuration')} that the certificate lists, which are not all"


def servers_of(model: checker.Model, listed: Sequence[tuple[int, Configuration]]) -> _Servers:
    """Return the maximal configurations of all pools with those listed, or the latter only where there are too many."""
    import numpy as np

    from theory.exact.knapsack import maximal
    from theory.instance import Additive, Explicit

    columns: list[list[Configuration]] = []
    complete = True
    try:
        for pool in model.pools:
            names, units = ("",) * len(pool.capacity), (ONE,) * len(pool.capacity)
            space = (
                Explicit(pool.generators) if pool.generators else Additive(names, pool.capacity, pool.demands, units)
            )
            rows: np.ndarray = maximal(space, limit=MAX_COLUMNS * len(model.names))
            columns.append([tuple(row) for row in rows.tolist() if any(row)])
        complete = sum(map(len, columns)) <= MAX_COLUMNS
    except TooLargeError:
        complete = False
    if not complete:
        columns = [[] for _ in model.pools]
    for p, k in listed:
        columns[p].append(k)
    return _Servers(model, [sorted(set(ks), reverse=True) for ks in columns], complete)


def programs_of(certificate: Certificate) -> list[Program]:
    """Return the linear programs whose optimum a certificate claims; `Unsuited` where it claims none."""
    return KINDS[certificate.kind](certificate)


def _assignment(certificate: Certificate) -> list[Program]:
    """Return the configuration program: jobs y up to the workload, in slots of configurations x."""
    m = checker.model(certificate.instance)
    listed = listed_columns(m, certificate.evidence.get("columns"))
    servers = servers_of(m, [(p, k) for p, k, _ in listed])
    jobs = [f"y{j + 1}" for j in range(len(m.names))]
    limits = [Row(f"limit_{j + 1}", {y: ONE}, m.workload[j]) for j, y in enumerate(jobs)]
    rows = limits + servers.rows(lambda j: {jobs[j]: ONE})
    # dual of the rows: alpha = u - beta for the limits, beta for the slots, gamma for the servers
    beta = rationals(certificate.evidence.get("slot_prices"), m.names, "slot prices")
    gamma = rationals(certificate.evidence.get("server_prices"), [pool.name for pool in m.pools], "server prices")
    alpha = [reward - price for reward, price in zip(m.rewards, beta, strict=True)]
    used = [price for price, ks in zip(gamma, servers.columns, strict=True) if ks]
    primal = _amounts(servers, listed)
    slots = [sum((amount * k[j] for _, k, amount in listed), ZERO) for j in range(len(m.names))]
    return [
        Program(
            "optimum",
            f"The greatest reward of an average server, {servers.words}.",
            (*numbered("y", m.names), *servers.legend()),
            dict(zip(jobs, m.rewards, strict=True)) | dict.fromkeys(servers.variables(), ZERO),
            tuple(rows),
            checker.rational(certificate.claims.get("optimal"), "claims.optimal"),
            {y: s for y, s in zip(jobs, slots, strict=True) if s} | primal,
            (*alpha, *beta, *used),
        )
    ]


def _amounts(servers: _Servers, columns: ListedColumns) -> dict[str, Fraction]:
    """Return servers by variable."""
    result: dict[str, Fraction] = {}
    for p, k, amount in columns:
        if amount:
            x = servers.variable(p, k)
            result[x] = result.get(x, ZERO) + amount
    return result


def _region(certificate: Certificate) -> list[Program]:
    """Return the greatest multiple of the workload in the region, and the greatest value of each facet's normal."""
    m = checker.model(certificate.instance)
    listed = listed_columns(m, certificate.evidence.get("columns"))
    boundary = boundary_of(m, certificate)
    corners = [] if boundary is None else [(p, k) for made in boundary.vertices for p, k in enumerate(made) if any(k)]
    servers = servers_of(m, [*((p, k) for p, k, _ in listed), *corners])
    programs = []
    z = checker.rational(certificate.claims.get("traffic_intensity"), "claims.traffic_intensity")
    beta = rationals(certificate.evidence.get("prices"), m.names, "evidence.prices")
    if z > 0 and checker.total(beta, m.workload):
        rows = servers.rows(lambda j: {"w": m.workload[j]} if m.workload[j] else {})
        # so scaled that w is worth 1: the dual then has the value of the primal, 1/z
        scaled = [price / checker.total(beta, m.workload) for price in beta]
        programs.append(
            Program(
                "intensity",
                "The greatest multiple of the workload that the cluster can carry, one over its traffic intensity, "
                f"{servers.words}.",
                servers.legend(),
                {"w": ONE} | dict.fromkeys(servers.variables(), ZERO),
                tuple(rows),
                1 / z,
                {"w": 1 / z} | _amounts(servers, [(p, k, amount / z) for p, k, amount in listed]),
                (*scaled, *servers.prices(scaled)),
            )
        )
    if boundary is not None:
        programs += _facets(m, servers, boundary)
    if not programs:
        raise Unsuited("it claims no facets, and no workload that is not 0")
    return programs


def _facets(m: checker.Model, servers: _Servers, boundary: Boundary) -> list[Program]:
    """Return one program a facet: its offset is the greatest value of its normal; a vertex attains it."""
    jobs = [f"y{j + 1}" for j in range(len(m.names))]
    rows = tuple(servers.rows(lambda j: {jobs[j]: ONE}))
    points = [checker.slots_of(m, made) for made in boundary.vertices]
    checker.require(bool(points), "the region has no vertex")
    programs = []
    for number, (normal, offset) in enumerate(zip(boundary.normals, boundary.offsets, strict=True), 1):
        best = max(range(len(points)), key=lambda v: checker.total(normal, points[v]))
        columns = [(p, k, m.pools[p].share) for p, k in enumerate(boundary.vertices[best]) if any(k)]
        primal = {y: x for y, x in zip(jobs, points[best], strict=True) if x}
        programs.append(
            Program(
                f"facet_{number}",
                f"The greatest value of the normal of facet {number} in the capacity region, {servers.words}.",
                (*numbered("y", m.names), *servers.legend()),
                dict(zip(jobs, normal, strict=True)) | dict.fromkeys(servers.variables(), ZERO),
                rows,
                offset,
                primal | _amounts(servers, columns),
                (*normal, *servers.prices(normal)),
            )
        )
    return programs


def _throughput(certificate: Certificate) -> list[Program]:
    """Return the workload that VQS guarantees: the greatest multiple of the law in the reduced configurations."""
    law, servers = checker.size_law(certificate.instance)
    J = checker.whole(certificate.claims.get("J"), "claims.J")
    checker.require(2 <= J <= 30, "J is out of range")
    workload = checker.rational(certificate.claims.get("vqs"), "claims.vqs")
    evidence = certificate.evidence.get("vqs")
    columns, prices = checker.fields(evidence, "evidence.vqs", "columns", "prices")
    beta = [checker.rational(value, "a price") for value in checker.items(prices, "prices")]
    # the universal partition: queue 2m has the sizes from 2/3 to 1 times 2^-m, queue 2m + 1 those from 1/2 to 2/3
    ends = [Fraction(n, 3 * 2 ** (m + 1)) for m in range(J) for n in (6, 4)] + [ZERO]
    shares = [law.up_to(a) - law.up_to(b) for a, b in pairwise(ends)]
    checker.require(len(beta) == len(shares), "there is not one price for every queue")
    order = list(dict.fromkeys(map(tuple, checker.reduced_configurations(J))))
    rows = [
        Row(
            f"queue_{q + 1}",
            ({"w": share} if share else {}) | {f"x{i}": Fraction(-k[q]) for i, k in enumerate(order, 1) if k[q]},
            ZERO,
        )
        for q, share in enumerate(shares)
    ]
    rows.append(Row("server", {f"x{i}": ONE for i in range(1, len(order) + 1)}, ONE))
    average = checker.total(beta, shares)
    checker.require(average > 0, "the prices prove nothing")
    # so scaled that a job of the law is worth 1 on average
    scaled = [price / average for price in beta]
    primal = {"w": workload / servers}
    for column in checker.items(columns, "columns"):
        slots, fraction = checker.fields(column, "a column", "slots", "fraction")
        k = tuple(checker.whole(n, "slots") for n in checker.items(slots, "slots"))
        checker.require(k in order, "a configuration is none of the reduced ones")
        primal[f"x{order.index(k) + 1}"] = checker.rational(fraction, "a fraction")
    return [
        Program(
            "vqs",
            f"The workload per server that VQS guarantees, over all {len(order)} reduced configurations.",
            (),
            {"w": ONE} | {f"x{i}": ZERO for i in range(1, len(order) + 1)},
            tuple(rows),
            workload / servers,
            primal,
            (*scaled, max(checker.total(scaled, k) for k in order)),
        )
    ]


def _allocation(certificate: Certificate) -> list[Program]:
    """Return one program a level: at the values of the level no feasible allocation is worth more than 1."""
    mechanism, *_ = checker.fields(certificate.claims, "claims", "mechanism", "tasks", optional=["ignored"])
    if mechanism not in checker.LEVELLED:
        from theory.sharing.mechanisms import MECHANISMS

        name = mechanism if isinstance(mechanism, str) and mechanism in MECHANISMS else "an unknown mechanism"
        raise Unsuited(f"an allocation by {name} is known by its bottlenecks, not by prices")
    m = checker.share_model(certificate.instance, pooled=False)
    placed = checker.placed_tasks(m, certificate.evidence.get("allocation"))
    variables = {(n, i): f"t{n + 1}_{i + 1}" for n, row in enumerate(m.part) for i, p in enumerate(row) if p}
    used = {(i, r): None for row in m.part for i, p in enumerate(row) for r in p or ()}
    rows = [
        Row(
            f"used_{number}",
            {t: part[r] for (n, i), t in variables.items() if i == s and r in (part := m.part[n][i] or {})},
            ONE,
        )
        for number, (s, r) in enumerate(used, 1)
    ]
    resources = [f"{m.servers[s]}/{r}" for s, r in used]
    programs = []
    stages = checker.items(certificate.evidence.get("stages"), "evidence.stages")
    if not stages and any(most is not None for most in m.most):
        raise Unsuited("every user has the tasks that it wants: there is no level to state")
    checker.require(bool(stages), "there are no levels")
    for level, stage in enumerate(stages, 1):
        prices, values = checker.fields(stage, "a stage", "prices", "values")
        checker.require(isinstance(values, dict) and set(values) <= set(m.users), "a value of an unknown user")
        checker.require(isinstance(prices, dict) and set(prices) <= set(m.servers), "prices of an unknown server")
        worth = {m.users.index(user): checker.rational(value, "a value") for user, value in values.items()}
        cost = {s: checker.amounts(prices.get(name, {}), "prices") for s, name in enumerate(m.servers)}
        programs.append(
            Program(
                f"level_{level}",
                f"The greatest worth of a feasible allocation at the values of level {level}, all resources being "
                "worth 1.",
                (*numbered("t", m.users), *numbered("t._", m.servers), *numbered("used_", resources)),
                {t: worth.get(n, ZERO) for (n, _), t in variables.items()},
                tuple(rows),
                ONE,
                {t: placed[n][i] for (n, i), t in variables.items() if placed[n][i]},
                tuple(cost[s].get(r, ZERO) for s, r in used),
            )
        )
    return programs


KINDS: dict[str, Callable[[Certificate], list[Program]]] = {
    "assignment": _assignment,
    "region": _region,
    "throughput": _throughput,
    "allocation": _allocation,
}
