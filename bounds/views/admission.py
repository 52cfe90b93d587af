"""``packproof admission``: moments, laws, beliefs, decisions and runs of policies, as answers and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bounds.views.answers import Answer, Number
from bounds.views.tables import aligned
from bounds.views.text import INTERVALS, many, with_interval

if TYPE_CHECKING:
    from fluid.admission.belief import Belief, PlugIn
    from fluid.admission.chain import ExactResult
    from fluid.admission.decisions import Thresholds
    from fluid.admission.hidden import HiddenOptimum
    from fluid.admission.law import SizeLaw
    from fluid.admission.model import Gamma, Priors
    from fluid.admission.optimal import Optimum
    from fluid.admission.simulate import AdmissionPolicy, AdmissionResult
    from fluid.admission.tuning import Tuned

NEGLIGIBLE = 1e-9
"""Tails of a law below this probability are left out of answers."""


class MeanVariance(Answer, frozen=True):
    """Mean and variance of a size."""

    mean: float
    variance: float


class MomentsRow(Answer, frozen=True):
    """Moments at one time.

    `mean` and `variance` are those of M (O + N), exact; `alive` is Pr[Q > 0], and `exact` holds mean and variance of Q
    itself, both with absorption at 0 and with the stated error; `paper` is what Propositions 4.3 and 4.5 compose.
    """

    time: float
    mean: float
    variance: float
    alive: float
    paper: MeanVariance
    exact: MeanVariance
    error: float


class MomentsAnswer(Answer, frozen=True):
    """The answer of ``admission moments``."""

    size: int
    moments: list[MomentsRow]


class LawAnswer(Answer, frozen=True):
    """The law of the size Q at one time.

    `tail` is Pr[Q >= n] by n, up to where it falls below 1e-9; `left_out` bounds the probability that is missing, and
    `error` is what a coarser quadrature differs by.
    """

    time: float
    size: int
    mean: float
    variance: float
    zero: float
    tail: dict[str, float]
    left_out: float
    error: float


class Parameters(Answer, frozen=True):
    """What is believed of mu and lambda."""

    mean_mu: float
    variance_mu: float
    mean_lambda: float


class SigmaAnswer(Answer, frozen=True):
    """The Gamma law of sigma."""

    shape: float
    rate: float
    mean: float
    variance: float


class BeliefAnswer(Answer, frozen=True):
    """The answer of ``admission belief``: the exact belief beside the paper's plug-in."""

    exact: Parameters
    plug_in: Parameters
    sigma: SigmaAnswer


class PaperThresholds(Answer, frozen=True):
    """Thresholds with the paper's composed moments."""

    first: float
    second: float


class DecideAnswer(Answer, frozen=True):
    """The answer of ``admission decide``: the thresholds above which each policy accepts."""

    zeroth: float
    first: float
    second: float
    paper: PaperThresholds


class SimulatedAdmission(Answer, frozen=True):
    """The answer of ``admission simulate``.

    `sla` is the share of scale-outs that are refused, pooled over runs; `sla_monthly` the mean over runs and months.
    """

    policy: str
    threshold: float | None
    moments: str
    utilisation: Number
    sla: Number
    sla_monthly: Number
    admitted: float
    replications: int
    events: int
    events_per_second: float


class TunedAdmission(Answer, frozen=True):
    """The answer of ``admission tune``: the threshold, an interval of it, and the run at it."""

    policy: str
    target: float
    threshold: float
    interval: tuple[float, float | None]
    utilisation: Number
    sla: Number
    tried: list[tuple[float, float]]


class ExactAdmission(Answer, frozen=True):
    """The answer of ``admission exact``: stationary measures of a small cluster of known kinds."""

    utilisation: float
    sla: float
    states: int
    acceptance: float
    residual: float


class PolicyGap(Answer, frozen=True):
    """A policy at the threshold that meets the SLA; `gap` is what it lacks of the upper bound, as a share of it."""

    threshold: float
    utilisation: float
    sla: float
    gap: float


