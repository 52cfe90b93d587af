"""Files of cluster admission: ``[cluster]`` and ``[deployments]``, or ``[[kind]]`` in place of priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields as dataclass_fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from fluid.admission.law.belief import Observed, Tenant
from fluid.admission.law.cluster import MOST_KAPPA, AdmissionCluster, Gamma, InitialSize, Kind, Priors
from theory.errors import InputError, naming
from theory.files.document import Fields, Numeral, read_document
from theory.files.table import is_table, opened
from theory.numbers import many, text

TABLES = ("cluster", "deployments", "kind")

MOST_ARRIVALS = 10**9
"""Most arrivals an hour: beyond it, the rates of a chain are too far apart for linear programs in floats."""

MOST_COUNT = 2**53
"""Counts and cores beyond it are not whole in floats."""

POSITIVE = "a number greater than 0"
AT_LEAST_0 = "a number of at least 0"


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
    top = Fields(document, source)
    top.refuse_other_kinds("a cluster with deployments", "cluster")
    cluster = top.table("cluster", "a table [cluster] with capacity and arrival_rate")
    capacity = _count(cluster, "capacity", "a whole number of at least 1", least=1)
    arrival_rate = float(cluster.number("arrival_rate", POSITIVE, strict=True))
    if arrival_rate > MOST_ARRIVALS:
        cluster.fail("arrival_rate", f"expected at most {MOST_ARRIVALS:,} an hour, got {arrival_rate:g}")
    cluster.finish()
    deployments: Priors | tuple[Kind, ...]
    if top.has("kind"):
        if top.has("deployments"):
            top.fail("kind", "expected priors [deployments] or known kinds [[kind]], found both")
        deployments = tuple(_kind(fields) for fields in top.tables("kind", "at least one table [[kind]]"))
    else:
        deployments = _priors(top.table("deployments", "a table of priors, or known kinds [[kind]]"))
    top.finish(TABLES)
    with naming(source, TABLES):
        return AdmissionCluster(capacity, arrival_rate, deployments, source)


def _count(fields: Fields, name: str, expected: str = "a whole number", *, least: int = 0) -> int:
    """Take a whole number that floats hold."""
    value = fields.integer(name, expected, least=least)
    if value > MOST_COUNT:
        fields.fail(name, f"expected at most 2^53, about {MOST_COUNT:.3g}, got {text(Fraction(value))}")
    return value


def _kind(fields: Fields) -> Kind:
    probability = float(fields.number("probability", "a number of at least 0"))
    mu = float(fields.number("mu", POSITIVE, strict=True))
    scale_out = float(fields.number("scale_out_rate", AT_LEAST_0))
    shutdown = float(fields.number("shutdown_rate", AT_LEAST_0))
    size = _count(fields, "size", "a whole number of at least 1", least=1)
    batch = _count(fields, "batch", "a whole number of at least 1", least=1) if fields.has("batch") else 1
    fields.finish()
    return Kind(probability, mu, scale_out, shutdown, size, batch)


def _priors(fields: Fields) -> Priors:
    laws = []
    for name in ("mu", "lambda", "sigma"):
        table = fields.table(name, "a Gamma law { shape = ..., rate = ... }")
        shape, rate = (float(table.number(one, POSITIVE, strict=True)) for one in ("shape", "rate"))
        table.finish()
        laws.append(Gamma(shape, rate))
    within = f"a number above -{MOST_KAPPA:g} and below {MOST_KAPPA:g}"
    kappa = fields.number("kappa", within, least=-(10**9))
    if not -MOST_KAPPA < kappa < MOST_KAPPA:
        advice = " (a fit that ends there did not converge)" if abs(kappa) == MOST_KAPPA else ""
        fields.fail("kappa", f"expected {within}, got {float(kappa):g}{advice}")
    delta = float(fields.number("delta", AT_LEAST_0))
    initial = _initial(fields) if fields.has("initial") else InitialSize()
    fields.finish()
    mu, lam, sigma = laws
    return Priors(mu, lam, sigma, float(kappa), delta, initial)


def _initial(fields: Fields) -> InitialSize:
    value = fields.peek("initial")
    if isinstance(value, str) and not isinstance(value, Numeral):
        fields.take("initial", "a law")
        if value.replace(" ", "") != "1+poisson":
            fields.fail("initial", f'expected "1 + poisson", a number of cores, or sizes, got {value!r}')
        return InitialSize()
    if not isinstance(value, Mapping):
        return InitialSize((_count(fields, "initial", "a whole number of at least 1", least=1),), (1.0,))
    table = fields.table("initial")
    columns: list[list[Fraction]] = []
    for name in ("sizes", "probabilities"):
        values = table.take(name, "a list of numbers")
        if not isinstance(values, list) or not values:
            table.fail(name, "expected a list of at least one number")
        row = Fields({str(i): value for i, value in enumerate(values)}, fields.source, f"{table.place}.{name}")
        columns.append([row.number(str(i)) for i in range(len(values))])
    table.finish()
    sizes, probabilities = columns
    if any(size.denominator != 1 or not 1 <= size <= MOST_COUNT for size in sizes):
        table.fail("sizes", "expected whole numbers from 1 to 2^53")
    if len(sizes) != len(probabilities):
        table.fail("probabilities", f"expected {many(len(sizes), 'number')}, one a size, got {len(probabilities)}")
    if sum(probabilities) != 1:
        table.fail("probabilities", f"expected numbers with sum 1, got {float(sum(probabilities)):g}")
    return InitialSize(tuple(int(size) for size in sizes), tuple(float(p) for p in probabilities))


def read_observed(path: str | Path) -> Observed:
    """Read what was observed of one living deployment.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    fields = Fields(read_document(path), str(path))
    fields.refuse_other_kinds("what was observed of a deployment", "core_deaths", each="field")
    return _observed(fields)


def _observed(fields: Fields) -> Observed:
    deaths = _count(fields, "core_deaths")
    core_time = float(fields.number("core_time", "hours, at least 0"))
    alive_time = float(fields.number("alive_time", "hours, at least 0"))
    scale_outs = _count(fields, "scale_outs")
    extra = _count(fields, "extra_cores")
    sizes = _count(fields, "sizes")
    fields.finish()
    try:
        return Observed(deaths, core_time, alive_time, scale_outs, extra, sizes)
    except InputError as error:
        raise error.within(fields.source) from error


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
        top = Fields(read_document(path), str(path))
        top.refuse_other_kinds("the deployments of a cluster", "deployment")
        rows = top.take("deployment", "a list of deployments, each with cores and what was observed")
        if not isinstance(rows, list):
            top.fail("deployment", "expected a list of deployments, each with cores and what was observed")
        top.finish(("deployment",))
        return [_tenant(Fields(row, str(path), f"deployment[{i}]")) for i, row in enumerate(rows, 1)]
    with opened(path) as table:
        columns = ["cores", *(one.name for one in dataclass_fields(Observed))]
        if sorted(name for name in table.header if name != "name") != sorted(columns):
            expected = f"expected a header with {', '.join(columns)}, and perhaps name, each once"
            table.fail(table.first, "", expected)
        rows = ((line, dict(zip(table.header, row, strict=True))) for line, row in table.rows())
        return [_tenant(Fields(row, f"{path}:{line}")) for line, row in rows]


def _tenant(fields: Fields) -> Tenant:
    if fields.has("name"):
        fields.take("name", "the name of a deployment")
    cores = _count(fields, "cores", "a whole number of at least 1", least=1)
    return Tenant(cores, _observed(fields))
