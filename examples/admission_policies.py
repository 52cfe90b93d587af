"""Admission policies at equal SLA: utilisation, its paired differences, and a bound that no policy passes.

The cluster of ``examples/admission.toml`` (2,000 cores, one arrival in two hours, priors that are ours) for a year from
empty, at an SLA of one refused scale-out in 1,000. Every policy has five thresholds around the SLA; all of them meet
the same deployments in 100 worlds. Between thresholds utilisation is linear in the logarithm of the refused share;
intervals are BCa (95 %) over worlds, and each resample finds the threshold anew. A second cluster, of 300 cores at an
SLA of 1 % for a quarter of a year, is the second instance; there the same policy also stands at 40 horizons and at the
paper's 2,663. Run ``python -m examples.admission_policies STORE [TABLE.csv PICTURE.png]``: the store keeps every run,
so a stopped command goes on where it was, and the table is written anew whenever a policy is finished. The rows of
``examples/admission_policies.csv`` come from runs with 100 worlds.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from packproof.admission import (
    AdmissionCluster,
    AdmissionPolicy,
    Frontier,
    aligned_horizons,
    difference_at,
    frontier_at,
    pathwise_bound,
    printed_horizons,
    read_admission,
)
from packproof.experiment import Store
from packproof.views import Bars, arguments, picture_of_panels

FEW = aligned_horizons(steps=256)
"""Eleven horizons from 0.04 hours to over three years, each four times the one before."""


@dataclass(frozen=True)
class Instance:
    """A cluster with its SLA, hours, worlds, and policies by (name, observations before arrival)."""

    name: str
    cluster: AdmissionCluster
    sla: float
    until: float
    policies: tuple[tuple[str, AdmissionPolicy, int], ...]


def second(moments: str = "exact", marginal: float = 0.0) -> AdmissionPolicy:
    """Return the second-moment policy at few horizons."""
    return AdmissionPolicy("second", moments=moments, marginal=marginal, horizons=FEW)


def instances() -> tuple[Instance, Instance]:
    """Return the two clusters with their policies."""
    cluster = read_admission(Path(__file__).parent / "admission.toml")
    policies = (
        ("zeroth moment", AdmissionPolicy("zeroth"), 0),
        ("first moment", AdmissionPolicy("first", horizons=FEW), 0),
        ("second moment", second(), 0),
        ("second moment, the paper's moments", second("paper"), 0),
        ("second moment, marginal heuristic", second(marginal=1.0), 0),
        ("first moment", AdmissionPolicy("first", horizons=FEW), 5),
        ("second moment", second(), 1),
        ("second moment", second(), 5),
        ("second moment", second(), 50),
        ("second moment, the paper's moments", second("paper"), 50),
        ("second moment, marginal heuristic", second(marginal=1.0), 50),
        ("second moment, 40 horizons", AdmissionPolicy("second"), 0),
        ("second moment, the paper's horizons", AdmissionPolicy("second", horizons=printed_horizons()), 0),
    )
    small = replace(cluster, capacity=300, arrival_rate=0.075)
    return (
        Instance("300 cores", small, 1e-2, 2190.0, policies),
        Instance("2000 cores", cluster, 1e-3, 8760.0, policies[:11]),
    )


def frontiers(one: Instance, runs: int, pilots: int, store: Store) -> Iterator[Frontier]:
    """Simulate every policy of an instance at five thresholds around its SLA."""
    for _, policy, observations in one.policies:
        yield frontier_at(
            one.cluster,
            policy,
            one.sla,
            one.until,
            replications=runs,
            pilots=pilots,
            steps=5,
            seed=2,
            observations=observations,
            store=store,
        )


COLUMNS = ("instance", "sla", "runs", "policy", "observations", "threshold", "reached", "utilisation", "low", "high",
           "above_zeroth", "above_zeroth_low", "above_zeroth_high",
           "above_second", "above_second_low", "above_second_high", "bound", "ladder")  # fmt: skip


def row_of(one: Instance, found: list[Frontier], bound: float) -> dict[str, object]:
    """Return the row of the last policy found; `reached` says whether its ladder has thresholds on both sides."""
    name, _, observations = one.policies[len(found) - 1]
    last = found[-1]
    used = difference_at(last, None, one.sla)
    row: dict[str, object] = {
        "instance": one.name,
        "sla": one.sla,
        "runs": last.used.shape[1],
        "policy": name,
        "observations": observations,
        "threshold": f"{last.threshold_at(one.sla):.6g}",
        "reached": last.holds(one.sla),
        "utilisation": f"{used.mean:.5f}",
        "low": f"{used.low:.5f}",
        "high": f"{used.high:.5f}",
        "bound": f"{bound:.5f}",
        "ladder": " ".join(
            f"{x:.5g}:{y:.3g}:{u:.5f}"
            for x, y, u in zip(last.thresholds, last.shares, last.used.mean(axis=1), strict=True)
        ),
    }
    for column, at in (("above_zeroth", 0), ("above_second", 2)):
        if at < len(found) - 1:
            gap = difference_at(last, found[at], one.sla)
            row |= {column: f"{gap.mean:.5f}", f"{column}_low": f"{gap.low:.5f}", f"{column}_high": f"{gap.high:.5f}"}
    return row


def line_of(row: dict[str, object]) -> str:
    """Return a row as text."""
    made = f"{row['instance']:10}  {row['policy']:36} {row['observations']:2} observations  {row['utilisation']}"
    if "above_zeroth" in row:
        return f"{made}  above zeroth {row['above_zeroth']} [{row['above_zeroth_low']}, {row['above_zeroth_high']}]"
    return f"{made}  no policy is above {row['bound']}"


def main(
    store: str,
    table: str | None = None,
    picture: str | None = None,
    runs: int = 100,
    pilots: int = 12,
    chosen: tuple[Instance, ...] | None = None,
) -> list[dict[str, object]]:
    """Print the table row by row, and write it where a name is given."""
    made: list[dict[str, object]] = []
    with Store(store) as held:
        for one in chosen or instances():
            bounds = pathwise_bound(one.cluster, one.until, replications=runs, seed=2, first=pilots)
            bound = float(np.mean(bounds.by_run))
            found: list[Frontier] = []
            for frontier in frontiers(one, runs, pilots, held):
                found.append(frontier)
                made.append(row_of(one, found, bound))
                print(line_of(made[-1]), flush=True)
                if table is not None:
                    with open(table, "w", newline="") as stream:
                        writer = csv.DictWriter(stream, COLUMNS)
                        writer.writeheader()
                        writer.writerows(made)
    if picture is not None:
        draw(made, picture)
    return made


def draw(rows: Sequence[Mapping[str, object]], picture: str) -> None:
    """Draw the utilisation of each row with its interval; rows may be those of a table that was read."""
    panels = []
    for name in dict.fromkeys(str(row["instance"]) for row in rows):
        mine = [row for row in rows if row["instance"] == name]
        numbers = [[float(str(row[column])) for row in mine] for column in ("utilisation", "low", "high")]
        seen = [int(str(row["observations"])) for row in mine]
        bars = [f"{row['policy']}, {n} observation{'s' * (n != 1)}" for row, n in zip(mine, seen, strict=True)]
        whiskers = list(zip(*numbers[1:], strict=True))
        parts = [("utilisation", numbers[0])]
        cores, _, unit = name.partition(" ")
        title = f"{int(cores):,} {unit}, SLA {float(str(mine[0]['sla'])):g}"
        panels.append(Bars("utilisation (share of cores)", bars, parts, title, whiskers=whiskers))
    picture_of_panels(panels, picture, "Admission policies at equal SLA", columns=1, height=3.0)


if __name__ == "__main__":
    given = arguments(__doc__, "STORE", "TABLE.csv", "PICTURE.png")
    if not given:
        raise SystemExit("expected the name of a store, which keeps the runs")
    main(*given)
