"""The loop for any arrivals and any service times: an event list."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.simulation.loss.calendar import Calendar, next_end, pop, schedule
from fluid.simulation.loss.steps import FINISHED, GOES_ON, NEEDS_JOBS, asks, end, observe, settle, try_to_place
from fluid.simulation.measures import Measures, advance
from fluid.simulation.queue.loop import Coming
from fluid.simulation.state import Common
from theory.jit import step


@step
def event_list(
    state: Common, calendar: Calendar, measures: Measures, coming: Coming, draws: Any, choices: Any, most: int
) -> int:
    """Run at most so many events; return whether it is `FINISHED`, `NEEDS_JOBS` or `GOES_ON`.

    Parameters
    ----------
    state : Common
        Of the policy whose functions the loop is bound to.
    calendar : Calendar
        Jobs in service, with room for `most` more.
    measures : Measures
    coming : Coming
        The next jobs of a stream, with their service times; so two policies with equal seeds see the same jobs.
    draws : numpy.random.Generator
        Not used: the stream has drawn already.
    choices : numpy.random.Generator
        What the policy draws from.
    most : int
        Cutting a run into parts does not change its path.

    Notes
    -----
    O(log n + J) an event with n jobs in service, and what the policy takes. Of simultaneous events departures come
    first.
    """
    for _ in range(most):
        row = coming.at[0]
        if row < len(coming.time):
            arrival = float(coming.time[row])
        elif coming.at[1] == 0:
            return NEEDS_JOBS
        else:
            arrival = np.inf
        departure = next_end(calendar)
        if departure <= arrival:
            if departure == np.inf or not advance(measures, state, departure):
                advance(measures, state, np.inf)
                return FINISHED
            job = pop(calendar)
            server = calendar.server[job]
            if server < 0:  # was stopped
                continue
            end(state, calendar, measures, server, calendar.kind[job], choices)
        else:
            if not advance(measures, state, arrival):
                return FINISHED
            coming.at[0] = row + 1
            j = coming.type[row]
            server = try_to_place(state, calendar, measures, j, choices)
            if server >= 0:
                schedule(calendar, arrival + coming.work[row], j, server)
        settle(state, calendar, measures, choices)
        if asks(state):
            return GOES_ON
        observe(state, calendar, measures)
    return GOES_ON
