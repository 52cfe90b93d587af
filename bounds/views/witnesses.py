"""What properties of fair shares are called, whether they hold, and what shows that one does not, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bounds.answers.sharing import Property
from bounds.views.checked import as_float, is_exact
from theory.errors import quoted

TITLES = {
    "sharing_incentive": "sharing incentive",
    "envy_freeness": "envy-freeness",
    "pareto_optimality": "Pareto optimality",
    "bottleneck_fairness": "bottleneck fairness",
    "single_resource_fairness": "single-resource fairness",
    "strategy_proofness": "strategy-proofness",
}
"""What properties are called, by their names in an answer."""

WITNESSES: Mapping[frozenset[str], str] = {
    frozenset(names.split()): words
    for names, words in {
        "user tasks uniform": "{user} has {tasks} tasks, and its part of every server runs {uniform}",
        "user envies tasks with_the_other": "{user} has {tasks} tasks, and what {envies} holds, scaled by weight,"
        " would run {with_the_other}",
        "resource user amount fair_amount": "{user} has {amount} of {resource}; its fair amount is {fair_amount}",
        "user lie tasks tasks_by_lying": "{user} says that it {lie}, and gets {tasks_by_lying} in place of"
        " {tasks} tasks",
        "group share due": "{group} holds at most {share} of a resource, and its part by weight is {due}",
    }.items()
}
"""What a witness says, by the names that it has; further names are evidence for programs."""


def titled(name: str) -> str:
    """Return what a property is called."""
    return TITLES.get(name) or quoted(name.replace("_", " "))


def verdict_of(found: Property) -> str:
    """Return a verdict in a word or two: a search that finds nothing is no proof, and another thing than no search."""
    if found.holds is not None:
        return "yes" if found.holds else "NO"
    witness = found.witness or {}
    if "tried" in witness:
        return "none found"
    return "not searched" if str(witness.get("note", "")).startswith("not searched") else "not decided"


def failing(properties: Mapping[str, Property]) -> list[str]:
    """Return what the properties that fail are called."""
    return [titled(name) for name, one in properties.items() if one.holds is False]


def nature_of(found: Property) -> str:
    """Return in words what shows that a property fails, or why it is not decided or says nothing here."""
    witness = found.witness or {}
    if "note" in witness:
        note = str(witness["note"])
        return "not searched (ask with --lies)" if note == "not searched (--lies)" else note
    if isinstance(gains := witness.get("gains"), Mapping):
        each = ", ".join(f"{quoted(str(user))} {_written('gain', gain)}" for user, gain in gains.items())
        return f"other tasks give more to these users, and less to none: {each}"
    for names, words in WITNESSES.items():
        if names <= witness.keys():
            return words.format(**{name: _written(name, witness[name]) for name in names})
    return ""


NAMES = {"user", "envies", "resource", "group"}
"""What a witness calls by a name of the file."""


def _written(name: str, value: Any) -> str:
    """Return an exact number in four digits, and a name of the file as messages quote it; a lie is in words already."""
    if name in NAMES:
        return quoted(str(value))
    return f"{as_float(value):,.4g}" if isinstance(value, str) and is_exact(value) else str(value)