class OptimalAdmission(Answer, frozen=True):
    """The answer of ``admission optimal``.

    `lower` is attained by a policy that was solved exactly, `upper` holds for every policy by weak duality; `program`
    and `lagrangian` are the values of two solvers.
    """

    sla: float
    lower: float
    upper: float
    program: float
    lagrangian: float
    price: float
    states: int
    policies: dict[str, PolicyGap]


def moments_answer(priors: Priors, size: int, times: Sequence[float]) -> MomentsAnswer:
    """Return the answer of ``admission moments``."""
    from fluid.admission.absorption import exact_moments
    from fluid.admission.moments import composed_moments, joint_moments

    rows = []
    for t in times:
        exact, paper = exact_moments(priors, size, t), composed_moments(priors, size, t)
        # mean and variance are those of the joint law; the two others bring their own under `paper` and `exact`
        rows.append(MomentsRow.of(joint_moments(priors, size, t), exact, time=t, paper=paper, exact=exact))
    return MomentsAnswer.of(size=size, moments=rows)


def moments_lines(answer: MomentsAnswer) -> list[str]:
    """Return the answer of ``admission moments`` as text."""
    table = [["hours", "mean", "variance", "alive", "paper: mean", "variance", "exact Q: mean", "variance"]]
    for row in answer.moments:
        numbers = (row.mean, row.variance, row.alive, row.paper.mean, row.paper.variance)
        exact = (row.exact.mean, row.exact.variance)
        table.append([f"{row.time:g}", *(f"{x:.6g}" for x in numbers + exact)])
    return [f"{answer.size} cores now; mean and variance of M (O + N), then Pr[Q > 0]", *aligned(table, right=8)]


def law_answer(law: SizeLaw, size: int, t: float) -> LawAnswer:
    """Return the answer of ``admission law``."""
    tail = {str(n): p for n, p in enumerate(law.tails) if n and p >= NEGLIGIBLE}
    return LawAnswer.of(law, time=t, size=size, tail=tail)


def law_lines(law: SizeLaw, size: int, t: float) -> list[str]:
    """Return the answer of ``admission law`` as text."""
    found = [f"{100 * q:g} % {law.quantile(q)}" for q in (0.5, 0.9, 0.99, 0.999)]
    return [
        f"{size} cores now, {t:g} hours ahead",
        f"mean {law.mean:.6g}, variance {law.variance:.6g}, Pr[Q = 0] = {law.zero:.6g}",
        f"quantiles: {', '.join(found)}",
        f"left out at most {law.left_out:.1e}; a coarser quadrature differs by {law.error:.1e}",
    ]


def belief_answer(exact: Belief, plug_in: PlugIn) -> BeliefAnswer:
    """Return the answer of ``admission belief``."""

    def variance(law: Gamma) -> float:
        return law.shape / law.rate**2

    mu, scale_outs = plug_in.mu, plug_in.lam
    return BeliefAnswer.of(
        exact=exact,
        plug_in=Parameters.of(mean_mu=mu.mean, variance_mu=variance(mu), mean_lambda=scale_outs.mean),
        sigma=SigmaAnswer.of(exact.sigma, variance=variance(exact.sigma)),
    )


def belief_lines(answer: BeliefAnswer) -> list[str]:
    """Return the answer of ``admission belief`` as text."""
    table = [["", "mean mu", "variance mu", "mean lambda"]]
    for name, one in (("exact", answer.exact), ("plug-in", answer.plug_in)):
        table.append([name, f"{one.mean_mu:.6g}", f"{one.variance_mu:.6g}", f"{one.mean_lambda:.6g}"])
    sigma = answer.sigma
    return [*aligned(table, right=3), f"sigma: mean {sigma.mean:.6g}, Gamma({sigma.shape:g}, {sigma.rate:g})"]


def decide_answer(exact: Thresholds, paper: Thresholds) -> DecideAnswer:
    """Return the answer of ``admission decide``."""
    return DecideAnswer.of(exact, paper=paper)


