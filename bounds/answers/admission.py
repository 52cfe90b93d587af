"""Answers of ``packproof admission``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from bounds.answers.record import HIDDEN, NOTES, Answer, Ends, Head, Of
from bounds.answers.shared import CommandAnswer, Number


class BeliefAnswer(CommandAnswer):
    """The answer of ``admission belief``: the exact belief beside the paper's plug-in."""

    exact: Annotated[Parameters, Head("exact belief")]
    plug_in: Annotated[Parameters, Head("plug-in of the paper")]
    sigma: Annotated[SigmaAnswer, Head("sigma, a Gamma law")]


class Parameters(Answer):
    """What is believed of mu and lambda."""

    mean_mu: Annotated[float, Head("mean of mu, per hour")]
    variance_mu: Annotated[float, Head("variance of mu")]
    mean_lambda: Annotated[float, Head("mean of lambda, per hour")]


class SigmaAnswer(Answer):
    """The Gamma law of sigma."""

    shape: float
    rate: float
    mean: float
    variance: float


class ComparedAdmission(CommandAnswer):
    """The answer of ``admission compare``: policies at equal SLA in the same worlds, and a bound for any policy."""

    sla: Annotated[float, Head("refused scale-outs, at most", digits=3, share=True)]
    replications: Annotated[int, Head("worlds, the same for all policies")]
    bound: Annotated[Number, Head("no policy uses more than, of the cores", digits=5, share=True)]
    rows: Annotated[list[ComparedRow], Head("policies at this SLA [95 %]")]


class ComparedRow(Answer):
    """A policy at the SLA.

    `reached` says whether its ladder has thresholds on both sides of the SLA; else the numbers are those at the end
    of the ladder. `above_first` is its utilisation less that of the first row, null for the first row.
    """

    policy: str
    observations: int
    moments: str
    threshold: float
    reached: Annotated[bool, Head("SLA reached")]
    utilisation: Annotated[Number, Head("cores in use", digits=5, share=True)]
    above_first: Annotated[Number | None, Head("more than the first policy (share of the cores)", digits=4)]
    ladder: Annotated[list[tuple[float, float]], HIDDEN]


class DecideAnswer(CommandAnswer):
    """The answer of ``admission decide``: the thresholds above which each policy accepts.

    `judged_by` says whether every deployment is judged by the posterior of what was seen of it, or by the priors
    alone. With a policy there are its threshold, the number that it compares with that, and the verdict.
    """

    zeroth: Annotated[float, Head("zeroth moment, cores")]
    first: Annotated[float, Head("first moment, cores")]
    second: Annotated[float, Head("second moment")]
    paper: Annotated[PaperThresholds, Head("by the moments of the paper")]
    judged_by: Annotated[Literal["posteriors", "priors"], Head("every deployment is judged by its")]
    fits: Annotated[bool, Head("the deployment fits now")]
    policy: str | UnsetType = UNSET
    moments: str | UnsetType = UNSET
    threshold: float | UnsetType = UNSET
    needed: Annotated[float | UnsetType, Head("compared with the threshold")] = UNSET
    verdict: Literal["admit", "refuse"] | UnsetType = UNSET


class PaperThresholds(Answer):
    """Thresholds with the paper's composed moments."""

    first: Annotated[float, Head("first moment, cores")]
    second: Annotated[float, Head("second moment")]


class ExactAdmission(CommandAnswer):
    """The answer of ``admission exact``: stationary measures of a small cluster of known kinds."""

    utilisation: Annotated[float, Head("cores in use", digits=9, share=True)]
    sla: Annotated[float, Head("refused scale-outs", digits=9, share=True)]
    states: Annotated[int, Head("states of the chain")]
    acceptance: Annotated[float, Head("admitted arrivals", share=True)]
    residual: Annotated[float, Head("residual of the linear system", digits=2)]


