"""``packproof simulate``: a policy in a stochastic model, measured with intervals."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bounds.cli.app import Command, app, completed_by, progress, show
from bounds.cli.modes import Mode, command_of
from bounds.cli.options import (
    EngineOption,
    InstanceFile,
    JsonFlag,
    PlotFile,
    SeedOption,
    StoreFile,
    StrictOption,
)
from theory.errors import InputError, naming
from theory.files.answer import answer_stream
from theory.files.places import names_own_code
from theory.numbers import MOST_SERVERS

if TYPE_CHECKING:
    from fluid.experiment.store import Store
    from fluid.files.scenarios import Given
    from fluid.simulation.documents import Times
    from fluid.simulation.policy_interface import Policy
    from fluid.simulation.results import Result
    from fluid.simulation.scenario import Scenario


class Simulate(Command):
    """The command, which for ``--policy list`` and ``--policy NAME:list`` lists policies and needs nothing else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line."""
        words = self.given(ctx, args)
        policies = () if ctx.resilient_parsing else words.get("policies") or ()
        listed = [policy.removesuffix(":list") for policy in policies if policy.endswith(":list")]
        if listed or "list" in policies:
            from bounds.views.catalogue import policies_answer

            chosen = [] if "list" in policies else listed
            answer = policies_answer(chosen) if chosen else policies_answer()
            show(answer, as_json=bool(words.get("as_json")))
            raise typer.Exit
        return super().parse_args(ctx, args)


PolicyNames = Annotated[
    list[str],
    typer.Option(
        "--policy",
        metavar="NAME",
        help="A policy, FILE.py:NAME or PACKAGE.MODULE:NAME; list: show all; NAME:list: its options; again: compare on "
        "the same jobs.",
        autocompletion=completed_by("fluid.simulation.policy_names:HOMES", "list"),
    ),
]
Until = Annotated[float, typer.Option("--until", metavar="T", help="Simulated time; slots where time is slotted.")]
Servers = Annotated[
    int | None,
    typer.Option(
        "--servers",
        metavar="L",
        min=1,
        max=MOST_SERVERS,
        help="Number of servers (a law of sizes may give it in its file).",
    ),
]
Warmup = Annotated[
    float | None, typer.Option("--warmup", metavar="W", help="Time at which measuring begins (default T/5).")
]
Replications = Annotated[
    int | None,
    typer.Option(
        "--replications",
        metavar="N",
        min=1,
        max=100_000,
        help="Number of runs (default 1; with --against-fluid 3 of each size, with several policies 8).",
    ),
]
TraceFile = Annotated[Path | None, typer.Option("--trace", metavar="FILE", help="Arrivals from a file.")]
DropOpen = Annotated[
    bool, typer.Option("--drop-open", help="Drop rows of a log without an end (else they run on to its end).")
]
AgainstFluidFlag = Annotated[
    bool, typer.Option("--against-fluid", help="Compare paths of L/16, L/4 and L servers with the fluid limit.")
]
EventLog = Annotated[int, typer.Option("--log", metavar="N", min=0, max=1_000_000, help="List the first N events.")]


@dataclass(frozen=True, kw_only=True)
class Options(Mode):
    """What every mode takes."""

    instance: InstanceFile
    policies: PolicyNames
    until: Until
    servers: Servers = None
    replications: Replications = None
    seed: SeedOption = 0
    plot: PlotFile = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class SeveralPolicies(Options):
    """Several policies on the same jobs, side by side."""

    beside = "several policies"

    warmup: Warmup = None
    trace: TraceFile = None
    drop_open: DropOpen = False
    strict: StrictOption = False
    engine: EngineOption = "local"
    store: StoreFile = None


@dataclass(frozen=True, kw_only=True)
class OnePolicy(SeveralPolicies):
    """One policy, measured with intervals."""

    beside = "one policy"

    log: EventLog = 0


@dataclass(frozen=True, kw_only=True)
class AgainstFluid(Options):
    """Paths of systems of several sizes beside the fluid limit."""

    beside = "--against-fluid, which compares whole paths here"
    chosen_by = ("against_fluid",)

    against_fluid: AgainstFluidFlag = False


def _mode(given: Any) -> type[Mode]:
    if len(given.policies) > 1:
        return SeveralPolicies
    return AgainstFluid if given.against_fluid else OnePolicy


def one_policy(options: OnePolicy) -> None:
    """Simulate a policy."""
    from bounds.views.simulation import picture_of_simulation, simulation_answer

    runs = _Runs.of_options(options)
    (scenario,), (result,) = runs.of([runs.first], options.replications or 1, log=options.log)
    answer = simulation_answer(result, scenario)
    if options.plot is not None:
        picture_of_simulation([result], options.plot, by_mean=scenario.instance is None)
    show(answer, as_json=options.as_json)


def several_policies(options: SeveralPolicies) -> None:
    """Run several policies on the same jobs and show them side by side."""
    from bounds.views.comparison import FEWEST, comparison_answer, picture_of_comparison, refuse_unlike
    from fluid.simulation.policy_names import policy as policy_by_name

    runs = _Runs.of_options(options)
    policies = [runs.first, *map(policy_by_name, options.policies[1:])]
    # before any of them runs
    refuse_unlike(options.policies, [policy.model for policy in policies])
    scenarios, results = runs.of(policies, options.replications or FEWEST, synchronised=True)
    answer = comparison_answer(results, scenarios)
    if options.plot is not None:
        picture_of_comparison(results, options.plot)
    show(answer, as_json=options.as_json)


def against_fluid(options: AgainstFluid) -> None:
    """Compare paths with the fluid limit."""
    from bounds.views.comparison import FEWEST_OF_SIZE, compare, convergence_answer
    from bounds.views.fluid import picture_of_crosscheck

    policy = _policy_or_list(options.policies[0], as_json=options.as_json)
    document, times = _read(options, options.until / 5)
    replications = FEWEST_OF_SIZE if options.replications is None else options.replications
    with naming(options.instance), progress():
        check = compare(document, policy, str(options.instance), times, replications=replications, seed=options.seed)
    if options.plot is not None:
        picture_of_crosscheck(check, options.plot)
    show(convergence_answer(check, policy.name), as_json=options.as_json)


app.command(
    "simulate",
    cls=Simulate,
    examples=(
        "packproof simulate examples/four_types.toml --policy dra --servers 200 --until 20",
        "packproof simulate --policy dra:list",
    ),
)(
    command_of(
        _mode,
        {OnePolicy: one_policy, SeveralPolicies: several_policies, AgainstFluid: against_fluid},
        "Simulate a policy: reward and acceptance, or queue, growth and delay, utilisation; each with a 95 % interval.",
    )
)


def _read(options: Options, warmup: float) -> tuple[Mapping[str, Any], Times]:
    """Read the file, and the number of servers, which a law of sizes may have in it."""
    from fluid.files.scenarios import servers_in
    from fluid.simulation.documents import Times
    from theory.files.document import read_document

    document = read_document(options.instance)
    servers = servers_in(document, options.instance) if options.servers is None else options.servers
    return document, Times(servers, options.until, warmup)


def _policy_or_list(name: str, *, as_json: bool) -> Policy:
    """Return a policy by its name; where there is none, list all of them on a terminal, and refuse the name."""
    from fluid.simulation.policy_names import policy as policy_by_name

    try:
        return policy_by_name(name)
    except InputError:
        if (
            not names_own_code(name) and not as_json and answer_stream().isatty()
        ):  # a person, who can choose from a list
            from bounds.views.catalogue import policies_answer

            show(policies_answer(), as_json=False)
        raise


class _Runs(NamedTuple):
    """The runs of a file by one or more policies: what the command line says of all of them."""

    first: Policy
    document: Mapping[str, Any]
    instance: Path
    times: Times
    trace: dict[str, Any]
    store: Path | None
    how: dict[str, Any]

    @classmethod
    def of_options(cls, options: SeveralPolicies) -> _Runs:
        """Return the runs that were asked for, and the first of their policies; nothing has run yet."""
        from fluid.parallel import refuse_engine

        refuse_engine(options.engine)
        first = _policy_or_list(options.policies[0], as_json=options.as_json)
        # the default of the contract: a fifth of the run is not measured
        document, times = _read(options, options.until / 5 if options.warmup is None else options.warmup)
        trace = {"trace": options.trace, "drop_open": options.drop_open, "strict": options.strict}
        how = {"seed": options.seed, "engine": options.engine}
        return cls(first, document, options.instance, times, trace, options.store, how)

    def of(
        self, policies: Sequence[Policy], replications: int, **reading: Any
    ) -> tuple[list[Given], list[Result[Any]]]:
        """Run policies, from the store if one is named, and print what a person should know on stderr.

        Several policies see the same jobs. `reading` goes to `fluid.files.scenarios.read_scenario`.
        """
        from bounds.views.simulation import warnings_after, warnings_before
        from fluid.files.scenarios import read_scenario
        from fluid.simulation.driver import simulate as run_replications

        source, folder = str(self.instance), self.instance.parent
        scenarios: list[Given] = []
        results: list[Result[Any]] = []
        compared = policies if len(policies) > 1 else ()
        opened: Store | None = None
        with naming(self.instance), ExitStack() as stack:
            how = self.how | {"replications": replications, "progress": stack.enter_context(progress())}
            for policy in policies:
                how_read = {"source": source, "folder": folder, "compared": compared, **self.trace, **reading}
                scenario = read_scenario(self.document, policy, self.times, **how_read)
                for line in warnings_before(scenario, policy, self.instance):
                    print(line, file=sys.stderr)
                _tell_forecast(self.instance, scenario.scenario, replications, self.how["engine"])
                if self.store is None:
                    result = run_replications(policy, scenario.scenario, workers=-1, **how)
                else:
                    from fluid.experiment.replications import simulate_stored
                    from fluid.experiment.store import Store

                    # opened late: a scenario that is refused leaves no store behind
                    opened = opened or stack.enter_context(Store(self.store))
                    result = simulate_stored(opened, policy, scenario.scenario, **how)
                for line in warnings_after(result, scenario):
                    print(line, file=sys.stderr)
                if result.interrupted and len(policies) > 1:  # what is left is no comparison
                    raise KeyboardInterrupt
                scenarios.append(scenario)
                results.append(result)
        return scenarios, results


def _tell_forecast(source: Path, scenario: Scenario, replications: int, engine: str) -> None:
    """Print on stderr about how long replications take, where that is long; those that a store holds are among them."""
    from fluid.experiment.pace import LONG, forecast_runs

    ahead = forecast_runs(scenario, replications)
    if ahead.seconds > LONG:
        from bounds.views.experiment import forecast_line
        from fluid.parallel import processors

        workers = processors() if engine == "local" else 1
        print(f"{source}: {forecast_line(ahead, min(workers, replications), 'replication')}", file=sys.stderr)
