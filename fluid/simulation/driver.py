"""Runs of any model, and replications of them.

The loop of a run is fed with jobs and with memory in parts, so that it can be watched and interrupted. Replications run
one after another, on the processes of this machine, or on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any

import numpy as np

from fluid.parallel import refuse_engine, refuse_workers, run_all
from fluid.simulation.loop import FINISHED, NEEDS_JOBS, NEEDS_ROOM, Engine, Function
from fluid.simulation.measures import Measures, reached
from fluid.simulation.policy_interface import UNANSWERED, Policy
from fluid.simulation.policy_names import policy as policy_by_name
from fluid.simulation.prepared import answered, prepared
from fluid.simulation.results import Result, Run
from fluid.simulation.run import Runner
from fluid.simulation.scenario import Scenario
from fluid.simulation.state import ASKS, MOST_REQUESTS, State
from fluid.simulation.ticks import in_units
from theory.compiled import noticing_compilation
from theory.errors import ArgumentError, expect, expect_number
from theory.files.code import telling_what_is_loaded
from theory.numbers import many


def sequence(seed: np.random.SeedSequence | int) -> np.random.SeedSequence:
    """Return a fresh copy of a seed sequence, since spawning changes it."""
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
    return np.random.SeedSequence(seed)


def run_once(
    policy: Policy,
    scenario: Scenario,
    seed: np.random.SeedSequence | int,
    *,
    python: bool | None = None,
    watch: Function | None = None,
    progress: Callable[[float, int], None] | None = None,
    partial: bool = False,
) -> Run:
    """Simulate one run.

    Parameters
    ----------
    policy : Policy
        Of the scenario's model.
    scenario : Scenario
    seed : SeedSequence or int
        Three streams are spawned from it: of the jobs that come, of what the policy draws, and of the jobs that are
        there at time 0, so that none of them depends on the others.
    python : bool, optional
        Run as plain Python, or compiled; the path is the same. Where left out, the number of events decides
        (`fluid.simulation.run.COMPILED_FROM`).
    watch : callable, optional
        Called as ``watch(state, jobs, measures)`` after each event; the run is then plain Python.
    progress : callable, optional
        Called now and then with the time reached and the events so far.
    partial : bool
        Whether Ctrl-C past the warm-up gives the run as far as it came, marked as interrupted; else it is raised.

    Returns
    -------
    Run

    Raises
    ------
    InputError
        A policy of another model, or one that does what it must not.
    """
    if policy.model != scenario.model:
        raise ArgumentError("policy", f"{policy.name} is not a policy for {scenario.title}")
    streams = arrival_rng, policy_rng, start_rng = [np.random.default_rng(s) for s in sequence(seed).spawn(3)]
    unused = [stream.bit_generator.state for stream in streams]
    events = inf if python is False else scenario.expected_events * scenario.cost_as_python
    setting = scenario.setting()
    state = prepared(policy, setting)
    measures = scenario.measures()
    engine = scenario.engine(policy, state, arrival_rng, start_rng)
    how: dict[str, Any] = {"watch": watch, "python": bool(python)}
    run = Runner(policy, engine.loop, engine.parts, events=events, types=scenario.names, **how)
    run.begin(setting, state)
    seconds, interpreted = 0.0, 0
    status = 0
    try:
        engine.open(run.functions, state, measures, policy_rng, run.watch)
        while status != FINISHED:
            most = engine.next_part()
            run.ready(state, engine.jobs, engine.coming, measures, arrival_rng, policy_rng)
            as_python, before = run.is_python, int(measures.events[0])
            begin = perf_counter()
            status = run(state, engine.jobs, engine.coming, measures, arrival_rng, policy_rng, most)
            if status == NEEDS_JOBS:
                engine.supply()
            elif status == NEEDS_ROOM:
                state = engine.enlarge(state)
            seconds += perf_counter() - begin
            interpreted += (int(measures.events[0]) - before) * as_python
            if state.done[ASKS]:
                state = _state_after_answers(run, engine, setting, state, measures, policy_rng)
            if progress is not None:
                progress(in_units(float(measures.now[0]), scenario.resolution), int(measures.events[0]))
    except KeyboardInterrupt:
        # within the warm-up nothing has been measured
        if not partial or measures.now[0] <= measures.edges[measures.first[0]]:
            raise
        until_now = scenario.in_units(reached(measures))
        return Run(scenario, until_now, state, seconds, interpreted, interrupted=True)
    drew = [stream.bit_generator.state for stream in streams] != unused
    return Run(scenario, scenario.in_units(measures), state, seconds, interpreted, drew=drew)


def _state_after_answers(
    run: Runner, engine: Engine, setting: Any, state: State, measures: Measures, draws: Any
) -> State:
    """Extend a state until its policy asks no more, and let the policy go on at the same event."""
    for _ in range(MOST_REQUESTS):
        state = answered(run.policy, setting, state)
        engine.resume(run.functions, state, measures, draws)
        if not state.done[ASKS]:
            run.watch(state, engine.jobs, measures)
            return state
    raise run.refused("answer", state, UNANSWERED)


Progress = Callable[[str], None] | None


def seed_of(seed: int, replication: int) -> np.random.SeedSequence:
    """Return the seed of a replication: it depends on nothing else, so not on who runs it or when."""
    return np.random.SeedSequence(seed, spawn_key=(replication,))


def simulate(
    policy: Policy | str,
    scenario: Scenario,
    *,
    replications: int = 1,
    seed: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Progress = None,
) -> Result[Any]:
    """Simulate replications of a scenario of any model.

    Parameters
    ----------
    policy : Policy or str
        A policy of the scenario's model, its name, or ``FILE.py:NAME``.
    scenario : LossScenario, QueueScenario or SlottedScenario
    replications : int
    seed : int
        Replication r draws from SeedSequence(seed, spawn_key=(r,)), whichever worker runs it. Two policies with equal
        seeds see the same jobs, but for loss systems that the jump chain runs (`LossScenario.synchronised`).
    workers : int
        Processes; -1: one a core. Ignored where there is one replication.
    engine : str
        ``local`` or ``dask://HOST:PORT``.
    progress : callable, optional
        Called now and then with a line that says how far it is.

    Returns
    -------
    LossResult or QueueResult
        After Ctrl-C, of what was finished (a run by itself: of the time it reached past its warm-up).

    Examples
    --------
    >>> from fluid.simulation.loss.model import LossScenario
    >>> from theory.instance import additive
    >>> scenario = LossScenario(additive([2], [[1]], workload=[2]), servers=1, until=2000.0, warmup=10.0)
    >>> simulate("first-fit", scenario, replications=4).acceptance(0, level=0.999).holds(0.6)
    True
    """
    named = policy_by_name(policy) if isinstance(policy, str) else policy
    expect(named, Policy, "policy", "a Policy or its name")
    expect(scenario, Scenario, "scenario", "a LossScenario, a QueueScenario or a SlottedScenario")
    expect_number(replications, "replications", 1)
    expect_number(seed, "seed", 0)
    refuse_engine(engine)
    refuse_workers(workers)
    how: dict[str, Any] = {"workers": workers, "engine": engine, "progress": progress}
    runs, interrupted = replicate(named, scenario, range(replications), seed, **how)
    return scenario.result(named, scenario, runs, interrupted)


def replicate(
    policy: Policy,
    scenario: Scenario,
    numbers: Iterable[int],
    seed: int,
    *,
    workers: int = 1,
    engine: str = "local",
    progress: Progress = None,
    finished: dict[int, Run] | None = None,
    store: Callable[[int, Run], None] | None = None,
) -> tuple[tuple[Run, ...], bool]:
    """Run the replications of `numbers` (see `simulate`) beside those that are `finished` already.

    Each one that was not cut short is handed to ``store(number, run)``. Returned are the runs in their order and
    whether Ctrl-C came before the end: then what was finished, and a run that was cut short only if there is no other.
    """
    wanted = list(numbers)
    done, interrupted = dict(finished or {}), False
    total = len(done) + len(wanted)
    if progress is not None and wanted:
        progress(f"{policy.name}: starting")

    def runs(numbers: list[int]) -> Iterator[tuple[int, Run]]:
        if engine == "local" and (len(numbers) == 1 or workers == 1):
            yield from ((r, run_replication(policy, scenario, seed_of(seed, r), progress)) for r in numbers)
        else:
            tasks = [(policy, scenario, seed_of(seed, r), None) for r in numbers]
            done = run_all(run_replication, tasks, workers=workers, engine=engine)
            yield from ((numbers[i], run) for i, run in done)

    def runs_of_a_trace() -> Iterator[tuple[int, Run]]:
        """Yield the first run, and the others, which are copies of it if it draws nothing."""
        for r, run in runs(wanted[:1]):
            yield r, run
            yield from runs(wanted[1:]) if run.drew else ((other, run) for other in wanted[1:])

    try:
        for r, bare in runs(wanted) if scenario.jobs is None or len(wanted) < 2 else runs_of_a_trace():
            run = replace(bare, scenario=scenario)
            if run.interrupted:
                done, interrupted = done or {r: run}, True
                break
            done[r] = run
            if store is not None:
                store(r, run)
            if progress is not None and total > 1:
                progress(f"{policy.name}: {len(done)} of {many(total, 'replication')}")
    except KeyboardInterrupt:
        if not done:
            raise
        interrupted = True
    return tuple(done[r] for r in sorted(done)), interrupted


def run_replication(policy: Policy, scenario: Scenario, seed: np.random.SeedSequence, progress: Progress) -> Run:
    """Run one replication; return it without scenario and state, which would have to travel between processes."""

    def reached(time: float, events: int) -> None:
        if progress is not None:
            progress(f"{policy.name}: time {time:.4g} of {scenario.until:.4g}, {many(events, 'event')}")

    def compiles() -> None:
        if progress is not None:
            progress(f"{policy.name}: compiling (once on a machine; it may take a minute)")

    with noticing_compilation(compiles), telling_what_is_loaded(policy.source, is_own=bool(policy.code)):
        run = run_once(policy, scenario, seed, progress=reached, partial=True)
    return replace(run, scenario=None, state=None)
