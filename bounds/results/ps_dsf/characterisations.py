"""Claims of the PS-DSF paper about what a PS-DSF allocation is: (11), Theorems 1 and 2, Corollary 1, Lemma 2, DRF."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from bounds.claims import Evidence, Outcome, Refutes, Verdict, claim
from bounds.results.instances.drawn import random_cluster
from bounds.results.instances.papers import figure_4
from theory.errors import expect_number
from theory.exact.programs import Bound, LinearProgram
from theory.numbers import text, total
from theory.sharing.allocation import Allocation
from theory.sharing.checks import corollary_1, has_bottleneck, is_feasible_allocation, is_ps_dsf, is_ps_dsf_tdm
from theory.sharing.dominant import drf
from theory.sharing.model import Cluster, cluster, occupation
from theory.sharing.per_server import ps_dsf, ps_dsf_tdm, ps_dsf_tdm_rounds
from theory.sharing.rounds import start

Tasks = Sequence[Sequence[Fraction]]
Check = Callable[[Cluster, Tasks], bool]
Naming = Callable[[Cluster, Tasks, int, int, Sequence[int]], Sequence[int]]
"""The users for whom a rule makes resource r a bottleneck at server i."""

EVERYBODY = {"a definition that protects everybody, whatever their level": {"levels_matter": False}}
"""A control of both theorems."""


def _perturbed(generator: random.Random, allocation: Allocation) -> list[list[Fraction]]:
    """Return feasible tasks near an allocation: a user gives up a part on one server, others take what fits."""
    tasks = [list(row) for row in allocation.tasks]
    places = [(n, i) for n, row in enumerate(tasks) for i, x in enumerate(row) if x]
    n, i = generator.choice(places)
    tasks[n][i] *= Fraction(generator.randint(0, 9), 10)
    table = occupation(allocation.cluster)
    if allocation.division == "time":
        table = table.in_time()
    others = [m for m in range(len(tasks)) if m != n and table.shares[m][i] is not None]
    generator.shuffle(others)
    for m in others if generator.random() < 0.8 else ():
        rows = [table.shares[p][i] or () for p in range(len(tasks))]
        free = [1 - total(tasks[p][i] * row[r] for p, row in enumerate(rows) if row) for r in range(len(rows[m]))]
        tasks[m][i] += min(f / share for f, share in zip(free, rows[m], strict=True) if share)
    return tasks


def _theorem(
    check: Check,
    mechanism: Callable[[Cluster], Allocation],
    division: str,
    count: int,
    *,
    levels_matter: bool,
) -> Outcome:
    """Compare a condition with Definition 5 on fair allocations and on feasible ones near them."""
    expect_number(count, "count", 1)
    generator = random.Random(1)
    agree = fair = tried = 0
    for _ in range(count):
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 3))
        allocation = mechanism(instance)
        for tasks in (allocation.tasks, _perturbed(generator, allocation)):
            defined = satisfies_definition_5(instance, tasks, division, levels_matter=levels_matter)
            tried += 1
            agree += check(instance, tasks) == defined
            fair += defined
    shown = f"condition and definition agree on {agree} of {tried} allocations, {fair} of them PS-DSF"
    return Outcome(shown, agree == tried)


def _somewhere(instance: Cluster, tasks: Tasks) -> bool:
    """Return whether every user has a bottleneck at one eligible server at least: a condition that is too weak."""
    return is_feasible_allocation(instance, tasks) and all(
        any(gamma and has_bottleneck(instance, tasks, n, i) is not None for i, gamma in enumerate(row))
        for n, row in enumerate(instance.monopoly)
    )


def _all_time(instance: Cluster, tasks: Tasks) -> bool:
    """Return whether (10) holds with equality, without (13)."""
    return is_feasible_allocation(instance, tasks, division="time") and all(
        total(row[i] / gamma[i] for row, gamma in zip(tasks, instance.monopoly, strict=True) if gamma[i]) == 1
        for i in range(len(instance.servers))
        if any(gamma[i] for gamma in instance.monopoly)
    )


@claim(
    "theorem-1",
    "PS-DSF means bottlenecks everywhere, under resource division",
    "Under resource division a feasible allocation is PS-DSF if and only if every user has a bottleneck at every "
    "eligible server. Beside the theorem, packproof's check is compared with Definition 5, decided by one exact linear "
    "program a user, on allocations of random clusters and on feasible ones near them.",
    source="Theorem 1",
    printed="PS-DSF if and only if every user has a bottleneck with respect to every eligible server",
    evidence=Evidence.formal,
    tiny={"count": 12},
    full={"count": 500},
    controls=EVERYBODY | {"a bottleneck at one eligible server is enough": {"check": _somewhere}},
    theorems=("Fairness.bottleneck_test",),
)
def theorem_1(count: int = 40, *, check: Check = is_ps_dsf, levels_matter: bool = True) -> Outcome:
    return _theorem(check, ps_dsf, "resource", count, levels_matter=levels_matter)


@claim(
    "theorem-2",
    "PS-DSF means (10) and (13), under time division",
    "Under time division a feasible allocation is PS-DSF if and only if (10) holds with equality, and (13). Beside "
    "the theorem, compared with Definition 5 as in theorem-1.",
    source="Theorem 2",
    printed="PS-DSF if and only if (10) holds with equality, and (13)",
    evidence=Evidence.formal,
    tiny={"count": 12},
    full={"count": 500},
    controls=EVERYBODY | {"without (13)": {"check": _all_time}},
    theorems=("Fairness.time_test",),
)
def theorem_2(count: int = 40, *, check: Check = is_ps_dsf_tdm, levels_matter: bool = True) -> Outcome:
    return _theorem(check, ps_dsf_tdm_rounds, "time", count, levels_matter=levels_matter)


def _is_bottleneck(instance: Cluster, tasks: Tasks, n: int, i: int, r: int) -> bool:
    """Decide Definition 6 for one resource: user n demands r, r is saturated at i, and (12)."""

    def share(p: int) -> Fraction:
        return total(tasks[p]) / instance.monopoly[p][i] / instance.weights[p]

    holders = [p for p, row in enumerate(tasks) if row[i] and instance.use(p, i)[r]]
    used = total(tasks[p][i] * instance.use(p, i)[r] for p in holders)
    return bool(instance.use(n, i)[r]) and used == instance.capacity[i][r] and share(n) >= max(map(share, holders))


def _with_equality(instance: Cluster, tasks: Tasks, i: int, r: int, waiting: Sequence[int]) -> Sequence[int]:
    """Name users as Corollary 1 does, with (14) as an equality, which is wrong."""
    named = corollary_1(instance, tasks, i, r, waiting)
    if not named:
        return named
    level = {n: total(row) / g[i] / w for n, row, g, w in _rows(instance, tasks) if g[i]}
    highest = max(level[n] for n, row, *_ in _rows(instance, tasks) if row[i] and instance.use(n, i)[r])
    return named if highest == min(level[n] for n in waiting) else []


def _any_holder(instance: Cluster, tasks: Tasks, i: int, r: int, waiting: Sequence[int]) -> Sequence[int]:
    """Name every user that demands a saturated resource, without (14), which is wrong."""
    used = total(row[i] * instance.use(n, i)[r] for n, row, g, _ in _rows(instance, tasks) if g[i])
    return [n for n in waiting if used == instance.capacity[i][r] and instance.use(n, i)[r]]


def _rows(instance: Cluster, tasks: Tasks) -> list[tuple[int, Sequence[Fraction], Sequence[Fraction], Fraction]]:
    return list(zip(range(len(tasks)), tasks, instance.monopoly, instance.weights, strict=True))


class _Case(NamedTuple):
    """An allocation, whether it is PS-DSF, and by server the eligible users and a random part of them."""

    instance: Cluster
    tasks: Tasks
    is_fair: bool
    waiting: list[tuple[list[int], list[int]]]


@cache
def _cases(count: int) -> list[_Case]:
    """Return allocations of random clusters and feasible ones near them; cached, as each control looks at the same."""
    generator, cases = random.Random(14), []
    for _ in range(count):
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 3))
        allocation = ps_dsf(instance)
        for tasks in (allocation.tasks, _perturbed(generator, allocation)):
            waiting = []
            for i in range(len(instance.servers)):
                eligible = [n for n, row in enumerate(instance.monopoly) if row[i]]
                waiting.append((eligible, [n for n in eligible if generator.random() < 0.5]))
            cases.append(_Case(instance, tasks, is_ps_dsf(instance, tasks), waiting))
    return cases


@claim(
    "corollary-1",
    "Users that (14) names have bottlenecks, on samples",
    "(14), whose text is lost, read as: no user of a saturated resource r at server i has a greater weighted virtual "
    "dominant share than the least in N_i. On allocations of random clusters and feasible ones near them, every user "
    "that it names, for N_i all eligible users and random parts of them, has the bottleneck r by Definition 6; and "
    "taking the named users out of N_i by (17) empties it at every server if and only if the allocation is PS-DSF.",
    source="Corollary 1",
    printed="if r is saturated at server i and (14), then r is a bottleneck resource for user n when (15) (both lost)",
    evidence=Evidence.certified,
    tiny={"count": 100},
    full={"count": 1500},
    controls={"(14) with equality": {"naming": _with_equality}, "without (14)": {"naming": _any_holder}},
)
def corollary_1_finds(count: int = 150, *, naming: Naming = corollary_1) -> Outcome:
    """Compare with Definition 6, and the sets that it empties with Theorem 1."""
    expect_number(count, "count", 1)
    cases = _cases(count)
    named = wrong = fair = disagree = 0
    for case in cases:
        instance, tasks = case.instance, case.tasks
        resources, emptied = range(len(instance.resources)), True
        for i, (eligible, some) in enumerate(case.waiting):
            for waiting in filter(None, (eligible, some)):
                for r in resources:
                    users = naming(instance, tasks, i, r, waiting)
                    named += len(users)
                    wrong += sum(not _is_bottleneck(instance, tasks, n, i, r) for n in users)
            rest = eligible
            while rest:
                by_resource = (naming(instance, tasks, i, r, rest) for r in resources)
                users = next(filter(None, by_resource), [])
                if not users:
                    break
                rest = [n for n in rest if n not in users]  # (17)
            emptied &= not rest
        fair += case.is_fair
        disagree += emptied != case.is_fair
    tried = len(cases)
    computed = (
        f"{named - wrong} of {named} named users have the bottleneck; all N_i are emptied just where the allocation is "
        f"PS-DSF on {tried - disagree} of {tried} allocations, {fair} of them PS-DSF"
    )
    return Outcome(computed, wrong == 0 and disagree == 0 and named > 0)


@claim(
    "equation-11",
    "Time division is stricter than resource division",
    "(10) implies (9), by (11): as gamma is the least c_q / d_q over the demanded resources q, a user's demand d_r for "
    "any other is at most c_r / gamma; put c_r / d_r = c_q / d_q + t, t >= 0, and c_r / gamma - d_r has positive "
    "coefficients only. Strictly: two users of one resource each fit a server in full beside each other, not in time.",
    source="Equation (11)",
    printed="TDM is more stringent than RDM, as (10) implies (9): (11) (formula lost)",
    evidence=Evidence.formal,
    controls={
        "gamma is the greatest c / d": {"is_least": False},
        "both users demand the same resource": {"second": (2, 0)},
    },
    theorems=("Fairness.time_fits", "Fairness.time_is_stricter"),
)
def equation_11(*, is_least: bool = True, second: tuple[int, int] = (0, 1)) -> Outcome:
    """Expand the difference of both sides of a term of (11), and compare the two constraints on a cluster."""
    import sympy

    c, d, d_r, t = sympy.symbols("c_q d_q d_r t", positive=True)
    gamma = c / d
    c_r = d_r * (gamma + t if is_least else gamma - t)
    above, below = sympy.fraction(sympy.cancel(c_r / gamma - d_r))
    coefficients = [x for part in (above, below) for x in sympy.Poly(part, c, d, d_r, t).coeffs()]
    both = cluster([[4, 1]], [[2, 0], second])
    full = [[both.monopoly[0][0]], [both.monopoly[1][0]]]
    divided, timed = (is_feasible_allocation(both, full, division=how) for how in ("resource", "time"))
    fits = f"both users in full: feasible {divided} under RDM, {timed} under TDM"
    computed = f"c_r / gamma - d_r = ({above}) / ({below}); {fits}"
    return Outcome(computed, min(coefficients) > 0 and divided and not timed)


def _exchanged(instance: Cluster, tasks: Tasks, users: tuple[int, int], servers: tuple[int, int]) -> list[Fraction]:
    """Return the change of both users' tasks when they exchange as much time on the two servers as each has there."""
    (n, m), (i, j) = users, servers
    gamma = instance.monopoly
    time = min(tasks[n][i] / gamma[n][i], tasks[m][j] / gamma[m][j])
    return [time * (gamma[n][j] - gamma[n][i]), time * (gamma[m][i] - gamma[m][j])]


