"""Claims of the auto-scaling paper on what greedy keeps of the optimum: Theorems 3.7 and 3.9, Proposition 3.10."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import e, prod
from typing import Any

import numpy as np

from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import random_instance, random_instances
from bounds.results.instances.papers import tight_family
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from theory.errors import expect_number
from theory.exact.knapsack import max_reward, weight
from theory.greedy.assignment import GreedyAssignment, global_greedy
from theory.greedy.optimal import Solution, optimal_assignment, solve
from theory.instance import Instance, additive, explicit
from theory.numbers import text, total


def _margins(solution: Solution) -> dict[str, Fraction]:
    """Return by how much each inequality of the proof of Theorem 3.7 holds: (12), (13), both of (14), the theorem."""
    greedy, u, best = solution.greedy, solution.instance.rewards, solution.optimal.served
    done = {j for j in range(len(u)) if greedy.served[j] == solution.instance.workload[j]}  # types that greedy exhausts
    last = Fraction(0) if greedy.serves_all else greedy.stages[-1].reward
    head = total(u[j] * best[j] for j in done)
    reward, optimum = weight(greedy.served, u), weight(best, u)
    return {
        "(12)": min((greedy.served[j] - best[j] for j in done), default=Fraction(0)),
        "(13)": reward - head,
        "(14a)": last - (optimum - head),
        "(14b)": reward - last,
        "1/2": 2 * reward - optimum,
    }


def _ranked_by_inverses(instance: Instance) -> GreedyAssignment:
    """Run greedy on rewards 1 / u."""
    return global_greedy(instance.with_rewards([1 / u for u in instance.rewards]))


def _half_of_the_workload(instance: Instance) -> GreedyAssignment:
    """Run greedy on half of the workload."""
    return global_greedy(instance.with_workload([rho / 2 for rho in instance.workload]))


@claim(
    "thm-3.7",
    "Greedy attains at least half of the optimum",
    "Greedy attains at least half of every assignment, over any number of pools with down-closed sets of "
    "configurations. Beside the theorem, the inequalities (12)-(14) of the printed proof are evaluated exactly on "
    "random instances (up to four types and three resources).",
    source="Theorem 3.7",
    printed="greedy keeps at least 1/2 of the optimal reward",
    evidence=Evidence.formal,
    tiny={"instances": 60},
    full={"instances": 5000},
    controls={
        "greedy ranks configurations by 1 / u": {"greedy": _ranked_by_inverses},
        "greedy is given half of the workload": {"greedy": _half_of_the_workload},
    },
    theorems=("Greedy.greedy_keeps_half", "Existence.greedy_run_exists"),
)
def theorem_3_7(
    instances: int = 300, pools: int = 1, *, greedy: Callable[[Instance], GreedyAssignment] = global_greedy
) -> Outcome:
    expect_number(instances, "instances", 1)
    generator = np.random.default_rng(37)
    margins, ratio, without_work = [], Fraction(1), 0
    for _ in range(instances):
        instance = random_instance(generator, pools=pools)
        solution = replace(solve(instance), greedy=greedy(instance))
        margins.append(_margins(solution))
        best = solution.optimal.reward
        ratio = min(ratio, weight(solution.greedy.served, instance.rewards) / best if best else ratio)
        without_work += not best
    least = {name: min(row[name] for row in margins) for name in margins[0]}
    shown = ", ".join(f"{name} {text(value)}" for name, value in least.items())
    computed = f"{instances} instances, least ratio {float(ratio):.4f}, least margins {shown}"
    if without_work:
        computed += f" (all margins are 0 on the {without_work} without workload, which have no ratio)"
    return Outcome(computed, all(value >= 0 for value in least.values()))


def cloud(*, pools: int = 1, exact_fit: bool = False) -> Chart:
    """Return ratio against guarantee for 300 random instances: no point is below the diagonal."""
    generator, points = np.random.default_rng(9), list[tuple[float, float]]()
    while len(points) < 300:
        solution = solve(random_instance(generator, pools=pools, exact_fit=exact_fit))
        if solution.optimal.reward:
            greedy = solution.greedy
            points.append((float(max(greedy.guarantee, greedy.guarantee_stagewise)), float(solution.ratio)))
    x, y = zip(*sorted(points), strict=True)
    dots, diagonal = Curve("random instances", x, y, look="dots"), (0.6, 1)
    curves = [dots, Curve("ratio = guarantee", diagonal, diagonal, look="plain")]
    label = "guarantee read off the greedy run (share)"
    return Chart(label, "greedy reward (share of the optimum)", curves, [Line("1 − 1/e", 1 - 1 / e)])


@drawing("One pool, any workload: the ratio is at least the guarantee", "packproof/always-1-1/e", "thm-3.7", height=2.9)
def any_workload() -> Sequence[Panel]:
    return [cloud()]


TWO_TYPES: dict[str, tuple[Instance, ...]] = {
    "(a, b)": (
        additive([12], [[5], [7]], [3, 4]),
        additive([10], [[2], [3]], [2, 4]),
        explicit([[2, 0], [0, 3], [1, 2]], [5, 4]),
    ),
    "(a, 0)": (
        additive([12], [[5], [7]], [1, 1]),
        additive([12], [[5], [7]], [2, 1]),
        explicit([[3, 0], [0, 2], [1, 1]], [2, 1]),
    ),
    "(0, b)": (
        additive([14], [[5], [7]], [1, 3]),
        additive([12, 10], [[2, 5], [3, 1]], ["5/2", 3]),
        explicit([[1, 0], [0, 2], [1, 1]], [1, 4]),
    ),
}
"""Instances of two types by the best configuration; the symbols are compared with the code on them."""


def _two_type_pieces(case: str, *, best_is_best: bool) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Return greedy reward for J = 2 by linear piece, its gradients, and what it jumps by from piece to piece.

    The best configuration is (a, b), (a, 0) or (0, b); m_j jobs of type j alone fit a server. Instead of m_j u_j the
    slack s_j = U - m_j u_j stands, which is nonnegative because the best configuration is the best.
    """
    import sympy as sp

    a, b, m1, m2, u1, u2, r1, r2 = sp.symbols("a b m1 m2 u1 u2 rho1 rho2", positive=True)
    s1, s2 = sp.symbols("s1 s2", nonnegative=best_is_best, real=True)
    served = u1 * r1 + u2 * r2
    best = {"(a, b)": a * u1 + b * u2, "(a, 0)": a * u1, "(0, b)": b * u2}[case]
    pieces: dict[str, Any] = {"full": best}
    seams = []  # what greedy reward jumps by where a type lasts just as long as the servers, and where all is served
    if "a" in case:  # type 1 ends first, then type 2 has servers alone
        pieces["1 ends"] = one = r1 / a * best + (1 - r1 / a) * (best - s2)
        beside = b * r1 / a if case == "(a, b)" else 0
        seams.append(one.subs(r1, a) - best)
        seams.append((served - one).subs(r2, beside + (1 - r1 / a) * m2).subs(s2, best - m2 * u2))
    if "b" in case:
        pieces["2 ends"] = two = r2 / b * best + (1 - r2 / b) * (best - s1)
        beside = a * r2 / b if case == "(a, b)" else 0
        seams.append(two.subs(r2, b) - best)
        seams.append((served - two).subs(r1, beside + (1 - r2 / b) * m1).subs(s1, best - m1 * u1))
    pieces["all"] = served
    gradients = [sp.simplify(sp.diff(piece, r)) for piece in pieces.values() for r in (r1, r2)]
    return pieces, gradients, [sp.simplify(sp.expand(seam)) for seam in seams]


