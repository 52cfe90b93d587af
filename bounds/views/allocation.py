"""``packproof share --allocation``: whether an allocation fits, its properties, and how far it is from fair."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bounds.answers.allocation import EnviousUser, FromMechanism, JudgedShares
from bounds.answers.record import Fields, encode, named
from bounds.views.panels import Bars
from bounds.views.sharing_answers import by_server, caps_of, holdings_of, ignored_in_words
from bounds.views.sharing_pictures import together
from bounds.views.shown import Picture, Table, number, tables_of
from bounds.views.text import many
from bounds.views.witnesses import failing, nature_of, titled, verdict_of
from theory.errors import quoted
from theory.sharing.allocation import Allocation
from theory.sharing.judgement import Distance, Judgement, unwhole_tasks
from theory.sharing.pooled import Ignored


def judged_answer(
    allocation: Allocation,
    judged: Judgement,
    distances: Sequence[tuple[Distance, Sequence[Ignored]]],
    tolerance: Fraction,
) -> JudgedShares:
    """Return what is true of an allocation as an answer; each distance with what its mechanism does not use."""
    cluster = allocation.cluster
    return encode(
        JudgedShares,
        judged,
        tolerance=tolerance,
        groups=holdings_of(allocation),
        unwanted=judged.unwanted or None,
        most_tasks=caps_of(cluster) or None,
        unwhole=(judged.feasible and unwhole_tasks(allocation)) or None,
        tasks=named(cluster.users, allocation.totals),
        utilisation=by_server(cluster, allocation.utilisation),
        distances=[
            Fields(
                far,
                tasks=named(cluster.users, far.totals),
                tasks_exact=named(cluster.users, far.totals) if far.exact else None,
                ignored=[ignored_in_words(part) for part in ignored] or None,
            )
            for far, ignored in distances
        ],
    )


def sentence(answer: JudgedShares) -> str:
    """Return whether the tasks fit, which properties fail, how many envy, and the nearest mechanism, in sentences."""
    if not answer.feasible:
        return " ".join([_unfit(answer), "No property is decided of tasks that do not fit."])
    fails = failing(answer.properties)
    open_ = [titled(name) for name, one in answer.properties.items() if one.holds is None]
    tolerated = f" within {answer.tolerance:g}" if answer.tolerance else ""
    said = [f"The tasks fit this cluster{tolerated}.", *_unwhole(answer)]
    said += [f"Not satisfied: {', '.join(fails)}." if fails else f"No property fails{tolerated}."]
    said += [f"Not decided: {', '.join(open_)}."] if open_ else []
    said += _envy(answer.envious)
    return " ".join([*said, *_nearest(answer.distances)])


def _unwhole(answer: JudgedShares) -> list[str]:
    """Return where servers hold fewer whole tasks than their class holds as one."""
    if not answer.unwhole:
        return []
    worst = min(answer.unwhole, key=lambda one: one.most_whole / Fraction(one.tasks))
    others = len(answer.unwhole) - 1
    more = f" So it is with {many(others, 'other pair')} of user and class." if others else ""
    return [
        f"They fit each class as one, but the servers of {quoted(worst.server)} hold"
        f" {many(worst.most_whole, 'whole task')} of {quoted(worst.user)} at most, which has"
        f" {number(float(Fraction(worst.tasks)))} there.{more}"
    ]


def _envy(envious: Sequence[EnviousUser]) -> list[str]:
    """Return how many users envy, and who would gain most."""
    if not envious:
        return []
    worst, more = envious[0], number(float(Fraction(envious[0].more)), 4)
    who = many(len({one.user for one in envious}), "user")
    return [
        f"{who} would rather have what another holds: {quoted(worst.user)} would run {more} more tasks"
        f" with what {quoted(worst.envies)} holds."
    ]


def _unfit(answer: JudgedShares) -> str:
    """Return where the tasks do not fit, the worst of it first."""
    parts = []
    if answer.overloads:
        worst = answer.overloads[0]
        more = f", and {many(len(answer.overloads) - 1, 'other load')}" if len(answer.overloads) > 1 else ""
        parts.append(
            f"they use {number(float(Fraction(worst.used)))} of the {quoted(worst.resource)} of {quoted(worst.server)},"
            f" which has {number(float(Fraction(worst.capacity)))}{more}"
        )
    if answer.misplaced:
        first = answer.misplaced[0]
        more = f", and {many(len(answer.misplaced) - 1, 'other pair')}" if len(answer.misplaced) > 1 else ""
        parts.append(f"{quoted(first.user)} has tasks on {quoted(first.server)}, where they may not run{more}")
    if answer.unwanted:
        eager = answer.unwanted[0]
        has, most = (number(float(Fraction(tasks))) for tasks in (eager.tasks, eager.most_tasks))
        more = f", and {many(len(answer.unwanted) - 1, 'other user')} too" if len(answer.unwanted) > 1 else ""
        parts.append(f"{quoted(eager.user)} has {has} tasks and wants at most {most}{more}")
    return f"The tasks do NOT fit this cluster: {'; '.join(parts)}."


def _nearest(distances: Sequence[FromMechanism]) -> list[str]:
    """Return which mechanisms define the allocation, or which is nearest to it."""
    if not distances:
        return []
    own = [one.mechanism for one in distances if one.fulfils]
    if own:
        return [f"It is an allocation by {' and '.join(own)}."]
    near = min(distances, key=lambda one: Fraction(one.part_exact))
    which = "The nearest mechanism is" if len(distances) > 1 else "It is not by"
    far = number(near.part, 4, share=True)
    return [f"{which} {near.mechanism}: no user's tasks differ by more than {far} of what it could run alone."]


def tables(answer: JudgedShares) -> list[Table]:
    """Return the tables: numbers, what does not fit, properties with witnesses, envy and distances."""
    rows = [
        [
            titled(name),
            verdict_of(one),
            number(answer.gaps[name], 4, share=True) if answer.gaps.get(name) else "",
            nature_of(one),
        ]
        for name, one in answer.properties.items()
    ]
    properties = Table("properties", ["property", "holds", "fails by", "why"], rows, [False, False, True, False])
    first, *others = tables_of(answer)
    aside = [[one.mechanism, "; ".join(one.ignored)] for one in answer.distances if one.ignored]
    ignored = [Table("not used of the file", ["mechanism", "what"], aside, [False, False])] if aside else []
    return [first, properties, *others, *ignored]


def pictures(answer: JudgedShares) -> list[Picture]:
    """Return the tasks as given and by each mechanism, a bar each in which the users follow one another."""
    parts = [(user, [x, *(one.tasks[user] for one in answer.distances)]) for user, x in answer.tasks.items()]
    bars = Bars("tasks (number)", ["given", *(one.mechanism for one in answer.distances)], together(parts))
    return [Picture("Tasks of the users, as given and by each mechanism.", bars)]


def evidence(answer: JudgedShares) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    del answer
    return [("fit, properties and envy", "certified")]
