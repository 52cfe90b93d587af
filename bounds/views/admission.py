"""``packproof admission``: moments, laws, beliefs, decisions and runs of policies, as answers and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from bounds.answers.admission import (
    BeliefAnswer,
    ComparedAdmission,
    ComparedRow,
    DecideAnswer,
    ExactAdmission,
    FittedAdmission,
    LawAnswer,
    MomentsAnswer,
    OptimalAdmission,
    SimulatedAdmission,
    TunedAdmission,
)
from bounds.answers.record import Answer, Fields, encode
from bounds.views.admission_fit import fit_sentence, fit_table
from bounds.views.shown import Picture, Table, number, tables_of
from bounds.views.text import many

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fluid.admission.exact.chain import ExactResult
    from fluid.admission.exact.hidden import HiddenOptimum
    from fluid.admission.exact.optimal import Optimum
    from fluid.admission.law.belief import Belief, PlugIn, Tenant
    from fluid.admission.law.cluster import AdmissionCluster, Gamma, Priors
    from fluid.admission.law.size_law import SizeLaw
    from fluid.admission.simulation.simulate import AdmissionPolicy, AdmissionResult
    from fluid.admission.study.frontier import Compared
    from fluid.admission.study.tuning import Bound, Tuned

NEGLIGIBLE = 1e-9  # tails of a law below this probability are left out of answers


def moments_answer(priors: Priors, size: int, times: Sequence[float]) -> MomentsAnswer:
    """Return the answer of ``admission moments``."""
    from fluid.admission.law.absorption import exact_moments
    from fluid.admission.law.moments import composed_moments, joint_moments

    rows = []
    for t in times:
        joint, paper = (
            joint_moments(priors, size, t),
            composed_moments(priors, size, t),
        )  # infinite ones are refused here
        exact = exact_moments(priors, size, t)
        # mean and variance are those of the joint law; the two others bring their own under `paper` and `exact`
        rows.append(Fields(joint, exact, time=t, paper=paper, exact=exact))
    return encode(MomentsAnswer, size=size, moments=rows)


def law_answer(law: SizeLaw, size: int, t: float) -> LawAnswer:
    """Return the answer of ``admission law``."""
    tail = {str(n): p for n, p in enumerate(law.tails) if n and p >= NEGLIGIBLE}
    return encode(LawAnswer, law, time=t, size=size, tail=tail)


def belief_answer(exact: Belief, plug_in: PlugIn) -> BeliefAnswer:
    """Return the answer of ``admission belief``."""

    def variance(law: Gamma) -> float:
        return law.shape / law.rate**2

    mu, scale_outs = plug_in.mu, plug_in.lam
    return encode(
        BeliefAnswer,
        exact=exact,
        plug_in=Fields(mean_mu=mu.mean, variance_mu=variance(mu), mean_lambda=scale_outs.mean),
        sigma=Fields(exact.sigma, variance=variance(exact.sigma)),
    )


def decide_answer(
    cluster: AdmissionCluster,
    tenants: Sequence[Tenant],
    arrival: Tenant,
    horizons: NDArray[np.float64],
    policy: AdmissionPolicy | None,
    *,
    observed: bool,
    fits: bool,
) -> DecideAnswer:
    """Return the answer of ``admission decide``, with a verdict where there is a policy."""
    from fluid.admission.simulation.decision import needed

    exact, paper = (needed(cluster, tenants, arrival, horizons, moments=name) for name in ("exact", "paper"))
    fields: dict[str, Any] = {"judged_by": "posteriors" if observed else "priors", "fits": fits}
    if policy is not None:
        numbers = exact if policy.moments == "exact" else needed(
            cluster, tenants, arrival, horizons, moments=policy.moments
        )  # fmt: skip
        number = float(getattr(numbers, policy.name))
        fields |= {"policy": policy.name, "moments": policy.moments, "threshold": policy.threshold, "needed": number}
        fields["verdict"] = "admit" if fits and number < policy.threshold else "refuse"
    return encode(DecideAnswer, exact, paper=paper, **fields)


def optimal_answer(
    optimum: Optimum | HiddenOptimum, others: Mapping[str, tuple[float, ExactResult]]
) -> OptimalAdmission:
    """Return the answer of ``admission optimal``, beside policies by name: their thresholds and results."""
    policies = {
        name: Fields(result, threshold=threshold, gap=1 - result.utilisation / optimum.upper)
        for name, (threshold, result) in others.items()
    }
    return encode(OptimalAdmission, optimum, states=len(optimum.space.states), policies=policies)


def simulated_answer(policy: AdmissionPolicy, result: AdmissionResult) -> SimulatedAdmission:
    """Return the answer of ``admission simulate``."""
    arrivals = sum(run.arrivals for run in result.runs)
    return encode(
        SimulatedAdmission,
        policy,
        result,
        policy=policy.name,
        sla_monthly=result.monthly,
        admitted=sum(run.admitted for run in result.runs) / max(1, arrivals),
        replications=len(result.runs),
        events_per_second=result.events / max(result.seconds, 1e-9),
    )


def tuned_answer(tuned: Tuned, target: float) -> TunedAdmission:
    """Return the answer of ``admission tune``."""
    from fluid.admission.study.tuning import upper_bound

    policy, safe, at_safe = tuned.policy, None, tuned.safe_result
    if tuned.safe is not None and at_safe is not None:
        safe = Fields(at_safe, threshold=tuned.safe.threshold, sla_upper=upper_bound(at_safe.sla))
    return encode(
        TunedAdmission, tuned, tuned.result, policy=policy.name, target=target, threshold=policy.threshold,
        safe=safe, utilisation_at_sla=tuned.allowed, replications=tuned.worlds,
    )  # fmt: skip


def compared_answer(rows: Sequence[Compared], bound: Bound, sla: float, replications: int) -> ComparedAdmission:
    """Return the answer of ``admission compare``."""
    parts = [
        Fields(
            row,
            policy=row.frontier.policy.name,
            moments=row.frontier.policy.moments,
            above_first=row.above,
            ladder=list(zip(row.frontier.thresholds.tolist(), row.frontier.shares.tolist(), strict=True)),
        )
        for row in rows
    ]
    return encode(ComparedAdmission, sla=sla, replications=replications, bound=bound.utilisation, rows=parts)


def _hours(span: float) -> str:
    return f"{span:g} {'hour' if span == 1 else 'hours'}"


@singledispatch
def sentence(answer: Answer) -> str:
    """Return an answer in a sentence."""
    raise TypeError(type(answer).__name__)


@sentence.register
def _(answer: MomentsAnswer) -> str:
    row = answer.moments[-1]
    return (
        f"A deployment of {many(answer.size, 'core')} has {row.exact.mean:.6g} cores on average in {_hours(row.time)}, "
        f"with variance {row.exact.variance:.6g}."
    )


@sentence.register
def _(answer: LawAnswer) -> str:
    return (
        f"A deployment of {many(answer.size, 'core')} has {answer.mean:.6g} cores on average in {_hours(answer.time)}, "
        f"with variance {answer.variance:.6g}, and none with probability {answer.zero:.6g}."
    )


@sentence.register
def _(answer: BeliefAnswer) -> str:
    return (
        f"After what was seen, the mean of mu is {answer.exact.mean_mu:.6g} an hour by the exact belief, and "
        f"{answer.plug_in.mean_mu:.6g} by the plug-in of the paper; a scale-out has 1 + {answer.sigma.mean:.6g} cores."
    )


@sentence.register
def _(answer: DecideAnswer) -> str:
    thresholds = f"{answer.zeroth:.6g} cores (zeroth), {answer.first:.6g} cores (first) or {answer.second:.6g} (second)"
    accepts = f"a policy accepts if its threshold is above {thresholds}, by moment"
    if not answer.verdict:
        return f"{accepts[0].upper()}{accepts[1:]}."
    unit = "" if answer.policy == "second" else " cores"
    number = f"it needs {answer.needed:.6g}{unit} of the threshold {answer.threshold:.6g}"
    reason = number if answer.fits else "it does not fit"
    return f"The {answer.policy} moment says {answer.verdict}: {reason}; {accepts}."


@sentence.register
def _(answer: OptimalAdmission) -> str:
    return (
        f"The best policy uses between {100 * answer.lower:.7f} % and {100 * answer.upper:.7f} % of the cores where at "
        f"most {100 * answer.sla:g} % of scale-outs are refused."
    )


@sentence.register
def _(answer: ExactAdmission) -> str:
    used, refused = 100 * answer.utilisation, 100 * answer.sla
    return f"{used:.7g} % of the cores are in use, and {refused:.7g} % of scale-outs are refused."


@sentence.register
def _(answer: SimulatedAdmission) -> str:
    refused = number(answer.sla.mean or 0.0, 3, share=True)
    used = number(answer.utilisation.mean or 0.0, 4, share=True)
    return f"The {answer.policy} policy uses {used} of the cores, and {refused} of scale-outs are refused."


@sentence.register
def _(answer: TunedAdmission) -> str:
    used = "-" if answer.utilisation.mean is None else f"{100 * answer.utilisation.mean:.2f} %"
    proven = "none is proven to" if answer.safe is None else f"{answer.safe.threshold:.6g} is the largest proven to"
    return (
        f"{answer.threshold:.6g} is the largest threshold of the {answer.policy} policy whose estimated refused share "
        f"meets the SLA of {answer.target:g}, with {used} of the cores in use; {proven}."
    )


@sentence.register
def _(answer: ComparedAdmission) -> str:
    best = max((row for row in answer.rows if row.utilisation.mean is not None), key=_used, default=None)
    bound = number(answer.bound.mean or 0.0, 4, share=True)
    most = f"no policy can use more than {bound} of the cores"
    if best is None:
        return f"{most[0].upper()}{most[1:]}."
    return f"At this SLA {best.policy} uses most, {number(_used(best), 4, share=True)} of the cores; {most}."


def _used(row: ComparedRow) -> float:
    return row.utilisation.mean or 0.0


@sentence.register
def _(answer: FittedAdmission) -> str:
    return fit_sentence(answer)


def tables(answer: Answer) -> list[Table]:
    """Return the tables of an answer, with what is to be said of its numbers."""
    parts = tables_of(answer)
    if isinstance(answer, MomentsAnswer):
        parts.append(_moments(answer))
    elif isinstance(answer, LawAnswer):
        parts.append(_quantiles(answer))
    elif isinstance(answer, FittedAdmission):
        parts.append(fit_table(answer))
    notes = _notes(answer)
    return [*parts, Table("notes", [""], [[note] for note in notes], [False])] if notes else parts


def _moments(answer: MomentsAnswer) -> Table:
    """Return the moments by time: those of M (O + N), of the paper, and of the size itself."""
    head = [
        "hours", "mean of M (O + N)", "variance", "probability of a core", "paper: mean", "paper: variance",
        "size: mean", "size: variance",
    ]  # fmt: skip
    rows = []
    for row in answer.moments:
        numbers = (
            row.mean,
            row.variance,
            row.alive,
            row.paper.mean,
            row.paper.variance,
            row.exact.mean,
            row.exact.variance,
        )
        rows.append([f"{row.time:g}", *(number(x) for x in numbers)])
    return Table("moments of the cores in some hours", head, rows, [True] * len(head))


def _quantiles(answer: LawAnswer) -> Table:
    """Return quantiles of the size: the least number with a tail of at most one less the level."""
    tails = {int(n): p for n, p in answer.tail.items()}
    rows = []
    for level in (0.5, 0.9, 0.99, 0.999):
        beyond = [n for n, p in tails.items() if p > 1 - level]
        rows.append([f"{100 * level:g} %", f"{max(beyond, default=0):,}"])
    return Table("quantiles of the cores", ["of the probability", "cores, at most"], rows, [True, True])


def _notes(answer: Answer) -> list[str]:
    """Return what a reader should know beside the numbers."""
    if isinstance(answer, DecideAnswer) and answer.judged_by == "priors":
        return ["every deployment is judged by the priors alone; thresholds of tune need what was seen (--state)"]
    if isinstance(answer, TunedAdmission):
        return [*_about_the_estimate(answer), *_about_the_safe_one(answer), _about_the_precision(answer)]
    return []


def _about_the_estimate(answer: TunedAdmission) -> list[str]:
    low, high = answer.interval
    meets = f"up to {low:.6g} the SLA is met" if low > 0 else "no threshold tried surely meets the SLA"
    misses = "none surely misses it" if high is None else f"from {high:.6g} on it is missed"
    notes = [f"by intervals over the runs, {meets}, and {misses}"]
    if len(answer.tried) == 1 or answer.threshold == answer.tried[-1][0]:
        notes.append("the estimated threshold is the end of the range searched")
    return [*notes, *(["more or longer runs may decide (--replications, --until)"] if low == 0 or high is None else [])]


def _about_the_safe_one(answer: TunedAdmission) -> list[str]:
    candidates = many(len(answer.judged), "threshold")
    if answer.safe is not None:
        return [f"the safe threshold is the largest of {candidates} up to the estimated one"]
    return [
        f"none of {candidates} from {answer.judged[0][0]:.6g} on is proven to meet the SLA by the fresh runs; more or "
        "longer runs may prove one (--replications, --until)"
    ]


def _about_the_precision(answer: TunedAdmission) -> str:
    from fluid.admission.study.tuning import HALF_A_POINT

    points = f"{100 * HALF_A_POINT:g} points"
    if answer.ended_by == "precision":
        return f"the interval of what the SLA allows is within {points}"
    option = "--time-limit" if answer.ended_by == "time" else "--replications"
    return f"the interval of what the SLA allows is not within {points}, and {option} allows no more worlds"


def pictures(answer: Answer) -> list[Picture]:
    """Return none: ``--plot`` of a command draws what the answer does not hold."""
    del answer
    return []


def evidence(answer: Answer) -> list[tuple[str, str]]:
    """Return what is claimed, and how it is known."""
    sampled = SimulatedAdmission | ComparedAdmission | TunedAdmission | FittedAdmission
    return [("all numbers", "statistical" if isinstance(answer, sampled) else "numeric")]