class FittedAdmission(CommandAnswer):
    """The answer of ``admission fit``: laws of greatest likelihood, standard errors and goodness of fit.

    `goodness` compares the log with logs simulated from the laws; `doubted` names the quantities whose p-value is
    at most 5 % over their number.
    """

    log: Annotated[TenantLogAnswer, Head("the log")]
    capacity: Annotated[int, Head("capacity, cores")]
    initial: Annotated[str, Head("first size of a deployment")]
    parameters: Annotated[list[FittedParameter], Head("laws of greatest likelihood")]
    log_likelihood: Annotated[float, Head("log-likelihood")]
    converged: Annotated[bool, Head("the fit converged")]
    goodness: Annotated[list[GoodnessRow], HIDDEN]
    doubted: Annotated[list[str], HIDDEN]


class TenantLogAnswer(Answer):
    """What the log holds: deployments within the watch.

    `most_cores` is the largest number of cores active at once, null where the log does not say.
    """

    deployments: int
    open: Annotated[int, Head("still there at the end")]
    shut_down: Annotated[int, Head("shut down")]
    scale_outs: Annotated[int, Head("scale-outs")]
    core_ends: Annotated[int, Head("ends of cores")]
    hours: Annotated[float, Head("hours watched")]
    most_cores: Annotated[int | None, Head("most cores active at once")]
    notes: Annotated[list[str], NOTES]


class FittedParameter(Answer):
    """A parameter, its standard error from the observed information, and the ends of a 95 % interval.

    Null where the log does not decide it.
    """

    name: Annotated[str, Head("parameter")]
    value: float
    standard_error: Annotated[float | None, Head("standard error", digits=3)]
    ci95: Annotated[Ends, Of(""), Head("95 % interval", digits=4)]


class GoodnessRow(Answer):
    """The distance (Cramer and von Mises) of a quantity from simulated logs, and the share of logs at least as far."""

    name: str
    distance: float
    p_value: float


class LawAnswer(CommandAnswer):
    """The law of the size Q at one time.

    `tail` is Pr[Q >= n] by n, up to where it falls below 1e-9; `left_out` bounds the probability that is missing,
    and `error` is what a coarser quadrature differs by.
    """

    time: Annotated[float, Head("hours ahead")]
    size: Annotated[int, Head("cores now")]
    mean: Annotated[float, Head("mean, cores")]
    variance: float
    zero: Annotated[float, Head("probability of 0 cores")]
    tail: Annotated[dict[str, float], HIDDEN]
    left_out: Annotated[float, Head("probability left out, at most", digits=2)]
    error: Annotated[float, Head("a coarser quadrature differs by", digits=2)]


class MomentsAnswer(CommandAnswer):
    """The answer of ``admission moments``."""

    size: Annotated[int, Head("cores now")]
    moments: Annotated[list[MomentsRow], Meta(min_length=1), HIDDEN]


class MomentsRow(Answer):
    """Moments at one time.

    `mean` and `variance` are those of M (O + N), exact; `alive` is Pr[Q > 0], and `exact` holds mean and variance
    of Q itself, both with absorption at 0 and with the stated error; `paper` is what Propositions 4.3 and 4.5
    compose.
    """

    time: float
    mean: float
    variance: float
    alive: float
    paper: MeanVariance
    exact: MeanVariance
    error: float


class MeanVariance(Answer):
    """Mean and variance of a size."""

    mean: float
    variance: float


class OptimalAdmission(CommandAnswer):
    """The answer of ``admission optimal``.

    `lower` is attained by a policy that was solved exactly, `upper` holds for every policy by weak duality;
    `program` and `lagrangian` are the values of two solvers.
    """

    sla: Annotated[float, Head("refused scale-outs, at most", digits=3, share=True)]
    lower: Annotated[float, Head("best utilisation, at least", digits=9, share=True)]
    upper: Annotated[float, Head("best utilisation, at most", digits=9, share=True)]
    program: Annotated[float, Head("by the linear program", digits=9, share=True)]
    lagrangian: Annotated[float, Head("by the Lagrangian", digits=9, share=True)]
    price: Annotated[float, Head("price of a refused scale-out")]
    states: Annotated[int, Head("states of the chain")]
    policies: Annotated[dict[str, PolicyGap], Head("policies at this SLA", by="policy")]


