"""Runs of a queue: the loop fed with jobs and with room, in parts, so that it can be interrupted and watched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation import heap as events
from fluid.simulation.arrivals import JobList
from fluid.simulation.measures import bin_edges
from fluid.simulation.policy import Policy
from fluid.simulation.queue import lines as queues
from fluid.simulation.queue import loop
from fluid.simulation.queue.lines import Lines
from fluid.simulation.queue.loop import FINISHED, NEEDS_JOBS, NEEDS_ROOM, Coming, Jobs
from fluid.simulation.queue.measures import QueueMeasures, new_measures
from fluid.simulation.queue.opening import opened
from fluid.simulation.results import Measured
from fluid.simulation.runner import Runner
from fluid.simulation.state import MOVES, PolicyError, State, copied
from fluid.simulation.streams import Stream
from theory.jit import step

FUNCTIONS = ("place", "depart", "refresh", "ring")
"""What the loop calls of a policy."""

BY_BIN = ("waiting", "jobs", "load", "busy", "arrivals", "starts", "ends", "delay")
"""Fields of measures that have a row for each bin."""

PART = 1 << 18
"""Events between two looks at the clock on the wall; no part of what a seed means."""


@dataclass(frozen=True)
class Run(Measured):
    """What one run of a queue has measured.

    Attributes
    ----------
    measures : QueueMeasures or SlottedMeasures
    state : NamedTuple
        Of the policy at the end.
    seconds : float
        Time taken, drawing the jobs included, compiling not.
    interrupted : bool
        Whether Ctrl-C ended it early; the measures then end with the last whole bin.
    """

    measures: Any
    state: State
    seconds: float
    interrupted: bool = False

    @property
    def first(self) -> int:
        """First bin after the warm-up."""
        return int(self.measures.first[0])

    @cached_property
    def waiting(self) -> NDArray[np.float64]:
        """Mean jobs of each type that wait, by bin, float64[B, J]."""
        return np.asarray(self.measures.waiting / self.spans[:, None])

    @cached_property
    def queue(self) -> NDArray[np.float64]:
        """Mean jobs that wait, by bin, float64[B]."""
        return np.asarray(self.waiting.sum(axis=1))

    @property
    def mean_queue(self) -> float:
        """Mean jobs that wait over [W, T]."""
        return self.average(self.queue)


def cut(measures: Any) -> Any:
    """Keep the bins that are complete, of a run that was interrupted."""
    bins = int(measures.bin[0])
    whole = {name: getattr(measures, name)[:bins] for name in BY_BIN if hasattr(measures, name)}
    return measures._replace(edges=measures.edges[: bins + 1], **whole)


@step
def take_first(lines: Lines, job_type: int) -> tuple[float, float]:
    """Take the first job of a line, if there is one; in an author's own policy this stands for `leave`."""
    if lines.first[job_type] < 0:
        raise PolicyError("refresh: has started a job of a type of which none waits")
    at = lines.first[job_type]
    lines.first[job_type] = lines.after[at]
    lines.after[at] = lines.free[0]
    lines.free[0] = at
    return lines.arrival[at], lines.work[at]


@step
def look(state: Any, jobs: Jobs, measures: QueueMeasures) -> None:
    """See that queues and clocks are what they can be; in an author's own policy this stands for `observe`."""
    for j in range(len(state.waiting)):
        if state.waiting[j] < 0:
            raise PolicyError("refresh: has left waiting below 0")
    for k in range(len(state.clocks)):
        if not 0.0 <= state.clocks[k] < np.inf:
            raise PolicyError("refresh: has left a clock without a rate of at least 0")


