"""Independent replications of a loss system, in parallel, and their summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.policies import policy as policy_by_name
from fluid.policy import Policy
from fluid.simulate.loss import LossRun, Scenario, run_loss
from fluid.simulate.measures import KINDS
from fluid.statistics import Interval, WarmUp, band, batch_means, mean_interval, ratio_interval, warm_up
from theory.instance import Additive
from theory.servers import apportion

BATCHES = 20
"""Batches of a single run."""


def seed_of(seed: int, replication: int) -> np.random.SeedSequence:
    """Return the seed of a replication: it depends on nothing else, so not on who runs it or when."""
    return np.random.SeedSequence(seed, spawn_key=(replication,))


@dataclass(frozen=True)
class LossResult:
    """Replications of one policy on one scenario.

    Intervals are over replications; over batch means where there is only one.

    Attributes
    ----------
    policy : Policy
    scenario : Scenario
    runs : tuple of LossRun
    """

    policy: Policy
    scenario: Scenario
    runs: tuple[LossRun, ...]

    def _interval(self, values: Callable[[LossRun], NDArray[np.float64]], level: float) -> Interval:
        """The interval of a quantity given by bins."""
        kept = [values(run)[run.first :] for run in self.runs]
        if len(kept) == 1:
            return batch_means(kept[0], level, BATCHES)
        spans = [run.spans[run.first :] for run in self.runs]
        return mean_interval([np.average(v, weights=w) for v, w in zip(kept, spans, strict=True)], level)

    def reward(self, level: float = 0.95) -> Interval:
        """Time-average reward per server over [W, T]."""
        return self._interval(lambda run: run.reward, level)

    def jobs(self, j: int, level: float = 0.95) -> Interval:
        """Mean jobs of a type in service."""
        return self._interval(lambda run: run.jobs[:, j], level)

    def acceptance(self, j: int, level: float = 0.95) -> Interval:
        """Share of arriving jobs of a type that are accepted."""
        return self._ratio(lambda run: run.measures.accepted[:, j], lambda run: run.measures.arrivals[:, j], level)

    def _ratio(self, above: Callable[[LossRun], Any], below: Callable[[LossRun], Any], level: float) -> Interval:
        a, b = ([part(run)[run.first :] for run in self.runs] for part in (above, below))
        if len(self.runs) == 1:
            length = max(1, len(a[0]) // BATCHES)
            a, b = ([row[i : i + length] for i in range(len(row) % length, len(row), length)] for row in (a[0], b[0]))
        return ratio_interval([part.sum() for part in a], [part.sum() for part in b], level)

    def utilisation(self, level: float = 0.95) -> dict[str, Interval]:
        """Share of each resource in use, over all pools that list resources."""
        instance = self.scenario.instance
        counts = apportion(self.scenario.servers, [pool.share for pool in instance.pools])
        spaces = [pool.space for pool in instance.pools]
        additive = [(n, space) for n, space in zip(counts, spaces, strict=True) if isinstance(space, Additive)]
        if len(additive) < len(spaces):
            return {}
        shares: dict[str, Interval] = {}
        for r, name in enumerate(additive[0][1].resources):
            total = sum(n * space.capacity[r] for n, space in additive)
            weights = np.array([row[r] for row in additive[0][1].demands], float) / total
            shares[name] = self._interval(lambda run, weights=weights: run.jobs @ weights, level)  # type: ignore[misc]
        return shares

    def rate(self, name: str, level: float = 0.95) -> Interval:
        """Events of a kind per unit time: migrations, reassigned (servers) or preempted (jobs)."""

        def per_time(run: LossRun) -> NDArray[np.float64]:
            counted = getattr(run.measures, name)
            return np.asarray((counted if counted.ndim == 1 else counted.sum(axis=1)) / run.spans)

        return self._interval(per_time, level)

    def idle_reserve(self, j: int, level: float = 0.95) -> Interval:
        """Mean slots of a type held ready without a job."""
        return self._interval(lambda run: run.slots[:, j] - run.jobs[:, j], level)

    @cached_property
    def warm_up(self) -> WarmUp:
        """Whether the warm-up is long enough, by the mean reward curve."""
        return warm_up(self.curve()[1], self.runs[0].first)

    def curve(self) -> tuple[NDArray[np.float64], ...]:
        """Return the middle of each bin, and the mean reward there with its pointwise 95 % band."""
        bins = min(len(run.spans) for run in self.runs)
        edges = self.runs[0].measures.edges[: bins + 1]
        return (edges[1:] + edges[:-1]) / 2, *band([run.reward[:bins] for run in self.runs])

    def answer(self) -> dict[str, Any]:
        """Return the summary as the document of ``packproof simulate --json``."""
        names = self.scenario.instance.names
        seconds = sum(run.seconds for run in self.runs)
        events = sum(run.events for run in self.runs)
        jobs = {name: self.jobs(j) for j, name in enumerate(names)}
        acceptance = {name: self.acceptance(j) for j, name in enumerate(names)}
        made: dict[str, Any] = {
            "policy": self.policy.name,
            "servers": self.scenario.servers,
            "until": min(run.scenario.until for run in self.runs),
            "warmup": self.scenario.warmup,
            "replications": len(self.runs),
            "interrupted": any(run.interrupted for run in self.runs),
            "events": events,
            "events_per_second": events / seconds if seconds > 0 else None,
            "reward": as_json(self.reward()),
            "jobs": {name: number.mean for name, number in jobs.items()},
            "jobs_ci95": {name: as_json(number)["ci95"] for name, number in jobs.items()},
            "acceptance": {name: as_json(share)["mean"] for name, share in acceptance.items()},
            "acceptance_ci95": {name: as_json(share)["ci95"] for name, share in acceptance.items()},
            "utilisation": {name: as_json(share) for name, share in self.utilisation().items()},
            "migrations": as_json(self.rate("migrations")),
            "reassignments": as_json(self.rate("reassigned")),
            "preemptions": as_json(self.rate("preempted")),
            "warmup_check": {
                "enough": self.warm_up.enough,
                "suggested": float(self.runs[0].measures.edges[min(self.warm_up.suggested, len(self.curve()[0]))]),
            },
        }
        if self.policy.reserves:
            made["reserved_idle"] = {name: as_json(self.idle_reserve(j)) for j, name in enumerate(names)}
        log = self.runs[0].measures
        if len(log.log):
            made["log"] = log_rows(self.runs[0])
        return made


def log_rows(run: LossRun) -> list[dict[str, Any]]:
    """Return the event log of a run: time, what happened, to which type, on which server (from 1), and where to."""
    names = run.scenario.instance.names
    rows = []
    for at, kind, j, server, other in run.measures.log[: int(run.measures.logged[0])].tolist():
        row: dict[str, Any] = {"time": at, "event": KINDS[int(kind)], "type": names[int(j)]}
        if server >= 0:
            row["server"] = int(server) + 1
        if other >= 0:
            row["to"] = int(other) + 1
        rows.append(row)
    return rows


def as_json(number: Interval) -> dict[str, Any]:
    """Return an interval as ``{"mean", "ci95"}``; null where there is no number."""
    low, high = (None if not np.isfinite(x) else x for x in (number.low, number.high))
    return {"mean": number.mean if np.isfinite(number.mean) else None, "ci95": [low, high]}


def simulate_loss(
    policy: Policy | str,
    scenario: Scenario,
    *,
    replications: int = 1,
    seed: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
) -> LossResult:
    """Simulate replications of a loss system.

    Parameters
    ----------
    policy : Policy or str
        A policy, its name, or ``FILE.py:NAME``.
    scenario : Scenario
    replications : int
    seed : int
        Replication r draws from SeedSequence(seed, spawn_key=(r,)), whichever worker runs it.
    workers : int
        Processes; -1: one a core. Ignored where there is one replication.
    engine : str
        ``local`` or ``dask://HOST:PORT``.
    progress : callable, optional
        Told now and then in a line how far it is.

    Returns
    -------
    LossResult
        After Ctrl-C, of what was finished (a run by itself: of the time it reached past its warm-up).

    Examples
    --------
    >>> from theory.instance import additive
    >>> scenario = Scenario(additive([2], [[1]], workload=[2]), servers=1, until=2000.0, warmup=10.0)
    >>> simulate_loss("first-fit", scenario, replications=4).acceptance(0, level=0.999).holds(0.6)
    True
    """
    from fluid.parallel import run_all

    found = policy_by_name(policy) if isinstance(policy, str) else policy

    def say(time: float, events: int) -> None:
        if progress is not None:
            progress(f"{found.name}: time {time:.4g} of {scenario.until:.4g}, {events:,} events")

    if progress is not None:
        progress(f"{found.name}: starting (a policy's first run on a machine is compiled, which takes some seconds)")
    if replications == 1 or (workers == 1 and engine == "local"):
        runs: list[LossRun] = []
        for r in range(replications):
            try:
                runs.append(run_loss(found, scenario, seed_of(seed, r), progress=say))
            except KeyboardInterrupt:
                if not runs:
                    raise
                break
            if runs[-1].interrupted:
                if len(runs) > 1:
                    runs.pop()
                break
        return LossResult(found, scenario, tuple(runs))
    tasks = [(policy, scenario, seed_of(seed, r)) for r in range(replications)]
    done: dict[int, LossRun] = {}
    try:
        for r, run in run_all(_one, tasks, workers=workers, engine=engine):
            done[r] = run
            if progress is not None:
                progress(f"{found.name}: {len(done)} of {replications} replications")
    except KeyboardInterrupt:
        if not done:
            raise
    return LossResult(found, scenario, tuple(done[r] for r in sorted(done)))


def _one(policy: Policy | str, scenario: Scenario, seed: np.random.SeedSequence) -> LossRun:
    return run_loss(policy_by_name(policy) if isinstance(policy, str) else policy, scenario, seed)
