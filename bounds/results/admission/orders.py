"""The cluster admission paper on which policy uses more: Table 2, and Appendix E on the marginal heuristic."""

from __future__ import annotations

from functools import cache

from bounds.claims import Evidence, Outcome, Verdict, claim
from bounds.results.admission.policies import CLUSTER, MARGINAL, UNTIL, at_sla
from bounds.results.decisions import FOURTH_FRESH_SEED, Decisions
from fluid.admission.law.cluster import AdmissionCluster, Kind
from fluid.admission.simulation.simulate import AdmissionPolicy
from fluid.admission.study.frontier import Frontier, frontiers_of
from theory.errors import expect_number

STEADY_AND_GROWING = (Kind(0.5, 0.1, 0.0, 0.04, 4), Kind(0.5, 0.1, 0.1, 0.04, 4, 16))
"""Two kinds of deployments of 4 cores; the second grows by 16 cores at a time. Their clump ratio is about 21 cores."""

LOAD = 0.0097
"""Arrivals an hour and core at which they ask for about 1.5 times the cores."""

CORES = 120

SEED = 20261130  # none of the runs that chose the cluster and the ladders had this seed

SLA = 0.05

LADDERS = {"zeroth": (60.0, 72.0), "first": (66.0, 78.0), "second": (0.16, 0.2)}
"""Thresholds of each policy, between which it meets the SLA: the claim fails where one does not."""


@cache
def _frontier(name: str, runs: int) -> Frontier:
    """Return the frontier of a policy on its ladder; all policies meet the same worlds."""
    cluster = AdmissionCluster(CORES, LOAD * CORES, STEADY_AND_GROWING)
    ladders = [(AdmissionPolicy(name), LADDERS[name])]
    (curve,) = frontiers_of(cluster, ladders, 200.0, replications=runs, seed=SEED, warmup=40.0)
    return curve


@claim(
    "table-2",
    "On one cluster both higher moments gain alike",
    "First and second moment achieve similar utilisation, both above the zeroth: on a cluster of 120 cores with two "
    "known kinds, SLA 5 %, 200 hours, 1,200 replications (4,000 in full), both gain over the zeroth, and the gains "
    "differ by less than 3 points. Larger clusters are not checked. How far above is lost, as are the paper's priors.",
    source="Table 2 and Section 5.3",
    printed="first and second moment achieve similar utilisation, both well above zeroth (numbers lost)",
    evidence=Evidence.statistical,
    tiny={"runs": 400},
    full={"runs": 4_000},
    controls={
        "zeroth in place of first": {"policies": ("zeroth", "zeroth", "second")},
        "zeroth in place of second": {"policies": ("zeroth", "first", "zeroth")},
        "another SLA, beyond the ladders": {"sla": 0.2},
    },
)
def table_2(
    runs: int = 1_200, *, sla: float = SLA, policies: tuple[str, ...] = ("zeroth", "first", "second")
) -> Outcome:
    """Compare the three policies on one cluster; `examples/admission_policies.csv` has another, which is not checked.

    On 240 cores the gains are a fifth of those here: in 3,000 replications 0.0035 [0.0018, 0.0053] by the first moment
    and 0.0116 [0.0090, 0.0142] by the second. In the example the policies are not similar: with the stand-in priors on
    2,000 cores, at an SLA of 0.1 % in 100 replications of a year, the first gains 0.006 [-0.001, 0.013] over the zeroth
    and the second 0.029 [0.023, 0.041] (BCa, 95 %). That gains fall with the capacity is the claim
    packproof/gain-by-capacity.
    """
    expect_number(runs, "runs", 2)
    curves = [_frontier(name, runs) for name in policies]
    used = [curve.pseudo_values(sla) for curve in curves]
    decisions, gains = Decisions(3), []
    for high, low in ((1, 0), (2, 0), (2, 1)):
        gains.append(decisions.mean(used[high] - used[low]))
    shown = ", ".join(
        f"{name} {float(curve.used_at(sla)[0]):.4f}" for name, curve in zip(policies, curves, strict=True)
    )
    ends = [f"[{gain.low:.4f}, {gain.high:.4f}]" for gain in gains]
    shown += f"; first above zeroth {ends[0]}, second above zeroth {ends[1]}, above first {ends[2]}; {decisions}"
    near = gains[2].low > -0.03 and gains[2].high < 0.03
    is_met = all(curve.holds(sla) for curve in curves)
    return Outcome(shown, bool(is_met and gains[0].low > 0 and gains[1].low > 0 and near))


@claim(
    "appendix-e",
    "The marginal heuristic gains less than one point",
    "With 50 observations the marginal heuristic brings the second-moment policy a sizable increase of utilisation: "
    "on a cluster of 300 cores (stand-in priors, SLA 1 %, a quarter of a year, epsilon of 1 core, 24 replications and "
    "300 in full) an increase of 1 point is excluded. Epsilon, priors and the size of the printed increase are lost.",
    source="Appendix E and Figure 9",
    printed="with two numbers of observations, a sizable utilization increase of more than a number that is lost",
    evidence=Evidence.statistical,
    verdict=Verdict.not_reproduced,
    tiny={"runs": 6},
    full={"runs": 300},
    controls={"beside the zeroth-moment policy": {"beside": "zeroth"}},
)
def appendix_e(
    epsilon: float = MARGINAL, observations: int = 50, sla: float = 0.01, runs: int = 24, *, beside: str = "second"
) -> Outcome:
    expect_number(runs, "runs", 2)
    policies = (AdmissionPolicy("second", marginal=epsilon), AdmissionPolicy(beside))
    curves = [
        at_sla(CLUSTER, policy, UNTIL, runs, observations, sla, seed=FOURTH_FRESH_SEED, steps=4) for policy in policies
    ]
    used = [curve.pseudo_values(sla) for curve in curves]
    decisions = Decisions(1)
    gain = decisions.mean(used[0] - used[1])
    shown = f"{used[1].mean():.4f} without, {used[0].mean():.4f} with the heuristic; increase {gain.mean:.4f} "
    return Outcome(f"{shown}[{gain.low:.4f}, {gain.high:.4f}]; {decisions}", bool(gain.high > 0.01))
