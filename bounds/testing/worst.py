"""The worst example of a test: a search for small examples ends at an easy one, so that this one is shown beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary


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
    a rule to which there are no weak references, every example stands alone.
    """
    test = running_test(met.case, measure)
    if test is None:
        return met
    try:
        known = _WORST.get(rule)
        if known is None or known[0] != test or met.value <= known[1].value:
            known = _WORST[rule] = (test, met)
    except TypeError:
        return met
    return known[1]
