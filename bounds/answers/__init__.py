"""The answers of commands as typed records: a file a subject, and here their names.

`record` says what an answer is and how the records of a result become one.
"""

from __future__ import annotations

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
        answer: Any = getattr(imported(f"bounds.answers.{self.subject}"), self.name)
        return list.__class_getitem__(answer) if self.is_list else answer


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


class File(NamedTuple):
    """What a file is, and where its record is; one that an answer may be has what made it."""

    what: str
    place: str
    made: bool = True

    def record(self) -> Any:
        """Return the record; its file is loaded."""
        module, name = self.place.split(":")
        return getattr(imported(module), name)

    def schema(self) -> dict[str, Any]:
        """Return the schema of the record."""
        from msgspec.json import schema as json_schema

        from bounds.answers.shared import Made
        from theory.files.schema import schema_of

        form = schema_of(self.record())
        if self.made:
            schema_of_made = json_schema(Made)
            form["$defs"][self.record().__name__]["properties"]["made"] = {"$ref": schema_of_made["$ref"]}
            form["$defs"] |= schema_of_made["$defs"]
        return form


FILES = {
    "admission": File("an admission file", "fluid.admission.law.admission_files:AdmissionFile"),
    "certificate": File("a certificate", "bounds.certificates.document:Certificate", made=False),
    "cluster": File("a cluster file", "theory.files.clusters:ClusterFile"),
    "deployments": File("the deployments of a cluster", "fluid.admission.law.admission_files:StateFile"),
    "events": File("events of sharing", "fluid.limits.sharing:EventsFile"),
    "experiment_numbers": File("experiment --number list --json", "fluid.experiment.grid:Numbers", made=False),
    "grid": File("the grid of an experiment", "fluid.experiment.grid_file:GridFile"),
    "instance": File("an instance file", "theory.files.instances:InstanceFile"),
    "items": File("a list of items", "theory.files.items:ItemsFile"),
    "observed": File("what was observed of a deployment", "fluid.admission.law.admission_files:ObservedFile"),
    "own_types": File("types of your own", "theory.files.price_catalogue:OwnTypesFile"),
    "sizes": File("a file of sizes", "theory.files.sizes:SizesFile"),
    "start": File("a state of the fluid limit", "fluid.limits.reservation.files:StartFile"),
}
"""Files that packproof reads or writes, by the names of their schemas, which come from their records."""

DRAFT = "https://json-schema.org/draft/2020-12/schema"


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
        return {"$schema": DRAFT, "title": f"packproof: {FILES[name].what}", **FILES[name].schema()}
    if name not in KINDS:
        raise InputError("NAME", f"expected one of {', '.join(names())}, got {name[:60]!r}{meant(name, names())}")
    from msgspec.json import schema as json_schema

    kind = KINDS[name]
    form = json_schema(kind.type())
    for part in form["$defs"].values():  # what made an answer stands at its end
        if "made" in part["properties"]:
            part["properties"]["made"] = part["properties"].pop("made")
    return {"$schema": DRAFT, "title": f"packproof {kind.command}", **form}
