"""The threshold of `admission tune` beside brute force: ``python -m benchmarks.tuning [CLUSTERS [RUNS [WORLDS]]]``.

Small clusters are drawn, half of known kinds and half with priors, with the three policies in turn. `tune` answers as
its command does by default (8 thresholds on the ladder, up to 160 worlds unless `WORLDS` says otherwise). Brute force
runs `RUNS` other worlds at each of up to 30 thresholds over their range, and takes the largest one whose pooled share
meets the SLA there, without any fit. Share and utilisation are those in the worlds of brute force. An interval of
`tune` covers brute force if it meets the step of thresholds on which brute force passes the SLA. The safe threshold of
`tune` is wrong if its share is significantly above the SLA there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from fluid.admission.law.cluster import AdmissionCluster, Gamma, Kind, Priors
from fluid.admission.law.thresholds import POLICIES
from fluid.admission.simulation.replications import simulate_policies
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.study.tuning import tune
from fluid.statistics import Interval, paired, ratio_interval
from theory.errors import InputError

SEED = 77
UNTIL, WARMUP = 100.0, 25.0  # hours of a run, and of those that do not count
MARKS = 30  # thresholds of brute force
FRESH = 10_000  # number of its first world, beyond those of tune


def drawn_cluster(number: int) -> tuple[AdmissionCluster, float]:
    """Return a cluster with an offered load of about 1 to 2 times its cores, and its SLA."""
    rng = np.random.default_rng([SEED, number])
    capacity, sla = int(rng.integers(15, 30)), float(rng.choice([0.02, 0.05]))
    if number % 2 == 0:
        kinds = tuple(
            Kind(p, *rng.uniform([0.1, 0.0, 0.02], [0.4, 0.3, 0.1]).tolist(), *rng.integers(1, 5, 2).tolist())
            for p in (0.6, 0.4)
        )
        return AdmissionCluster(capacity, capacity * float(rng.uniform(0.05, 0.1)), kinds), sla
    shapes = rng.uniform(0.8, 3.0, 3)
    mu, lam, sigma = (Gamma(float(a), float(a / mean)) for a, mean in zip(shapes, (0.25, 0.6, 2.0), strict=True))
    return AdmissionCluster(capacity, capacity * float(rng.uniform(0.03, 0.06)), Priors(mu, lam, sigma, 1.0, 0.2)), sla


@dataclass(frozen=True)
class Row:
    """A cluster: both thresholds, and what they give in the worlds of brute force."""

    policy: str
    sla: float
    thresholds: tuple[float, float]  # of tune and of brute force
    shares: tuple[Interval, Interval]
    lost: Interval  # utilisation of brute force less that of tune, 95 %, paired over worlds
    safe: Interval | None  # the share at the safe threshold, if there is one
    covers: bool  # whether the interval of tune meets the step between the threshold of brute force and the next one


def compared(number: int, runs: int, worlds: int) -> Row | None:
    """Tune a cluster's policy, and try thresholds; None if no threshold of either meets the SLA."""
    cluster, sla = drawn_cluster(number)
    policy = AdmissionPolicy(POLICIES[number % 3])
    try:
        tuned = tune(cluster, policy, sla, UNTIL, warmup=WARMUP, seed=SEED + number, replications=worlds)
    except InputError as refusal:
        print(f"{number:3} {policy.name:7} {refusal}", flush=True)
        return None
    second = policy.name == "second"
    marks = np.geomspace(1e-3, 1.0, MARKS) if second else np.unique(np.linspace(1, cluster.capacity + 1, MARKS).round())
    thresholds = [tuned.policy, *(replace(policy, threshold=float(x)) for x in marks)]
    safe = [] if tuned.safe is None else [tuned.safe]
    options: dict[str, Any] = {"replications": runs, "seed": SEED + number, "warmup": WARMUP, "first": FRESH}
    results = simulate_policies(cluster, [*thresholds, *safe], UNTIL, **options)
    totals = [(np.array([r.refused.sum() for r in one.runs]), np.array([r.asked.sum() for r in one.runs]))
              for one in results]  # fmt: skip
    meets = [
        n for n, (refused, asked) in enumerate(totals[: len(thresholds)]) if n and refused.sum() <= sla * asked.sum()
    ]
    if not meets:
        return None
    best = meets[-1]
    used = [np.array([run.utilisation for run in results[n].runs]) for n in (best, 0)]
    shares = (ratio_interval(*totals[0]), ratio_interval(*totals[best]))
    next_one = thresholds[best + 1].threshold if best + 1 < len(thresholds) else np.inf
    covers = tuned.interval[0] <= next_one and thresholds[best].threshold <= tuned.interval[1]
    pair = (tuned.policy.threshold, thresholds[best].threshold)
    return Row(policy.name, sla, pair, shares, paired(*used), ratio_interval(*totals[-1]) if safe else None, covers)


def main() -> None:
    """Print the table, and what it comes to."""
    numbers = [int(text) for text in sys.argv[1:4]]
    clusters, runs, worlds = numbers + [20, 300, 160][len(numbers) :]
    begin, rows = process_time(), []
    print("  # policy  SLA    threshold: tune, brute force   share [95 %]: tune               utilisation lost [95 %]")
    for number in range(clusters):
        row = compared(number, runs, worlds)
        if row is None:
            continue
        rows.append(row)
        share, lost = row.shares[0], row.lost
        print(f"{number:3} {row.policy:7} {row.sla:5.3f}  {row.thresholds[0]:12.5g} {row.thresholds[1]:12.5g}   "
              f"{share.mean:.4f} [{share.low:.4f}, {share.high:.4f}]   "
              f"{lost.mean:+.4f} [{lost.low:+.4f}, {lost.high:+.4f}]", flush=True)  # fmt: skip
    losses = np.array([row.lost.mean for row in rows])
    beyond, covers = sum(row.shares[0].low > row.sla for row in rows), sum(row.covers for row in rows)
    safe = [row.safe.low > row.sla for row in rows if row.safe is not None]
    print(f"{len(rows)} clusters: utilisation lost {losses.mean():+.4f} on average, from {losses.min():+.4f} to "
          f"{losses.max():+.4f}; share significantly above the SLA in {beyond}; "
          f"intervals of tune cover brute force in {covers}; "
          f"{len(safe)} safe thresholds, of which {sum(safe)} significantly above the SLA; "
          f"{process_time() - begin:.0f} s of CPU")  # fmt: skip


if __name__ == "__main__":
    main()
