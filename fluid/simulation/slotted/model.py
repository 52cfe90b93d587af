"""Slotted queues of jobs with real sizes: scenarios, the engine, and what an author's policy may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.arrivals import JobList, Stream, listed, refuse_endless
from fluid.simulation.authors import Guard
from fluid.simulation.loop import Engine, Function
from fluid.simulation.measures import Measures, new_measures
from fluid.simulation.policy_interface import Policy
from fluid.simulation.results import QueueResult, Run
from fluid.simulation.scenario import Scenario
from fluid.simulation.slotted import loop
from fluid.simulation.slotted.loop import CLASS_BITS, Jobs, accumulate, carry_out, most_calls
from fluid.simulation.slotted.sizes import (
    SizeLaw,
    drawn_slots,
    service_slots,
    whole_slots,
)
from fluid.simulation.slotted.state import (
    COMMON,
    COUNT,
    FIRST,
    FREE,
    WAITING,
    SlottedSetting,
    begin,
    has_arrivals,
    has_fronts,
    has_lengths,
    shared,
    with_places,
)
from fluid.simulation.state import PolicyError, State, over_servers
from fluid.simulation.structures.bitset import empty_sets, insert
from fluid.simulation.structures.searches import new_tree
from fluid.simulation.structures.slot_ends import enlarged, in_service, new_slot_ends
from theory.compiled import plain, step
from theory.errors import InputError, TooLargeError
from theory.instance import Additive, Instance
from theory.numbers import text

CROWD = 10**7
"""Most jobs that may come in a slot, on average: those of a slot are drawn together."""


PARTS: Mapping[str, Function] = {"accumulate": accumulate, "carry_out": carry_out, "most_calls": most_calls}
"""The functions of the model that the loop names."""


@dataclass(frozen=True)
class SlottedScenario(Scenario):
    """A slotted queue, whatever the policy.

    Attributes
    ----------
    law : SizeLaw
    servers : int
    until, warmup : int
        Slots.
    rate : float
        Mean number of jobs that come in a slot, to the whole cluster.
    service : float or tuple of float
        Probability that a job in service ends in a slot: of all classes, or of each size of the law.
    fixed : bool
        Service of exactly the mean number of slots.
    bernoulli : bool
        At most one job comes in a slot, with probability `rate`; otherwise a Poisson number.
    jobs : JobList, optional
        The jobs themselves, instead of laws.
    intensity : float, optional
        Traffic intensity, where the caller knows it, or a lower bound of it.
    names : tuple of str
        Names of the groups that are measured apart.
    group : tuple of int
        Of each size the group that it is measured under; empty for all under one.
    rewards : tuple of float, optional
        Reward of a job of each group per unit time; none for a law of sizes.
    options : mapping
        For the policy.
    bins, log : int
    present : JobList, optional
        Jobs of a trace that wait in slot 0, before all others; their work is what is left of it.
    queue : tuple of int, or int
        Jobs of each class that wait in slot 0, behind those, or how many drawn from the law; with service drawn too.
    """

    model: ClassVar[str] = "slotted"
    title: ClassVar[str] = "slotted queues"
    unit: ClassVar[str] = "slots"
    measured: ClassVar[tuple[str, ...]] = (
        "jobs", "waiting", "load", "busy", "delay", "arrivals", "starts", "ends"
    )  # fmt: skip
    result: ClassVar[type[QueueResult[Any]]] = QueueResult

    law: SizeLaw
    servers: int
    until: int
    warmup: int
    rate: float = 0.0
    service: float | tuple[float, ...] = 1.0
    fixed: bool = False
    bernoulli: bool = False
    jobs: JobList | None = None
    intensity: float | None = None
    names: tuple[str, ...] = ("jobs",)
    group: tuple[int, ...] = ()
    rewards: NDArray[np.float64] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    bins: int = 200
    log: int = 0
    present: JobList | None = None
    queue: tuple[int, ...] | int = ()

    def __post_init__(self) -> None:
        """Refuse impossible times, rates and probabilities."""
        self.refuse_sizes()
        services = self.service if isinstance(self.service, tuple) else (self.service,)
        if not all(0 < mu <= 1 for mu in services):
            raise InputError("service_rate", f"expected more than 0 and at most 1 a slot, got {min(services)}")
        if self.rate < 0 or (self.bernoulli and self.rate > 1):
            raise InputError(
                "simulation.arrivals",
                f"expected a rate of at least 0 jobs a slot (bernoulli: at most 1), got {self.rate:.6g}",
            )
        if self.jobs is None:
            if self.rate > CROWD:
                place, see = ("simulation.rate", "") if self.rewards is None else ("type", ": see workload")
                raise TooLargeError(place, f"{self.rate:.3g} jobs come in a slot, expected at most {CROWD:,}{see}")
            refuse_endless(self.rate * self.until)

    @property
    def expected_events(self) -> float:
        """Slots, and twice the jobs that are expected and that wait at first."""
        arrivals = self.rate * self.until if self.jobs is None else self.arrivals_until(self.until)
        waiting = self.queue if isinstance(self.queue, int) else sum(self.queue)
        waiting += 0 if self.present is None else len(self.present.times)
        return 2.0 * (arrivals + waiting) + self.until

    @property
    def cost_as_python(self) -> float:
        """Policies look at all open servers for a job: at a thousand of them in the time of ten events."""
        return 1 + self.servers / 100

    def group_of(self, job_type: int) -> int:
        """Return the place in `names` under which a size class is measured."""
        return self.group[job_type] if self.group else 0

    def setting(self) -> SlottedSetting:
        """Return what a policy is prepared for."""
        return SlottedSetting(self.law.sizes, self.law.capacity, self.servers, self.options)

    def measures(self) -> Measures:
        """Make empty measures."""
        group = np.array(self.group, np.int32) if self.group else np.zeros(len(self.law.sizes), np.int32)
        width = max(self.group, default=0) + 1
        return new_measures(
            float(self.until), float(self.warmup), self.bins, width, self.measured, log=self.log, group=group
        )

    def engine(
        self, policy: Policy, state: State, arrival_rng: np.random.Generator, start_rng: np.random.Generator
    ) -> Engine:
        """Return the loop over slots at work."""
        del policy
        return _Slots(self.stream(arrival_rng, start_rng), state)

    def stream(self, arrival_rng: np.random.Generator, start_rng: np.random.Generator) -> Stream:
        """Return the stream of jobs: those that wait in slot 0, and those that come."""
        if self.jobs is not None:
            coming = whole_slots(listed(self.jobs, np.int64))
        else:
            how = {"fixed": self.fixed, "bernoulli": self.bernoulli}
            coming = drawn_slots(self.rate, self.law, self.service, arrival_rng, **how)
        waiting = self._waiting(start_rng)
        return whole_slots(chain(waiting, coming)) if waiting else coming

    def _waiting(self, generator: np.random.Generator) -> list[JobList]:
        """Return the jobs that wait in slot 0."""
        if isinstance(self.queue, int):
            kinds = self.law.draw(generator, self.queue)
        else:
            kinds = np.repeat(np.arange(len(self.queue), dtype=np.int32), np.array(self.queue, np.int64))
        rates = np.atleast_1d(np.asarray(self.service, float))
        work = service_slots(rates, kinds, fixed=self.fixed, generator=generator)
        drawn = JobList(np.zeros(len(kinds), np.int64), kinds, work)
        return [chunk for chunk in (self.present, drawn) if chunk is not None and len(chunk.times)]

    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of the servers in use by bin."""
        busy = run.measures.busy.sum(axis=1) / run.spans
        return {"size": busy / (self.servers * self.law.capacity)}


