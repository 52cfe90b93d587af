"""Admission policies at equal SLA: utilisation, its paired differences, and a bound that no policy passes.

The cluster of ``examples/admission.toml`` (2,000 cores, one arrival in two hours, priors that are ours) for a year from
empty, at an SLA of one refused scale-out in 1,000. Every policy has five thresholds around the SLA; all of them meet
the same deployments in 100 worlds. Between thresholds utilisation is linear in the logarithm of the refused share;
intervals are BCa (95 %) over worlds, and each resample finds the threshold anew. A second cluster, of 300 cores at an
SLA of 1 %, is one where the order of zeroth and second moment is not that of the first. Run
``python -m examples.admission_policies STORE [TABLE.csv]``: the store keeps every run, so a stopped command goes on
where it was. ``examples/admission_policies.csv`` is the table that the run with 100 worlds made.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fluid.admission import (
    AdmissionCluster,
    AdmissionPolicy,
    Frontier,
    aligned_horizons,
    difference_at,
    frontiers_of,
    ladder_for,
    pathwise_bound,
    printed_horizons,
    read_admission,
)
from fluid.experiment import Store

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
        ("second moment, 41 horizons", AdmissionPolicy("second"), 0),
        ("second moment, the paper's horizons", AdmissionPolicy("second", horizons=printed_horizons()), 0),
    )
    small = replace(cluster, capacity=300, arrival_rate=0.075)
    return (
        Instance("2000 cores", cluster, 1e-3, 8760.0, policies),
        Instance("300 cores", small, 1e-2, 2190.0, tuple(one for one in policies[:4])),
    )


def frontiers(one: Instance, runs: int, pilots: int, store: Store) -> list[Frontier]:
    """Simulate every policy of an instance at five thresholds around its SLA."""
    found: list[Frontier] = []
    for name, policy, observations in one.policies:
        ladder = ladder_for(
            one.cluster, policy, one.sla, one.until, pilots=pilots, seed=1, observations=observations, store=store
        )
        (made,) = frontiers_of(
            one.cluster,
            [(policy, ladder)],
            one.until,
            replications=runs,
            seed=2,
            observations=observations,
            store=store,
        )
        found.append(made)
        used = float(made.used_at(one.sla)[0])
        print(f"{one.name}: {name}, {observations} observations: utilisation {used:.4f}", file=sys.stderr, flush=True)
    return found


COLUMNS = ("instance", "sla", "runs", "policy", "observations", "threshold", "reached", "utilisation", "low", "high",
           "above_zeroth", "above_zeroth_low", "above_zeroth_high",
           "above_second", "above_second_low", "above_second_high", "bound", "ladder")  # fmt: skip


def rows(one: Instance, found: list[Frontier], bound: float) -> list[dict[str, object]]:
    """Return the rows of the table for an instance; `reached` says whether the ladder has thresholds on both sides."""
    made = []
    zeroth, plain = found[0], found[2]
    for (name, _, observations), frontier in zip(one.policies, found, strict=True):
        used = difference_at(frontier, None, one.sla)
        row: dict[str, object] = {
            "instance": one.name,
            "sla": one.sla,
            "runs": frontier.used.shape[1],
            "policy": name,
            "observations": observations,
            "threshold": f"{frontier.threshold_at(one.sla):.6g}",
            "reached": frontier.holds(one.sla),
            "bound": f"{bound:.5f}",
            "ladder": " ".join(
                f"{x:.5g}:{y:.3g}:{u:.5f}"
                for x, y, u in zip(frontier.thresholds, frontier.shares, frontier.used.mean(axis=1), strict=True)
            ),
        }
        row |= {"utilisation": f"{used.mean:.5f}", "low": f"{used.low:.5f}", "high": f"{used.high:.5f}"}
        for column, other in (("above_zeroth", zeroth), ("above_second", plain)):
            if other is not frontier:
                gap = difference_at(frontier, other, one.sla)
                row |= {
                    column: f"{gap.mean:.5f}",
                    f"{column}_low": f"{gap.low:.5f}",
                    f"{column}_high": f"{gap.high:.5f}",
                }
        made.append(row)
    return made


def main(
    store: str,
    table: str | None = None,
    runs: int = 100,
    pilots: int = 12,
    chosen: tuple[Instance, ...] | None = None,
) -> list[dict[str, object]]:
    """Print the table, and write it where a name is given."""
    made: list[dict[str, object]] = []
    with Store(store) as held:
        for one in chosen or instances():
            found = frontiers(one, runs, pilots, held)
            bound = pathwise_bound(one.cluster, one.until, replications=runs, seed=2)
            made += rows(one, found, float(np.mean(bound.by_run)))
    for row in made:
        line = f"{row['instance']:10}  {row['policy']:36} {row['observations']:2} observations  {row['utilisation']}"
        if "above_zeroth" in row:
            line += f"  above zeroth {row['above_zeroth']} [{row['above_zeroth_low']}, {row['above_zeroth_high']}]"
        else:
            line += f"  no policy is above {row['bound']}"
        print(line)
    if table is not None:
        with open(table, "w", newline="") as stream:
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows(made)
    return made


if __name__ == "__main__":
    main(*sys.argv[1:3])
