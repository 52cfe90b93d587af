"""``packproof simulate``: a policy in a stochastic model, measured with intervals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bounds.cli.app import Command, InstanceFile, JsonFlag, PlotFile, app, progress, show, to_store
from theory.files.answer import answer_stream

if TYPE_CHECKING:
    from fluid.files.scenarios import Times
    from fluid.simulation.policy_interface import Policy


class Simulate(Command):
    """The command, which for ``--policy list`` and ``--policy NAME:list`` lists policies and needs nothing else."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command line."""
        given = self.given(ctx, args)
        words = () if ctx.resilient_parsing else given.get("policies") or ()
        named = [word.removesuffix(":list") for word in words if word.endswith(":list")]
        if named or "list" in words:
            from bounds.views.catalogue import policies_answer, policies_lines

            chosen = [] if "list" in words else named
            answer = policies_answer(chosen) if chosen else policies_answer()
            show(answer, lambda: policies_lines(chosen), as_json=bool(given.get("as_json")))
            raise typer.Exit
        return super().parse_args(ctx, args)


@app.command(
    cls=Simulate,
    examples=(
        "packproof simulate examples/four_types.toml --policy dra --servers 200 --until 20",
        "packproof simulate --policy dra:list",
    ),
)
def simulate(
    instance: InstanceFile,
    policies: Annotated[
        list[str],
        typer.Option(
            "--policy",
            metavar="NAME",
            help="A policy, or FILE.py:NAME; list: show all; NAME:list: its options; again: compare on the same jobs.",
        ),
    ],
    until: Annotated[float, typer.Option("--until", metavar="T", help="Simulated time; slots where time is slotted.")],
    servers: Annotated[
        int | None,
        typer.Option(
            "--servers",
            metavar="L",
            min=1,
            max=10**8,
            help="Number of servers (a law of sizes may give it in its file).",
        ),
    ] = None,
    warmup: Annotated[
        float | None, typer.Option("--warmup", metavar="W", help="Time at which measuring begins (default T/5).")
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications",
            metavar="N",
            min=1,
            max=100_000,
            help="Number of runs (default 1; with --against-fluid 3 of each size, with several policies 8).",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0)] = 0,
    trace: Annotated[Path | None, typer.Option("--trace", metavar="FILE", help="Arrivals from a file.")] = None,
    against_fluid: Annotated[
        bool, typer.Option("--against-fluid", help="Compare paths of L/16, L/4 and L servers with the fluid limit.")
    ] = False,
    log: Annotated[int, typer.Option("--log", metavar="N", min=0, max=1_000_000, help="List the first N events.")] = 0,
    engine: Annotated[str, typer.Option("--engine", metavar="local|dask://HOST:PORT")] = "local",
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FILE",
            help="Store replications there, and continue from those already stored.",
            callback=to_store,
        ),
    ] = None,
    plot: PlotFile = None,
    as_json: JsonFlag = False,
) -> None:
    """Simulate a policy: reward and acceptance, or queue, growth and delay, utilisation; each with a 95 % interval."""
    from math import isfinite

    from bounds.views.simulation import (
        picture_of_simulation,
        simulation_answer,
        simulation_lines,
        warnings_after,
        warnings_before,
    )
    from fluid.experiment.replications import simulate_stored
    from fluid.experiment.store import Store
    from fluid.files.scenarios import Times, read_scenario, servers_in
    from fluid.parallel import refuse_engine
    from fluid.simulation.driver import simulate as run_replications
    from fluid.simulation.policy_names import policy as policy_by_name
    from theory.errors import InputError, naming
    from theory.files.document import read_document

    how: dict[str, Any]
    if not (until > 0 and isfinite(until)):
        raise InputError(f"--until: expected a positive time, got {until!r}")
    refuse_engine(engine)
    start = until / 5 if warmup is None else warmup
    if not 0 <= start < until:
        raise InputError(f"--warmup: expected 0 or more and less than --until {until:g}, got {start!r}")
    try:
        found = policy_by_name(policies[0])
    except InputError:
        if (
            ".py:" not in policies[0] and not as_json and answer_stream().isatty()
        ):  # a person, who can choose from a list
            from bounds.views.catalogue import policies_lines

            show(None, policies_lines, as_json=False)
        raise
    document = read_document(instance)
    times = Times(servers_in(document, instance) if servers is None else servers, until, start)
    if len(policies) > 1:
        for option in (name for name, is_given in (("--against-fluid", against_fluid), ("--log", log > 0)) if is_given):
            raise InputError(f"{option}: has no meaning with several policies")
        how = {"replications": replications, "seed": seed, "engine": engine}
        _compare(document, policies, instance, times, trace, store, plot, how, as_json=as_json)
        return
    with naming(instance), progress() as say:
        if against_fluid:
            given_beside = {
                "--store": store is not None,
                "--log": log > 0,
                "--engine": engine != "local",
                "--warmup": start != until / 5,
                "--trace": trace is not None,
            }
            for option in (name for name, is_given in given_beside.items() if is_given):
                raise InputError(f"{option}: has no meaning with --against-fluid, which compares whole paths here")
            _show_convergence(document, found, instance, times, replications, seed, plot, as_json=as_json)
            return
        if found.model == "slotted" and start not in (int(start), until / 5):
            raise InputError(f"--warmup: expected a whole number of slots, got {start:g}")
        given = read_scenario(
            document, found, times, source=str(instance), folder=instance.parent, trace=trace, log=log
        )
        for line in warnings_before(given, found, instance):
            print(line, file=sys.stderr)
        number = replications or 1
        how = {"replications": number, "seed": seed, "engine": engine, "progress": say}
        if store is None:
            result = run_replications(found, given.scenario, workers=-1 if number > 1 else 1, **how)
        else:
            with Store(store) as opened:
                result = simulate_stored(opened, found, given.scenario, **how)
        for line in warnings_after(result, given):
            print(line, file=sys.stderr)
    answer = simulation_answer(result, given)
    by_mean = given.instance is None
    if plot is not None:
        picture_of_simulation([result], plot, by_mean=by_mean)
    show(answer, lambda: simulation_lines(answer, by_mean=by_mean), as_json=as_json)


