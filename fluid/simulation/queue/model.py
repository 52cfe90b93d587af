"""Queues in continuous time: scenarios, the engine that runs them, and what an author's policy may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList, Stream, joined
from fluid.simulation.authors import SERVED, WAITING, TypedGuard, note_and_count
from fluid.simulation.loop import Engine, Function
from fluid.simulation.measures import Measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.queue import loop
from fluid.simulation.queue.loop import Jobs, accumulate, carry_out, longer_lines, new_lines
from fluid.simulation.results import QueueResult
from fluid.simulation.scenario import TypedScenario
from fluid.simulation.state import OUTSIDE, QUEUE, PolicyError, State, most_calls, queue_fields
from fluid.simulation.structures.event_list import enlarged, new_event_list
from theory.compiled import plain, step

PARTS: Mapping[str, Function] = {"accumulate": accumulate, "carry_out": carry_out, "most_calls": most_calls}
"""The functions of the model that the loop names."""


@dataclass(frozen=True)
class QueueScenario(TypedScenario):
    """A queue in continuous time, whatever the policy.

    Attributes
    ----------
    stream : callable, optional
        Instead of all laws: makes the stream of jobs from a generator, such as requests for vectors of jobs
        (`fluid.simulation.arrivals.batches`).
    present : JobList, optional
        Jobs of a trace that wait at time 0; their durations are what is left of their service, in ticks.
    queue : tuple of int
        Jobs of each type that wait at time 0, behind those, with service of the law; empty for none.
    """

    model: ClassVar[str] = "queue"
    title: ClassVar[str] = "queues in continuous time"
    measured: ClassVar[tuple[str, ...]] = ("jobs", "waiting", "delay", "arrivals", "starts", "ends")
    result: ClassVar[type[QueueResult[Any]]] = QueueResult

    stream: Callable[[np.random.Generator], Stream] | None = None
    present: JobList | None = None
    queue: tuple[int, ...] = ()

    @property
    def listed(self) -> bool:
        """Whether the jobs are given, not drawn from the laws."""
        return self.jobs is not None or self.stream is not None

    def engine(
        self, policy: Policy, state: State, arrival_rng: np.random.Generator, start_rng: np.random.Generator
    ) -> Engine:
        """Return the event list at work."""
        del policy
        return _Queue(self, state, arrival_rng, start_rng)

    def stream_of_jobs(self, rng: np.random.Generator) -> Stream:
        """Return the stream of the jobs that come."""
        return super().stream_of_jobs(rng) if self.stream is None else self.stream(rng)

    def waiting_at_start(self, rng: np.random.Generator) -> JobList:
        """Return the jobs that wait at time 0."""
        kinds = np.repeat(np.arange(len(self.queue), dtype=np.int32), np.array(self.queue, np.int64))
        drawn = JobList(np.zeros(len(kinds)), kinds, self.service_times(kinds, rng))
        return drawn if self.present is None else joined(self.present, drawn)


class _Queue(Engine):
    """The event list at work."""

    loop = staticmethod(loop.run)
    parts = PARTS

    def __init__(
        self, scenario: QueueScenario, state: State, arrival_rng: np.random.Generator, start_rng: np.random.Generator
    ) -> None:
        self.stream = scenario.stream_of_jobs(arrival_rng)
        self._waiting = scenario.waiting_at_start(start_rng)
        self.jobs = Jobs(new_event_list(2 * len(state.moves) + 1024), new_lines(len(state.totals)))
        self.supply()

    def enlarge(self, state: State) -> State:
        """Make more memory for the jobs in service, and for those that wait."""
        ends, lines = self.jobs
        if ends.size[0] + len(state.moves) >= len(ends.time):
            ends = enlarged(ends)
        if lines.free[0] < 0:
            lines = longer_lines(lines)
        self.jobs = Jobs(ends, lines)
        return state

    def open(
        self, functions: Mapping[str, Function], state: State, measures: Measures, draws: Any, watch: Function
    ) -> None:
        """Let jobs wait at time 0, and the policy start what it can."""
        count = len(self._waiting.types)
        if not count:
            return
        ends, lines = self.jobs
        while len(ends.time) <= count + 2 * len(state.moves):
            ends = enlarged(ends)
        if len(lines.after) <= count + 1:
            lines = new_lines(len(state.totals), 2 * count)
        self.jobs = Jobs(ends, lines)
        names = {"place": functions["place"], "refresh": functions["refresh"], "observe": watch, **self.parts}
        plain(loop.open_queue, **names)(state, self.jobs, measures, draws, self._waiting)


@step
def check_queue(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check the jobs and the clocks after an event; stands for `fluid.simulation.loop.observe`."""
    for j in range(len(state.waiting)):
        if measures.inside[WAITING, j] < 0:
            raise PolicyError("refresh", "has started a job of a type of which none waits")
        if state.waiting[j] != measures.inside[WAITING, j]:
            raise PolicyError("refresh", "has left waiting other than the jobs that wait")
        if state.totals[j] != measures.inside[SERVED, j]:
            raise PolicyError("refresh", "has left totals other than the jobs in service")
    for k in range(len(state.clocks)):
        if not 0.0 <= state.clocks[k] < np.inf:
            raise PolicyError("refresh", "has left a clock without a rate of at least 0")


class QueueGuard(TypedGuard):
    """What is checked of an author's policy of a queue."""

    fields = QUEUE
    maker = "queue_fields"
    free_fields = ("moves", "done", "slots", "clocks")
    called = ("place", "depart", "refresh", "ring")
    checks: ClassVar[dict[str, Any]] = {"note": note_and_count, "observe": check_queue}
    tools = "start"
    make_empty = staticmethod(queue_fields)

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Start a waiting job."""
        servers, types = state.counts.shape
        if source != OUTSIDE or not (0 <= job_type < types and 0 <= target < servers):
            raise PolicyError("expected a type, -1, and a server; the jobs of a queue stay where they start")
        if state.waiting[job_type] < 1:
            raise PolicyError(f"started a job of {self.kind(state, job_type)}, of which none waits")
        if not self.fits(state, target, job_type):
            raise PolicyError("expected a server with room for the job")
        state.waiting[job_type] -= 1
        self._put(state, target, job_type)

    def difference(self, name: str, words: str) -> str:
        """Return what is said of a field that differs from what the moves say."""
        if name == "waiting":
            return f"left waiting{words}: one less for each job that it starts"
        return super().difference(name, words)

    @classmethod
    def impossible(cls, state: State) -> str | None:
        """Return what is wrong with the clocks."""
        if not (np.isfinite(state.clocks) & (state.clocks >= 0)).all():
            return f"left clocks = {state.clocks.tolist()}, expected rates of at least 0"
        return super().impossible(state)

    def count(self, state: State, measures: Measures) -> None:
        """Count the jobs that wait, too."""
        super().count(state, measures)
        measures.inside[WAITING] = state.waiting

    def in_service(self, state: State, jobs: Jobs) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""
        servers, types = state.counts.shape
        places = jobs.ends.what[: jobs.ends.size[0]]
        return np.bincount(places, minlength=servers * types).reshape(servers, types)

    def expected(self, state: State, jobs: Jobs, measures: Measures) -> dict[str, Any]:
        """Return what waits, too: what has come and not begun."""
        waiting = measures.arrivals.sum(axis=0) - measures.starts.sum(axis=0)
        return {**super().expected(state, jobs, measures), "waiting": waiting}


GUARD = QueueGuard
