"""Rules that a researcher might bring: ``packproof attack examples/rules_to_attack.py:first_fit --kind items``.

Items: First-Fit, Best-Fit, and First-Fit by decreasing size (by the sum of sizes where there are several resources).
Assignment: by reward per largest share of a server. Sharing: servers in equal parts.
"""

from fractions import Fraction

from packproof import by_stages


def first_fit(items, capacity):
    """Put each item into the first bin that has room for it."""
    free, bins = [], []
    for item in items:
        fitting = [b for b, left in enumerate(free) if all(s <= c for s, c in zip(item, left, strict=True))]
        chosen = fitting[0] if fitting else len(free)
        if not fitting:
            free.append(capacity)
        free[chosen] = tuple(c - s for c, s in zip(free[chosen], item, strict=True))
        bins.append(chosen)
    return bins


def best_fit(items, capacity):
    """Put each item into the fullest bin that has room for it."""
    free, bins = [], []
    for item in items:
        fitting = [b for b, left in enumerate(free) if all(s <= c for s, c in zip(item, left, strict=True))]
        chosen = min(fitting, key=lambda b: (sum(free[b]), b)) if fitting else len(free)
        if not fitting:
            free.append(capacity)
        free[chosen] = tuple(c - s for c, s in zip(free[chosen], item, strict=True))
        bins.append(chosen)
    return bins


def first_fit_decreasing(items, capacity):
    """First-Fit, with the item of the largest sum of sizes first."""
    order = sorted(range(len(items)), key=lambda i: -sum(items[i]))
    placed = dict(zip(order, first_fit([items[i] for i in order], capacity), strict=True))
    return [placed[i] for i in range(len(items))]


def fill_by_density(instance, left):
    """Fill a server with the types left, by reward per sum of the shares of a server that a job takes."""
    space = instance.pools[0].space

    def density(j):
        return instance.rewards[j] / sum(
            Fraction(d, c) for d, c in zip(space.demands[j], space.capacity, strict=True) if c
        )

    room, slots = list(space.capacity), [0] * len(instance.types)
    for j in sorted(left, key=lambda j: (-density(j), j)):
        slots[j] = min(free // d for free, d in zip(room, space.demands[j], strict=True) if d)
        room = [free - slots[j] * d for free, d in zip(room, space.demands[j], strict=True)]
    return tuple(slots)


density_first = by_stages(fill_by_density)


def equal_parts(cluster):
    """Give every user its weight's part of every server."""
    weights = sum(user.weight for user in cluster.users)
    return [
        [user.weight / weights * tasks for tasks in row]
        for user, row in zip(cluster.users, cluster.monopoly, strict=True)
    ]


if __name__ == "__main__":
    from packproof import Budget, ItemSpace, attack, estimate_items, judge_items
    from packproof.views import arguments

    arguments(__doc__)
    for rule, space, goal in (
        (first_fit, ItemSpace(3, 9), Fraction(3, 5)),
        (first_fit_decreasing, ItemSpace(2, 6), Fraction(2, 3)),
        (first_fit_decreasing, ItemSpace(2, 8, 2), Fraction(1, 2)),
    ):
        found = attack(judge_items(rule), space, budget=Budget(60), target=goal, surrogate=estimate_items(rule))
        print(
            f"{rule.__name__} keeps {found.judged.value} on {len(found.case.sizes)} items, {space.resources} resources"
        )
