"""The loop for any arrivals and any service times: an event list."""

from __future__ import annotations

from typing import Any

import numpy as np

from fluid.policy import Common
from fluid.simulate.arrivals import Arrivals, arriving_type, duration_of, next_arrival
from fluid.simulate.calendar import Calendar, next_end, pop, schedule
from fluid.simulate.laws import Times
from fluid.simulate.measures import Measures, advance
from fluid.simulate.steps import asks, end, observe, settle, try_to_place
from theory.compiled import step


@step
def event_list(
    state: Common,
    calendar: Calendar,
    measures: Measures,
    arrivals: Arrivals,
    service: Times,
    draws: Any,
    choices: Any,
    most: int,
) -> bool:
    """Run at most so many events; return whether the horizon is reached.

    Parameters
    ----------
    state : Common
        Of the policy whose functions the loop is bound to.
    calendar : Calendar
        Jobs in service, with room for `most` more.
    measures : Measures
    arrivals : Arrivals
    service : Times
    draws : numpy.random.Generator
        For arrivals and service times. Both are drawn for every job, placed or not, so that two policies with equal seeds see
        the same jobs.
    choices : numpy.random.Generator
        What the policy draws from.
    most : int
        Cutting a run into parts does not change its path.

    Notes
    -----
    O(log n + J) an event with n jobs in service, and what the policy takes. Of simultaneous events departures come first.
    """
    for _ in range(most):
        arrival, departure = next_arrival(arrivals, measures.now[0]), next_end(calendar)
        if departure <= arrival:
            if departure == np.inf or not advance(measures, state, departure):
                advance(measures, state, np.inf)
                return True
            job = pop(calendar)
            server = calendar.server[job]
            if server < 0:  # was stopped
                continue
            end(state, calendar, measures, server, calendar.kind[job], choices)
        else:
            if not advance(measures, state, arrival):
                return True
            j = arriving_type(arrivals, draws)
            duration = duration_of(arrivals, service, j, draws)
            server = try_to_place(state, calendar, measures, j, choices)
            if server >= 0:
                schedule(calendar, measures.now[0] + duration, j, server)
        settle(state, calendar, measures, choices)
        if asks(state):
            return False
        observe(state, calendar, measures)
    return False