def _show_convergence(
    document: dict[str, Any],
    policy: Policy,
    instance: Path,
    times: Times,
    replications: int | None,
    seed: int,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    from bounds.views.convergence import FEWEST, compare, convergence_answer, convergence_lines
    from bounds.views.fluid import picture_of_crosscheck

    runs = FEWEST if replications is None else replications
    check = compare(document, policy, str(instance), times, replications=runs, seed=seed)
    if plot is not None:
        picture_of_crosscheck(check, plot)
    show(convergence_answer(check, policy.name), lambda: convergence_lines(check, policy.name), as_json=as_json)


def _compare(
    document: dict[str, Any],
    names: list[str],
    instance: Path,
    times: Times,
    trace: Path | None,
    store: Path | None,
    plot: Path | None,
    how: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    """Run several policies on the same jobs and show them side by side."""
    from contextlib import nullcontext

    from bounds.views.comparison import (
        FEWEST,
        comparison_answer,
        comparison_lines,
        picture_of_comparison,
        refuse_unlike,
    )
    from bounds.views.simulation import warnings_after, warnings_before
    from fluid.experiment.replications import simulate_stored
    from fluid.experiment.store import Store
    from fluid.files.scenarios import read_scenario
    from fluid.simulation.driver import simulate as run_replications
    from fluid.simulation.policy_names import policy as policy_by_name
    from theory.errors import naming

    found = [policy_by_name(name) for name in names]
    refuse_unlike(names, [one.model for one in found])
    results, every = [], []
    how["replications"] = how["replications"] or FEWEST
    with naming(instance), progress() as say, nullcontext() if store is None else Store(store) as opened:
        how["progress"] = say
        for one in found:
            given = read_scenario(
                document, one, times, source=str(instance), folder=instance.parent, trace=trace, synchronised=True
            )
            for line in warnings_before(given, one, instance):
                print(line, file=sys.stderr)
            if opened is None:
                results.append(run_replications(one, given.scenario, workers=-1, **how))
            else:
                results.append(simulate_stored(opened, one, given.scenario, **how))
            every.append(given)
            for line in warnings_after(results[-1], given):
                print(line, file=sys.stderr)
            if results[-1].interrupted:  # what is left is no comparison
                raise KeyboardInterrupt
    answer = comparison_answer(results, every)
    if plot is not None:
        picture_of_comparison(results, plot)
    show(answer, lambda: comparison_lines(answer), as_json=as_json)
