"""May this tenant enter? Utilisation against SLA by policy, a deployment's size ahead, beliefs as they sharpen.

A cluster of 300 cores, with priors (ours) that stand in for the paper's lost Table 1. Every policy meets the same
deployments at every threshold, so curves differ by policy alone; bands are 95 % intervals over runs. The bound is
pathwise: no policy can use more cores than there are if nobody is ever refused. Run
``python -m examples.tenant_admission [UTILISATION.png LAW.png BELIEFS.png]``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from packproof.admission import (
    AdmissionPolicy,
    AdmissionResult,
    Observed,
    pathwise_bound,
    read_admission,
    simulate_admission,
)
from packproof.views import arguments, picture_of_beliefs, picture_of_frontier, picture_of_law

UNTIL = 4380.0
THRESHOLDS = {"zeroth": (180.0, 210.0, 240.0, 265.0, 285.0), "second": (0.03, 0.08, 0.18, 0.35, 0.6)}
SEEN = [
    ("prior", None),
    ("a quiet day", Observed(core_time=72.0, alive_time=24.0)),
    ("a week, 20 ends, 5 scale-outs", Observed(20, 700.0, 168.0, 5, 40, 5)),
    ("a month, 200 ends, 40 scale-outs", Observed(200, 7000.0, 730.0, 40, 320, 40)),
]


def main(
    utilisation: str | None = None, law: str | None = None, beliefs: str | None = None, runs: int = 16
) -> dict[str, list[AdmissionResult]]:
    """Print utilisation and SLA by policy and threshold; draw pictures where names are given."""
    cluster = replace(read_admission(Path(__file__).parent / "admission.toml"), capacity=300, arrival_rate=0.075)
    priors = cluster.priors
    curves: dict[str, list[AdmissionResult]] = {}
    for name, policy, observations in (
        ("zeroth moment", "zeroth", 0),
        ("second moment", "second", 0),
        ("second moment, 50 observations", "second", 50),
    ):
        curves[name] = [
            simulate_admission(
                cluster, AdmissionPolicy(policy, x), UNTIL, replications=runs, seed=1, observations=observations
            )
            for x in THRESHOLDS[policy]
        ]
        for x, found in zip(THRESHOLDS[policy], curves[name], strict=True):
            print(f"{name:32s} {x:7g}  refused {found.sla.mean:.5f}  utilisation {found.utilisation.mean:.4f}")
    bound = pathwise_bound(cluster, UNTIL, replications=runs, seed=1)
    print(f"no policy can use more than {bound.utilisation.mean:.4f} in these runs")
    if utilisation is not None:
        picture_of_frontier(curves, bound.utilisation, utilisation)
    if law is not None:
        picture_of_law(priors, (0.05, 1.0, 4.0), 4, [1, 2, 4, 8, 16, 24, 36, 48, 72, 96, 120, 144, 168], law)
    if beliefs is not None:
        picture_of_beliefs(priors, SEEN, beliefs)
    return curves


if __name__ == "__main__":
    main(*arguments(__doc__, "UTILISATION.png", "LAW.png", "BELIEFS.png"))
