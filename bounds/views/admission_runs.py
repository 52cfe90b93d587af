"""``packproof admission simulate | tune | exact``: runs of policies as answers and as text."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from bounds.views.tables import aligned
from bounds.views.text import INTERVALS, Answer, Number, many, number, with_interval
from fluid.admission.chain import ExactResult
from fluid.admission.hidden import HiddenOptimum
from fluid.admission.optimal import Optimum
from fluid.admission.simulate import AdmissionPolicy, AdmissionResult
from fluid.admission.tuning import Tuned


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


def optimal_answer(found: Optimum | HiddenOptimum, others: Mapping[str, tuple[float, ExactResult]]) -> OptimalAdmission:
    """Return the answer of ``admission optimal``."""
    return OptimalAdmission(
        sla=found.sla,
        lower=found.lower,
        upper=found.upper,
        program=found.program,
        lagrangian=found.lagrangian,
        price=found.price,
        states=len(found.space.states),
        policies={
            name: PolicyGap(
                threshold=threshold,
                utilisation=result.utilisation,
                sla=result.sla,
                gap=1 - result.utilisation / found.upper,
            )
            for name, (threshold, result) in others.items()
        },
    )


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


def simulated_answer(policy: AdmissionPolicy, found: AdmissionResult) -> SimulatedAdmission:
    """Return the answer of ``admission simulate``."""
    arrivals = sum(run.arrivals for run in found.runs)
    return SimulatedAdmission(
        policy=policy.name,
        threshold=policy.threshold if isfinite(policy.threshold) else None,
        moments=policy.moments,
        utilisation=number(found.utilisation),
        sla=number(found.sla),
        sla_monthly=number(found.monthly),
        admitted=sum(run.admitted for run in found.runs) / max(1, arrivals),
        replications=len(found.runs),
        events=found.events,
        events_per_second=found.events / max(found.seconds, 1e-9),
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


def tuned_answer(found: Tuned, target: float) -> TunedAdmission:
    """Return the answer of ``admission tune``."""
    low, high = found.interval
    return TunedAdmission(
        policy=found.policy.name,
        target=target,
        threshold=found.policy.threshold,
        interval=(low, high if isfinite(high) else None),
        utilisation=number(found.result.utilisation),
        sla=number(found.result.sla),
        tried=[(threshold, share.mean) for threshold, share in found.tried],
    )


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


def exact_answer(found: ExactResult) -> ExactAdmission:
    """Return the answer of ``admission exact``."""
    return ExactAdmission(
        utilisation=found.utilisation,
        sla=found.sla,
        states=found.states,
        acceptance=found.acceptance,
        residual=found.residual,
    )


def exact_lines(answer: ExactAdmission) -> list[str]:
    """Return the answer of ``admission exact`` as text."""
    return [
        f"utilisation        {answer.utilisation:.9g}",
        f"refused scale-outs {answer.sla:.9g} of all",
        f"admitted           {100 * answer.acceptance:.6g} % of arrivals",
        f"{many(answer.states, 'state')}; residual of the linear system {answer.residual:.1e}",
    ]