def simulate_queue(
    policy: Policy,
    state: State,
    stream: Stream,
    until: float,
    warmup: float,
    seed: np.random.SeedSequence | int,
    *,
    bins: int = 200,
    log: int = 0,
    compiled: bool = True,
    say: Callable[[float], None] | None = None,
    waiting: JobList | None = None,
    types: Sequence[str] = (),
    **others: Callable[..., Any],
) -> Run:
    """Run a queue from empty servers to a horizon.

    Parameters
    ----------
    policy : Policy
        Of model ``queue``.
    state : NamedTuple
        From ``policy.prepare``; copied, not changed.
    stream : Stream
    until, warmup : float
        Horizon, and the time from which averages are taken.
    seed : SeedSequence or int
        Of what the policy draws.
    bins, log : int
        Bins of time after the warm-up, and rows of the event log.
    compiled : bool
        False: the same loop as plain Python, the same path.
    say : callable, optional
        Told the time that is reached, now and then.
    waiting : JobList, optional
        Jobs that wait at time 0 (`fluid.simulation.queue.opening`).
    types : sequence of str
        Names of the types, for messages.
    others : callable
        Names of the loop to be replaced, such as ``observe``.
    """
    draws = np.random.Generator(np.random.PCG64(seed))
    state = copied(state)
    edges, first = bin_edges(until, warmup, bins)
    measures = new_measures(edges, first, len(state.totals), log)
    jobs = Jobs(events.new_heap(2 * len(state.moves) + 1024), queues.new_lines(len(state.totals)))
    begin = perf_counter()
    coming = next_chunk(stream)
    drawing = perf_counter() - begin
    checks: dict[str, Callable[..., Any]] = {"leave": take_first, "observe": look}
    run = Runner(policy, loop.run, FUNCTIONS, checks=checks, others=others, compiled=compiled, types=types)
    run.ready(state, jobs, coming, measures, draws)
    begin = perf_counter() - drawing
    if waiting is not None and len(waiting.types):
        run.at((measures,))
        jobs = opened(run.functions, state, jobs, measures, draws, waiting, others.get("observe", loop.observe))
    try:
        while True:
            status = run(state, jobs, coming, measures, draws, PART)
            if status == FINISHED:
                return Run(measures, state, perf_counter() - begin)
            if status == NEEDS_JOBS:
                coming = next_chunk(stream)
            elif status == NEEDS_ROOM:
                jobs = _with_room(jobs, len(state.moves))
            if say is not None:
                say(float(measures.now[0]))
    except KeyboardInterrupt:
        if measures.bin[0] <= measures.first[0]:
            raise
        return Run(cut(measures), state, perf_counter() - begin, interrupted=True)


def next_chunk(stream: Stream) -> Coming:
    """Return the next chunk of a stream, or the note that none follows."""
    chunk = next(stream, None)
    if chunk is None:
        return Coming(np.zeros(0), np.zeros(0, np.int32), np.zeros(0), np.array([0, 1]))
    return Coming(chunk.time, chunk.type, chunk.work, np.zeros(2, np.int64))


def _with_room(jobs: Jobs, margin: int) -> Jobs:
    calendar, lines = jobs
    if calendar.size[0] + margin >= len(calendar.time):
        calendar = events.enlarged(calendar)
    if lines.free[0] < 0:
        lines = queues.enlarged(lines)
    return Jobs(calendar, lines)


def conserve(state: State, jobs: Jobs, measures: QueueMeasures) -> None:
    """Assert what must hold after every event (to be put in the place of ``observe``, in Python).

    Every job that came waits, is in service or has gone; lines and queues agree; no server is over its capacity; the
    policy's moves are carried out; nobody's clock goes back.
    """
    waiting: NDArray[np.int64] = measures.arrivals.sum(axis=0) - measures.starts.sum(axis=0)
    serving = measures.starts.sum(axis=0) - measures.ends.sum(axis=0)
    assert (waiting == state.waiting).all(), "jobs that came and did not start wait"
    assert (serving == state.totals).all(), "jobs that started and did not end are in service"
    assert (state.counts.sum(axis=0) == state.totals).all(), "the totals are those of the servers"
    assert (state.counts >= 0).all()
    assert (state.free >= 0).all(), "no server is over its capacity"
    assert state.done[MOVES] == 0
    assert jobs.calendar.size[0] == state.totals.sum(), "each job in service has its end in the calendar"
    held = jobs.calendar.what[: jobs.calendar.size[0]]
    assert (np.bincount(held, minlength=state.counts.size) == state.counts.ravel()).all()
    assert (jobs.calendar.time[: len(held)] >= measures.now[0]).all()
    for j, expected in enumerate(state.waiting):
        at, length, before = jobs.lines.first[j], 0, -1.0
        while at >= 0:
            assert jobs.lines.arrival[at] >= before, "a line is in the order of arrival"
            before = float(jobs.lines.arrival[at])
            at, length = jobs.lines.after[at], length + 1
        assert length == expected
