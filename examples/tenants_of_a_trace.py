"""Gamma laws of core lifetimes and initial sizes from a real trace: Google 2011, jobs as deployments, tasks as cores.

Arrivals inside the window only (who was there before has survived). A task that is killed, evicted, fails, or is there
at the end of the 5,611 seconds is censored: it adds time alone. All tasks of a job count as its initial size. The trace
part has no scale-outs, so lambda, kappa and delta cannot be fitted from it, and after a watch of 83 minutes the law of
mu says nothing of slow tenants. Run ``python -m examples.tenants_of_a_trace``; the folder of data is PACKPROOF_DATA.
"""

from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import numpy as np

from packproof.admission import Gamma, Watched, fit_lifetimes_and_sizes
from packproof.views import arguments

OPENS, ENDS = 600_000_000, 5_611_090_000
"""The window, in microseconds."""


def watched_jobs(path: Path) -> Watched:
    """Read the first attempts of tasks whose jobs arrive inside the window, by job, in hours."""
    jobs: dict[str, list[float]] = {}
    before: set[str] = set()
    with gzip.open(path, "rt", newline="") as stream:
        for row in csv.DictReader(stream):
            if int(row["submit_us"]) < OPENS:
                before.add(row["job"])
            elif row["attempt"] == "0" and row["schedule_us"]:
                end = int(row["end_us"]) if row["end_us"] else ENDS
                one = jobs.setdefault(row["job"], [0.0, 0.0, 0.0])
                one[0] += row["outcome"] == "FINISH"
                one[1] += max(0, end - int(row["schedule_us"])) / 3.6e9
                one[2] += 1
    ends, hours, tasks = np.array([one for job, one in jobs.items() if job not in before]).T
    none = np.zeros(len(ends), np.int64)
    extra = tasks.astype(np.int64) - 1
    return Watched(ends.astype(np.int64), hours, hours, none, extra, none + 1, none > 0)


def main(folder: Path | None = None) -> tuple[Gamma, Gamma]:
    """Print and return the laws of mu (an hour) and sigma."""
    where = folder or Path(os.environ.get("PACKPROOF_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
    seen = watched_jobs(where / "google2011_part0_attempts.csv.gz")
    mu, sigma = fit_lifetimes_and_sizes(seen)
    print(
        f"{len(seen.core_deaths)} jobs with {int((seen.extra_cores + 1).sum())} tasks, {seen.core_deaths.sum()} ended"
    )
    print(f"mu: Gamma({mu.shape:.4g}, {mu.rate:.4g} hours), sigma: Gamma({sigma.shape:.4g}, {sigma.rate:.4g})")
    print("no scale-outs in this trace: lambda, kappa and delta are not fitted")
    return mu, sigma


if __name__ == "__main__":
    arguments(__doc__)
    main()
