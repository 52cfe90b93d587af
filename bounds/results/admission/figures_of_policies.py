"""Figures 1, 2 and 9 and Table 2 of the paper on cluster admission: what policies, observations and labels are worth.

All numbers of the paper are lost in the text at hand, the parameters of its simulations among them. These are small
simulations of clusters of our own, so only the structure can agree with print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bounds.results.admission.policies import CLUSTER, LABELS, SEED, UNTIL, tuned
from bounds.results.reproduction import reproduction
from bounds.views.panels import Bars, Cells, Chart, Curve, Line, Panel
from fluid.admission.simulate import AdmissionPolicy, AdmissionResult
from fluid.admission.tuning import pathwise_bound

OWN: dict[str, Any] = {
    "lost": "every number: priors, capacity, arrivals, SLA, thresholds, utilisations",
    "chosen": "priors that fit four printed ratios, 300 cores, one arrival in 13 h, a quarter of a year, SLA 1 %: a "
    "small simulation in place of the paper's 500 runs of three years",
    "seed": SEED,
}

SIZES: dict[str, Any] = {
    "tiny": {"runs": 2, "until": 150.0, "observations": (0, 50)},
    "quick": {"runs": 16, "until": UNTIL, "observations": (0, 1, 5, 50)},
    "full": {"runs": 100, "until": UNTIL, "observations": (0, 1, 5, 50)},
}

MARGINAL = 1.0
"""Cores: the epsilon of Definition 6.1, which is lost."""


def _curve(name: str, found: Sequence[AdmissionResult], x: Sequence[float]) -> Curve:
    used = [one.utilisation for one in found]
    return Curve(name, x, [i.mean for i in used], [i.low for i in used], [i.high for i in used])


def _by_observations(
    policies: dict[str, AdmissionPolicy], runs: int, until: float, observations: Sequence[int]
) -> Chart:
    """Return the utilisation at the SLA against the observations before arrival."""
    x = [max(n, 0.3) for n in observations]  # a place for 0 on a logarithmic axis
    curves = [
        _curve(name, [tuned(CLUSTER, policy, until, runs, n).result for n in observations], x)
        for name, policy in policies.items()
    ]
    bound = pathwise_bound(CLUSTER, until, replications=runs, seed=SEED).utilisation.mean
    return Chart(
        "observations before arrival (number)",
        "utilisation (share of cores)",
        curves,
        [Line("no policy uses more (pathwise)", bound)],
        xscale="log",
        xticks=[(place, str(n)) for place, n in zip(x, observations, strict=True)],
    )


@reproduction(
    "admission/figure-1",
    "utilisation at the SLA with 0, 1, 5 and 50 observations of a deployment before it arrives",
    printed="utilisation rises with observations, under the first- and the second-moment policy",
    claims=("policies-by-observations",),
    columns=1,
    **SIZES,
    **OWN,
)
def figure_1(runs: int, until: float, observations: Sequence[int]) -> Sequence[Panel]:
    """Tune both policies, with the marginal heuristic, at each number of observations."""
    policies = {f"{name} moment": AdmissionPolicy(name, marginal=MARGINAL) for name in ("first", "second")}
    return (_by_observations(policies, runs, until, observations),)


@reproduction(
    "admission/figure-2",
    "utilisation with and without labels",
    printed="utilisation rises when users label their deployments",
    lost="every number",
    chosen="120 cores, two kinds that look alike at arrival, 1,500 h, SLA 2 %; a cluster on which labels matter",
    seed=SEED,
    claims=("labelled-users", "mixture-variance"),
    tiny={"runs": 2, "until": 150.0},
    quick={"runs": 20, "until": 1500.0},
    full={"runs": 120, "until": 1500.0},
    columns=1,
    height=1.6,
)
def figure_2(runs: int, until: float) -> Sequence[Panel]:
    """Tune the second-moment policy where it sees the kind of an arrival, and where it does not."""
    names = {"unlabelled": False, "labelled": True}
    found = [
        tuned(LABELS, AdmissionPolicy("second", labelled=seen), until, runs, sla=0.02).result.utilisation
        for seen in names.values()
    ]
    parts, ends = [("mean", [i.mean for i in found])], [(i.low, i.high) for i in found]
    return (Bars("utilisation (share of cores)", list(names), parts, whiskers=ends),)


@reproduction(
    "admission/table-2",
    "thresholds and utilisation of the three policies at the SLA",
    printed="second moment above first above zeroth",
    claims=("second-above-zeroth",),
    tiny={"runs": 2, "until": 150.0},
    quick={"runs": 16, "until": UNTIL},
    full={"runs": 100, "until": UNTIL},
    columns=1,
    height=1.5,
    **OWN,
)
def table_2(runs: int, until: float) -> Sequence[Panel]:
    """Tune each policy without observations."""
    texts = []
    for name in ("zeroth", "first", "second"):
        found = tuned(CLUSTER, AdmissionPolicy(name), until, runs)
        used, refused = found.result.utilisation, found.result.sla.mean
        shown = f"{used.mean:.4f} [{used.low:.4f}, {used.high:.4f}]"
        texts.append([f"{found.policy.threshold:.4g}", shown, f"{refused:.2%}"])
    rows = [f"{name} moment" for name in ("zeroth", "first", "second")]
    return (Cells(["threshold", "utilisation [95 %]", "refused"], rows, texts),)


@reproduction(
    "admission/figure-9",
    "utilisation with and without the marginal heuristic",
    printed="very similar with few observations; the heuristic enables slightly more, most with good priors",
    claims=("marginal-heuristic", "definition-6.1"),
    columns=1,
    **SIZES,
    **OWN,
)
def figure_9(runs: int, until: float, observations: Sequence[int]) -> Sequence[Panel]:
    """Tune the second-moment policy with the heuristic and without."""
    policies = {
        "second moment": AdmissionPolicy("second"),
        "second moment, marginal heuristic": AdmissionPolicy("second", marginal=MARGINAL),
    }
    return (_by_observations(policies, runs, until, observations),)