def _points_of_two_types(instance: Instance) -> list[tuple[str, tuple[Fraction, Fraction]]]:
    """Return workloads inside every linear piece of an instance, and the piece of each."""
    space = instance.pools[0].space
    a, b = max_reward(space, instance.rewards)
    points = []
    for p, q in ((Fraction(1, 5), Fraction(1, 7)), (Fraction(2, 3), Fraction(3, 5)), (Fraction(6, 7), Fraction(9, 10))):
        points.append(("full", (a * (1 + p) if a else q, b * (1 + p) if b else q)))
        if a:  # type 1 ends at the part p; type 2 takes the rest of the servers, or q of the rest
            rest = (1 - p) * space.most(1)
            points += [("1 ends", (p * a, p * b + rest + q)), ("all", (p * a, p * b + q * rest))]
        if b:
            rest = (1 - p) * space.most(0)
            points += [("2 ends", (p * a + rest + q, p * b)), ("all", (p * a + q * rest, p * b))]
    return points


def _pieces_that_agree(instance: Instance, pieces: dict[str, Any], factor: int) -> list[bool]:
    """Return by workload whether its piece has the reward that the code gives for `factor` times the work of type 2."""
    import sympy as sp

    space, (u1, u2) = instance.pools[0].space, instance.rewards
    (a, b), m1, m2 = max_reward(space, instance.rewards), space.most(0), space.most(1)
    best = a * u1 + b * u2
    exact = {"a": a, "b": b, "u1": u1, "u2": u2, "s1": best - m1 * u1, "s2": best - m2 * u2}
    agree = []
    for name, (rho1, rho2) in _points_of_two_types(instance):
        values = exact | {"rho1": rho1, "rho2": rho2}
        piece = sp.sympify(pieces[name])
        at = {s: sp.Rational(values[s.name]) for s in piece.free_symbols}
        reward = global_greedy(instance.with_workload((rho1, factor * rho2))).reward
        agree.append(bool(piece.subs(at) == sp.Rational(reward)))
    return agree


