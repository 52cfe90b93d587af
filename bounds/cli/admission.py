"""``packproof admission``: whether a deployment may enter a cluster; its laws and beliefs, policies and their SLA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bounds.cli.app import Application, app, progress, show
from bounds.cli.options import (
    EngineOption,
    JsonFlag,
    PlotFile,
    SeedOption,
    StoreFile,
    WorkersOption,
    named_values,
    refuse_no_time,
)
from fluid.admission.choices import Moments, PolicyName, RunningPolicy
from theory.errors import InputError, naming

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fluid.experiment.store import Store

group = Application(
    help="Cluster admission: deployments that grow on their own, and whether another may enter.",
    no_args_is_help=True,
    examples=(
        "packproof admission decide examples/admission.toml --active 120,40,7 --arriving 4 --horizons 1,24,168",
        "packproof admission optimal examples/admission_small.toml --sla 0.05 --most-deployments 4",
    ),
)
app.add_typer(group, name="admission")

AdmissionFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Cluster and deployments, TOML or JSON.", show_default=False)
]
SizeOption = Annotated[
    int, typer.Option("--size", metavar="C", help="Cores of the deployment now.", show_default=False)
]
PolicyOption = Annotated[PolicyName, typer.Option("--policy", help="Admission policy.", show_default=False)]
MomentsOption = Annotated[Moments, typer.Option("--moments", help="Belief and moments of a moment policy.")]
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
ThresholdOption = Annotated[
    float, typer.Option("--threshold", metavar="X", help="Accept below it.", show_default=False)
]
SlaOption = Annotated[
    float, typer.Option("--sla", metavar="X", help="Share of refused scale-outs.", show_default=False)
]
UntilOption = Annotated[float, typer.Option("--until", metavar="T", help="Hours of each run.", show_default=False)]
YearOption = Annotated[float, typer.Option("--until", metavar="T", help="Hours of each run; the default is a year.")]
ReplicationsOption = Annotated[int, typer.Option("--replications", metavar="N", min=1, max=1_000_000)]
MostOption = Annotated[
    int | None, typer.Option("--most-deployments", metavar="N", min=1, help="Deployments at once, at most.")
]

YEAR = 8760
"""Hours of a year of 365 days."""


def numbers_of(text: str, name: str) -> list[float]:
    """Read numbers with commas between them; bad ones end in one line that names the option."""
    from theory.numbers import rational

    try:
        return [float(rational(part)) for part in text.split(",")]
    except ValueError as error:
        raise InputError(name, f"expected numbers with commas between them, got {text!r} ({error})") from error


def cores_of(text: str, name: str) -> list[int]:
    """Read whole numbers of cores with commas between them; empty for no deployment."""
    from fluid.admission.law.cluster import MOST_CORES

    numbers = numbers_of(text, name) if text.strip() else []
    for value in numbers:
        if value < 1 or value != int(value) or value > MOST_CORES:
            raise InputError(name, f"expected whole numbers of cores of at least 1, got {value:g}")
    return [int(value) for value in numbers]


def times_of(text: str | None) -> NDArray[np.float64] | None:
    """Read the horizons of an option, if it is given."""
    from fluid.admission.law.cluster import horizons_of

    return None if text is None else horizons_of(numbers_of(text, "--horizons"))


@group.command(
    examples=(
        "packproof admission moments examples/admission.toml --at 24,168 --size 4",
        "packproof admission moments examples/admission.toml --at 720 --size 40 --json",
    )
)
def moments(
    file: AdmissionFile,
    at: Annotated[str, typer.Option("--at", metavar="T,...", help="Hours ahead.", show_default=False)],
    size: SizeOption,
    as_json: JsonFlag = False,
) -> None:
    """Moments of a deployment's size at times ahead: exact, and as the paper composes them."""
    from bounds.views.admission import moments_answer
    from fluid.admission.law.admission_files import read_admission

    cluster = read_admission(file)
    times = numbers_of(at, "--at")
    for t in times:
        refuse_no_time("--at", t)
    cluster.refuse_size(size)
    with naming(file, ("deployments",)):
        answer = moments_answer(cluster.priors, size, times)
    show(answer, as_json=as_json)