@claim(
    "lemma-2",
    "Trading time need not cost equal users tasks",
    "If under time division user n gives time on server i, where it has tasks, for time of user m on server j, at "
    "least one of them loses tasks. Fails for equal users on equal servers, who each have half of both: both keep "
    "theirs. What the proof of Pareto optimality needs is lemma-2-repaired.",
    source="Lemma 2",
    printed="the allocated tasks to at least one of them will be decreased compared to the PS-DSF allocation",
    evidence=Evidence.certified,
    verdict=Verdict.refuted,
    refutes=Refutes.boundary,
    controls={"user 2 is slower on the first server": {"equal_servers": False}},
)
def lemma_2(*, equal_servers: bool = True) -> Outcome:
    if not equal_servers:
        instance = figure_4((("1", "1", "1"), ("1/2", "1", "1")))
        tasks = ps_dsf_tdm(instance).tasks
        pairs = [((n, m), (i, j)) for n, m in ((0, 1), (1, 0)) for i in range(3) for j in range(3) if i != j]
        users, servers = next((u, s) for u, s in pairs if s[0] == 0 and tasks[u[0]][s[0]] and tasks[u[1]][s[1]])
    else:
        instance, half = cluster([[1], [1]], [[1], [1]]), Fraction(1, 2)
        tasks, users, servers = ((half, half), (half, half)), (0, 1), (0, 1)
    assert is_ps_dsf_tdm(instance, tasks)
    changes = _exchanged(instance, tasks, users, servers)
    return Outcome(f"their tasks change by {', '.join(map(text, changes))}", min(changes) < 0)