def decide_lines(answer: DecideAnswer, horizons: Sequence[float]) -> list[str]:
    """Return the answer of ``admission decide`` as text, with the hours at which it looks ahead."""
    span = f"{horizons[0]:g} to {horizons[-1]:,.6g} hours" if len(horizons) > 1 else f"{horizons[0]:g} hours"
    return [
        f"each policy accepts if its threshold is above ({many(len(horizons), 'horizon')}, {span} ahead)",
        f"zeroth moment   {answer.zeroth:.6g} cores",
        f"first moment    {answer.first:.6g} cores (paper's moments: {answer.paper.first:.6g})",
        f"second moment   {answer.second:.6g} (paper's moments: {answer.paper.second:.6g})",
    ]


def optimal_answer(
    optimum: Optimum | HiddenOptimum, others: Mapping[str, tuple[float, ExactResult]]
) -> OptimalAdmission:
    """Return the answer of ``admission optimal``, beside policies by name: their thresholds and results."""
    policies = {
        name: PolicyGap.of(result, threshold=threshold, gap=1 - result.utilisation / optimum.upper)
        for name, (threshold, result) in others.items()
    }
    return OptimalAdmission.of(optimum, states=len(optimum.space.states), policies=policies)


def optimal_lines(answer: OptimalAdmission) -> list[str]:
    """Return the answer of ``admission optimal`` as text."""
    table = [["policy", "threshold", "utilisation", "below the optimum"]]
    for name, one in answer.policies.items():
        table.append([name, f"{one.threshold:.6g}", f"{one.utilisation:.6f}", f"{100 * one.gap:.3f} %"])
    return [
        f"best utilisation at an SLA of {answer.sla:g}: between {answer.lower:.9f} and {answer.upper:.9f}",
        f"linear program {answer.program:.9f}, Lagrangian {answer.lagrangian:.9f}; {many(answer.states, 'state')}",
        *aligned(table, right=3),
    ]


def simulated_answer(policy: AdmissionPolicy, result: AdmissionResult) -> SimulatedAdmission:
    """Return the answer of ``admission simulate``."""
    arrivals = sum(run.arrivals for run in result.runs)
    return SimulatedAdmission.of(
        policy,
        result,
        policy=policy.name,
        sla_monthly=result.monthly,
        admitted=sum(run.admitted for run in result.runs) / max(1, arrivals),
        replications=len(result.runs),
        events_per_second=result.events / max(result.seconds, 1e-9),
    )


def simulated_lines(answer: SimulatedAdmission) -> list[str]:
    """Return the answer of ``admission simulate`` as text."""
    return [
        INTERVALS,
        f"utilisation        {with_interval(answer.utilisation, 5, least=0.0, most=1.0)}",
        f"refused scale-outs {with_interval(answer.sla, 3, least=0.0, most=1.0)} of all; "
        f"mean over months {with_interval(answer.sla_monthly, 3, least=0.0, most=1.0)}",
        f"admitted           {100 * answer.admitted:.2f} % of arrivals",
        f"{many(answer.replications, 'run')}, {many(answer.events, 'event')}, {answer.events_per_second:.3g} a second",
    ]


def tuned_answer(tuned: Tuned, target: float) -> TunedAdmission:
    """Return the answer of ``admission tune``."""
    policy = tuned.policy
    return TunedAdmission.of(tuned, tuned.result, policy=policy.name, target=target, threshold=policy.threshold)


def tuned_lines(answer: TunedAdmission, until: float, warmup: float) -> list[str]:
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


def exact_answer(result: ExactResult) -> ExactAdmission:
    """Return the answer of ``admission exact``."""
    return ExactAdmission.of(result)


def exact_lines(answer: ExactAdmission) -> list[str]:
    """Return the answer of ``admission exact`` as text."""
    return [
        f"utilisation        {answer.utilisation:.9g}",
        f"refused scale-outs {answer.sla:.9g} of all",
        f"admitted           {100 * answer.acceptance:.6g} % of arrivals",
        f"{many(answer.states, 'state')}; residual of the linear system {answer.residual:.1e}",
    ]
