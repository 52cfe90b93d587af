"""``packproof attack``: the worst instance found for a rule, as an answer, as text, and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bounds.adversary.assignment import Numbers
from bounds.adversary.division import Shape
from bounds.adversary.engine import Found
from bounds.adversary.items import Items
from bounds.views.tables import aligned
from bounds.views.text import Answer, Exact, many, short
from theory.files.clusters import cluster_document
from theory.files.instances import instance_document
from theory.numbers import text


class Attack(Answer, frozen=True):
    """The worst instance found; `certified` says that the ratio is exact and proved by what stands beside it."""

    rule: str
    kind: str
    ratio: Exact
    ratio_float: float
    certified: bool
    instance: dict[str, Any]
    evidence: dict[str, Any]
    evaluations: int
    complete: bool
    seconds: float


@dataclass(frozen=True)
class Attacked:
    """What was attacked, and what was found."""

    rule: str
    kind: str
    found: Found[Any]
    seconds: float


def attack_answer(made: Attacked) -> Attack:
    """Return the answer of ``attack``."""
    judged = made.found.judged
    ratio = Fraction(judged.value)
    return Attack(
        rule=made.rule,
        kind=made.kind,
        ratio=text(ratio),
        ratio_float=float(ratio),
        certified=judged.exact,
        instance=case_document(made.found.case),
        evidence=_evidence(judged.evidence or {}),
        evaluations=made.found.evaluations,
        complete=made.found.complete,
        seconds=round(made.seconds, 3),
    )


def case_document(case: Any) -> dict[str, Any]:
    """Return an instance as the file that `solve` or `share` reads; items as capacity, sizes and a packing."""
    if isinstance(case, Numbers):
        return instance_document(case.instance())
    if isinstance(case, Shape):
        return cluster_document(case.cluster())
    assert isinstance(case, Items)
    sizes = [list(size) for size in case.sizes]
    return {"items": {"capacity": list(case.capacity), "sizes": sizes, "packing": list(case.packing)}}


def _evidence(evidence: dict[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return text(value)
        return [plain(each) for each in value] if isinstance(value, list | tuple) else value

    return {name: plain(value) for name, value in evidence.items()}


def attack_lines(made: Attacked) -> list[str]:
    """Return the answer of ``attack`` as text."""
    found = made.found
    ratio = Fraction(found.judged.value)
    known = "exactly" if found.judged.exact else "at most: the optimum was not decided"
    ended = "" if found.complete else ", stopped early"
    head = [
        f"{made.rule} keeps {short(ratio)} of the optimum, {known}",
        f"{many(found.evaluations, 'instance')} judged in {made.seconds:.1f} s{ended}",
        "",
    ]
    return head + case_lines(found.case, found.judged.evidence or {})


def case_lines(case: Any, evidence: dict[str, Any]) -> list[str]:
    """Return an instance as a small table."""
    if isinstance(case, Numbers):
        rows = [("type", "demand", "reward", "workload")]
        rows += [
            (f"t{j + 1}", str(demand), str(reward), text(Fraction(work, case.unit)))
            for j, (demand, reward, work) in enumerate(zip(case.demands, case.rewards, case.workload, strict=True))
        ]
        return [f"server {case.capacity}", *aligned(rows, right=2)]
    if isinstance(case, Shape):
        table = [("user", "demand", "weight", "servers", "tasks")]
        for n, need in enumerate(case.demand):
            may = ", ".join(str(i + 1) for i, able in enumerate(case.eligible[n]) if able)
            tasks = " ".join(map(text, evidence.get("tasks", [()] * len(case.demand))[n]))
            table.append((f"u{n + 1}", str(need), str(case.weight[n]), may, tasks))
        return [*(f"server {i + 1}: {room}" for i, room in enumerate(case.capacity)), *aligned(table)]
    assert isinstance(case, Items)
    rows = [("item", "size", "bin of the rule", "bin of a packing with fewer")]
    rows += [
        (str(i + 1), " ".join(map(str, size)), str(used + 1), str(place + 1))
        for i, (size, used, place) in enumerate(zip(case.sizes, evidence["bins"], case.packing, strict=True))
    ]
    return [f"capacity {' '.join(map(str, case.capacity))}", *aligned(rows, right=3)]
