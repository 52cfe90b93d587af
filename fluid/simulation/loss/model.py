"""Loss systems, in which a job that finds no server is lost: scenarios, engines, and what an author's policy may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import SERVED, WAITING, TypedGuard, note_and_count
from fluid.simulation.loop import Engine, Function, settle
from fluid.simulation.loss import jobs as lists
from fluid.simulation.loss.jobs import Calendar
from fluid.simulation.loss.loop import Rates, accumulate, carry_out, count_reassigned, event_list, jump_chain
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import LossResult
from fluid.simulation.scenario import TypedScenario
from fluid.simulation.state import OUTSIDE, Common, PolicyError, Setting, State, common, most_calls, over_servers
from theory.compiled import plain, step

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
    """What both engines do: ``spare(jobs)`` returns the memory left, in jobs, and ``larger(jobs)`` a copy with more."""

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
        plain(settle, refresh=functions["refresh"], **self.parts)(state, self.jobs, measures, draws)
        count_reassigned(state, measures)


PARTS: dict[str, Function] = {"accumulate": accumulate, "carry_out": carry_out, "most_calls": most_calls}
"""The functions of the model that both loops name."""


class _JumpChain(_LossEngine):
    """Poisson arrivals and exponential service."""

    loop = staticmethod(jump_chain)
    parts = PARTS | {"transfer": lists.transfer_in_urn}
    spare, larger = staticmethod(lists.spare_in_urn), staticmethod(lists.larger_urn)

    def __init__(self, scenario: LossScenario, policy: Policy, state: State) -> None:
        rates, services = scenario.rates, scenario.service_rates
        expected = np.minimum(1.2 * rates / services, 10.0 * scenario.servers) + 1024
        self.jobs = lists.new_urn(state.counts, expected, moves_jobs=policy.moves_jobs)
        self.coming = Rates(rates, services)


class _EventList(_LossEngine):
    """Any arrivals and service times."""

    loop = staticmethod(event_list)
    parts = PARTS | {"transfer": lists.transfer_in_calendar}
    spare, larger = staticmethod(lists.spare_in_calendar), staticmethod(lists.larger_calendar)

    def __init__(self, scenario: LossScenario, policy: Policy, state: State, rng: np.random.Generator) -> None:
        rates, services = scenario.rates, scenario.service_rates
        self.stream = scenario.stream_of_jobs(rng)
        expected = ceil(1.2 * float((rates / services).sum())) + (1 << 16)
        if scenario.jobs is not None:  # no more can be there at once
            expected = min(expected, len(scenario.jobs.times))
        length = int(state.totals.sum()) + expected + 1
        self.jobs = lists.new_calendar(length, scenario.servers, len(rates), moves_jobs=policy.moves_jobs)
        schedule = over_servers(lists.schedule, int(state.totals.sum()))
        for server, j in np.argwhere(state.counts > 0).tolist():
            for work in scenario.service_times(np.full(int(state.counts[server, j]), j, np.int32), rng):
                schedule(self.jobs, work, j, server)
        self.supply()


@step
def check_totals(state: State, jobs: Any, measures: Measures) -> None:
    """Check the jobs in service after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.totals)):
        if state.totals[j] != measures.inside[WAITING, j] + measures.inside[SERVED, j] or state.slots[j] < 0:
            raise PolicyError("refresh", "has left totals other than the jobs in service, or slots below 0")


class LossGuard(TypedGuard):
    """What is checked of an author's policy of a loss system."""

    fields = Common._fields
    maker = "common"
    make_empty = staticmethod(common)
    checks: ClassVar[dict[str, Any]] = {"note": note_and_count, "observe": check_totals}

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Move or stop a job."""
        if not self.policy.moves_jobs:
            raise PolicyError("expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")
        servers, types = state.counts.shape
        if not (0 <= job_type < types and 0 <= source < servers and OUTSIDE <= target < servers):
            raise PolicyError("expected a type, a server, and a server or -1; in a loss system no job waits to start")
        if state.counts[source, job_type] < 1 or (target >= 0 and not self.fits(state, target, job_type)):
            raise PolicyError("expected a server that holds a job of the type, and one with room for it")
        self._take(state, source, job_type)
        if target >= 0:
            self._put(state, target, job_type)

    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        if isinstance(jobs, Calendar):
            numbers = jobs.ends.what[: jobs.ends.size[0]]
            numbers = numbers[jobs.server[numbers] >= 0]
            places = jobs.server[numbers].astype(np.int64) * types + jobs.kind[numbers]
            return np.bincount(places, minlength=servers * types).reshape(servers, types)
        entries = np.zeros((servers, types), np.int64)
        for j in range(types):
            first = jobs.first[j]
            entries[:, j] = np.bincount(jobs.servers[first : first + jobs.length[j]], minlength=servers)
        return entries - jobs.stale if jobs.moves_jobs else entries


GUARD = LossGuard
