"""``packproof admission``: moments, laws, beliefs, decisions and runs of policies, as answers and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bounds.views.answers import Answer, Fields, encode_answer
from bounds.views.tables import aligned
from bounds.views.text import INTERVALS, many, with_interval

if TYPE_CHECKING:
    from fluid.admission.exact.chain import ExactResult
    from fluid.admission.exact.hidden import HiddenOptimum
    from fluid.admission.exact.optimal import Optimum
    from fluid.admission.law.belief import Belief, PlugIn
    from fluid.admission.law.cluster import Gamma, Priors
    from fluid.admission.law.size_law import SizeLaw
    from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult
    from fluid.admission.study.tuning import Tuned

NEGLIGIBLE = 1e-9  # tails of a law below this probability are left out of answers


def moments_answer(priors: Priors, size: int, times: Sequence[float]) -> Answer:
    """Return the answer of ``admission moments``."""
    from fluid.admission.law.absorption import exact_moments
    from fluid.admission.law.moments import composed_moments, joint_moments

    rows = []
    for t in times:
        exact, paper = exact_moments(priors, size, t), composed_moments(priors, size, t)
        # mean and variance are those of the joint law; the two others bring their own under `paper` and `exact`
        rows.append(Fields(joint_moments(priors, size, t), exact, time=t, paper=paper, exact=exact))
    return encode_answer("admission_moments", size=size, moments=rows)


def moments_lines(answer: Answer) -> list[str]:
    """Return the answer of ``admission moments`` as text."""
    table = [["hours", "mean", "variance", "alive", "paper: mean", "variance", "exact Q: mean", "variance"]]
    for row in answer.moments:
        numbers = (row.mean, row.variance, row.alive, row.paper.mean, row.paper.variance)
        exact = (row.exact.mean, row.exact.variance)
        table.append([f"{row.time:g}", *(f"{x:.6g}" for x in numbers + exact)])
    return [f"{answer.size} cores now; mean and variance of M (O + N), then Pr[Q > 0]", *aligned(table, right=8)]


def law_answer(law: SizeLaw, size: int, t: float) -> Answer:
    """Return the answer of ``admission law``."""
    tail = {str(n): p for n, p in enumerate(law.tails) if n and p >= NEGLIGIBLE}
    return encode_answer("admission_law", law, time=t, size=size, tail=tail)


def law_lines(law: SizeLaw, size: int, t: float) -> list[str]:
    """Return the answer of ``admission law`` as text."""
    quantiles = [f"{100 * q:g} % {law.quantile(q)}" for q in (0.5, 0.9, 0.99, 0.999)]
    return [
        f"{size} cores now, {t:g} hours ahead",
        f"mean {law.mean:.6g}, variance {law.variance:.6g}, Pr[Q = 0] = {law.zero:.6g}",
        f"quantiles: {', '.join(quantiles)}",
        f"left out at most {law.left_out:.1e}; a coarser quadrature differs by {law.error:.1e}",
    ]


def belief_answer(exact: Belief, plug_in: PlugIn) -> Answer:
    """Return the answer of ``admission belief``."""

    def variance(law: Gamma) -> float:
        return law.shape / law.rate**2

    mu, scale_outs = plug_in.mu, plug_in.lam
    return encode_answer(
        "admission_belief",
        exact=exact,
        plug_in=Fields(mean_mu=mu.mean, variance_mu=variance(mu), mean_lambda=scale_outs.mean),
        sigma=Fields(exact.sigma, variance=variance(exact.sigma)),
    )


def belief_lines(answer: Answer) -> list[str]:
    """Return the answer of ``admission belief`` as text."""
    table = [["", "mean mu", "variance mu", "mean lambda"]]
    for name, one in (("exact", answer.exact), ("plug-in", answer.plug_in)):
        table.append([name, f"{one.mean_mu:.6g}", f"{one.variance_mu:.6g}", f"{one.mean_lambda:.6g}"])
    sigma = answer.sigma
    return [*aligned(table, right=3), f"sigma: mean {sigma.mean:.6g}, Gamma({sigma.shape:g}, {sigma.rate:g})"]


def decide_lines(answer: Answer, horizons: Sequence[float]) -> list[str]:
    """Return the answer of ``admission decide`` as text, with the hours at which it looks ahead."""
    span = f"{horizons[0]:g} to {horizons[-1]:,.6g} hours" if len(horizons) > 1 else f"{horizons[0]:g} hours"
    return [
        f"each policy accepts if its threshold is above ({many(len(horizons), 'horizon')}, {span} ahead)",
        f"zeroth moment   {answer.zeroth:.6g} cores",
        f"first moment    {answer.first:.6g} cores (paper's moments: {answer.paper.first:.6g})",
        f"second moment   {answer.second:.6g} (paper's moments: {answer.paper.second:.6g})",
    ]


def optimal_answer(optimum: Optimum | HiddenOptimum, others: Mapping[str, tuple[float, ExactResult]]) -> Answer:
    """Return the answer of ``admission optimal``, beside policies by name: their thresholds and results."""
    policies = {
        name: Fields(result, threshold=threshold, gap=1 - result.utilisation / optimum.upper)
        for name, (threshold, result) in others.items()
    }
    return encode_answer("admission_optimal", optimum, states=len(optimum.space.states), policies=policies)


def optimal_lines(answer: Answer) -> list[str]:
    """Return the answer of ``admission optimal`` as text."""
    table = [["policy", "threshold", "utilisation", "below the optimum"]]
    for name, one in answer.policies.items():
        table.append([name, f"{one.threshold:.6g}", f"{one.utilisation:.6f}", f"{100 * one.gap:.3f} %"])
    return [
        f"best utilisation at an SLA of {answer.sla:g}: between {answer.lower:.9f} and {answer.upper:.9f}",
        f"linear program {answer.program:.9f}, Lagrangian {answer.lagrangian:.9f}; {many(answer.states, 'state')}",
        *aligned(table, right=3),
    ]


def simulated_answer(policy: AdmissionPolicy, result: AdmissionResult) -> Answer:
    """Return the answer of ``admission simulate``."""
    arrivals = sum(run.arrivals for run in result.runs)
    return encode_answer(
        "admission_simulate",
        policy,
        result,
        policy=policy.name,
        sla_monthly=result.monthly,
        admitted=sum(run.admitted for run in result.runs) / max(1, arrivals),
        replications=len(result.runs),
        events_per_second=result.events / max(result.seconds, 1e-9),
    )


def simulated_lines(answer: Answer) -> list[str]:
    """Return the answer of ``admission simulate`` as text."""
    return [
        INTERVALS,
        f"utilisation        {with_interval(answer.utilisation, 5, least=0.0, most=1.0)}",
        f"refused scale-outs {with_interval(answer.sla, 3, least=0.0, most=1.0)} of all; "
        f"mean over months {with_interval(answer.sla_monthly, 3, least=0.0, most=1.0)}",
        f"admitted           {100 * answer.admitted:.2f} % of arrivals",
        f"{many(answer.replications, 'run')}, {many(answer.events, 'event')}, {answer.events_per_second:.3g} a second",
    ]


def tuned_answer(tuned: Tuned, target: float) -> Answer:
    """Return the answer of ``admission tune``."""
    policy = tuned.policy
    return encode_answer(
        "admission_tune", tuned, tuned.result, policy=policy.name, target=target, threshold=policy.threshold
    )


def tuned_lines(answer: Answer, until: float, warmup: float) -> list[str]:
    """Return the answer of ``admission tune`` as text, with the hours of each run and of its warm-up."""
    low, high = answer.interval
    meets = f"up to {low:.6g} the SLA is met" if low > 0 else "no threshold tried surely meets the SLA"
    misses = "none surely misses it" if high is None else f"from {high:.6g} on it is missed"
    more = ["                   more or longer runs may decide (--replications, --until)"]
    range_ends = ", the end of the range searched" if len(answer.tried) == 1 else ""
    return [
        INTERVALS,
        f"threshold          {answer.threshold:.6g}, the greatest tried whose mean meets the SLA{range_ends}",
        f"                   by intervals over the runs, {meets}, and {misses}",
        *(more if low == 0 or high is None else ()),
        f"utilisation        {with_interval(answer.utilisation, 5, least=0.0, most=1.0)}",
        f"refused scale-outs {with_interval(answer.sla, 3, least=0.0, most=1.0)}, at most {answer.target:g} asked for",
        f"runs               {until:g} hours from an empty cluster, the first {warmup:g} not measured (--warmup)",
    ]


def exact_lines(answer: Answer) -> list[str]:
    """Return the answer of ``admission exact`` as text."""
    return [
        f"utilisation        {answer.utilisation:.9g}",
        f"refused scale-outs {answer.sla:.9g} of all",
        f"admitted           {100 * answer.acceptance:.6g} % of arrivals",
        f"{many(answer.states, 'state')}; residual of the linear system {answer.residual:.1e}",
    ]
