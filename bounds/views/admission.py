"""``packproof admission``: moments, laws, beliefs, decisions and runs of policies, as answers and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bounds.answers.admission import (
    BeliefAnswer,
    ComparedAdmission,
    DecideAnswer,
    ExactAdmission,
    LawAnswer,
    MomentsAnswer,
    OptimalAdmission,
    SafeThreshold,
    SimulatedAdmission,
    TunedAdmission,
)
from bounds.answers.record import Fields, encode
from bounds.views.tables import aligned
from bounds.views.text import INTERVALS, many, with_interval

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


def moments_lines(answer: MomentsAnswer) -> list[str]:
    """Return the answer of ``admission moments`` as text."""
    table = [["hours", "mean", "variance", "alive", "paper: mean", "variance", "exact Q: mean", "variance"]]
    for row in answer.moments:
        numbers = (row.mean, row.variance, row.alive, row.paper.mean, row.paper.variance)
        exact = (row.exact.mean, row.exact.variance)
        table.append([f"{row.time:g}", *(f"{x:.6g}" for x in numbers + exact)])
    first = f"{many(answer.size, 'core')} now; mean and variance of M (O + N), then Pr[Q > 0]"
    return [first, *aligned(table, right=8)]


def law_answer(law: SizeLaw, size: int, t: float) -> LawAnswer:
    """Return the answer of ``admission law``."""
    tail = {str(n): p for n, p in enumerate(law.tails) if n and p >= NEGLIGIBLE}
    return encode(LawAnswer, law, time=t, size=size, tail=tail)


def law_lines(law: SizeLaw, size: int, t: float) -> list[str]:
    """Return the answer of ``admission law`` as text."""
    quantiles = [f"{100 * q:g} % {law.quantile(q)}" for q in (0.5, 0.9, 0.99, 0.999)]
    return [
        f"{many(size, 'core')} now, {t:g} {'hour' if t == 1 else 'hours'} ahead",
        f"mean {law.mean:.6g}, variance {law.variance:.6g}, Pr[Q = 0] = {law.zero:.6g}",
        f"quantiles: {', '.join(quantiles)}",
        f"left out at most {law.left_out:.1e}; a coarser quadrature differs by {law.error:.1e}",
    ]


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


def belief_lines(answer: BeliefAnswer) -> list[str]:
    """Return the answer of ``admission belief`` as text."""
    table = [["", "mean mu", "variance mu", "mean lambda"]]
    for name, one in (("exact", answer.exact), ("plug-in", answer.plug_in)):
        table.append([name, f"{one.mean_mu:.6g}", f"{one.variance_mu:.6g}", f"{one.mean_lambda:.6g}"])
    sigma = answer.sigma
    return [*aligned(table, right=3), f"sigma: mean {sigma.mean:.6g}, Gamma({sigma.shape:g}, {sigma.rate:g})"]


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


def decide_lines(answer: DecideAnswer, horizons: Sequence[float]) -> list[str]:
    """Return the answer of ``admission decide`` as text, with the hours at which it looks ahead."""
    span = f"{horizons[0]:g} to {horizons[-1]:,.6g} hours" if len(horizons) > 1 else f"{horizons[0]:g} hours"
    lines = [
        f"each policy accepts if its threshold is above ({many(len(horizons), 'horizon')}, {span} ahead)",
        f"zeroth moment   {answer.zeroth:.6g} cores",
        f"first moment    {answer.first:.6g} cores (paper's moments: {answer.paper.first:.6g})",
        f"second moment   {answer.second:.6g} (paper's moments: {answer.paper.second:.6g})",
    ]
    if answer.judged_by == "priors":
        lines.append("every deployment is judged by the priors alone; thresholds of tune need what was seen (--state)")
    if answer.verdict:
        share = f", {100 * answer.needed / answer.threshold:.4g} % of it" if answer.threshold and answer.needed else ""
        unit = "" if answer.policy == "second" else " cores"
        number = f"{answer.needed:.6g}{unit} against the threshold {answer.threshold:.6g}{share}"
        reason = number if answer.fits else "it does not fit"
        lines.append(f"{answer.verdict}: {answer.policy} moment, {reason}")
    return lines


def optimal_answer(
    optimum: Optimum | HiddenOptimum, others: Mapping[str, tuple[float, ExactResult]]
) -> OptimalAdmission:
    """Return the answer of ``admission optimal``, beside policies by name: their thresholds and results."""
    policies = {
        name: Fields(result, threshold=threshold, gap=1 - result.utilisation / optimum.upper)
        for name, (threshold, result) in others.items()
    }
    return encode(OptimalAdmission, optimum, states=len(optimum.space.states), policies=policies)


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
    from fluid.admission.study.tuning import upper_bound

    policy, safe, at_safe = tuned.policy, None, tuned.safe_result
    if tuned.safe is not None and at_safe is not None:
        safe = Fields(at_safe, threshold=tuned.safe.threshold, sla_upper=upper_bound(at_safe.sla))
    return encode(
        TunedAdmission, tuned, tuned.result, policy=policy.name, target=target, threshold=policy.threshold,
        safe=safe, utilisation_at_sla=tuned.allowed, replications=tuned.worlds,
    )  # fmt: skip


def tuned_lines(answer: TunedAdmission, until: float, warmup: float) -> list[str]:
    """Return the answer of ``admission tune`` as text, with the hours of each run and of its warm-up."""
    low, high = answer.interval
    meets = f"up to {low:.6g} the SLA is met" if low > 0 else "no threshold tried surely meets the SLA"
    misses = "none surely misses it" if high is None else f"from {high:.6g} on it is missed"
    more = ["                   more or longer runs may decide (--replications, --until)"]
    at_end = len(answer.tried) == 1 or answer.threshold == answer.tried[-1][0]
    last = ", the end of the range searched" if at_end else ""
    return [
        INTERVALS,
        f"threshold          {answer.threshold:.6g}, estimated: the largest one tried whose fitted share meets the "
        f"SLA{last}",
        f"                   by intervals over the runs, {meets}, and {misses}",
        *(more if low == 0 or high is None else ()),
        *_used_and_refused(answer),
        f"                   at most {answer.target:g} asked for; both by fresh runs at this threshold",
        *_safe_lines(answer),
        *_allowed_lines(answer),
        f"runs               {until:g} hours from an empty cluster, the first {warmup:g} not measured (--warmup)",
    ]


def _used_and_refused(answer: SimulatedAdmission | TunedAdmission | SafeThreshold) -> list[str]:
    return [
        f"utilisation        {with_interval(answer.utilisation, 5, least=0.0, most=1.0)}",
        f"refused scale-outs {with_interval(answer.sla, 3, least=0.0, most=1.0)}",
    ]


def _safe_lines(answer: TunedAdmission) -> list[str]:
    """Return the safe threshold as text, or why there is none."""
    candidates = many(len(answer.judged), "threshold")
    if answer.safe is None:
        return [
            f"safe threshold     none of {candidates} from {answer.judged[0][0]:.6g} on is proven to meet the SLA by "
            "the fresh runs",
            "                   more or longer runs may prove one (--replications, --until)",
        ]
    return [
        f"safe threshold     {answer.safe.threshold:.6g}, the largest of {candidates} up to the estimated one that the "
        "upper bound allows",
        *_used_and_refused(answer.safe),
        f"                   by the fresh runs; at most {answer.safe.sla_upper:.3g} are refused, at 97.5 % confidence",
    ]


def _allowed_lines(answer: TunedAdmission) -> list[str]:
    """Return what the SLA allows as text, and whether that is known to half a point."""
    from fluid.admission.study.tuning import HALF_A_POINT

    used = answer.utilisation_at_sla
    points = f"{100 * HALF_A_POINT:g} points"
    if answer.ended_by == "precision":
        precise = f"its interval is within {points}"
    else:
        option = "--time-limit" if answer.ended_by == "time" else "--replications"
        precise = f"its interval is not within {points}, and {option} allows no more worlds"
    return [
        f"the SLA allows     a utilisation of {with_interval(used, 5, least=0.0, most=1.0)}, with the uncertainty of "
        "the threshold",
        f"                   {precise} ({many(answer.replications, 'world')}, and as many fresh ones)",
    ]


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


def compared_lines(answer: ComparedAdmission) -> list[str]:
    """Return the answer of ``admission compare`` as text."""
    table = [["policy", "observations", "threshold", "utilisation", "above the first"]]
    for row in answer.rows:
        above = "" if row.above_first is None else with_interval(row.above_first, 4)
        used = with_interval(row.utilisation, 5, least=0.0, most=1.0) + ("" if row.reached else " (SLA not reached)")
        table.append([row.policy, str(row.observations), f"{row.threshold:.6g}", used, above])
    return [
        f"{INTERVALS}; {many(answer.replications, 'world')}, the same for all",
        *aligned(table, right=0),
        f"no policy uses more than {with_interval(answer.bound, 5, least=0.0, most=1.0)} (pathwise)",
    ]


def exact_lines(answer: ExactAdmission) -> list[str]:
    """Return the answer of ``admission exact`` as text."""
    return [
        f"utilisation        {answer.utilisation:.9g}",
        f"refused scale-outs {answer.sla:.9g} of all",
        f"admitted           {100 * answer.acceptance:.6g} % of arrivals",
        f"{many(answer.states, 'state')}; residual of the linear system {answer.residual:.1e}",
    ]
