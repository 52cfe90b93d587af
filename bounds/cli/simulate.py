"""``packproof simulate``: a policy in a stochastic model, measured with intervals."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bounds.cli.app import Command, app, completed_by, progress, show
from bounds.cli.options import (
    EngineOption,
    InstanceFile,
    JsonFlag,
    PlotFile,
    SeedOption,
    StoreFile,
    StrictOption,
    refuse_unused,
)
from theory.errors import InputError, naming
from theory.files.answer import answer_stream
from theory.files.places import names_own_code

if TYPE_CHECKING:
    from fluid.files.scenarios import Given, Times
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
        "--servers", metavar="L", min=1, max=10**8, help="Number of servers (a law of sizes may give it in its file)."
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
AgainstFluid = Annotated[
    bool, typer.Option("--against-fluid", help="Compare paths of L/16, L/4 and L servers with the fluid limit.")
]
EventLog = Annotated[int, typer.Option("--log", metavar="N", min=0, max=1_000_000, help="List the first N events.")]


@app.command(
    cls=Simulate,
    examples=(
        "packproof simulate examples/four_types.toml --policy dra --servers 200 --until 20",
        "packproof simulate --policy dra:list",
    ),
)
def simulate(
    instance: InstanceFile,
    policies: PolicyNames,
    until: Until,
    servers: Servers = None,
    warmup: Warmup = None,
    replications: Replications = None,
    seed: SeedOption = 0,
    trace: TraceFile = None,
    drop_open: DropOpen = False,
    strict: StrictOption = False,
    against_fluid: AgainstFluid = False,
    log: EventLog = 0,
    engine: EngineOption = "local",
    store: StoreFile = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a policy: reward and acceptance, or queue, growth and delay, utilisation; each with a 95 % interval."""
    from bounds.views.simulation import picture_of_simulation, simulation_answer
    from fluid.files.scenarios import Times, servers_in
    from fluid.parallel import refuse_engine
    from fluid.simulation.policy_names import policy as policy_by_name
    from theory.files.document import read_document

    if not (until > 0 and isfinite(until)):
        raise InputError(f"--until: expected a positive time, got {until!r}")
    refuse_engine(engine)
    # the default of the contract: a fifth of the run is not measured
    start = until / 5 if warmup is None else warmup
    if not 0 <= start < until:
        raise InputError(f"--warmup: expected 0 or more and less than --until {until:g}, got {start!r}")
    first = _policy_or_list(policies[0], as_json=as_json)
    document = read_document(instance)
    times = Times(servers_in(document, instance) if servers is None else servers, until, start)
    several = len(policies) > 1
    if several:
        refuse_unused({"--against-fluid": against_fluid, "--log": log > 0}, "several policies")
    elif against_fluid:
        unused = {"--store": store is not None, "--log": log > 0, "--engine": engine != "local"}
        unused |= {
            "--warmup": start != until / 5,
            "--trace": trace is not None,
            "--drop-open": drop_open,
            "--strict": strict,
        }
        refuse_unused(unused, "--against-fluid, which compares whole paths here")
        _show_convergence(document, first, instance, times, replications, seed, plot, as_json=as_json)
        return
    elif first.model == "slotted" and start not in (int(start), until / 5):
        raise InputError(f"--warmup: expected a whole number of slots, got {start:g}")
    reading = {"trace": trace, "drop_open": drop_open, "strict": strict}
    runs = _Runs(document, instance, times, reading, store, {"seed": seed, "engine": engine})
    if several:
        others = [policy_by_name(name) for name in policies[1:]]
        _compare(runs, policies, [first, *others], replications, plot, as_json=as_json)
        return
    (scenario,), (result,) = runs.of([first], replications or 1, log=log)
    answer = simulation_answer(result, scenario)
    by_mean = scenario.instance is None
    if plot is not None:
        picture_of_simulation([result], plot, by_mean=by_mean)
    show(answer, as_json=as_json)


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

    document: Mapping[str, Any]
    instance: Path
    times: Times
    trace: dict[str, Any]
    store: Path | None
    how: dict[str, Any]

    def of(
        self, policies: Sequence[Policy], replications: int, **reading: Any
    ) -> tuple[list[Given], list[Result[Any]]]:
        """Run policies, from the store if one is named, and print what a person should know on stderr.

        Several policies see the same jobs. `reading` goes to `fluid.files.scenarios.read_scenario`.
        """
        from bounds.views.simulation import warnings_after, warnings_before
        from fluid.experiment.replications import simulate_stored
        from fluid.experiment.store import Store
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
    from bounds.views.experiment import forecast_line
    from fluid.experiment.forecast import LONG, forecast_runs
    from fluid.parallel import processors

    ahead = forecast_runs(scenario, replications)
    if ahead.seconds > LONG:
        workers = processors() if engine == "local" else 1
        print(f"{source}: {forecast_line(ahead, min(workers, replications), 'replication')}", file=sys.stderr)


def _compare(
    runs: _Runs,
    names: Sequence[str],
    policies: Sequence[Policy],
    replications: int | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """Run several policies on the same jobs and show them side by side."""
    from bounds.views.comparison import (
        FEWEST,
        comparison_answer,
        picture_of_comparison,
        refuse_unlike,
    )

    # before any of them runs
    refuse_unlike(names, [policy.model for policy in policies])
    scenarios, results = runs.of(policies, replications or FEWEST, synchronised=True)
    answer = comparison_answer(results, scenarios)
    if plot is not None:
        picture_of_comparison(results, plot)
    show(answer, as_json=as_json)


def _show_convergence(
    document: Mapping[str, Any],
    policy: Policy,
    instance: Path,
    times: Times,
    replications: int | None,
    seed: int,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from bounds.views.comparison import FEWEST_OF_SIZE, compare, convergence_answer
    from bounds.views.fluid import picture_of_crosscheck

    runs = FEWEST_OF_SIZE if replications is None else replications
    with naming(instance), progress():
        check = compare(document, policy, str(instance), times, replications=runs, seed=seed)
    if plot is not None:
        picture_of_crosscheck(check, plot)
    show(convergence_answer(check, policy.name), as_json=as_json)
