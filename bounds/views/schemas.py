"""The JSON schemas of answers, made from their types: ``python -m bounds.views.schemas`` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from bounds.views.admission import (
    BeliefAnswer,
    DecideAnswer,
    ExactAdmission,
    LawAnswer,
    MomentsAnswer,
    OptimalAdmission,
    SimulatedAdmission,
    TunedAdmission,
)
from bounds.views.assignment import Solved, Worst
from bounds.views.attack import Attack, OnlineAttack
from bounds.views.by_size import BySize
from bounds.views.catalogue import Catalogue, PolicyLine
from bounds.views.claims import CoveredStatement, Listed, ListedResult, Reproduced, Verified
from bounds.views.comparison import ComparedLoss, ComparedQueues, Converged
from bounds.views.experiment import ExperimentStatus, Summarised
from bounds.views.exports import ExportAnswer
from bounds.views.fluid import FluidAnswer
from bounds.views.region import RegionAnswer
from bounds.views.sharing import AllInMotion, AllShares, CheckedShares, InMotion, NumericShares, Shares
from bounds.views.simulation import SimulatedLoss, SimulatedQueue
from bounds.views.throughput import ItemBins, Throughput

ANSWERS: dict[str, tuple[str, Any]] = {
    "solve": ("packproof solve --json", Solved),
    "worst": ("packproof worst --json", Worst),
    "worst_by_size": ("packproof worst --types J --resources R --json", BySize),
    "region": ("packproof region --json", RegionAnswer),
    "throughput": ("packproof throughput --json", Throughput),
    "throughput_items": ("packproof throughput --json, items of several resources", ItemBins),
    "share": ("packproof share --mechanism NAME --json", Shares),
    "share_all": ("packproof share --mechanism all --json", AllShares),
    "share_events": ("packproof share --events FILE --json", InMotion),
    "share_events_all": ("packproof share --mechanism all --events FILE --json", AllInMotion),
    "share_numeric": ("packproof share --tolerance EPS --json", NumericShares),
    "share_check": ("packproof share --tolerance EPS --check FILE --json", CheckedShares),
    "fluid": ("packproof fluid --json", FluidAnswer),
    "simulate": ("packproof simulate --json, loss systems", SimulatedLoss),
    "simulate_queue": ("packproof simulate --json, queues in continuous time and in slots", SimulatedQueue),
    "simulate_several": ("packproof simulate --policy A --policy B --json, loss systems", ComparedLoss),
    "simulate_several_queues": ("packproof simulate --policy A --policy B --json, queues", ComparedQueues),
    "against_fluid": ("packproof simulate --against-fluid --json", Converged),
    "experiment": ("packproof experiment --json", Summarised),
    "catalogue": ("packproof catalogue --json", Catalogue),
    "policies": ("packproof simulate --policy list --json", list[PolicyLine]),
    "experiment_status": ("packproof experiment --status --json", ExperimentStatus),
    "attack": ("packproof attack --json", Attack),
    "attack_online": ("packproof attack --kind online --json", OnlineAttack),
    "export": ("packproof export --json", ExportAnswer),
    "admission_moments": ("packproof admission moments --json", MomentsAnswer),
    "admission_law": ("packproof admission law --json", LawAnswer),
    "admission_belief": ("packproof admission belief --json", BeliefAnswer),
    "admission_decide": ("packproof admission decide --json", DecideAnswer),
    "admission_simulate": ("packproof admission simulate --json", SimulatedAdmission),
    "admission_tune": ("packproof admission tune --json", TunedAdmission),
    "admission_exact": ("packproof admission exact --json", ExactAdmission),
    "admission_optimal": ("packproof admission optimal --json", OptimalAdmission),
    "reproduce": ("packproof reproduce --json", list[Reproduced]),
    "reproduce_list": ("packproof reproduce --list --json", list[ListedResult]),
    "verify": ("packproof verify --json", list[Verified]),
    "verify_list": ("packproof verify --list --json", list[Listed]),
    "verify_coverage": ("packproof verify --coverage --json", list[CoveredStatement]),
}
"""By the name of the file in ``bounds/schemas``: what it describes, and the type of the answer."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON schema of an answer."""
    title, kind = ANSWERS[name]
    made = msgspec.json.schema(kind)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **made}


def written(name: str) -> str:
    """Return the text of a published schema."""
    return json.dumps(schema(name), indent=2) + "\n"


def main() -> None:
    """Write the published schemas."""
    folder = Path(__file__).parents[1] / "schemas"
    for name in ANSWERS:
        (folder / f"{name}.json").write_text(written(name))


if __name__ == "__main__":
    main()
