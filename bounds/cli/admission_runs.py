"""``packproof admission simulate | tune | exact``: policies in simulation, tuned to an SLA, and in small clusters."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from bounds.cli.admission import AdmissionFile, group, times_of
from bounds.cli.app import JsonFlag, PlotFile, progress, show

PolicyOption = Annotated[
    str, typer.Option("--policy", metavar="zeroth|first|second", help="Admission policy.", show_default=False)
]
MomentsOption = Annotated[
    str, typer.Option("--moments", metavar="exact|plug-in|paper", help="Belief and moments of a moment policy.")
]
MarginalOption = Annotated[
    float,
    typer.Option("--marginal", metavar="CORES", help="Cores below which an arrival is marginal; 0: no heuristic."),
]
ObservationsOption = Annotated[
    int, typer.Option("--observations", min=0, max=10_000, help="Observations of each process before arrival.")
]
WarmupOption = Annotated[
    float,
    typer.Option("--warmup", metavar="W", help="First hours, while an empty cluster fills, that are not measured."),
]
HorizonsOption = Annotated[
    str | None,
    typer.Option("--horizons", metavar="T,...", help="Hours ahead, in increasing order; 40 from 0.04 h on by default."),
]
UntilOption = Annotated[float, typer.Option("--until", metavar="T", help="Hours of each run.", show_default=False)]
ReplicationsOption = Annotated[int, typer.Option("--replications", metavar="N", min=1, max=1_000_000)]
SeedOption = Annotated[int, typer.Option("--seed", min=0)]
EngineOption = Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")]
WorkersOption = Annotated[int, typer.Option("--workers", metavar="N", help="Local processes (-1: one per core).")]
MostOption = Annotated[
    int | None, typer.Option("--most-deployments", metavar="N", min=1, help="Deployments at once, at most.")
]


def span_of(until: float, warmup: float) -> None:
    """Refuse times that are none, or out of order."""
    from math import isfinite

    from theory.errors import InputError

    if not (isfinite(until) and until > 0):
        raise InputError(f"--until: expected a time greater than 0, got {until!r}")
    if not 0 <= warmup < until:
        raise InputError(f"--warmup: expected a time of at least 0 and less than --until, got {warmup!r}")


def threshold_of(threshold: float, policy: str) -> float:
    """Refuse a threshold of the second-moment policy that is no bound of a probability."""
    from theory.errors import InputError

    if policy == "second" and threshold > 1:
        raise InputError(
            f"--threshold: expected a bound of a probability, at most 1, for --policy second, got {threshold:g}"
        )
    return threshold


@group.command(
    examples=(
        "packproof admission simulate examples/admission.toml --policy zeroth --threshold 1500 --until 500",
        "packproof admission simulate examples/admission_small.toml --policy zeroth --threshold 8 --until 900 --seed 3",
    )
)
def simulate(
    file: AdmissionFile,
    policy: PolicyOption,
    threshold: Annotated[float, typer.Option("--threshold", metavar="X", help="Accept below it.", show_default=False)],
    until: UntilOption,
    warmup: WarmupOption = 0.0,
    replications: ReplicationsOption = 10,
    seed: SeedOption = 0,
    observations: ObservationsOption = 0,
    moments: MomentsOption = "exact",
    marginal: MarginalOption = 0.0,
    horizons: HorizonsOption = None,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Of known kinds, hide which one arrives.")] = False,
    most: MostOption = None,
    store: Annotated[
        Path | None, typer.Option("--store", metavar="FILE", help="Keep runs, and read those that it has.")
    ] = None,
    engine: EngineOption = "local",
    workers: WorkersOption = 1,
    as_json: JsonFlag = False,
) -> None:
    """Simulate an admission policy: utilisation, and the share of scale-outs that are refused."""
    from bounds.views.admission import simulated_answer, simulated_lines
    from fluid.admission.files import read_admission
    from fluid.admission.replications import simulate_admission
    from fluid.admission.simulate import AdmissionPolicy
    from fluid.experiment.store import Store

    span_of(until, warmup)
    cluster = read_admission(file)
    chosen = AdmissionPolicy(
        policy, threshold_of(threshold, policy), moments, marginal, times_of(horizons), labelled=not unlabelled
    )
    with ExitStack() as stack:
        found = simulate_admission(
            cluster,
            chosen,
            until,
            replications=replications,
            seed=seed,
            observations=observations,
            warmup=warmup,
            most=most,
            workers=workers,
            engine=engine,
            progress=stack.enter_context(progress()),
            store=None if store is None else stack.enter_context(Store(store)),
        )
    answer = simulated_answer(chosen, found)
    show(answer, lambda: simulated_lines(answer), as_json=as_json)


@group.command(
    examples=(
        "packproof admission tune examples/admission_small.toml --policy zeroth --sla 0.05 --until 2000",
        "packproof admission tune examples/admission_small.toml --policy zeroth --sla 0.1 --until 900",
    )
)
def tune(
    file: AdmissionFile,
    policy: PolicyOption,
    sla: Annotated[float, typer.Option("--sla", metavar="X", help="Share of refused scale-outs.", show_default=False)],
    until: Annotated[
        float, typer.Option("--until", metavar="T", help="Hours of each run; the default is a year.")
    ] = 8760,
    warmup: WarmupOption = 0.0,
    replications: ReplicationsOption = 20,
    seed: SeedOption = 0,
    observations: ObservationsOption = 0,
    moments: MomentsOption = "exact",
    marginal: MarginalOption = 0.0,
    horizons: HorizonsOption = None,
    steps: Annotated[int, typer.Option("--steps", min=1, max=40, help="Halvings of the bisection.")] = 10,
    engine: EngineOption = "local",
    workers: WorkersOption = 1,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Tune a policy's threshold to an SLA, by bisection on common random numbers."""
    from bounds.views.admission import tuned_answer, tuned_lines
    from fluid.admission.files import read_admission
    from fluid.admission.simulate import AdmissionPolicy
    from fluid.admission.tuning import tune as tuned

    span_of(until, warmup)
    cluster = read_admission(file)
    chosen = AdmissionPolicy(policy, moments=moments, marginal=marginal, horizons=times_of(horizons))
    with progress() as say:
        found = tuned(
            cluster,
            chosen,
            sla,
            until,
            replications=replications,
            seed=seed,
            observations=observations,
            warmup=warmup,
            steps=steps,
            workers=workers,
            engine=engine,
            progress=say,
        )
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_tuning

        picture_of_tuning(found, sla, plot)
    answer = tuned_answer(found, sla)
    show(answer, lambda: tuned_lines(answer, until, warmup), as_json=as_json)


