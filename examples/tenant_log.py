"""A log of VMs of tenants, simulated from laws that are known: `python -m examples.tenant_log examples/tenant_log.csv`.

Every deployment has a row for each of its VMs, with the deployment's name, a start and an end; the end is empty where
the VM still runs when the log ends. VMs have one core. `packproof admission fit examples/tenant_log.csv` finds laws
again that are within a few standard errors of those of `CLUSTER`.
"""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta

import numpy as np

from packproof import admission
from packproof.views import arguments

CLUSTER = admission.AdmissionCluster(
    150,
    0.16,
    admission.Priors(
        admission.Gamma(2.0, 60.0), admission.Gamma(1.5, 1.2), admission.Gamma(1.2, 0.8), kappa=1.1, delta=0.2
    ),
)
"""A core lasts for some days, and a deployment grows by a few VMs at a time."""

OPENS = datetime(2026, 3, 1, tzinfo=UTC)

HOURS = 1080.0

SEED = 7


def rows_of(world: admission.World, until: float) -> list[tuple[str, float, float | None]]:
    """Return a row for each core: the deployment, the hours of its start and of its end (None where it still runs)."""
    deaths: list[list[float]] = [[] for _ in world.size]
    begins = np.zeros(len(world.size))
    shut = np.full(len(world.arrival), np.inf)
    for time, what, batch in zip(world.time.tolist(), world.what.tolist(), world.batch.tolist(), strict=True):
        if what == 2:  # the end of a core
            deaths[batch].append(time)
        elif what == 3:  # the end of a deployment
            shut[world.deployment[batch]] = time
        else:
            begins[batch] = time
    rows: list[tuple[str, float, float | None]] = []
    for batch, deployment in enumerate(world.deployment.tolist()):
        last = shut[deployment] if shut[deployment] < until else None
        ends = [*deaths[batch], *[last] * (int(world.size[batch]) - len(deaths[batch]))]
        rows += [(f"tenant-{deployment + 1}", float(begins[batch]), end) for end in ends]
    return sorted(rows, key=lambda row: row[1])


def main(path: str = "examples/tenant_log.csv") -> int:
    """Write the log and return its number of rows."""
    rows = rows_of(admission.draw_world(CLUSTER, HOURS, SEED), HOURS)

    def date(hours: float | None) -> str:
        return "" if hours is None else (OPENS + timedelta(seconds=round(hours * 3600))).isoformat()

    with open(path, "w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["deployment", "started_at", "ended_at"])
        table.writerows((name, date(start), date(end)) for name, start, end in rows)
    print(f"{len(rows)} VMs of {len({name for name, _, _ in rows})} deployments in {path}")
    return len(rows)


if __name__ == "__main__":
    main(*arguments(__doc__, "LOG.csv"))
