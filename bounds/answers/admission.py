"""Answers of ``packproof admission``."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, UnsetType

from bounds.answers.record import Answer, Ends, Of
from bounds.answers.shared import CommandAnswer, Number


class BeliefAnswer(CommandAnswer):
    """The answer of ``admission belief``: the exact belief beside the paper's plug-in."""

    exact: Parameters
    plug_in: Parameters
    sigma: SigmaAnswer


class Parameters(Answer):
    """What is believed of mu and lambda."""

    mean_mu: float
    variance_mu: float
    mean_lambda: float


class SigmaAnswer(Answer):
    """The Gamma law of sigma."""

    shape: float
    rate: float
    mean: float
    variance: float


class ComparedAdmission(CommandAnswer):
    """The answer of ``admission compare``: policies at equal SLA in the same worlds, and a bound for any policy."""

    sla: float
    replications: int
    bound: Number
    rows: list[ComparedRow]


class ComparedRow(Answer):
    """A policy at the SLA.

    `reached` says whether its ladder has thresholds on both sides of the SLA; else the numbers are those at the end
    of the ladder. `above_first` is its utilisation less that of the first row, null for the first row.
    """

    policy: str
    observations: int
    moments: str
    threshold: float
    reached: bool
    utilisation: Number
    above_first: Number | None
    ladder: list[tuple[float, float]]


class DecideAnswer(CommandAnswer):
    """The answer of ``admission decide``: the thresholds above which each policy accepts.

    `judged_by` says whether every deployment is judged by the posterior of what was seen of it, or by the priors
    alone. With a policy there are its threshold, the number that it compares with that, and the verdict.
    """

    zeroth: float
    first: float
    second: float
    paper: PaperThresholds
    judged_by: Literal["posteriors", "priors"]
    fits: bool
    policy: str | UnsetType = UNSET
    moments: str | UnsetType = UNSET
    threshold: float | UnsetType = UNSET
    needed: float | UnsetType = UNSET
    verdict: Literal["admit", "refuse"] | UnsetType = UNSET


class PaperThresholds(Answer):
    """Thresholds with the paper's composed moments."""

    first: float
    second: float


class ExactAdmission(CommandAnswer):
    """The answer of ``admission exact``: stationary measures of a small cluster of known kinds."""

    utilisation: float
    sla: float
    states: int
    acceptance: float
    residual: float


class FittedAdmission(CommandAnswer):
    """The answer of ``admission fit``: laws of greatest likelihood, standard errors and goodness of fit.

    `goodness` compares the log with logs simulated from the laws; `doubted` names the quantities whose p-value is
    at most 5 % over their number.
    """

    log: TenantLogAnswer
    capacity: int
    initial: str
    parameters: list[FittedParameter]
    log_likelihood: float
    converged: bool
    goodness: list[GoodnessRow]
    doubted: list[str]


class TenantLogAnswer(Answer):
    """What the log holds: deployments within the watch.

    `most_cores` is the largest number of cores active at once, null where the log does not say.
    """

    deployments: int
    open: int
    shut_down: int
    scale_outs: int
    core_ends: int
    hours: float
    most_cores: int | None
    notes: list[str]


class FittedParameter(Answer):
    """A parameter, its standard error from the observed information, and the ends of a 95 % interval.

    Null where the log does not decide it.
    """

    name: str
    value: float
    standard_error: float | None
    ci95: Annotated[Ends, Of("")]


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

    time: float
    size: int
    mean: float
    variance: float
    zero: float
    tail: dict[str, float]
    left_out: float
    error: float


class MomentsAnswer(CommandAnswer):
    """The answer of ``admission moments``."""

    size: int
    moments: list[MomentsRow]


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

    sla: float
    lower: float
    upper: float
    program: float
    lagrangian: float
    price: float
    states: int
    policies: dict[str, PolicyGap]


class PolicyGap(Answer):
    """A policy at the threshold that meets the SLA; `gap` is what it lacks of the upper bound, as a share of it."""

    threshold: float
    utilisation: float
    sla: float
    gap: float


class SimulatedAdmission(CommandAnswer):
    """The answer of ``admission simulate``.

    `sla` is the share of scale-outs that are refused, pooled over runs; `sla_monthly` the mean over runs and
    months.
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
    target: float
    threshold: float
    interval: tuple[float, float | None]
    utilisation: Number
    sla: Number
    tried: list[tuple[float, float]]
    safe: SafeThreshold | None
    judged: list[tuple[float, float]]
    utilisation_at_sla: Number
    replications: int
    ended_by: Literal["precision", "replications", "time"]
    fitted: list[float]


class SafeThreshold(Answer):
    """A threshold, what fresh runs use and refuse at it, and the upper bound of what is refused."""

    threshold: float
    utilisation: Number
    sla: Number
    sla_upper: float
