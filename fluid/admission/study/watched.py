"""What was watched of deployments, in a log of tenants or in a simulated world."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.admission.simulation import world as worlds
from fluid.admission.simulation.world import World


@dataclass(frozen=True)
class Watched:
    """What was seen of n deployments from their arrivals on.

    Attributes
    ----------
    core_deaths, scale_outs, extra_cores, sizes : int64[n]
        As in `fluid.admission.law.belief.Observed`.
    core_time, alive_time : float64[n]
    shut : bool[n]
        Whether the deployment was shut down while cores were active.
    alone : bool[n], or bool[1] for all
        Whether it ended with its last core, in a way that may have been a shutdown; by default, never.
    """

    core_deaths: NDArray[np.int64]
    core_time: NDArray[np.float64]
    alive_time: NDArray[np.float64]
    scale_outs: NDArray[np.int64]
    extra_cores: NDArray[np.int64]
    sizes: NDArray[np.int64]
    shut: NDArray[np.bool_]
    alone: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, bool))

    def only(self, chosen: NDArray[Any]) -> Watched:
        """Return the chosen deployments, by number or by a mask."""
        n = len(self.core_deaths)
        return Watched(**{one.name: np.broadcast_to(getattr(self, one.name), n)[chosen] for one in fields(self)})

    def with_initial_sizes(self, initial: NDArray[np.int64]) -> Watched:
        """Return what was seen with the initial sizes among the sizes, where they follow 1 + Poisson(sigma)."""
        return replace(self, extra_cores=self.extra_cores + initial - 1, sizes=self.sizes + 1)


def watched(world: World, until: float, *, initial_counts: bool = True) -> Watched:
    """Collect what is seen in a world in which everything is granted, up to a time.

    Parameters
    ----------
    world : World
    until : float
        End of the watch; cores that are active then are censored.
    initial_counts : bool
        Whether the initial size follows 1 + Poisson(sigma).
    """
    n = len(world.arrival)
    owner = world.deployment[world.batch]
    deaths = np.bincount(owner[world.what == worlds.DEATH], minlength=n)
    outs = world.what == worlds.SCALE_OUT
    scale_outs = np.bincount(owner[outs], minlength=n)
    extra = np.bincount(owner[outs], world.size[world.batch[outs]] - 1, minlength=n)
    shut = np.zeros(n, bool)
    shut[owner[world.what == worlds.SHUTDOWN]] = True
    born = np.bincount(world.deployment, world.size, minlength=n)
    last = np.zeros(n)
    np.maximum.at(last, owner, world.time)
    end = np.where(shut | (deaths >= born), last, until)
    # core time: every core from the start of its batch to its end, or to the end of the deployment
    start = np.bincount(world.deployment, world.size * _starts(world), minlength=n)
    ended = np.bincount(owner[world.what == worlds.DEATH], world.time[world.what == worlds.DEATH], minlength=n)
    core_time = ended + (born - deaths) * end - start
    seen = Watched(
        deaths.astype(np.int64),
        np.maximum(core_time, 0.0),
        end - world.arrival,
        scale_outs.astype(np.int64),
        extra.astype(np.int64),
        scale_outs.astype(np.int64),
        shut,
    )
    return seen.with_initial_sizes(world.size[world.first]) if initial_counts else seen


def _starts(world: World) -> NDArray[np.float64]:
    starts = np.zeros(len(world.size))
    begins = (world.what == worlds.ARRIVAL) | (world.what == worlds.SCALE_OUT)
    starts[world.batch[begins]] = world.time[begins]
    return starts


@dataclass(frozen=True)
class TenantLog:
    """What was watched of n deployments from their arrivals on.

    Attributes
    ----------
    arrival : float64[n]
        Hours after the watch began.
    initial : int64[n]
        Cores at arrival.
    seen : Watched
        Its sizes are those of scale-outs alone.
    core_hours : float64[n]
    watch : float
        Hours of the watch.
    from_first : bool
        Whether the watch began with the first arrival, which then says nothing of the rate of arrivals.
    cores : int64[n], optional
        Active at the end of the watch, 0 of a deployment that is over; None where nothing asks for them.
    names : sequence of str, length n, optional
    most_cores : int, optional
        Most cores that were active at once; None where the log does not say.
    notes : tuple of str
        What was guessed, assumed and left out, one sentence each.
    present : TenantLog, optional
        The deployments that were there when the watch ended, whenever they arrived.
    """

    arrival: NDArray[np.float64]
    initial: NDArray[np.int64]
    seen: Watched
    core_hours: NDArray[np.float64]
    watch: float
    from_first: bool
    cores: NDArray[np.int64] | None = None
    names: NDArray[Any] | None = None
    most_cores: int | None = None
    notes: tuple[str, ...] = ()
    present: TenantLog | None = None

    @property
    def arrivals(self) -> int:
        """Arrivals that count for the rate."""
        return len(self.arrival) - self.from_first

    def only(self, chosen: NDArray[np.bool_]) -> TenantLog:
        """Return the chosen deployments."""
        return replace(
            self,
            arrival=self.arrival[chosen],
            initial=self.initial[chosen],
            seen=self.seen.only(chosen),
            core_hours=self.core_hours[chosen],
            cores=None if self.cores is None else self.cores[chosen],
            names=None if self.names is None else self.names[chosen],
        )

    def with_initial_sizes(self) -> Watched:
        """Return what was seen with the initial sizes among the sizes (`Watched.with_initial_sizes`)."""
        return self.seen.with_initial_sizes(self.initial)
