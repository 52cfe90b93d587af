"""The worst example of a test, and the search of ``packproof attack`` beside hypothesis.

Hypothesis' own search for small examples ends at an easy one, so that the worst one met is shown beside it; and
examples drawn at random seldom meet what a rule does worst.

Each example that a test draws gives the search `STEPS` evaluations, or `SECONDS` at most, on instances of the same kind
and of no larger size than the examples so far: a climb for each number of bins, types or users. It begins at the
corners of its space and at the examples, with a seed of its own, so that equal examples give equal searches unless the
clock ends them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bounds.adversary.assignment import AssignmentSpace, Numbers, judge_assignment
from bounds.adversary.budget import Budget, OutOfTimeError
from bounds.adversary.division import DivisionSpace, Shape, judge_division
from bounds.adversary.documents import numbers_of, shape_of
from bounds.adversary.engine import Climb, Space
from bounds.adversary.items import Items, ItemSpace, estimate_items, judge_items
from theory.errors import InputError
from theory.instance import Instance
from theory.sharing.model import Cluster

STEPS = 25  # instances that the search judges for each example
SECONDS = 0.05  # seconds that they take at most, but for one instance: a quarter of what hypothesis allows an example
SHRINKING = 2.0  # seconds in which an instance on which a rule keeps too little is made simpler

Size = tuple[int, ...]


@dataclass(frozen=True)
class Met:
    """An example, what a rule keeps on it, and the evidence."""

    value: Fraction
    case: Any
    evidence: dict[str, Any]


_WORST: WeakKeyDictionary[Any, tuple[str, Met]] = WeakKeyDictionary()
"""By rule the test that runs and the worst example of it; forgotten with the rule, or when another test begins."""


def running_test(case: object, measure: str) -> str | None:
    """Return what distinguishes the test of hypothesis that runs, None outside of one."""
    from hypothesis import currently_in_test_context

    if not currently_in_test_context():
        return None
    return f"{os.environ.get('PYTEST_CURRENT_TEST', '')} {measure} {type(case).__name__}"


def worst_met(rule: Callable[..., Any], measure: str, met: Met) -> Met:
    """Note an example of a rule, and return the worst one that hypothesis has drawn for the rule in this test.

    Of examples that are equally bad it is the latest, which hypothesis has made smaller. Outside of hypothesis, and for
    a rule to which there are no weak references, every example is by itself.
    """
    test = running_test(met.case, measure)
    if test is None:
        return met
    try:
        stored = _WORST.get(rule)
        if stored is None or stored[0] != test or met.value <= stored[1].value:
            stored = _WORST[rule] = (test, met)
    except TypeError:  # there are no weak references to the rule
        return met
    return stored[1]


@dataclass
class Directed:
    """The searches beside one test of a rule.

    `size` is that of the largest examples so far: items a bin and the capacity, or the capacity, or the largest number.
    The climbs, by the numbers that moves do not change (bins, types, users, servers, resources), come with the size
    that their space was made for. `failing` is the simplest instance on which the rule keeps too little, `refusal` why
    it failed on one; both stay, since hypothesis runs an example that failed again.
    """

    test: tuple[Any, ...]
    size: Size = ()
    climbs: dict[Size, tuple[Size, Climb[Any]]] = field(default_factory=dict)
    failing: Met | None = None
    refusal: str = ""


_SEARCHES: WeakKeyDictionary[Any, Directed] = WeakKeyDictionary()  # by rule; forgotten as `_WORST` is


def failing_instance(
    rule: Callable[..., Any], name: str, measure: str, least: Fraction, case: object, caller: CodeType
) -> Met | None:
    """Search a little further, and return the instance on which the rule keeps less than `least`, if one is known.

    Instances of several pools, and clusters that no search varies, are left out; `caller` is the code of the test.
    """
    test = running_test(case, measure)
    if test is None:
        return None
    key = (test, caller, least)
    try:
        search = _SEARCHES.get(rule)
        if search is None or search.test != key:
            search = _SEARCHES[rule] = Directed(key)
    except TypeError:  # there are no weak references to the rule
        return None
    # hypothesis runs a failing example again, and must meet the same outcome
    if search.failing is None and not search.refusal:
        climb = _climb_at(search, rule, name, measure, case)
        if climb is not None:
            _go_on(search, climb, least)
    if search.refusal:
        raise InputError(search.refusal)
    return search.failing


def _go_on(search: Directed, climb: Climb[Any], least: Fraction) -> None:
    """Search a little further, and note an instance on which the rule keeps too little, or fails."""
    try:
        with suppress(OutOfTimeError):
            climb.go_on(Budget(SECONDS), STEPS)
        if climb.worst is not None and climb.worst[1].value < least:
            climb.shrink(Budget(SHRINKING))
            worst, judged = climb.worst
            search.failing = Met(Fraction(judged.value), _as_drawn(worst), judged.evidence or {})
    except InputError as error:
        search.refusal = f"{error}; met by the search beside the test, which directed=False leaves out"


def _climb_at(search: Directed, rule: Callable[..., Any], name: str, measure: str, case: object) -> Climb[Any] | None:
    """Return the search for instances like an example, which it will look at; a new one if that is larger than all."""
    judge: Any
    surrogate: Any = None
    make: Callable[[Size], Space[Any]]
    opening: Items | Numbers | Shape
    fixed: Size
    size: Size
    try:
        if isinstance(case, Items):
            if not case.sizes or len(set(case.capacity)) > 1:
                return None
            opening, judge, surrogate = case, judge_items(rule, name), estimate_items(rule, name)
            fixed = (case.bins, len(case.capacity))
            size = (max(map(case.packing.count, case.packing)), case.capacity[0])
            make = lambda size: ItemSpace(fixed[0], fixed[0] * size[0], fixed[1], size[1])  # noqa: E731
        elif isinstance(case, Instance):
            opening, judge = numbers_of(case), judge_assignment(rule, name)
            fixed, size = (len(opening.rewards), len(opening.capacity)), (max(opening.capacity),)
            make = lambda size: AssignmentSpace(fixed[0], fixed[1], size[0])  # noqa: E731
        elif isinstance(case, Cluster):
            opening, judge = shape_of(case), judge_division(rule, measure, name)
            fixed = opening.size
            size = (max(number for row in (*opening.capacity, *opening.demand) for number in row),)
            make = lambda size: DivisionSpace(fixed[0], fixed[1], fixed[2], size[0])  # noqa: E731
        else:
            return None
    except InputError:  # a kind of instance that no search varies
        return None
    search.size = tuple(map(max, search.size or size, size))
    before, climb = search.climbs.get(fixed, ((), None))
    # a larger example than all before: the space is made anew at its size
    if climb is None or before != search.size:
        space = make(search.size)
        climb = Climb(judge, space, np.random.default_rng(0), surrogate, None, None, list(space.corners()))
        search.climbs[fixed] = (search.size, climb)
    if not isinstance(opening, Items) or opening.capacity[0] == search.size[1]:
        climb.opening.append(opening)
    return climb


def _as_drawn(case: Items | Numbers | Shape) -> Items | Instance | Cluster:
    """Return an instance of the search as strategies draw them."""
    if isinstance(case, Numbers):
        return case.instance()
    return case.cluster() if isinstance(case, Shape) else case
