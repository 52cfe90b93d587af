"""``packproof share``: the sentence, the tables and the pictures of shares, of all mechanisms, and over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from bounds.answers.sharing import (
    AllInMotion,
    AllShares,
    CheckedShares,
    InMotion,
    NumericShares,
    Price,
    Property,
    Shares,
)
from bounds.views.panels import Bars
from bounds.views.pictures import drawn
from bounds.views.sharing_pictures import tasks_over_time, together
from bounds.views.shown import Picture, Table, number, tables_of
from bounds.views.text import many
from bounds.views.witnesses import failing, nature_of, titled, verdict_of
from theory.errors import InputError, quoted

MOST_BARS = 20  # bars of a picture in a report; the tables have the others

MOST_NAMED = 6  # users whose tasks the sentence names

MOST_CELLS = 400  # up to this many pairs of user and server class each is in a table; beyond it, what they come to

ANSWERS = Shares | AllShares | CheckedShares | NumericShares | InMotion | AllInMotion


def sentence(answer: ANSWERS) -> str:
    """Return the tasks of the users, or which mechanisms do best, in a sentence; then what is in doubt."""
    if isinstance(answer, AllShares):
        return _best_of(answer.mechanisms)
    if isinstance(answer, CheckedShares):
        return _checked_sentence(answer)
    if isinstance(answer, InMotion | AllInMotion):
        runs = _runs_of(answer)
        mechanism, one = next(iter(runs.items()))
        changes, end = many(len(_ends(one)) - 1, "change"), f"{one.time[-1]:g}"
        after = f"Under {mechanism}, after" if len(runs) == 1 else "After"
        return f"{after} {changes} of the users who are present, {_running_at_end(runs)} at the end, time {end}."
    said = f"Under {answer.mechanism}, {_running(answer.tasks)}."
    return " ".join([said, *(_of_numeric(answer) if isinstance(answer, NumericShares) else _of_exact(answer))])


def _running(tasks: Mapping[str, float]) -> str:
    """Return how many tasks users run; of many users, the least and the most."""
    if not 0 < len(tasks) <= MOST_NAMED:
        return f"{many(len(tasks), 'user')} run {_range(tasks.values())} tasks each"
    (first, most), *others = tasks.items()
    return _series([f"{quoted(first)} runs {most:,.4g} tasks", *(f"{quoted(n)} {x:,.4g}" for n, x in others)])


def _series(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _range(values: Iterable[float], form: Callable[[float], str] = "{:,.4g}".format) -> str:
    ordered = sorted(values)
    return f"between {form(ordered[0])} and {form(ordered[-1])}" if ordered else "no"


def _of_exact(answer: Shares) -> list[str]:
    """Return how the shares are known, whether they fit the cluster, and which properties fail, a sentence each."""
    if answer.ignored:
        return [_left_aside("The mechanism", answer)]
    how = "exact and verified" if answer.exact else "numeric and NOT verified"
    damped = " The algorithm as printed found no limit: servers went part of their way only." if answer.damped else ""
    fails = failing(answer.properties)
    return [
        f"The tasks are {how}.{damped}",
        *([f"Not satisfied: {', '.join(fails)}."] if fails else []),
        *([_price_in_words(answer.price)] if answer.price else []),
    ]


def _price_in_words(price: Price) -> str:
    """Return what fairness costs on this cluster."""
    parts, greatest = (number(float(Fraction(value))) for value in (price.parts, price.greatest))
    bound = f", and at least {number(price.guaranteed, 3, share=True)} is guaranteed" if price.guaranteed else ""
    return (
        f"The price of fairness: the users' parts of what each could run alone sum to {parts} of at most "
        f"{greatest}, so {number(price.kept, 3, share=True)} is kept{bound}."
    )


def _left_aside(who: str, answer: Shares) -> str:
    """Return what a mechanism does not use of the file, and whether its tasks fit the cluster."""
    fits: dict[bool | UnsetType, str] = {
        True: "they fit this cluster",
        False: "they do NOT fit this cluster",
        UNSET: "whether they fit is not decided",
    }
    ignored = _series(answer.ignored or [])
    fit = fits[answer.feasible]
    return f"{who} divides all servers as one and ignores {ignored}; its tasks are exact for that pool, and {fit}."


def _of_numeric(answer: NumericShares) -> list[str]:
    """Return how far numeric shares are from their conditions, and where they are furthest from them."""
    asked = f" ({answer.tolerance:.1e} was asked for)" if answer.tolerance < 1 else ""  # no command asks for more
    stopped = ["The rounds were interrupted: these are the nearest shares so far."] if answer.interrupted else []
    return [
        f"The shares are numeric: they fit the servers exactly, and are within {answer.violation:.1e} of "
        f"{_conditions(answer.mechanism)}{asked}.",
        *stopped,
        *_furthest(answer),
    ]


def _furthest(answer: CheckedShares | NumericShares) -> list[str]:
    if answer.user is None:
        return []
    if answer.server is None:
        return [f"The user who might gain most is {quoted(answer.user)}."]
    return [f"Furthest from a bottleneck is {quoted(answer.user)} on server class {quoted(answer.server)}."]


def _conditions(mechanism: str) -> str:
    """Return what the conditions of a mechanism are called."""
    from theory.sharing.mechanisms import MECHANISMS

    record = MECHANISMS.get(mechanism)
    return record.conditions if record else f"the conditions of {quoted(mechanism)}"


def _checked_sentence(answer: CheckedShares) -> str:
    if answer.reason is not None:
        return f"The stored shares are refused: {answer.reason}."
    far = inf if answer.violation is None else answer.violation
    verdict = "valid" if answer.valid else "refused"
    said = (
        f"The stored shares of {answer.mechanism} are {verdict}: they are within {far:.3e} of "
        f"{_conditions(answer.mechanism)}, and {answer.tolerance:.3e} is allowed."
    )
    over = f"A server is loaded beyond its capacity, by at most {answer.overload or 0:.3e} of it."
    return " ".join([said, *([over] if answer.overload else []), *_furthest(answer)])


def _best_of(answers: Mapping[str, Shares]) -> str:
    """Return which mechanisms are fairest by two numbers, of those that use the whole file; then of the others."""
    if not answers:
        raise InputError("mechanisms", "expected at least one")
    fitting = {name: one for name, one in answers.items() if one.feasible is not False} or answers
    parts = []
    for words, measure in (("Jain's index", "jain_index"), ("Nash welfare", "nash_welfare")):
        values = {name: f"{getattr(one, measure):.4f}" for name, one in fitting.items()}
        best = max(values.values(), key=float)
        parts.append(f"{words} is largest under {_series([n for n, v in values.items() if v == best])} ({best})")
    fails = [
        f"{name} fails {', '.join(failing(one.properties))}" for name, one in answers.items() if failing(one.properties)
    ]
    said = f"Of the mechanisms{' whose tasks fit this cluster' * (len(fitting) < len(answers))}, "
    said += f"{' and '.join(parts)}."
    left_aside = [_left_aside(name, one) for name, one in answers.items() if one.ignored]
    return " ".join([said, *([f"Not satisfied: {'; '.join(fails)}."] if fails else []), *left_aside])


def tables(answer: ANSWERS) -> list[Table]:
    """Return the tables: numbers, tasks by user and server class, what is in use, and properties with witnesses."""
    if isinstance(answer, AllShares):
        return _side_by_side(answer.mechanisms)
    if isinstance(answer, InMotion | AllInMotion):
        return _over_time(_runs_of(answer))
    if isinstance(answer, CheckedShares):
        return tables_of(answer)
    pairs = len(answer.tasks) * len(answer.utilisation)
    summary = _summary(answer) if pairs > MOST_CELLS else []
    numbers, *others = tables_of(replace(answer, allocation={}, utilisation={}) if summary else answer)
    if isinstance(answer, NumericShares):
        numbers.rows.extend([["stages with prices", f"{len(answer.prices)}"]] if answer.prices else [])
        notes = [[f"{'; '.join(dict.fromkeys(map(nature_of, answer.properties.values())))}"]]
        return [numbers, *others, *summary, Table("properties", [""], notes, [False])]
    if answer.tasks_exact is None:
        others.insert(
            0,
            Table(
                "by user", ["user", "tasks"], [[quoted(n), number(x)] for n, x in answer.tasks.items()], [False, True]
            ),
        )
    if answer.whole:
        numbers.rows.append(["lost to whole tasks, mean over the users", number(answer.whole.lost_part, 3, share=True)])
        tasks = [[quoted(n), f"{x:,}"] for n, x in answer.whole.tasks.items()]
        others.append(Table("rounded to whole tasks", ["user", "tasks"], tasks, [False, True]))
    return [numbers, *others, *summary, _of_properties(answer.properties)]


def _summary(answer: Shares | NumericShares) -> list[Table]:
    """Return what the tasks and the use of a large cluster come to."""
    tasks = np.array(list(answer.tasks.values()))
    pairs = sum(1 for row in answer.allocation.values() for x in row.values() if x)
    rows = [
        ["users", f"{len(answer.tasks):,}"],
        ["server classes", f"{len(answer.utilisation):,}"],
        ["pairs of user and server class with tasks", f"{pairs:,}"],
        *([f"tasks of a user, {word}", number(float(np.quantile(tasks, q)), 4)] for word, q in QUANTILES),
    ]
    for resource in dict.fromkeys(name for row in answer.utilisation.values() for name in row):
        used = [row[resource] for row in answer.utilisation.values() if resource in row]
        rows.append(
            [f"{quoted(resource)} in use on a server class", _range(used, partial(number, digits=3, share=True))]
        )
    return [Table("in all (each of them with --json)", ["", ""], rows, [False, True])]


QUANTILES: Sequence[tuple[str, float]] = (("least", 0.0), ("median", 0.5), ("most", 1.0))


def _of_properties(properties: Mapping[str, Property]) -> Table:
    """Return the properties of shares, whether each holds, and what shows it."""
    rows = [[titled(name), verdict_of(one), nature_of(one)] for name, one in properties.items()]
    return Table("properties", ["property", "holds", "why"], rows, [False, False, False])


def _side_by_side(answers: Mapping[str, Shares]) -> list[Table]:
    """Return the tables of all mechanisms: tasks, use, measures and properties, a column a mechanism."""
    every, names = list(answers.values()), list(answers)
    numeric = [False, *(True for _ in names)]
    users = dict.fromkeys(user for one in every for user in one.tasks)
    tasks = [[quoted(user), *(_or_none(one.tasks.get(user), 4) for one in every)] for user in users]
    places = dict.fromkeys((s, r) for one in every for s, row in one.utilisation.items() for r in row)
    used = [
        [quoted(s), quoted(r), *(_or_none(one.utilisation.get(s, {}).get(r), 4, share=True) for one in every)]
        for s, r in places
    ]
    measures = [
        ["Jain's index", *(f"{one.jain_index:.4f}" for one in every)],
        ["Nash welfare", *(f"{one.nash_welfare:.4f}" for one in every)],
    ]
    if all(one.whole for one in every):
        lost = [number(one.whole.lost_part, 3, share=True) for one in every if one.whole]
        measures.append(["lost to whole tasks", *lost])
    properties = dict.fromkeys(name for one in every for name in one.properties)
    verdicts = [
        [titled(name), *(verdict_of(one.properties[name]) if name in one.properties else "-" for one in every)]
        for name in properties
    ]
    witnesses = [
        [mechanism, titled(name), nature_of(found)]
        for mechanism, one in answers.items()
        for name, found in one.properties.items()
        if found.holds is False
    ]
    holdings = [{one.group: Fraction(one.share) for one in each.groups or ()} for each in every]
    groups = [
        [quoted(group), *(_or_none(float(held[group]), 4, share=True) if group in held else "-" for held in holdings)]
        for group in dict.fromkeys(name for held in holdings for name in held)
    ]
    parts = [
        Table("tasks of each user", ["user", *names], tasks, numeric),
        Table("dominant share of each group", ["group", *names], groups, numeric),
        Table("in use, by server class and resource", ["server", "resource", *names], used, [False, *numeric]),
        Table("measures of fairness", ["", *names], measures, numeric),
        Table("properties", ["", *names], verdicts, [False] * len(numeric)),
        Table("why a property fails", ["mechanism", "property", "why"], witnesses, [False] * 3),
    ]
    return [part for part in parts if part.rows]


def _or_none(value: float | None, digits: int, *, share: bool = False) -> str:
    return "" if value is None else number(value, digits, share=share)


def _runs_of(answer: InMotion | AllInMotion) -> dict[str, InMotion]:
    """Return runs by mechanism.

    Raises
    ------
    InputError
        Where there is none, or lists of one run are not equally long.
    """
    runs = {answer.mechanism: answer} if isinstance(answer, InMotion) else answer.mechanisms
    lengths = {len(values) for run in runs.values() for values in _lists_of(run)}
    users = {frozenset(names) for run in runs.values() for names in (run.tasks, run.present)}
    if len(lengths) != 1 or 0 in lengths or len(users) != 1:
        raise InputError("time", "expected runs over the same periods and users, with lists of one length")
    return runs


def _lists_of(run: InMotion) -> list[Sequence[object]]:
    shares = [one for row in run.utilisation.values() for one in row.values()]
    return [run.time, *run.tasks.values(), *run.present.values(), *shares]


def _ends(run: InMotion) -> list[int]:
    """Return the periods after which other users are present, and the last one."""
    present = list(zip(*run.present.values(), strict=True))
    return [*(k for k, (one, other) in enumerate(pairwise(present)) if one != other), len(run.time) - 1]


def _running_at_end(runs: Mapping[str, InMotion]) -> str:
    """Return what the users who are present at the end run, by the mechanism where there are several."""
    every = list(runs.values())
    tasks = {user: [run.tasks[user][-1] for run in every] for user, here in every[0].present.items() if here[-1]}
    if len(runs) == 1 or not 0 < len(tasks) <= MOST_NAMED:
        return _running({user: values[0] for user, values in tasks.items()})
    each = [f"{quoted(user)} {_range(values)}" for user, values in tasks.items()]
    return f"the mechanisms give {_series(each)} tasks"


def _over_time(runs: Mapping[str, InMotion]) -> list[Table]:
    """Return the tasks whenever the users who are present change and at the end, and what is in use then."""
    first, names = next(iter(runs.values())), list(runs)
    ends, numeric = _ends(first), [True for _ in runs]
    tasks = [
        [
            f"{first.time[k]:g}",
            quoted(user),
            *(f"{run.tasks[user][k]:,.4g}" if run.present[user][k] else "away" for run in runs.values()),
        ]
        for k in ends
        for user in first.tasks
    ]
    used = [
        [
            f"{first.time[k]:g}",
            quoted(server),
            quoted(resource),
            *(_or_none(_share(run, server, resource, k), 4, share=True) for run in runs.values()),
        ]
        for k in ends
        for server, row in first.utilisation.items()
        for resource in row
    ]
    then = "when the users who are present change, and at the end"
    return [
        Table(f"tasks {then}", ["time", "user", *names], tasks, [True, False, *numeric]),
        Table(f"in use {then}", ["time", "server", "resource", *names], used, [True, False, False, *numeric]),
    ]


def _share(run: InMotion, server: str, resource: str, period: int) -> float | None:
    shares = run.utilisation.get(server, {}).get(resource)
    return None if shares is None else shares[period]


def pictures(answer: ANSWERS) -> list[Picture]:
    """Return the tasks and what is in use, as bars, or over time."""
    if isinstance(answer, CheckedShares):
        return []
    if isinstance(answer, AllShares):
        users = list(dict.fromkeys(user for one in answer.mechanisms.values() for user in one.tasks))
        parts = [(user, [one.tasks.get(user, 0.0) for one in answer.mechanisms.values()]) for user in users]
        bars = Bars("tasks (number)", list(answer.mechanisms), together(parts))
        return [Picture("Tasks of the users under each mechanism.", bars)]
    if isinstance(answer, InMotion | AllInMotion):
        return [
            Picture(f"Tasks of each user over time under {name}.", tasks_over_time(run))
            for name, run in _runs_of(answer).items()
        ]
    used = {f"{drawn(s)} {drawn(r)}": share for s, row in answer.utilisation.items() for r, share in row.items()}
    used = dict(list(used.items())[:MOST_BARS])
    tasks = dict(list(answer.tasks.items())[:MOST_BARS])
    return [
        Picture("Tasks of each user.", Bars("tasks (number)", list(map(drawn, tasks)), [("", list(tasks.values()))])),
        Picture(
            "What is in use of each resource of each server class.",
            Bars("in use (share)", list(used), [("", list(used.values()))], xlim=(0.0, 1.0)),
        ),
    ]


def evidence(answer: ANSWERS) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    if isinstance(answer, NumericShares | CheckedShares):
        return [(f"distance from {_conditions(answer.mechanism)}", answer.evidence)]
    if isinstance(answer, InMotion | AllInMotion):
        return [("tasks and use over time", "numeric")]
    every = list(answer.mechanisms.values()) if isinstance(answer, AllShares) else [answer]
    return [
        (
            f"tasks of {one.mechanism}" + (", of one pool of all servers" if one.ignored else ""),
            "certified" if one.exact else "numeric",
        )
        for one in every
    ]