class PolicyGap(Answer):
    """A policy at the threshold that meets the SLA; `gap` is what it lacks of the upper bound, as a share of it."""

    threshold: float
    utilisation: Annotated[float, Head("cores in use", share=True)]
    sla: Annotated[float, Head("refused scale-outs", digits=4, share=True)]
    gap: Annotated[float, Head("below the upper bound", digits=4, share=True)]


class SimulatedAdmission(CommandAnswer):
    """The answer of ``admission simulate``.

    `sla` is the share of scale-outs that are refused, pooled over runs; `sla_monthly` the mean over runs and
    months.
    """

    policy: str
    threshold: float | None
    moments: str
    utilisation: Annotated[Number, Head("cores in use [95 %]", digits=5, share=True)]
    sla: Annotated[Number, Head("refused scale-outs, of all [95 %]", digits=3, share=True)]
    sla_monthly: Annotated[Number, Head("refused scale-outs, mean over months [95 %]", digits=3, share=True)]
    admitted: Annotated[float, Head("admitted arrivals", digits=4, share=True)]
    replications: Annotated[int, Head("runs")]
    events: int
    events_per_second: Annotated[float, Head("events a second", digits=3)]


class TunedAdmission(CommandAnswer):
    """The answer of ``admission tune``: the estimated and the safe threshold, each with fresh runs at it.

    `threshold` is the estimated one: the largest one tried whose fitted share of refused scale-outs is at most the
    target. `tried` has the thresholds of the ladder with the share of scale-outs that were refused, `fitted` those
    shares by isotonic regression, and `interval` the 95 % interval of the threshold at which the share is the
    target; `utilisation` and `sla` are of worlds that had no part in the choice. `safe` is the largest candidate
    whose upper bound of that share (97.5 %, one-sided, `sla_upper`) is at most the target in these worlds, or null;
    `judged` has all candidates. `utilisation_at_sla` is between the thresholds of the ladder, with the uncertainty
    of the threshold. `replications` counts the worlds of the ladder, and the fresh ones; `ended_by` says why there
    are no more: `precision` (the interval of `utilisation_at_sla` is within half a point), `replications` or `time`
    (the limit came first).
    """

    policy: str
    target: Annotated[float, Head("refused scale-outs, at most", digits=3, share=True)]
    threshold: Annotated[float, Head("estimated threshold: the largest tried whose fitted share meets the SLA")]
    interval: Annotated[tuple[float, float | None], HIDDEN]
    utilisation: Annotated[Number, Head("cores in use at it, by fresh runs [95 %]", digits=5, share=True)]
    sla: Annotated[Number, Head("refused scale-outs at it, by fresh runs [95 %]", digits=3, share=True)]
    tried: Annotated[list[tuple[float, float]], Meta(min_length=1), HIDDEN]
    safe: Annotated[SafeThreshold | None, Head("safe threshold: the largest that the upper bound allows")]
    judged: Annotated[list[tuple[float, float]], Meta(min_length=1), HIDDEN]
    utilisation_at_sla: Annotated[Number, Head("cores in use that the SLA allows [95 %]", digits=5, share=True)]
    replications: Annotated[int, Head("worlds, and as many fresh ones")]
    ended_by: Annotated[Literal["precision", "replications", "time"], HIDDEN]
    fitted: Annotated[list[float], HIDDEN]


class SafeThreshold(Answer):
    """A threshold, what fresh runs use and refuse at it, and the upper bound of what is refused."""

    threshold: float
    utilisation: Annotated[Number, Head("cores in use, by fresh runs [95 %]", digits=5, share=True)]
    sla: Annotated[Number, Head("refused scale-outs, by fresh runs [95 %]", digits=3, share=True)]
    sla_upper: Annotated[float, Head("refused at most, at 97.5 % confidence", digits=3, share=True)]