@claim(
    "lemma-2-repaired",
    "No user gains tasks unless the other loses",
    "Lemma 2 with 'no one gains tasks unless the other loses some', for any amounts of time a on i and b on j: with c "
    "= x_n phi_m / (x_m phi_n) the changes D_n, D_m have D_n + c D_m = -(a A + b B) times positive numbers, where A "
    "and B are the differences of weighted virtual dominant shares at i and j that (13) makes nonnegative: an "
    "identity.",
    source="Lemma 2",
    printed="(40) to (45), where (44) and (45) are lost",
    evidence=Evidence.formal,
    controls={
        "c without the weights": {"weighted": False},
        "(13) at the first server alone": {"at_both_servers": False},
    },
    theorems=("Fairness.exchange_of_time",),
)
def lemma_2_repaired(*, weighted: bool = True, at_both_servers: bool = True) -> Outcome:
    import sympy

    a, b, x_n, x_m, phi_n, phi_m = sympy.symbols("a b x_n x_m phi_n phi_m", positive=True)
    n_i, n_j, m_i, m_j = sympy.symbols("gamma_ni gamma_nj gamma_mi gamma_mj", positive=True)
    change_n, change_m = b * n_j - a * n_i, a * m_i - b * m_j  # (40) and (41): times a and b change hands
    c = x_n * phi_m / (x_m * phi_n) if weighted else x_n / x_m
    at_i = x_m / (m_i * phi_m) - x_n / (n_i * phi_n)  # n has tasks on i: (13) for the pair (m, n)
    at_j = x_n / (n_j * phi_n) - x_m / (m_j * phi_m)  # m has tasks on j: (13) for the pair (n, m)
    bought = b * at_j * n_j * m_j if at_both_servers else 0
    residual = sympy.cancel(change_n + c * change_m + (a * at_i * n_i * m_i + bought) * phi_m / x_m)
    return Outcome(f"D_n + c D_m + (a A + b B) times positive numbers = {sympy.factor(residual)}", residual == 0)