@claim(
    "def-3.8-two-types",
    "Two types in one pool: greedy is monotone",
    "With one pool and two types greedy reward never falls when workload grows. In symbols, for best configurations "
    "(a, b), (a, 0) and (0, b): the gradient is nonnegative on every linear piece, and the pieces meet without a jump. "
    "The symbols are compared with the code at rational workloads in every piece of instances of each kind.",
    source="Definition 3.8",
    printed="any system with two job types has the monotone greedy property",
    evidence=Evidence.proved,
    controls={
        "the first configuration is not the best": {"best_is_best": False},
        "the code is given another workload of type 2": {"factor": 2},
    },
    proof="proofs.md#two-types",
)
def two_types_are_monotone(*, best_is_best: bool = True, factor: int = 1) -> Outcome:
    """Compare with the code, which is given the workload of type 2 times `factor`."""
    signs, jumps, agree, compared, rising = [], [], 0, 0, []
    for case, instances in TWO_TYPES.items():
        pieces, gradients, seams = _two_type_pieces(case, best_is_best=best_is_best)
        signs += [bool(g.is_nonnegative) for g in gradients]
        rising.append(f"{case}: " + ", ".join(sorted({str(g) for g in gradients if g != 0})))
        jumps += [seam for seam in seams if seam != 0]
        for instance in instances:
            agreeing = _pieces_that_agree(instance, pieces, factor)
            agree += sum(agreeing)
            compared += len(agreeing)
    computed = (
        f"{sum(signs)} of {len(signs)} partial derivatives are nonnegative ({'; '.join(rising)}), {len(jumps)} jumps; "
        f"{agree} of {compared} workloads give what the code gives"
    )
    return Outcome(computed, all(signs) and not jumps and agree == compared)


