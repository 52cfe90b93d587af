"""The answers of commands as typed records: a file a subject, and here their names.

`record` says what an answer is and how the records of a result become one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from theory.doors import imported
from theory.errors import InputError, meant


class Kind(NamedTuple):
    """Where the class of an answer is, and the command that gives it."""

    subject: str
    name: str
    command: str
    is_list: bool = False

    def type(self) -> Any:
        """Return the class, or the type of lists of it; the subject is loaded."""
        one: Any = getattr(imported(f"bounds.answers.{self.subject}"), self.name)
        return list.__class_getitem__(one) if self.is_list else one


KINDS = {
    "admission_belief": Kind("admission", "BeliefAnswer", "admission belief --json"),
    "admission_compare": Kind("admission", "ComparedAdmission", "admission compare --json"),
    "admission_decide": Kind("admission", "DecideAnswer", "admission decide --json"),
    "admission_exact": Kind("admission", "ExactAdmission", "admission exact --json"),
    "admission_fit": Kind("admission", "FittedAdmission", "admission fit --json"),
    "admission_law": Kind("admission", "LawAnswer", "admission law --json"),
    "admission_moments": Kind("admission", "MomentsAnswer", "admission moments --json"),
    "admission_optimal": Kind("admission", "OptimalAdmission", "admission optimal --json"),
    "admission_simulate": Kind("admission", "SimulatedAdmission", "admission simulate --json"),
    "admission_tune": Kind("admission", "TunedAdmission", "admission tune --json"),
    "against_fluid": Kind("fluid", "Converged", "simulate --against-fluid --json"),
    "attack": Kind("attack", "Attack", "attack --json"),
    "attack_online": Kind("attack", "OnlineAttack", "attack --kind online --json"),
    "catalogue": Kind("catalogue", "Catalogue", "catalogue --json"),
    "check": Kind("exports", "CheckedCertificate", "check --json"),
    "experiment": Kind("experiment", "Summarised", "experiment --json"),
    "experiment_status": Kind("experiment", "ExperimentStatus", "experiment --status --json"),
    "export": Kind("exports", "ExportAnswer", "export --json"),
    "fluid": Kind("fluid", "FluidAnswer", "fluid --json"),
    "log": Kind("log", "LogAnswer", "log --json"),
    "plan": Kind("plan", "PlanAnswer", "plan --json"),
    "policies": Kind("catalogue", "PolicyLine", "simulate --policy list --json", is_list=True),
    "region": Kind("region", "RegionAnswer", "region --json"),
    "reproduce": Kind("claims", "Reproduced", "reproduce --json", is_list=True),
    "reproduce_list": Kind("claims", "ListedResult", "reproduce --list --json", is_list=True),
    "share": Kind("sharing", "Shares", "share --mechanism NAME --json"),
    "share_allocation": Kind("allocation", "JudgedShares", "share --allocation FILE --json"),
    "share_all": Kind("sharing", "AllShares", "share --mechanism all --json"),
    "share_check": Kind("sharing", "CheckedShares", "share --tolerance EPS --check FILE --json"),
    "share_events": Kind("sharing", "InMotion", "share --events FILE --json"),
    "share_events_all": Kind("sharing", "AllInMotion", "share --mechanism all --events FILE --json"),
    "share_numeric": Kind("sharing", "NumericShares", "share --tolerance EPS --json"),
    "simulate": Kind("simulation", "SimulatedLoss", "simulate --json, loss systems"),
    "simulate_queue": Kind("simulation", "SimulatedQueue", "simulate --json, queues in continuous time and in slots"),
    "simulate_several": Kind("comparison", "ComparedLoss", "simulate --policy A --policy B --json, loss systems"),
    "simulate_several_queues": Kind("comparison", "ComparedQueues", "simulate --policy A --policy B --json, queues"),
    "solve": Kind("assignment", "Solved", "solve --json"),
    "solve_approximate": Kind("assignment", "Approximated", "solve --oracle fptas --epsilon EPS --json"),
    "throughput": Kind("throughput", "Throughput", "throughput --json"),
    "throughput_items": Kind("throughput", "ItemBins", "throughput --json, items of several resources"),
    "verify": Kind("claims", "Verified", "verify --json", is_list=True),
    "verify_coverage": Kind("claims", "CoveredStatement", "verify --coverage --json", is_list=True),
    "verify_with": Kind("claims", "Asked", "verify CLAIM --with NAME=VALUE --json"),
    "verify_list": Kind("claims", "Listed", "verify --list --json", is_list=True),
    "worst": Kind("worst", "Worst", "worst --json"),
    "worst_by_size": Kind("worst", "BySize", "worst --types J --resources R --json"),
}
"""The answers by the names of their schemas."""


FILES = {
    "certificate": "a certificate",
    "experiment_numbers": "experiment --number list --json",
    "instance": "an instance file",
    "sizes": "a file of sizes",
}
"""Schemas of files that packproof reads or writes, by name; they stand in ``bounds/schemas``."""


def names() -> list[str]:
    """Return the names of all schemas."""
    return sorted((*KINDS, *FILES))


def schema(name: str) -> dict[str, Any]:
    """Return the published JSON schema of an answer, or of a file.

    Raises
    ------
    InputError
        Unknown name.

    Examples
    --------
    >>> schema("solve")["title"]
    'packproof solve --json'
    """
    if name in FILES:
        file = Path(__file__).parents[1] / "schemas" / f"{name}.json"
        written: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return written
    if name not in KINDS:
        raise InputError("NAME", f"expected one of {', '.join(names())}, got {name[:60]!r}{meant(name, names())}")
    from msgspec.json import schema as json_schema

    kind = KINDS[name]
    form = json_schema(kind.type())
    for part in form["$defs"].values():  # what made an answer stands at its end
        if "made" in part["properties"]:
            part["properties"]["made"] = part["properties"].pop("made")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"packproof {kind.command}", **form}