@claim(
    "single-server-drf",
    "On one server PS-DSF is DRF, on samples",
    "On one server PS-DSF is DRF: on random clusters of one class, up to five users, with weights and zero demands, "
    "Algorithm I and progressive filling give everybody the same tasks, exactly, and DRF's pass the check of Theorem "
    "1.",
    source="Section I",
    printed="PS-DSF reduces to DRF when one considers a single server system",
    evidence=Evidence.certified,
    tiny={"count": 20},
    full={"count": 1000},
    controls={"DRF without the weights": {"weighted": False}, "a second server, pooled for DRF": {"servers": 2}},
)
def single_server_drf(count: int = 60, *, weighted: bool = True, servers: int = 1) -> Outcome:
    expect_number(count, "count", 1)
    generator = random.Random(6)
    equal = certified = 0
    for _ in range(count):
        instance = random_cluster(generator, generator.randint(1, 5), servers, generator.randint(1, 4), counts=3)
        plain = Cluster(
            instance.resources, instance.servers, tuple(replace(user, weight=Fraction(1)) for user in instance.users)
        )
        other = drf(instance if weighted else plain)
        equal += other.totals == ps_dsf(instance).totals
        certified += servers == 1 and is_ps_dsf(instance, other.tasks)
    return Outcome(f"equal on {equal} of {count} clusters, certified on {certified}", equal == certified == count)


