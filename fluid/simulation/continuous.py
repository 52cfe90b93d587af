"""The table ``[simulation]`` in continuous time, for loss systems and queues: laws of arrivals and of service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, nextafter
from typing import Annotated, Any, Literal

from fluid.simulation.arrivals import NAMES, ArrivalLaw, Law
from fluid.simulation.documents import Table
from theory.files.document import Fields
from theory.files.record import Expected, Range, read

SHAPED = ("hyper-exponential", "log-normal")
"""Laws with a shape, the number ``scv``."""

MILLION = 1e6

Shape = Annotated[
    float,
    Range(0, nextafter(MILLION, -inf), above=True),
    Expected("variance over squared mean, more than 0 and less than a million"),
    "variance over squared mean, of laws with a shape",
]


@dataclass(frozen=True)
class LawTable:
    """A law of positive times."""

    law: Annotated[Literal["exponential", "hyper-exponential", "deterministic", "log-normal"], "the law"]
    scv: Shape = 4.0


@dataclass(frozen=True)
class ArrivalTable:
    """A law of the times between arrivals, perhaps of batches."""

    law: Annotated[Literal["poisson", "exponential", "hyper-exponential", "deterministic", "log-normal"], "the law"]
    scv: Shape = 4.0
    batch: Annotated[float, Range(1, MILLION), Expected("mean jobs in a batch, 1 to a million"), "jobs"] = 1.0
    sizes: Annotated[Literal["fixed", "geometric"], "whether all batches are equal"] = "fixed"


@dataclass(frozen=True)
class ContinuousTable(Table):
    """What the table says in continuous time."""

    arrivals: ArrivalLaw = ArrivalLaw()
    service: Law = Law()

    @staticmethod
    def own_fields(fields: Fields, *, of_sizes: bool) -> dict[str, Any]:
        """Take the fields of the model, which has no law of sizes."""
        del of_sizes
        own: dict[str, Any] = {}
        if fields.has("arrivals"):
            own["arrivals"] = _arrivals(fields)
        if fields.has("service"):
            own["service"] = _service(fields)
        if fields.has("slot"):
            fields.take("slot", "seconds a slot")  # for slotted policies, which may share the file
        return own


def _service(fields: Fields) -> Law:
    expected = f"one of {', '.join(NAMES)}, or a table with law and scv"
    value = fields.take("service", expected)
    if isinstance(value, str) and value in NAMES:
        return Law(value)
    if not isinstance(value, Mapping):
        fields.refuse("service", expected, value)
    table = Fields(value, fields.source, fields.where("service"))
    return _law_of(table, read(LawTable, _with_shape(table)))


def _arrivals(fields: Fields) -> ArrivalLaw:
    expected = "poisson, a table with law, and scv, batch and sizes where they apply, or one with trace"
    value = fields.take("arrivals", expected)
    if isinstance(value, str) and value in ("poisson", *NAMES):
        return ArrivalLaw(Law() if value == "poisson" else Law(value))
    if not isinstance(value, Mapping):
        fields.refuse("arrivals", expected, value)
    table = _with_shape(Fields(value, fields.source, fields.where("arrivals")))
    if "sizes" in value and "batch" not in value:
        table.fail("sizes", "expected batch, the mean jobs in a batch, beside it")
    given = read(ArrivalTable, table)
    is_geometric = given.sizes == "geometric"
    if not is_geometric and given.batch != int(given.batch):
        whole = "a whole number up to a million (geometric sizes: any)"
        table.fail("batch", f"expected {whole}, got {given.batch:g}")
    return ArrivalLaw(_law_of(table, given), given.batch, is_geometric)


def _with_shape(table: Fields) -> Fields:
    """Refuse a shape of a law that has none."""
    law = table.peek("law")
    if table.peek("scv") is not None and law in ("poisson", *NAMES) and law not in SHAPED:
        table.fail("scv", f"expected it beside {' or '.join(SHAPED)} only: {law} has no shape to choose")
    return table


def _law_of(table: Fields, given: LawTable | ArrivalTable) -> Law:
    if given.law == "hyper-exponential" and given.scv <= 1:
        more = "variance over squared mean, more than 1 and less than a million"
        table.fail("scv", f"expected {more}, got {given.scv:g}")
    return Law("exponential" if given.law == "poisson" else given.law, given.scv)
