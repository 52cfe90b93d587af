"""Results of packproof on the known bad instances of one resource: one theorem for all of them, and their limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from bounds.adversary.by_size import on_record, proven_from_below
from bounds.claims import Evidence, Outcome, claim
from bounds.results.instances.drawn import additive_space
from bounds.results.instances.families import one_resource_limit, one_resource_member
from bounds.results.reproduction import drawing
from bounds.views.panels import Chart, Curve, Line, Panel
from theory.greedy.optimal import solve
from theory.instance import Instance, additive
from theory.numbers import total

CONJECTURED = Fraction("0.696639994058702600253")
"""The limit c(5) of the shares of five powers of two, rounded down: no other limit of the family is less."""

MEMBERS = (*((p, 1) for p in range(1, 6)), *((p, 2) for p in range(1, 6)), (1, 3), (4, 3), (5, 3), (2, 4))
"""Pairs (p, m) that the check solves; `MORE` takes longer."""

MORE = ((1, 4), (2, 3), (3, 3), (6, 1), (6, 2), (7, 1))


def numbers(p: int, m: int) -> tuple[list[int], list[int]]:
    """Return t_1, .., t_{m+1} and T_1, .., T_{m+1}."""
    t, earned = [2**p], [2**p]
    for _ in range(m):
        earned.append(earned[-1] * t[-1])
        t.append(t[-1] * (t[-1] + 1))
    return t, earned


def share(p: int, m: int) -> Fraction:
    """Return the share that greedy keeps of member (p, m), by the formula of the theorem."""
    t, earned = numbers(p, m)
    stages = total(Fraction(1, 2**k - 1) for k in range(2, p + 1)) + total(Fraction(1, each) for each in t[:m])
    return 1 - stages / (2 * (1 + total(Fraction(1, each) for each in earned[1:m])))


def falls(p: int) -> bool:
    """Decide that the share of (p, m) falls with every m: 1/W_{m+1} is more than twice what is lost.

    W_{m+1} is the product of 1 + 1/t_l for l <= m, and at most that of all l, which is less than the product of the
    first three times 1 + 2/t_4; and no more is lost than at the limit.
    """
    t, _ = numbers(p, 3)
    most = Fraction(1)
    for each in t[:3]:
        most *= 1 + Fraction(1, each)
    most *= 1 + Fraction(2, t[3])
    return most * 2 * (1 - one_resource_limit(p)[0]) < 1


def many_powers_keep_more(first: int) -> bool:
    """Decide that all members with at least `first` powers keep more than c(5): they lose (E - 1)/2 + d/N^2 at most."""
    graham = total(Fraction(1, 2**k - 1) for k in range(1, 80))  # of E, from below
    most = graham + Fraction(1, 2**78)
    excess = (Fraction(2, 3) - (graham - 1)) / 2 / 4**first
    return bool(1 - (most - 1) / 2 - excess > CONJECTURED + Fraction(1, 10**9))


def _one_unit_more(p: int, m: int) -> Instance:
    """Return a member with one unit more on the server, which is wrong."""
    instance = one_resource_member(p, m)
    space = additive_space(instance)
    return additive([space.capacity[0] + 1], space.demands, instance.rewards, instance.workload)


def _small_rewards(p: int, m: int) -> Instance:
    """Return a member whose small types earn 1/t_i, which is wrong."""
    instance, (t, _) = one_resource_member(p, m), numbers(p, m)
    rewards = [*(Fraction(1, each) for each in t[m - 1 :: -1]), *instance.rewards[m:]]
    space = additive_space(instance)
    return additive(space.capacity, space.demands, rewards, instance.workload)


@claim(
    "one-resource-general",
    "The known one-resource instances approach 0.69664 from above",
    "One resource, p >= 1 halves, quarters, .., and m >= 1 small types: greedy attains exactly the share of the "
    "theorem on `one_resource_member(p, m)`, which Coq checked. For every p the shares fall with m to a limit c(p) "
    "that no member attains, and c(5) = 0.6966399940587... is the least of all limits; so it is the infimum over the "
    "family, and not attained. In the proof the limits are enclosed in rationals. Beside it, the code solves 14 "
    "members (full: 20). That no instance on one resource has a ratio less than c(5) is a conjecture; at least "
    "0.69662 is proved.",
    source="packproof",
    printed="not in the paper: its family of Proposition 3.10 has arbitrary sets of configurations",
    evidence=Evidence.proved,
    tiny={"members": MEMBERS[:6]},
    full={"members": MEMBERS + MORE},
    controls={
        "one unit more on the server": {"member": _one_unit_more},
        "small types earn 1/t_i": {"member": _small_rewards},
        "the least limit is that of p = 6": {"least": 6},
    },
    proof="greedy.md#one-resource-general",
)
def general(
    *,
    members: tuple[tuple[int, int], ...] = MEMBERS,
    member: Callable[[int, int], Instance] = one_resource_member,
    least: int = 5,
) -> Outcome:
    """Solve members, enclose the limits, and compare them."""
    agreeing = sum(solve(member(p, m)).ratio == share(p, m) for p, m in members)
    limits = {p: one_resource_limit(p) for p in range(1, 9)}
    enclosed = CONJECTURED <= limits[5][0] <= limits[5][1] <= CONJECTURED + Fraction(1, 10**20)
    others = all(limits[least][1] < low for p, (low, _) in limits.items() if p != least)
    fall = all(falls(p) for p in limits) and many_powers_keep_more(6)
    computed = (
        f"{agreeing} of {len(members)} members are solved as said; limits for p = 1, .., 8: "
        f"{', '.join(f'{float(low):.12f}' for low, _ in limits.values())}; "
        f"the least is that of p = {least}: {others and enclosed}; shares fall with m: {fall}"
    )
    return Outcome(computed, agreeing == len(members) and enclosed and others and fall)


@drawing(
    "One resource: shares known from above, and proved from below",
    "one-resource-general",
    "one-resource-all-types",
    "one-resource-anchors",
    columns=2,
)
def known_and_proved() -> Sequence[Panel]:
    record = {types: ratio for (types, resources), (ratio, _) in on_record().items() if resources == 1}

    def chart(title: str, types: range) -> Chart:
        from_above = [min(record.get(J, Fraction(1)), *(share(p, J - p) for p in range(1, J))) for J in types]
        curves = [
            Curve("least share known", list(types), [float(least) for least in from_above]),
            Curve("proved from below", list(types), [float(proven_from_below(J, 1)) for J in types]),
        ]
        lines = [Line("c(5)", float(CONJECTURED))]
        x, y = "job types J (number)", "greedy reward (share of the optimum)"
        return Chart(x, y, curves, lines, title, xticks=[(J, str(J)) for J in types])

    return [chart("few types", range(2, 7)), chart("five types and more", range(5, 11))]