@group.command(
    examples=(
        "packproof admission law examples/admission.toml --at 24 --size 4 --given mu=0.05,lambda=1,sigma=4",
        "packproof admission law examples/admission.toml --at 168 --size 9 --given mu=0.05,lambda=0.2,sigma=2 --json",
    )
)
def law(
    file: AdmissionFile,
    at: Annotated[float, typer.Option("--at", metavar="T", help="Hours ahead.", show_default=False)],
    size: SizeOption,
    given: Annotated[
        str | None,
        typer.Option("--given", metavar="mu=X,lambda=Y,sigma=Z", help="Parameters that are known, in place of priors."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """The exact law of a deployment's size at a time, with absorption at 0."""
    from bounds.views.admission import law_answer
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.law.mixture import mixed_law
    from fluid.admission.law.size_law import kind_law, parameters_law

    cluster = read_admission(file)
    refuse_no_time("--at", at)
    cluster.refuse_size(size)
    if given is not None:
        size_law = parameters_law(cluster.priors, *parameters_of(given), size, at)
    elif isinstance(cluster.deployments, tuple) and len(cluster.deployments) == 1:
        size_law = kind_law(cluster.deployments[0], size, at)
    else:
        size_law = mixed_law(cluster.priors, size, at)
    # the answer has every probability of the tail, which text does not show
    show(law_answer(size_law, size, at), as_json=as_json)


def parameters_of(text: str) -> tuple[float, float, float]:
    """Read ``mu=X,lambda=Y,sigma=Z`` in any order."""
    words = named_values("--given", text.split(","), "mu=X,lambda=Y,sigma=Z", got=text)
    if words.keys() != {"mu", "lambda", "sigma"}:
        raise InputError("--given", f"expected mu=X,lambda=Y,sigma=Z, got {text!r}")
    mu, rate, sigma = (numbers_of(words[name], f"--given {name}")[0] for name in ("mu", "lambda", "sigma"))
    if mu <= 0 or rate < 0 or sigma < 0:
        raise InputError("--given", f"expected mu greater than 0, lambda and sigma of at least 0, got {text!r}")
    return mu, rate, sigma


@group.command(
    examples=(
        "packproof admission belief examples/admission.toml --observed examples/observed.json",
        "packproof admission belief examples/admission.toml --observed examples/observed.json --plot belief.png",
    )
)
def belief(
    file: AdmissionFile,
    observed: Annotated[
        Path, typer.Option("--observed", metavar="DATA.json", help="What was observed of it.", show_default=False)
    ],
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """What is believed of a living deployment after observations: exactly, and by the paper's plug-in."""
    from bounds.views.admission import belief_answer
    from fluid.admission.law.admission_files import read_admission, read_observed
    from fluid.admission.law.belief import exact_belief, plug_in_belief

    priors = read_admission(file).priors
    seen = read_observed(observed)
    exact, plug_in = exact_belief(priors, seen), plug_in_belief(priors, seen)
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_beliefs

        picture_of_beliefs(priors, [("prior", None), ("observed", seen)], plot)
    answer = belief_answer(exact, plug_in)
    show(answer, as_json=as_json)


@contextmanager
def progress_and_store(store: Path | None) -> Iterator[tuple[Callable[[str], None], Store | None]]:
    """Tell how far the runs within the block are, and keep them in a store if there is one."""
    from fluid.experiment.store import Store

    with ExitStack() as stack:
        yield stack.enter_context(progress()), None if store is None else stack.enter_context(Store(store))


@group.command(
    examples=(
        "packproof admission simulate examples/admission.toml --policy zeroth --threshold 1500 --until 500",
        "packproof admission simulate examples/admission_small.toml --policy zeroth --threshold 8 --until 900 --seed 3",
    )
)
def simulate(
    file: AdmissionFile,
    policy: Annotated[RunningPolicy, typer.Option("--policy", help="Admission policy.", show_default=False)],
    threshold: ThresholdOption,
    until: UntilOption,
    warmup: WarmupOption = 0.0,
    replications: ReplicationsOption = 10,
    seed: SeedOption = 0,
    observations: ObservationsOption = 0,
    moments: MomentsOption = Moments.exact,
    marginal: MarginalOption = 0.0,
    horizons: HorizonsOption = None,
    unlabelled: Annotated[bool, typer.Option("--unlabelled", help="Of known kinds, hide which one arrives.")] = False,
    most: MostOption = None,
    sla: Annotated[float, typer.Option("--sla", metavar="X", help="Share that the controlled policy aims at.")] = 0.0,
    gain: Annotated[
        float, typer.Option("--gain", metavar="CORES", help="What its threshold loses for a refusal, about.")
    ] = 0.0,
    store: StoreFile = None,
    engine: EngineOption = "local",
    workers: WorkersOption = 1,
    as_json: JsonFlag = False,
) -> None:
    """Simulate an admission policy: utilisation, and the share of scale-outs that are refused."""
    from bounds.views.admission import simulated_answer
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.simulation.replications import simulate_admission
    from fluid.admission.simulation.simulate import AdmissionPolicy

    cluster = read_admission(file)
    chosen = AdmissionPolicy(
        policy.value, threshold, moments.value, marginal, times_of(horizons), labelled=not unlabelled,
        aim=sla, gain=gain,
    )  # fmt: skip
    with progress_and_store(store) as (say, stored):
        runs = simulate_admission(
            cluster, chosen, until, replications=replications, seed=seed, observations=observations, warmup=warmup,
            most=most, workers=workers, engine=engine, progress=say, store=stored,
        )  # fmt: skip
    answer = simulated_answer(chosen, runs)
    show(answer, as_json=as_json)


@group.command(
    examples=(
        "packproof admission tune examples/admission_small.toml --policy zeroth --sla 0.05 --until 2000",
        "packproof admission tune examples/admission_small.toml --policy zeroth --sla 0.1 --until 900",
    )
)
def tune(
    file: AdmissionFile,
    policy: PolicyOption,
    sla: SlaOption,
    until: YearOption = YEAR,
    warmup: WarmupOption = 0.0,
    replications: Annotated[
        int,
        typer.Option(
            "--replications",
            metavar="N",
            min=1,
            max=1_000_000,
            help="Most worlds; fewer if utilisation at the SLA is known to half a point before.",
        ),
    ] = 160,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="S", help="Seconds after which no more worlds are begun."),
    ] = None,
    seed: SeedOption = 0,
    observations: ObservationsOption = 0,
    moments: MomentsOption = Moments.exact,
    marginal: MarginalOption = 0.0,
    horizons: HorizonsOption = None,
    steps: Annotated[
        int, typer.Option("--steps", min=1, max=40, help="Thresholds on the ladder, and candidates that are judged.")
    ] = 8,
    store: StoreFile = None,
    engine: EngineOption = "local",
    workers: WorkersOption = 1,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Tune a policy's threshold to an SLA: the largest that meets it by estimate, and by an upper bound."""
    from bounds.views.admission import tuned_answer
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.simulation.simulate import AdmissionPolicy
    from fluid.admission.study.tuning import tune as tune_threshold

    cluster = read_admission(file)
    chosen = AdmissionPolicy(policy.value, moments=moments.value, marginal=marginal, horizons=times_of(horizons))
    with progress_and_store(store) as (say, stored):
        tuning = tune_threshold(
            cluster, chosen, sla, until, replications=replications, seed=seed, observations=observations, warmup=warmup,
            steps=steps, time_limit=inf if time_limit is None else time_limit, workers=workers, engine=engine,
            progress=say, store=stored,
        )  # fmt: skip
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_tuning

        picture_of_tuning(tuning, sla, plot)
    answer = tuned_answer(tuning, sla)
    show(answer, as_json=as_json)


@group.command(
    examples=(
        "packproof admission compare examples/admission_small.toml --policies zeroth,second --sla 0.1 --until 200 "
        "--replications 8 --store runs.db --plot gain.png",
        "packproof admission compare examples/admission_small.toml --capacity 20 --arrival-rate 6 --sla 0.1 "
        "--until 100 --replications 8",
    )
)
def compare(
    file: AdmissionFile,
    sla: SlaOption,
    policies: Annotated[
        str, typer.Option("--policies", metavar="NAME,...", help="Policies, the first of which the others are beside.")
    ] = "zeroth,first,second",
    observations: Annotated[
        str, typer.Option("--observations", metavar="N,...", help="Observations before arrival, of moment policies.")
    ] = "0",
    until: YearOption = YEAR,
    warmup: WarmupOption = 0.0,
    replications: Annotated[int, typer.Option("--replications", metavar="N", min=8, max=1_000_000)] = 40,
    seed: SeedOption = 0,
    moments: MomentsOption = Moments.exact,
    marginal: MarginalOption = 0.0,
    horizons: HorizonsOption = None,
    pilots: Annotated[int, typer.Option("--pilots", min=1, max=1000, help="Worlds for the ladders.")] = 8,
    steps: Annotated[int, typer.Option("--steps", min=2, max=40, help="Thresholds on each ladder.")] = 6,
    capacity: Annotated[
        int | None, typer.Option("--capacity", metavar="C", help="Cores, in place of those of the file.")
    ] = None,
    arrival_rate: Annotated[
        float | None, typer.Option("--arrival-rate", metavar="R", help="Deployments an hour, in place of the file's.")
    ] = None,
    store: StoreFile = None,
    engine: EngineOption = "local",
    workers: WorkersOption = 1,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Compare policies at equal SLA: utilisation, paired differences, and the most that any policy can use."""
    from bounds.views.admission import compared_answer
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.simulation.simulate import AdmissionPolicy
    from fluid.admission.study.frontier import compare as compare_policies
    from fluid.admission.study.tuning import pathwise_bound

    seen, times = counts_of(observations), times_of(horizons)
    named = [AdmissionPolicy(name.strip(), moments=moments.value, marginal=marginal, horizons=times)
             for name in policies.split(",")]  # fmt: skip
    pairs = [(one, n) for one in named for n in (seen if one.name in ("first", "second") else [0])]
    cluster = read_admission(file).resized(capacity, arrival_rate)
    with progress_and_store(store) as (say, stored):
        rows = compare_policies(
            cluster, pairs, sla, until, replications=replications, pilots=pilots, steps=steps, seed=seed, warmup=warmup,
            workers=workers, engine=engine, progress=say, store=stored,
        )  # fmt: skip
        say("the bound for all policies ...")
        bound = pathwise_bound(cluster, until, replications=replications, seed=seed, warmup=warmup, first=pilots)
    if plot is not None:
        from bounds.views.admission_pictures import picture_of_comparison

        picture_of_comparison(rows, bound.utilisation, sla, plot)
    answer = compared_answer(rows, bound, sla, replications)
    show(answer, as_json=as_json)


def counts_of(text: str) -> list[int]:
    """Read numbers of observations with commas between them."""
    numbers = numbers_of(text, "--observations")
    if any(value < 0 or value != int(value) or value > 10_000 for value in numbers):
        raise InputError("--observations", f"expected whole numbers from 0 to 10,000, got {text!r}")
    return [int(value) for value in numbers]


@group.command(
    examples=(
        "packproof admission exact examples/admission_small.toml --policy zeroth --threshold 8 --most-deployments 4",
        "packproof admission exact examples/admission_small.toml --policy zeroth --threshold 6 --most-deployments 3",
    )
)
def exact(
    file: AdmissionFile,
    policy: PolicyOption,
    threshold: ThresholdOption,
    most: Annotated[int, typer.Option("--most-deployments", metavar="N", help="Deployments at once, at most.")],
    marginal: MarginalOption = 0.0,
    as_json: JsonFlag = False,
) -> None:
    """A policy in a small cluster of known kinds, exactly: the stationary law of its Markov chain."""
    from bounds.answers.admission import ExactAdmission
    from bounds.answers.record import encode
    from fluid.admission.exact.chain import exact_policy
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.simulation.simulate import AdmissionPolicy

    chosen = AdmissionPolicy(policy.value, threshold, marginal=marginal)
    answer = encode(ExactAdmission, exact_policy(read_admission(file), chosen, most))
    show(answer, as_json=as_json)


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
    from bounds.views.admission import optimal_answer
    from fluid.admission.exact.chain import best_threshold
    from fluid.admission.exact.hidden import hidden_optimum
    from fluid.admission.exact.optimal import optimal_policy
    from fluid.admission.law.admission_files import read_admission
    from fluid.admission.law.thresholds import POLICIES
    from fluid.admission.simulation.simulate import AdmissionPolicy

    cluster = read_admission(file)
    with progress() as say:
        say("the optimum ...")
        hidden_best = hidden_optimum(cluster, sla, most, beliefs) if hidden else None
        best = optimal_policy(cluster, sla, most) if hidden_best is None else hidden_best
        space = best.space if hidden_best is None else hidden_best.memories
        others = {}
        for name in POLICIES:
            say(f"{name} ...")
            others[name] = best_threshold(space, AdmissionPolicy(name), sla)
    answer = optimal_answer(best, others)
    show(answer, as_json=as_json)