class _Slots(Engine):
    """The loop over slots at work."""

    loop = staticmethod(loop.run)
    parts = PARTS
    part = 1 << 17
    kind = np.int64

    def __init__(self, stream: Stream, state: State) -> None:
        self.stream = stream
        self.jobs = Jobs(new_slot_ends(len(state.after)), np.zeros((len(state.after), 2), np.int64))
        self.supply()

    def enlarge(self, state: State) -> State:
        """Make more memory for the jobs in service, and more places for those that wait."""
        ends, places = self.jobs
        times, first = self.coming.times, int(self.coming.at[0])
        waiting = int(state.counters[WAITING]) + int(np.searchsorted(times, times[first], "right")) - first
        # jobs that come in the next slot need places, and all that wait then may begin their service in it
        most = int(ends.size[0]) + waiting
        while len(ends.rows) < most:
            ends = enlarged(ends)
        if len(state.after) <= waiting:
            state = with_places(state, 2 * (waiting + 1))
            places = np.concatenate([places, np.zeros((len(state.after) - len(places), 2), np.int64)])
        self.jobs = Jobs(ends, places)
        return state


def whole_service(rate: Fraction) -> str:
    """Return what is wrong with a service rate whose inverse is no whole number of slots."""
    return f"expected 1 over a whole number of slots for deterministic service, got {text(rate)}"


