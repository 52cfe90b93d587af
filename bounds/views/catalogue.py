"""``packproof catalogue`` and ``packproof simulate --policy list``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bounds.answers.catalogue import Catalogue, PolicyLine
from bounds.answers.record import Fields, encode
from bounds.views.shown import Picture, Table, tables_of
from bounds.views.text import many
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import HOMES, option_of, policy
from theory.files.price_catalogue import catalogue, missing_sizes

MODEL_NAMES = {
    "loss": "loss systems (a job that is not placed is lost)",
    "queue": "queues in continuous time",
    "slotted": "queues in slots of time (job sizes on one resource)",
}
"""What each model is, for people."""


def catalogue_answer(names: Sequence[str]) -> Catalogue:
    """Return the types of these names."""
    chosen = [catalogue()[name] for name in names]
    lines = dict.fromkeys((machine.provider, machine.line) for machine in chosen)
    missing = [
        {"line": f"{provider}:{line}", "sizes": sizes}
        for provider, line in lines
        if (sizes := missing_sizes(provider, line))
    ]
    types = [Fields(machine, name=name, cpu=machine.vcpu) for name, machine in zip(names, chosen, strict=True)]
    return encode(Catalogue, types=types, missing=missing)


def policies_answer(names: Sequence[str] = tuple(HOMES)) -> list[PolicyLine]:
    """Return policies, unless they are named all that come with packproof."""
    return [encode(PolicyLine, one, explained=_explained(one)) for one in map(policy, names)]


def _explained(policy: Policy) -> list[dict[str, Any]]:
    """Return the options of a policy; of one that an author declares by its name, only that is known."""
    options = [(name, option_of(policy, name)) for name in policy.options]
    return [
        {"name": name, "default": (option and option.written) or None, "about": option.about if option else ""}
        for name, option in options
    ]


def sentence(answer: Catalogue | Sequence[PolicyLine]) -> str:
    """Return how many types or policies there are."""
    if isinstance(answer, Catalogue):
        prices = [one.price_float for one in answer.types]
        count = many(len(prices), "VM type")
        if not prices:
            return f"{count}."
        return f"{count}, from {min(prices):g} to {max(prices):g} US dollars an hour on demand."
    count = many(len(answer), "policy") if len(answer) == 1 else f"{len(answer)} policies"
    if not _are_all(answer):
        return f"{count}, with {'its' if len(answer) == 1 else 'their'} options."
    return f"{count} come with packproof; one of your own is FILE.py:NAME or PACKAGE.MODULE:NAME."


def _are_all(policies: Sequence[PolicyLine]) -> bool:
    return [one.name for one in policies] == list(HOMES)


def tables(answer: Catalogue | Sequence[PolicyLine]) -> list[Table]:
    """Return the VM types and the sizes that are missing, or policies by model and their options."""
    if isinstance(answer, Catalogue):
        return [table._replace(whole=True) for table in tables_of(answer)]
    parts = [
        Table(words, ["policy", ""], rows, [False, False], whole=True)
        for model, words in MODEL_NAMES.items()
        if (rows := [[one.name, one.about] for one in answer if one.model == model])
    ]
    options = [
        [one.name, option.name, option.default or "", option.about] for one in answer for option in one.explained
    ]
    title = "options, which are fields of the table [simulation] of the instance file"
    parts.append(Table(title, ["policy", "option", "default", "what it sets"], options, [False] * 4, whole=True))
    without = ", ".join(one.name for one in answer if not one.options)
    return [
        part for part in (*parts, Table("without options", [""], [[without]] if without else [], [False])) if part.rows
    ]


def pictures(answer: Catalogue | Sequence[PolicyLine]) -> list[Picture]:
    """Return no picture: lists have none."""
    del answer
    return []
