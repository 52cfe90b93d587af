"""``packproof catalogue`` and ``packproof simulate --policy list``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bounds.answers.catalogue import Catalogue
from bounds.answers.record import Fields, encode
from bounds.answers.simulation import OptionLine, PolicyLine
from bounds.views.tables import aligned
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


def catalogue_lines(answer: Catalogue) -> list[str]:
    """Return the catalogue as text."""
    rows = [["type", "vCPUs", "GiB", "USD an hour"]]
    rows += [
        [one.name, str(one.cpu), f"{float(Fraction(one.memory)):g}", f"{one.price_float:g}"] for one in answer.types
    ]
    lines = aligned(rows, right=3)
    if answer.missing:
        lines += ["", "sizes that the price table lacks, and most sister lines of the same generation have:"]
        lines += [f"  {one.line}: {', '.join(one.sizes)}" for one in answer.missing]
    return lines


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


def policies_lines(names: Sequence[str] = ()) -> list[str]:
    """Return policies with their options as text: those that are named, or all, by model."""
    lines = []
    policies = policies_answer(names) if names else policies_answer()
    width = max(len(one.name) for one in policies)
    for model, words in MODEL_NAMES.items():
        rows: list[list[str]] = []
        for one in (one for one in policies if one.model == model):
            rows += [[f"  {one.name:{width}}", one.about], *(["", _option(option)] for option in one.explained)]
            rows += [["", "no options"]] if names and not one.options else []
        lines += [words, *aligned(rows, head=False), ""] if rows else []
    if any(one.options for one in policies):
        lines += ["options are fields of the table [simulation] of the instance file, shown with their defaults"]
    return lines if names else [*lines, "or a policy of your own: FILE.py:NAME or PACKAGE.MODULE:NAME"]


def _option(option: OptionLine) -> str:
    """Return an option, its default and its meaning as a line."""
    default = f" = {option.default}" if option.default else ""
    return f"  {option.name}{default}" + (f": {option.about}" if option.about else "")