def satisfies_definition_5(
    cluster: Cluster, tasks: Sequence[Sequence[Fraction]], division: str, *, levels_matter: bool = True
) -> bool:
    """Decide Definition 5 by one exact linear program a user.

    User n's tasks are raised as far as possible while x_{m,i} may fall only for users m and servers i with
    s_{m,i} / phi_m > s_{n,i} / phi_n (for nobody, if not `levels_matter`); the allocation is PS-DSF if nobody gains.
    """
    if not is_feasible_allocation(cluster, tasks, division=division):
        return False
    table = occupation(cluster)
    if division == "time":
        table = table.in_time()
    totals = [total(row) for row in tasks]
    width = next(len(row) for rows in table.shares for row in rows if row is not None)
    for n in range(len(totals)):
        rows: list[tuple[Bound, Bound]] = [(None, 1)] * (len(cluster.servers) * width)
        program = LinearProgram(rows)
        for m, shares in enumerate(table.shares):
            for i, row in enumerate(shares):
                if row is None:
                    continue
                scale = table.monopoly(m, i)
                entries = {i * width + r: share * scale for r, share in enumerate(row) if share}
                protected = m != n
                if protected and levels_matter and table.shares[n][i] is not None:
                    theirs = totals[m] / (table.monopoly(m, i) * table.weights[m])
                    own_level = totals[n] / (table.monopoly(n, i) * table.weights[n])
                    protected = theirs <= own_level
                least = tasks[m][i] / scale if protected else 0
                program.add_columns([scale if m == n else 0], [entries], lower=[least])
        if program.solve().objective > totals[n]:
            return False
    return True


@claim(
    "algorithm-1-as-printed",
    "Sampled turns of Algorithm I end at bottlenecks",
    "A turn of Algorithm I at a server ends where it should: on random clusters, from weighted DRF on each server "
    "alone and over two rounds in rationals, every user that may use the server then has a bottleneck there by "
    "Definition 6, and no tasks on other servers have changed.",
    source="Algorithm I",
    printed="the inner loop ends when N_i is empty: every user has a bottleneck resource at server i (14)-(18)",
    evidence=Evidence.certified,
    tiny={"count": 10},
    full={"count": 1000},
    controls={"the server that had its turn before": {"servers_back": 1}},
)
def algorithm_1(count: int = 40, *, servers_back: int = 0) -> Outcome:
    expect_number(count, "count", 1)
    generator, turns, short, elsewhere = random.Random(15), 0, 0, 0
    for _ in range(count):
        instance = random_cluster(generator, generator.randint(1, 4), generator.randint(1, 3), generator.randint(1, 3))
        run = start(occupation(instance), exact=True)
        servers, resources = range(len(instance.servers)), range(len(instance.resources))
        for i in 2 * list(servers):
            before = run.tasks.copy()
            run.serve(i)
            elsewhere += bool(np.delete(run.tasks != before, i, axis=1).any())
            looked_at = i - servers_back
            tasks = run.exact_tasks()
            users = [n for n in range(len(tasks)) if instance.monopoly[n][looked_at]]
            short += not all(any(_is_bottleneck(instance, tasks, n, looked_at, r) for r in resources) for n in users)
            turns += 1
    computed = (
        f"{turns} turns: a user without a bottleneck after {short} of them, tasks elsewhere changed in {elsewhere}"
    )
    return Outcome(computed, not short and not elsewhere)