def slotted_scenario(
    instance: Instance, servers: int, until: int, warmup: int, *, intensity: float | None = None, **how: Any
) -> SlottedScenario:
    """Make a scenario of the types of an instance: sizes, rates and service are theirs, a unit of time is a slot.

    Parameters
    ----------
    instance : Instance
        One pool with one resource; ``servers * workload_j * service_rate_j`` jobs of type j come in a slot on average,
        and ``service_rate_j`` is the probability that one in service ends.
    servers, until, warmup
    intensity : float, optional
    how
        Other fields of `SlottedScenario`; classes of jobs are the types of the instance.

    Raises
    ------
    InputError
        Several pools or resources, configurations instead of capacities.
    """
    spaces = [pool.space for pool in instance.pools]
    if len(spaces) > 1 or not isinstance(spaces[0], Additive) or len(spaces[0].capacity) > 1:
        raise InputError(
            "server",
            "expected one kind of server with one resource for a slotted policy; nonpreemptive, "
            "max-weight-local and randomized-sampling take several pools and resources",
        )
    for t in instance.types:
        if t.service_rate > 1:
            raise InputError(
                f"type {t.name}",
                "service_rate: expected the probability that a job ends in a slot, at most 1, got "
                f"{text(t.service_rate)}",
            )
        if how.get("fixed") and (1 / t.service_rate).denominator > 1:
            raise InputError(f"type {t.name}", f"service_rate: {whole_service(t.service_rate)}")
    size = [row[0] for row in spaces[0].demands]
    order = sorted(range(len(size)), key=lambda j: size[j])
    types = [instance.types[j] for j in order]
    rates = np.array([float(servers * t.workload * t.service_rate) for t in types])
    total = float(rates.sum())
    weights = rates / total if total else np.full(len(rates), 1 / len(rates))
    law = SizeLaw(np.array([size[j] for j in order], np.int64), spaces[0].capacity[0], weights)
    place = np.argsort(np.array(order)).astype(np.int32)
    for name in ("jobs", "present"):
        if how.get(name) is not None:
            how[name] = how[name]._replace(types=place[how[name].types])
    if how.get("queue"):
        how["queue"] = tuple(how["queue"][j] for j in order)
    return SlottedScenario(
        law,
        servers,
        until,
        warmup,
        rate=total,
        service=tuple(float(t.service_rate) for t in types),
        intensity=intensity,
        names=instance.names,
        group=tuple(order),
        rewards=np.array([float(u) for u in instance.rewards]),
        **how,
    )


@step
def check_waiting(state: Any, jobs: Jobs, measures: Measures) -> None:
    """Check how many jobs wait after a slot; stands for `fluid.simulation.loop.observe`."""
    waiting = 0
    for g in range(measures.inside.shape[1]):
        waiting += measures.inside[0, g]
    if state.counters[WAITING] != waiting:
        raise PolicyError("refresh", "has left counters[WAITING] other than the jobs that wait")


@step
def count_places(after: NDArray[np.int64], place: int, seen: NDArray[np.bool_]) -> int:
    """Return how many places follow from one on that have not been seen, and mark them."""
    count = 0
    while 0 <= place < len(after) and not seen[place]:
        seen[place] = True
        count += 1
        place = after[place]
    return count


@step
def count_lines(lines: NDArray[np.int32], after: NDArray[np.int64], seen: NDArray[np.bool_]) -> None:
    """Count the jobs in each line anew, wherever its places lead."""
    for job_class in range(len(lines)):
        lines[job_class, COUNT] = count_places(after, lines[job_class, FIRST], seen)