@claim(
    "def-3.8-three-types",
    "More work can lower greedy reward: three types",
    "With three types the property can fail: configurations (0,1,1), (0,4,0), (1,2,0) and below, rewards (8,3,10); "
    "adding type-1 workload to (0, 1/2, 2) lowers greedy reward.",
    source="Definition 3.8",
    printed="in general the property might not hold",
    evidence=Evidence.certified,
    controls={
        "the added workload is of type 2": {"added": (0, Fraction(1, 2), 0)},
        "the configuration (1,2,0) is missing": {"third": (1, 0, 0)},
    },
)
def three_types_may_fail(
    rewards: tuple[Fraction, ...] = (Fraction(8), Fraction(3), Fraction(10)),
    workload: tuple[Fraction, ...] = (Fraction(0), Fraction(1, 2), Fraction(2)),
    added: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(0), Fraction(0)),
    *,
    third: tuple[int, ...] = (1, 2, 0),
) -> Outcome:
    instance = explicit([[0, 1, 1], [0, 4, 0], third], rewards, workload)
    more = instance.with_workload([rho + extra for rho, extra in zip(workload, added, strict=True)])
    less, greater = global_greedy(instance).reward, global_greedy(more).reward
    return Outcome(f"{text(less)}, then {text(greater)}", greater < less)


def _greedy_terms(solution: Solution) -> tuple[list[Fraction], list[Fraction]]:
    """Return U_i of every stage of Proposition 3.1, and z^(i) U_i."""
    greedy, instance = solution.greedy, solution.instance
    space, u, order = instance.pools[0].space, instance.rewards, greedy.permutation
    earn = [weight(max_reward(space, u, order[i:]), u) for i in range(len(order))]
    return earn, [z * e for z, e in zip(greedy.lengths, earn, strict=True)]


def _exact_fits(seed: int, count: int, *, tight: int = 3, exact: bool = True) -> list[Solution]:
    """Solve random exact fits, and the tight family of `tight` types; with `exact` false the random ones do not fit."""
    generator = np.random.default_rng(seed)
    drawn = [random_instance(generator, exact_fit=exact) for _ in range(count)]
    return [solve(instance) for instance in [*drawn, tight_family(tight)]]


def bound_by_stages(stages: int) -> Fraction:
    """Return 1 - (1 - 1/n)^n for n stages, 1 for none."""
    return 1 - (1 - Fraction(1, stages)) ** stages if stages else Fraction(1)


def _one_stage_fewer(stages: int) -> Fraction:
    return bound_by_stages(stages - 1)


@claim(
    "thm-3.9",
    "Greedy attains at least 1-(1-1/J)^J of the optimum",
    "Greedy attains 1 - (1 - 1/J)^J of every assignment of J types, with the monotone greedy property or without it; "
    "that this is more than 1 - 1/e is decided in prop-3.10. Beside the theorem, for workloads that fit the servers "
    "exactly (random ones, and the tight family of three types): (15)-(16) hold and the ratio is at least 1 - (1 - "
    "1/n)^n for n greedy stages.",
    source="Theorem 3.9",
    printed="greedy keeps at least 1 - 1/e of the optimal reward under the monotone greedy property",
    evidence=Evidence.formal,
    tiny={"instances": 50},
    full={"instances": 3000},
    controls={
        "the bound counts one stage fewer": {"bound": _one_stage_fewer},
        "the workloads do not fit exactly": {"exact": False},
    },
    theorems=("Greedy.greedy_keeps", "Existence.greedy_run_exists", "Constant.greedy_keeps_632"),
)
def theorem_3_9(
    instances: int = 200, tight: int = 3, *, bound: Callable[[int], Fraction] = bound_by_stages, exact: bool = True
) -> Outcome:
    """Look at random instances, and at the tight family of `tight` types."""
    expect_number(instances, "instances", 0)
    solutions = _exact_fits(39, instances, tight=tight, exact=exact)
    unequal, steps, above = 0, [], []
    for solution in solutions:
        earn, terms = _greedy_terms(solution)
        unequal += total(terms) != solution.optimal.reward  # (15): all of the workload, in greedy configurations
        steps += [earn[i] - total(terms[i:]) for i in range(len(earn))]  # (16)
        above.append(solution.ratio - bound(len(solution.greedy.stages)))
    computed = (
        f"{len(solutions)} instances: (15) fails for {unequal}, least margin of (16) {text(min(steps))}, least ratio "
        f"{float(min(s.ratio for s in solutions)):.4f}, at least {float(min(above)):.4f} above its bound"
    )
    return Outcome(computed, not unequal and min(steps) >= 0 and min(above) >= 0)


