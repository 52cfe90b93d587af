"""Independent replications of a loss system, in parallel, and their summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.loss.model import LossRun, Scenario, run_loss
from fluid.simulation.measures import KINDS
from fluid.simulation.policy import Policy
from fluid.simulation.policy_names import policy as policy_by_name
from fluid.simulation.replicate import Say, replicate
from fluid.simulation.results import Replicated, as_json, shares_of_jobs
from fluid.statistics import Interval


@dataclass(frozen=True)
class LossResult(Replicated):
    """Replications of one policy on one scenario.

    Attributes
    ----------
    policy : Policy
    scenario : Scenario
    runs : tuple of LossRun
    interrupted : bool
        Whether Ctrl-C came before all of them were finished.
    """

    policy: Policy
    scenario: Scenario
    runs: tuple[LossRun, ...]
    interrupted: bool = False

    def reward(self, level: float = 0.95) -> Interval:
        """Time-average reward per server over [W, T]."""
        return self.interval(lambda run: run.reward, level)

    def jobs(self, j: int, level: float = 0.95) -> Interval:
        """Mean jobs of a type in service."""
        return self.interval(lambda run: run.jobs[:, j], level)

    def acceptance(self, j: int, level: float = 0.95) -> Interval:
        """Share of arriving jobs of a type that are accepted."""
        return self.ratio(lambda run: run.measures.accepted[:, j], lambda run: run.measures.arrivals[:, j], level)

    def utilisation(self, level: float = 0.95) -> dict[str, Interval]:
        """Share of each resource in use, over all pools; nothing where one lists configurations."""
        shares = shares_of_jobs(self.scenario.instance, self.scenario.servers)
        return {name: self.interval(lambda run, each=each: run.jobs @ each, level) for name, each in shares.items()}  # type: ignore[misc]

    def rate(self, name: str, level: float = 0.95) -> Interval:
        """Events of a kind per unit time: migrations, reassigned (servers) or preempted (jobs)."""

        def per_time(run: LossRun) -> NDArray[np.float64]:
            counted = getattr(run.measures, name)
            return np.asarray((counted if counted.ndim == 1 else counted.sum(axis=1)) / run.spans)

        return self.interval(per_time, level)

    def idle_reserve(self, j: int, level: float = 0.95) -> Interval:
        """Mean slots of a type held ready without a job."""
        return self.interval(lambda run: run.slots[:, j] - run.jobs[:, j], level)

    def curve(self) -> tuple[NDArray[np.float64], ...]:
        """Return the middle of each bin, and the mean reward there with its pointwise 95 % band."""
        return self.curve_of(lambda run: run.reward)

    def answer(self) -> dict[str, Any]:
        """Return the summary as the document of ``packproof simulate --json``."""
        names = self.scenario.instance.names
        jobs = {name: self.jobs(j) for j, name in enumerate(names)}
        acceptance = {name: self.acceptance(j) for j, name in enumerate(names)}
        made: dict[str, Any] = {
            "policy": self.policy.name,
            "servers": self.scenario.servers,
            "until": min(run.scenario.until for run in self.runs),
            "warmup": self.scenario.warmup,
            **self.effort(),
            "reward": as_json(self.reward()),
            "jobs": {name: number.mean for name, number in jobs.items()},
            "jobs_ci95": {name: as_json(number)["ci95"] for name, number in jobs.items()},
            "acceptance": {name: as_json(share)["mean"] for name, share in acceptance.items()},
            "acceptance_ci95": {name: as_json(share)["ci95"] for name, share in acceptance.items()},
            "utilisation": {name: as_json(share) for name, share in self.utilisation().items()},
            "migrations": as_json(self.rate("migrations")),
            "reassignments": as_json(self.rate("reassigned")),
            "preemptions": as_json(self.rate("preempted")),
            "warmup_check": self.warm_up_answer(),
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
    found = policy_by_name(policy) if isinstance(policy, str) else policy
    made = replicate(
        one_loss, (policy, scenario), range(replications), seed, workers=workers, engine=engine, say=progress
    )
    return LossResult(found, scenario, *made)


def one_loss(policy: Policy | str, scenario: Scenario, seed: np.random.SeedSequence, say: Say) -> LossRun:
    """Run one replication."""
    found = policy_by_name(policy) if isinstance(policy, str) else policy

    def tell(time: float, events: int) -> None:
        if say is not None:
            say(f"{found.name}: time {time:.4g} of {scenario.until:.4g}, {events:,} events")

    return run_loss(found, scenario, seed, progress=tell)