@group.command(
    examples=(
        "packproof admission exact examples/admission_small.toml --policy zeroth --threshold 8 --most-deployments 4",
        "packproof admission exact examples/admission_small.toml --policy zeroth --threshold 6 --most-deployments 3",
    )
)
def exact(
    file: AdmissionFile,
    policy: PolicyOption,
    threshold: Annotated[float, typer.Option("--threshold", metavar="X", help="Accept below it.", show_default=False)],
    most: Annotated[int, typer.Option("--most-deployments", metavar="N", help="Deployments at once, at most.")],
    marginal: MarginalOption = 0.0,
    as_json: JsonFlag = False,
) -> None:
    """A policy in a small cluster of known kinds, exactly: the stationary law of its Markov chain."""
    from bounds.views.admission import exact_answer, exact_lines
    from fluid.admission.chain import exact_policy
    from fluid.admission.files import read_admission
    from fluid.admission.simulate import AdmissionPolicy

    found = exact_policy(
        read_admission(file), AdmissionPolicy(policy, threshold_of(threshold, policy), marginal=marginal), most
    )
    answer = exact_answer(found)
    show(answer, lambda: exact_lines(answer), as_json=as_json)


@group.command(
    examples=(
        "packproof admission optimal examples/admission_small.toml --sla 0.05 --most-deployments 4",
        "packproof admission optimal examples/admission_small.toml --most-deployments 3 --json",
    )
)
def optimal(
    file: AdmissionFile,
    sla: Annotated[float, typer.Option("--sla", metavar="X", help="Share of scale-outs that may be refused.")] = 0.01,
    most: Annotated[int, typer.Option("--most-deployments", metavar="N", help="Deployments at once, at most.")] = 6,
    hidden: Annotated[bool, typer.Option("--hidden", help="Of two kinds, which policies do not see.")] = False,
    beliefs: Annotated[int, typer.Option("--beliefs", metavar="N", help="Points of the grid of beliefs.")] = 11,
    as_json: JsonFlag = False,
) -> None:
    """The best policy of a small cluster of known kinds under an SLA, and how far other policies are from it."""
    from bounds.views.admission import optimal_answer, optimal_lines
    from fluid.admission.chain import best_threshold
    from fluid.admission.decisions import POLICIES
    from fluid.admission.files import read_admission
    from fluid.admission.hidden import hidden_optimum
    from fluid.admission.optimal import optimal_policy
    from fluid.admission.simulate import AdmissionPolicy

    cluster = read_admission(file)
    with progress() as say:
        say("the optimum ...")
        unseen = hidden_optimum(cluster, sla, most, beliefs) if hidden else None
        found = optimal_policy(cluster, sla, most) if unseen is None else unseen
        space = found.space if unseen is None else unseen.memories
        others = {}
        for name in POLICIES:
            say(f"{name} ...")
            others[name] = best_threshold(space, AdmissionPolicy(name), sla)
    answer = optimal_answer(found, others)
    show(answer, lambda: optimal_lines(answer), as_json=as_json)