@drawing("One pool, workloads that fit the servers exactly", "thm-3.9", height=2.9)
def exact_fit() -> Sequence[Panel]:
    return [cloud(exact_fit=True)]


def _reduced(instances: Sequence[Instance], share: Fraction) -> tuple[int, int]:
    """Count instances with another optimum under rho', a share of what the optimum serves, and with more for greedy."""
    other = greater = 0
    for instance in instances:
        solution = solve(instance)
        reduced = instance.with_workload([share * y for y in solution.optimal.served])
        other += optimal_assignment(reduced).reward != solution.optimal.reward
        greater += global_greedy(reduced).reward > solution.greedy.reward
    return other, greater


@claim(
    "reduction-3.9",
    "The proof steps (17)-(18) hold on random instances",
    "The steps of the proof of Theorem 3.9, exactly, on random exact fits: U_i = xi_i + sum over l >= i of z^(l) U_l "
    "with xi_i >= 0 (17), and U* - U^(g) <= U* prod (1 - x_i) <= U* (1 - 1/n)^n (18). The reduction to exact fits, on "
    "random instances of two types, which are monotone: the workload rho' that the optimum serves has the same "
    "optimum and no more greedy reward.",
    source="Equations (17)-(18)",
    printed=(
        "it suffices to prove the theorem for workloads that fit exactly; (17) and (18), of which formulas are lost"
    ),
    evidence=Evidence.certified,
    tiny={"instances": 30},
    full={"instances": 3000},
    controls={
        "the first stage is left out of the product": {"from_stage": 2},
        "the power of (18) counts a stage fewer": {"fewer": 1},
        "rho' is half of what the optimum serves": {"share": Fraction(1, 2)},
    },
)
def reduction_3_9(
    instances: int = 200, *, from_stage: int = 1, fewer: int = 0, share: Fraction = Fraction(1)
) -> Outcome:
    """Multiply 1 - x_i from a stage on, and count so many stages fewer in the power of (18)."""
    expect_number(instances, "instances", 1)
    xi, products, powers = [], [], []
    for solution in _exact_fits(393, instances):
        earn, terms = _greedy_terms(solution)
        xi += [earn[i] - total(terms[i:]) for i in range(len(earn))]  # (17)
        fractions = [stage.fraction for stage in solution.greedy.stages]
        product = prod((1 - x for x in fractions[from_stage - 1 :]), start=Fraction(1))
        n = len(fractions) - fewer
        products.append(product - (1 - solution.ratio))  # the first inequality of (18), in units of U*
        # the second inequality of (18) is for exact fits that use every server
        powers.append((1 - Fraction(1, n)) ** n - product if n and sum(fractions) == 1 else Fraction(0))
    pairs = random_instances(np.random.default_rng(394), instances, lambda instance: len(instance.types) == 2)
    other, greater = _reduced(pairs, share)
    computed = (
        f"{instances + 1} exact fits: least xi {text(min(xi))}, least margins of (18) {float(min(products)):.4f} and "
        f"{float(min(powers)):.4f}; {len(pairs)} instances of two types: {other} have another optimum under rho', "
        f"{greater} more greedy reward"
    )
    return Outcome(computed, min(xi) >= 0 and min(products) >= 0 and min(powers) >= 0 and not greater and not other)


def _equal_rewards(types: int) -> Instance:
    """Return the tight family with equal rewards."""
    return tight_family(types).with_rewards([1] * types)