class SlottedGuard(Guard):
    """What is checked of an author's policy of a slotted queue."""

    fields = COMMON
    maker = "shared"
    free_fields = ("moves", "done", "arrived")
    constants = ("sizes", "capacity", "consecutive", "queue_of")
    lengths: ClassVar[dict[str, Callable[[State], bool]]] = {
        "after": lambda state: state.after.ndim == 1 and len(state.after) > 0,
        "number": lambda state: state.number.shape == state.after.shape,
        "consecutive": lambda state: np.array_equal(state.consecutive, [(np.diff(state.sizes) == 1).all()]),
        "arrived": lambda state: np.array_equal(
            state.arrived, new_tree(2 * len(state.after) if has_arrivals(state) else 1)
        ),
        "queue_of": lambda state: (
            state.queue_of.shape == (len(state.sizes) if has_lengths(state) or has_fronts(state) else 0,)
        ),
        "queues": lambda state: state.queues.ndim == 1,
        "order": lambda state: state.order.shape == (len(state.after) if has_fronts(state) else 0, 2),
        "fronts": lambda state: state.fronts.shape in ((0, 2), (len(state.queues) or 1, 2)),
        "moves": lambda state: state.moves.ndim == 2 and state.moves.shape[1] == 3 and len(state.moves) > 0,
    }
    checks: ClassVar[dict[str, Any]] = {"observe": check_waiting}
    clock = "slot"
    tools = "begin"
    _begin = staticmethod(plain(begin))

    @classmethod
    def empty(cls, setting: SlottedSetting, state: State) -> dict[str, NDArray[Any]]:
        """Return the common fields of an empty system."""
        del state
        return shared(setting)

    @classmethod
    def refusal(cls, setting: SlottedSetting, state: State) -> str | None:
        """Return what is wrong with the common fields of a state that was prepared, None if nothing."""
        if complaint := super().refusal(setting, state):
            return complaint
        if not np.array_equal(state.after, np.append(np.arange(1, len(state.after)), -1)):
            return "field after: expected each place followed by the next one, and -1"
        if len(state.queue_of) and not (state.queue_of.min() >= 0 and state.queue_of.max() < len(state.queues)):
            return f"field queue_of: expected numbers from 0 to {len(state.queues) - 1}"
        return None

    def refresh(self, state: State, draws: Any) -> bool:
        """Let the policy look at the system in a slot."""
        self._event = "jobs that wait"
        return super().refresh(state, draws)

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(state.sizes[job_type] <= state.free[server])

    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Begin a waiting job; the second number is its place."""
        if not (0 <= job_type < len(state.sizes) and 0 <= target < len(state.free)):
            raise PolicyError("expected a class, a place and a server")
        if state.lines[job_type, FIRST] != source:
            raise PolicyError("expected the place of the first job of the class")
        self._begin(state, job_type, target)

    def kind(self, state: State, job_type: int) -> str:
        """Return what a size class is called in messages."""
        return f"class {job_type} (size {state.sizes[job_type]} of {state.capacity[0]})"

    def contents(self, state: State) -> str:
        """Return what a message says of the servers where there is no time."""
        return f"free {state.free.tolist()}"

    @classmethod
    def impossible(cls, state: State) -> None:
        """Return None: a policy changes nothing without a tool but what is its own."""
        del state

    def count(self, state: State, measures: Measures) -> None:
        """Do nothing: the loop over slots counts the jobs under every policy."""
        del state, measures

    def expected(self, state: State, jobs: Jobs, measures: Measures) -> dict[str, Any]:
        """Return what the servers hold, and the lines in which the jobs wait."""
        servers, sizes = len(state.free), self._constants["sizes"]
        where, classes = np.divmod(in_service(jobs.ends), 1 << CLASS_BITS)
        busy = np.bincount(where, sizes[classes], minlength=servers).astype(np.int64)
        return {
            "free": self._constants["capacity"][0] - busy,
            "jobs": np.bincount(where, minlength=servers),
            "lines": self._lines(state, measures),
            **self._sets(state),
        }

    def _lines(self, state: State, measures: Measures) -> NDArray[np.int32]:
        """Return the lines, each with as many jobs as it leads to; -1 where these, or the free places, are not all."""
        lines: NDArray[np.int32] = state.lines.copy()
        seen = np.zeros(len(state.after), np.bool_)
        places = len(state.after)
        over_servers(count_lines, places)(lines, state.after, seen)
        free = over_servers(count_places, places)(state.after, state.counters[FREE], seen)
        if free != places - lines[:, COUNT].sum():
            lines[:, COUNT] = -1
        group = measures.group if measures.inside.shape[1] > 1 else np.zeros(len(lines), np.int64)
        by_group = np.bincount(group, lines[:, COUNT], minlength=measures.inside.shape[1])
        if (by_group != measures.inside[0]).any():
            lines[:, COUNT] = -1
        return lines

    def _sets(self, state: State) -> dict[str, Any]:
        """Return what follows from the lines: the set of classes that wait, and the lengths of virtual queues."""
        sets: dict[str, Any] = {}
        counts = state.lines[:, COUNT]
        sets["words"], sets["levels"] = empty_sets(1, len(counts))
        for job_class in np.flatnonzero(counts > 0).tolist():
            insert(sets["words"], sets["levels"], 0, job_class)
        if has_lengths(state):
            sets["queues"] = np.bincount(state.queue_of, counts, minlength=len(state.queues)).astype(np.int64)
        return sets

    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers have less than nothing left."""
        return np.asarray(state.free < 0)


GUARD = SlottedGuard
