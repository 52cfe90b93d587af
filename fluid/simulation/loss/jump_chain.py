"""The loop for Poisson arrivals and exponential service: a jump chain, no event list."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loss.steps import FINISHED, GOES_ON, asks, end, observe, settle, try_to_place
from fluid.simulation.loss.urn import Urn, add_job, draw_job
from fluid.simulation.measures import Measures, advance
from fluid.simulation.state import Common
from theory.jit import step


@step
def jump_chain(
    state: Common,
    urn: Urn,
    measures: Measures,
    arrival_rates: NDArray[np.float64],
    service_rates: NDArray[np.float64],
    draws: Any,
    choices: Any,
    most: int,
) -> int:
    """Run at most so many events; return whether it is `FINISHED` or `GOES_ON`.

    Parameters
    ----------
    state : Common
        Of the policy whose functions the loop is bound to.
    urn : Urn
        Jobs in service, with room for `most` more of each type.
    measures : Measures
    arrival_rates, service_rates : float64[J]
        Arrivals of each type per unit time, all servers together; rate at which each job ends.
    draws : numpy.random.Generator
        Three numbers an event: holding time, which type, which job.
    choices : numpy.random.Generator
        What the policy draws from.
    most : int
        Cutting a run into parts does not change its path.

    Notes
    -----
    O(J) an event and what the policy takes; nothing grows with the number of servers.
    """
    types = len(arrival_rates)
    arriving = 0.0
    for j in range(types):
        arriving += arrival_rates[j]
    for _ in range(most):
        total = arriving
        for j in range(types):
            total += state.totals[j] * service_rates[j]
        if total <= 0.0:
            advance(measures, state, np.inf)
            return FINISHED
        if not advance(measures, state, measures.now[0] + draws.standard_exponential() / total):
            return FINISHED
        level = draws.random() * total
        if level < arriving:
            j = 0
            while j < types - 1 and level >= arrival_rates[j]:
                level -= arrival_rates[j]
                j += 1
            server = try_to_place(state, urn, measures, j, choices)
            if server >= 0:
                add_job(urn, j, server)
        else:
            level -= arriving
            j = 0
            while j < types - 1 and level >= state.totals[j] * service_rates[j]:
                level -= state.totals[j] * service_rates[j]
                j += 1
            while state.totals[j] == 0:  # rounding at the very end of the scale
                j -= 1
            server = draw_job(urn, state, j, draws)
            end(state, urn, measures, server, j, choices)
        settle(state, urn, measures, choices)
        if asks(state):
            return GOES_ON
        observe(state, urn, measures)
    return GOES_ON
