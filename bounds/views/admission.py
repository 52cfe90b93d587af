"""``packproof admission``: moments, laws, beliefs and decisions as answers and as text."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.views.tables import aligned
from bounds.views.text import Answer, many
from fluid.admission.absorption import exact_moments
from fluid.admission.belief import Belief, PlugIn
from fluid.admission.decisions import Thresholds
from fluid.admission.law import SizeLaw
from fluid.admission.model import Priors
from fluid.admission.moments import composed_moments, joint_moments


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


def moments_answer(priors: Priors, size: int, times: Sequence[float]) -> MomentsAnswer:
    """Return the answer of ``admission moments``."""
    rows = []
    for t in times:
        joint, paper = (f(priors, size, t) for f in (joint_moments, composed_moments))
        exact = exact_moments(priors, size, t)
        rows.append(
            MomentsRow(
                time=t,
                mean=joint.mean,
                variance=joint.variance,
                alive=exact.alive,
                paper=MeanVariance(mean=paper.mean, variance=paper.variance),
                exact=MeanVariance(mean=exact.mean, variance=exact.variance),
                error=exact.error,
            )
        )
    return MomentsAnswer(size=size, moments=rows)


def moments_lines(answer: MomentsAnswer) -> list[str]:
    """Return the answer of ``admission moments`` as text."""
    table = [["hours", "mean", "variance", "alive", "paper: mean", "variance", "exact Q: mean", "variance"]]
    for row in answer.moments:
        numbers = (row.mean, row.variance, row.alive, row.paper.mean, row.paper.variance)
        exact = (row.exact.mean, row.exact.variance)
        table.append([f"{row.time:g}", *(f"{x:.6g}" for x in numbers + exact)])
    return [f"{answer.size} cores now; mean and variance of M (O + N), then Pr[Q > 0]", *aligned(table, right=8)]


NEGLIGIBLE = 1e-9
"""Tails below this are left out of answers."""


def law_answer(law: SizeLaw, size: int, t: float) -> LawAnswer:
    """Return the answer of ``admission law``."""
    tails = law.tails
    return LawAnswer(
        time=t,
        size=size,
        mean=law.mean,
        variance=law.variance,
        zero=law.zero,
        tail={str(n): float(p) for n, p in enumerate(tails) if n and p >= NEGLIGIBLE},
        left_out=law.left_out,
        error=law.error,
    )


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
    sigma = exact.sigma
    return BeliefAnswer(
        exact=Parameters(mean_mu=exact.mean_mu, variance_mu=exact.variance_mu, mean_lambda=exact.mean_lambda),
        plug_in=Parameters(
            mean_mu=plug_in.mu.mean,
            variance_mu=plug_in.mu.shape / plug_in.mu.rate**2,
            mean_lambda=plug_in.lam.mean,
        ),
        sigma=SigmaAnswer(shape=sigma.shape, rate=sigma.rate, mean=sigma.mean, variance=sigma.shape / sigma.rate**2),
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
    return DecideAnswer(
        zeroth=exact.zeroth,
        first=exact.first,
        second=exact.second,
        paper=PaperThresholds(first=paper.first, second=paper.second),
    )


def decide_lines(answer: DecideAnswer, horizons: Sequence[float]) -> list[str]:
    """Return the answer of ``admission decide`` as text, with the hours at which it looks ahead."""
    span = f"{horizons[0]:g} to {horizons[-1]:,.6g} hours" if len(horizons) > 1 else f"{horizons[0]:g} hours"
    return [
        f"each policy accepts if its threshold is above ({many(len(horizons), 'horizon')}, {span} ahead)",
        f"zeroth moment   {answer.zeroth:.6g} cores",
        f"first moment    {answer.first:.6g} cores (paper's moments: {answer.paper.first:.6g})",
        f"second moment   {answer.second:.6g} (paper's moments: {answer.paper.second:.6g})",
    ]