def _symbolic_tight_family(fall: int) -> Sequence[tuple[str, bool]]:
    """Decide the steps of Proposition 3.10 for all J >= 2; rewards fall by (J - `fall`) / J, `fall` = 1 in the family.

    Notes
    -----
    u_i = J^(J-i) (J-1)^(i-1). A configuration of types i..J is below J e_j for some j >= i, or below (0,..,1,..,1,J),
    whose reward is S_i = u_i + S_{i+1}, S_J = J u_J; by induction S_i = J u_i. So J e_i is MaxReward of these types, by
    the tie rule, and no configuration earns more than J u_1 = J^J, which (1,..,1,J) earns on the whole workload. Greedy
    takes 1/J of J e_i, i < J, and the rest of J e_J: sum u_i, a telescoping sum.
    """
    import sympy as sp

    J, i = sp.symbols("J i", integer=True, positive=True)

    def u(n: Any) -> Any:
        return J ** (J - n) * (J - fall) ** (n - 1)

    lost = sp.powsimp(sp.expand_power_base(J * u(J + 1)))
    return [
        ("S_i = J u_i", sp.simplify((u(i) + J * u(i + 1) - J * u(i)) / u(i)) == 0),
        ("J u_i falls", bool((1 - sp.simplify(u(i + 1) / u(i)) - 1 / J).equals(0))),
        ("U* = J^J", sp.simplify(J * u(1) - J**J) == 0),
        ("U^(g) = J^J - (J-1)^J", sp.simplify(lost - (J - 1) ** J) == 0),
        ("limit 1 - 1/e", power_tends_to_e()),
        ("decreasing", power_grows()),
    ]


def power_grows() -> bool:
    """Decide that (1 - 1/n)^n grows: its logarithm has the derivative w - log(1 + w) at w = 1/(n - 1).

    This is 0 at w = 0 and has itself the derivative w / (1 + w) > 0.
    """
    import sympy as sp

    n, w = sp.symbols("n w", positive=True)
    slope = sp.diff(n * sp.log(1 - 1 / n), n) - (sp.log(1 - 1 / n) + 1 / (n - 1))
    same = sp.simplify(slope) == 0 and sp.simplify((1 - 1 / n) * (1 + 1 / (n - 1)) - 1) == 0
    return bool(same and sp.simplify(sp.diff(w - sp.log(1 + w), w) - w / (1 + w)) == 0)


def power_tends_to_e() -> bool:
    """Decide that (1 - 1/n)^n tends to 1/e."""
    import sympy as sp

    n = sp.Symbol("n", positive=True)
    return bool(sp.limit((1 - 1 / n) ** n, n, sp.oo) == sp.exp(-1))


@claim(
    "prop-3.10",
    "One family attains 1-(1-1/J)^J for every J",
    "The family with generators J e_j and (1,..,1,J), rewards J^(J-j) (J-1)^(j-1) and workload (1,..,1,J) has ratio "
    "exactly 1 - (1 - 1/J)^J for every J >= 2. Beside the theorem, identities in symbolic J, which decide as well that "
    "the ratio decreases to 1 - 1/e, and the code for J = 2..8.",
    source="Proposition 3.10",
    printed="the worst-case ratio is not greater than 1 - 1/e (an infimum over J)",
    evidence=Evidence.formal,
    controls={
        "all rewards of the code's instances are equal": {"family": _equal_rewards},
        "rewards fall by (J - 2) / J": {"fall": 2},
    },
    theorems=("Tight.tight_listed",),
)
def proposition_3_10(largest: int = 8, *, fall: int = 1, family: Callable[[int], Instance] = tight_family) -> Outcome:
    """Decide the identities, and run the code for up to `largest` types."""
    expect_number(largest, "largest", 2)
    steps = _symbolic_tight_family(fall)
    good, shown = 0, []
    for types in range(2, largest + 1):
        solution = solve(family(types))
        good += solution.ratio == bound_by_stages(types) and solution.optimal.reward == types**types
        shown.append(text(solution.ratio) if types < 6 else f"{float(solution.ratio):.6f}")
    failed = [name for name, holds in steps if not holds]
    computed = f"{len(steps) - len(failed)} of {len(steps)} identities" + "".join(f", not {name}" for name in failed)
    return Outcome(
        f"{computed}; ratios for J = 2..{largest}: {', '.join(shown)}, {good} as proved",
        good == largest - 1 and not failed,
    )
