"""Files of cluster admission: ``[cluster]`` and ``[deployments]``, or ``[[kind]]`` in place of priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar

from fluid.admission.law.belief import Observed, Tenant
from fluid.admission.law.cluster import (
    MOST_KAPPA,
    AdmissionCluster,
    Cores,
    Gamma,
    InitialSize,
    Kind,
    NotNegative,
    Priors,
)
from theory.errors import InputError, naming
from theory.files.document import Fields, read_document
from theory.files.open_table import is_table, opened
from theory.files.record import (
    Either,
    Expected,
    Given,
    Named,
    Range,
    Reading,
    Some,
    Tables,
    fields_of,
    read,
    read_file,
)
from theory.numbers import many

MOST_ARRIVALS = 10**9
"""Most arrivals an hour: beyond it, the rates of a chain are too far apart for linear programs in floats."""
HOURLY = Expected(f"a number greater than 0 and at most {MOST_ARRIVALS:,} an hour")

_INITIAL = '"1 + poisson", a number of cores, or sizes'
_Gamma = Annotated[Gamma, Expected("a Gamma law { shape = ..., rate = ... }")]


def _poisson(value: str) -> str:
    if value.replace(" ", "") != "1+poisson":
        raise ValueError("no law of that name")
    return "1 + poisson"


@dataclass(frozen=True)
class ClusterTable:
    """The cluster that deployments want to enter."""

    capacity: Annotated[Cores, "cores"]
    arrival_rate: Annotated[
        float,
        Range(0, MOST_ARRIVALS, above=True),
        HOURLY,
        "new deployments an hour",
    ]


@dataclass(frozen=True)
class InitialTable:
    """The sizes that a deployment may have at first."""

    sizes: Annotated[tuple[Cores, ...], Some("a list of at least one number"), "in cores"]
    probabilities: Annotated[
        tuple[Annotated[Fraction, Range(0)], ...], Some("a list of at least one number"), "one a size, with sum 1"
    ]

    def __post_init__(self) -> None:
        if len(self.sizes) != len(self.probabilities):
            expected = f"expected {many(len(self.sizes), 'number')}, one a size"
            raise InputError("probabilities", f"{expected}, got {len(self.probabilities)}")
        if sum(self.probabilities) != 1:
            raise InputError("probabilities", f"expected numbers with sum 1, got {float(sum(self.probabilities)):g}")


@dataclass(frozen=True)
class DeploymentsTable:
    """Deployments whose parameters are drawn from Gamma laws."""

    mu: Annotated[_Gamma, "rate per hour at which a core ends"]
    lam: Annotated[_Gamma, Named("lambda"), "normalised rate of scale-outs"]
    sigma: Annotated[_Gamma, "mean of a scale-out's size minus 1"]
    kappa: Annotated[
        float,
        Range(-MOST_KAPPA, MOST_KAPPA, above=True, below=True, why="a fit that ends there did not converge"),
        "scale-outs come at rate lambda mu^kappa; the range is that which `fit` searches",
    ]
    delta: Annotated[NotNegative, "the maximum lifetime is Exp(delta mu); 0 for none"]
    initial: Annotated[
        Annotated[str, Reading(_INITIAL, _poisson)] | Cores | InitialTable,
        Expected(_INITIAL),
        "cores at arrival: 1 + Poisson(sigma), one number, or `sizes` with `probabilities`",
    ] = "1 + poisson"

    def priors(self) -> Priors:
        """Return the laws."""
        initial = self.initial
        if isinstance(initial, str):
            law = InitialSize()
        elif isinstance(initial, int):
            law = InitialSize((initial,), (1.0,))
        else:
            law = InitialSize(initial.sizes, tuple(map(float, initial.probabilities)))
        return Priors(self.mu, self.lam, self.sigma, self.kappa, self.delta, law)


@dataclass(frozen=True)
class AdmissionFile:
    """A cluster and the laws, or the known kinds, of its deployments: what the commands of `admission` read."""

    SIGN: ClassVar = "deployments"
    EITHER: ClassVar = Either(("deployments", "kind"))

    cluster: Annotated[ClusterTable, Expected("a table [cluster] with capacity and arrival_rate")]
    deployments: Annotated[DeploymentsTable | None, Expected("a table of priors")] = None
    kind: Annotated[tuple[Kind, ...] | None, Tables("at least one table [[kind]]"), "in place of laws"] = None


@dataclass(frozen=True)
class ObservedFile(Observed):
    """What was seen of one living deployment."""

    SIGN: ClassVar = "core_deaths"


@dataclass(frozen=True)
class TenantTable(Observed):
    """A deployment as it is now."""

    cores: Annotated[Cores, Given(), "cores that are active"] = 1
    name: Annotated[Any, "for readers"] = None

    def tenant(self) -> Tenant:
        """Return the deployment."""
        return Tenant(self.cores, _observed(self))


def _observed(found: Observed) -> Observed:
    """Return what was observed as such, without what a file has beside it."""
    return Observed(**{one.name: getattr(found, one.name) for one in fields_of(Observed)})


@dataclass(frozen=True)
class StateFile:
    """The deployments of a cluster, perhaps none."""

    SIGN: ClassVar = "deployment"

    deployment: Annotated[
        tuple[Annotated[TenantTable, Expected("a table")], ...],
        Expected("a list of deployments, each with cores and what was observed"),
    ]


def read_admission(path: str | Path) -> AdmissionCluster:
    """Read a cluster and its deployments from a TOML or JSON file.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    return parse_admission(read_document(path), str(path))


def parse_admission(document: Mapping[str, Any], source: str = "admission") -> AdmissionCluster:
    """Turn a document into a cluster; `source` names it in errors (see `read_admission`).

    Examples
    --------
    >>> found = parse_admission({"cluster": {"capacity": 4, "arrival_rate": 1},
    ...     "kind": [{"probability": 1, "mu": 1, "scale_out_rate": "1/2", "shutdown_rate": 0, "size": 1}]})
    >>> found.kinds[0].scale_out_rate, found.kinds[0].batch
    (0.5, 1)
    """
    file = read_file(AdmissionFile, document, source)
    deployments = file.kind if file.deployments is None else file.deployments.priors()
    with naming(source, ("cluster", "kind")):
        return AdmissionCluster(file.cluster.capacity, file.cluster.arrival_rate, deployments or (), source)


def read_observed(path: str | Path) -> Observed:
    """Read what was observed of one living deployment.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    found = read_file(ObservedFile, read_document(path), str(path))
    return _observed(found)


def read_state(path: str | Path) -> list[Tenant]:
    """Read the deployments of a cluster: what each has now, and what was seen of it.

    Parameters
    ----------
    path : str or Path
        A table such as a CSV (by the end of its name) with the columns ``cores`` and those of `read_observed`, in any
        order, and perhaps ``name``; otherwise TOML or JSON with such fields in a list ``deployment``. No row is an
        empty cluster.

    Raises
    ------
    InputError
        One line that names the file, the line or the deployment, the field and what was expected.
    """
    if not is_table(path):
        return [row.tenant() for row in read_file(StateFile, read_document(path), str(path)).deployment]
    with opened(path) as table:
        columns = [one.name for one in fields_of(TenantTable) if one.name != "name"]
        if sorted(name for name in table.header if name != "name") != sorted(columns):
            expected = f"expected a header with {', '.join(columns)}, and perhaps name, each once"
            table.fail(table.first, "", expected)
        rows = ((line, dict(zip(table.header, row, strict=True))) for line, row in table.rows())
        return [read(TenantTable, Fields(row, f"{path}:{line}")).tenant() for line, row in rows]
