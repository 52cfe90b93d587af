"""Time 0 of a queue that does not start empty: all waiting jobs are there before the policy starts any of them.

Run once, as Python, over the names ``place`` and ``refresh`` (see `fluid.simulation.queue.loop`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fluid.simulation import heap as events
from fluid.simulation.arrivals import JobList
from fluid.simulation.policy import RESTLESS
from fluid.simulation.queue import lines as queues
from fluid.simulation.queue.lines import join
from fluid.simulation.queue.loop import Jobs, carry_out, observe, place, refresh
from fluid.simulation.queue.measures import ARRIVAL, QueueMeasures, note
from fluid.simulation.state import PATIENCE, PolicyError, State, fits, most_calls, start
from theory.jit import plain, step


def opened(
    functions: Mapping[str, Any],
    state: State,
    jobs: Jobs,
    measures: QueueMeasures,
    draws: Any,
    waiting: JobList,
    watch: Any = observe,
) -> Jobs:
    """Let jobs wait at time 0 and the policy start what it can; return the lists, with room for them.

    They count as arrivals at time 0, in the order of the list; those of a type are served in it. The policy is asked
    for a server (``place``) for each type in turn, until it starts nothing more; where it gives one, the first job of
    the type begins there.
    """
    count = len(waiting.types)
    calendar, lines = jobs
    while len(calendar.time) <= count + 2 * len(state.moves):
        calendar = events.enlarged(calendar)
    while len(lines.after) <= count + 1:
        lines = queues.enlarged(lines)
    jobs = Jobs(calendar, lines)
    run = plain(_open, place=functions["place"], refresh=functions["refresh"], observe=watch)
    run(state, jobs, measures, draws, waiting)
    return jobs


def _open(state: Any, jobs: Jobs, measures: QueueMeasures, draws: Any, waiting: JobList) -> None:
    for kind, work in zip(waiting.types.tolist(), waiting.durations.tolist(), strict=True):
        measures.events[0] += 1
        measures.arrivals[0, kind] += 1
        note(measures, ARRIVAL, kind, -1)
        state.waiting[kind] += 1
        join(jobs.lines, kind, 0.0, work)
    _settle(state, jobs, measures, draws)
    before = -1
    while before != state.waiting.sum():
        before = state.waiting.sum()
        for kind in np.flatnonzero(state.waiting).tolist():
            _start_all(state, jobs, measures, draws, kind)
    observe(state, jobs, measures)


@step
def _start_all(state: Any, jobs: Jobs, measures: QueueMeasures, draws: Any, kind: int) -> None:
    """Ask for servers for jobs of a type as long as some job starts."""
    before = -1
    while state.waiting[kind] > 0 and before != np.sum(state.waiting):
        before = np.sum(state.waiting)
        server = place(state, kind, draws)
        if server >= 0:
            if server >= len(state.counts) or not fits(state, server, kind):
                raise PolicyError("place: expected a server with room for the job, or -1")
            state.waiting[kind] -= 1
            start(state, kind, server)
        _settle(state, jobs, measures, draws)


@step
def _settle(state: Any, jobs: Jobs, measures: QueueMeasures, draws: Any) -> None:
    calls = 0
    while True:
        carry_out(state, jobs, measures)
        if not refresh(state, draws):
            break
        calls += 1
        if calls > PATIENCE and calls > PATIENCE + most_calls(state):
            raise PolicyError(RESTLESS)
    carry_out(state, jobs, measures)
