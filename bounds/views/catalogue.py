"""``packproof catalogue`` and ``packproof simulate --policy list``: what there is to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.views.answers import Answer, Exact
from bounds.views.tables import aligned
from fluid.simulation.options import OPTIONS
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import HOMES, policy
from theory.files.price_catalogue import catalogue, missing_sizes

MODEL_NAMES = {
    "loss": "loss systems (a job that is not placed is lost)",
    "queue": "queues in continuous time",
    "slotted": "queues in slots of time (job sizes on one resource)",
}
"""What each model is, for people."""


class VmType(Answer, frozen=True):
    """A VM type: vCPUs, GiB of memory, US dollars an hour on demand."""

    name: str
    cpu: int
    memory: Exact
    price: Exact
    price_float: float


class MissingSizes(Answer, frozen=True):
    """Sizes that the price table lacks in a line, and has in lines of the same generation."""

    line: str
    sizes: list[str]


class Catalogue(Answer, frozen=True):
    """The types that a pattern names, and what the price table lacks of their lines."""

    types: list[VmType]
    missing: list[MissingSizes]


class OptionLine(Answer, frozen=True):
    """An option of a policy; `default` as it stands in a file, null where the policy works it out, or needs a value."""

    name: str
    default: str | None
    about: str


class PolicyLine(Answer, frozen=True):
    """A policy, in one line; `options` are fields of the table ``[simulation]``, which `explained` explains."""

    name: str
    model: str
    about: str
    options: list[str]
    explained: list[OptionLine]


def catalogue_answer(names: Sequence[str]) -> Catalogue:
    """Return the types of these names."""
    chosen = [catalogue()[name] for name in names]
    lines = dict.fromkeys((machine.provider, machine.line) for machine in chosen)
    missing = [
        MissingSizes(line=f"{provider}:{line}", sizes=sizes)
        for provider, line in lines
        if (sizes := missing_sizes(provider, line))
    ]
    types = [VmType.of(machine, name=name, cpu=machine.vcpu) for name, machine in zip(names, chosen, strict=True)]
    return Catalogue(types=types, missing=missing)


def catalogue_lines(answer: Catalogue) -> list[str]:
    """Return the catalogue as text."""
    known = catalogue()
    rows = [["type", "vCPUs", "GiB", "USD an hour"]]
    rows += [
        [one.name, str(one.cpu), f"{float(known[one.name].memory):g}", f"{one.price_float:g}"] for one in answer.types
    ]
    lines = aligned(rows, right=3)
    if answer.missing:
        lines += ["", "sizes that the price table lacks, and most sister lines of the same generation have:"]
        lines += [f"  {one.line}: {', '.join(one.sizes)}" for one in answer.missing]
    return lines


def policies_answer(names: Sequence[str] = tuple(HOMES)) -> list[PolicyLine]:
    """Return policies, unless they are named all that come with packproof."""
    return [PolicyLine.of(one, explained=_explained(one)) for one in map(policy, names)]


def _explained(policy: Policy) -> list[OptionLine]:
    """Return the options of a policy; of one that an author declares, only the name is known."""
    options = [(name, OPTIONS.get(name)) for name in policy.options]
    return [
        OptionLine(name=name, default=(option and option.written) or None, about=option.about if option else "")
        for name, option in options
    ]


def policies_lines(names: Sequence[str] = ()) -> list[str]:
    """Return policies with their options as text: those that are named, or all, by model."""
    lines = []
    found = policies_answer(names) if names else policies_answer()
    width = max(len(one.name) for one in found)
    for model, words in MODEL_NAMES.items():
        mine: list[list[str]] = []
        for one in (one for one in found if one.model == model):
            mine += [[f"  {one.name:{width}}", one.about], *(["", _option(option)] for option in one.explained)]
            mine += [["", "no options"]] if names and not one.options else []
        lines += [words, *aligned(mine, head=False), ""] if mine else []
    if any(one.options for one in found):
        lines += ["options are fields of the table [simulation] of the instance file, shown with their defaults"]
    return lines if names else [*lines, "or a policy of your own: FILE.py:NAME"]


def _option(option: OptionLine) -> str:
    """Return an option, its default and its meaning as a line."""
    default = f" = {option.default}" if option.default else ""
    return f"  {option.name}{default}" + (f": {option.about}" if option.about else "")
