"""Loss systems, in which a job that finds no server is lost: their scenarios, and the engines that run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import sample, stream_of
from fluid.simulation.loop import Engine
from fluid.simulation.loss import jobs as lists
from fluid.simulation.loss.loop import Rates, accumulate, carry_out, event_list, finish_event, jump_chain
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import LossResult
from fluid.simulation.runner import Function
from fluid.simulation.scenario import TypedScenario
from fluid.simulation.state import Setting, State, most_calls
from theory.jit import bound, plain

FEWEST = 1024
"""Events that a part of a run has memory for at least."""


@dataclass(frozen=True)
class LossScenario(TypedScenario):
    """A loss system, whatever the policy.

    Attributes
    ----------
    initial : int32[L, J], optional
        Jobs in service at time 0; their service begins then.
    synchronised : bool
        Use the event list even where the jump chain would do: two policies with equal seeds then see the same jobs.
    """

    model: ClassVar[str] = "loss"
    title: ClassVar[str] = "loss systems"
    measured: ClassVar[tuple[str, ...]] = ("jobs", "slots", "arrivals", "starts", "preempted")
    result: ClassVar[type[LossResult[Any]]] = LossResult

    initial: NDArray[np.int32] | None = None
    synchronised: bool = False

    @property
    def is_markovian(self) -> bool:
        """Whether the jump chain suits: Poisson arrivals, exponential service."""
        poisson = self.arrivals.is_poisson and self.jobs is None
        return poisson and self.service.name == "exponential" and not self.synchronised

    def setting(self) -> Setting:
        """Return what a policy is prepared for."""
        return Setting(self.instance, self.servers, self.options, self.initial)

    def engine(
        self, policy: Policy, state: State, arrival_rng: np.random.Generator, start_rng: np.random.Generator
    ) -> Engine:
        """Return the jump chain where it suits, else the event list."""
        del start_rng
        if self.is_markovian:
            return _JumpChain(self, policy, state)
        return _EventList(self, policy, state, arrival_rng)


class _LossEngine(Engine):
    """What both engines do.

    Attributes
    ----------
    spare, larger : callable
        ``spare(jobs)``, how many more jobs there is memory for, and ``larger(jobs)``, a copy with more of it.
    """

    part = 2_000_000
    spare: Function
    larger: Function

    def next_part(self) -> int:
        """Return how many events the next part has memory for."""
        while (most := min(self.part, int(self.spare(self.jobs)))) < FEWEST:
            self.jobs = self.larger(self.jobs)
        return most

    def resume(self, functions: Mapping[str, Function], state: State, measures: Measures, draws: Any) -> None:
        """Let the policy refresh once more."""
        plain(finish_event, refresh=functions["refresh"], **self.parts)(state, self.jobs, measures, draws)


PARTS: dict[str, Function] = {"accumulate": accumulate, "most_calls": most_calls}
"""The functions of the model that both loops name."""


class _JumpChain(_LossEngine):
    """Poisson arrivals and exponential service."""

    loop = staticmethod(jump_chain)
    parts = PARTS | {"carry_out": bound(carry_out, transfer=lists.transfer_in_urn)}
    spare, larger = staticmethod(lists.spare_in_urn), staticmethod(lists.larger_urn)

    def __init__(self, scenario: LossScenario, policy: Policy, state: State) -> None:
        rates, services = scenario.rates, scenario.service_rates
        expected = np.minimum(1.2 * rates / services, 10.0 * scenario.servers) + 1024
        self.jobs = lists.new_urn(state.counts, expected, moves_jobs=policy.moves_jobs)
        self.coming = Rates(rates, services)


class _EventList(_LossEngine):
    """Any arrivals and service times."""

    loop = staticmethod(event_list)
    parts = PARTS | {"carry_out": bound(carry_out, transfer=lists.transfer_in_calendar)}
    spare, larger = staticmethod(lists.spare_in_calendar), staticmethod(lists.larger_calendar)

    def __init__(self, scenario: LossScenario, policy: Policy, state: State, rng: np.random.Generator) -> None:
        rates, services = scenario.rates, scenario.service_rates
        self.stream = stream_of(scenario.arrivals, scenario.service, rates, services, rng, scenario.jobs)
        expected = ceil(1.2 * float((rates / services).sum())) + (1 << 16)
        if scenario.jobs is not None:  # no more can be there at once
            expected = min(expected, len(scenario.jobs.times))
        length = int(state.totals.sum()) + expected + 1
        self.jobs = lists.new_calendar(length, scenario.servers, len(rates), moves_jobs=policy.moves_jobs)
        for server, j in np.argwhere(state.counts > 0).tolist():
            for work in sample(scenario.service, rng, int(state.counts[server, j])) / services[j]:
                lists.schedule(self.jobs, work, j, server)
        self.supply()
