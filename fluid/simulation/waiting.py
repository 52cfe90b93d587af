"""Replications of queues, in continuous time or in slots, and what they say: queue, growth, delay, utilisation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.policy import Policy
from fluid.simulation.policy_names import policy as policy_by_name
from fluid.simulation.queue.driver import Run
from fluid.simulation.replicate import Say, replicate
from fluid.simulation.results import Replicated, as_json
from fluid.simulation.sketch import RELATIVE_ERROR, quantile
from fluid.statistics import Interval, growth

SURE = 0.999
"""Level of the interval that must lie above 0 before a queue is said to grow."""


class Scene(Protocol):
    """What is simulated whatever the policy: a scenario in continuous time, or one in slots."""

    @property
    def servers(self) -> int:
        """Number of servers."""

    @property
    def until(self) -> float:
        """The horizon."""

    @property
    def warmup(self) -> float:
        """The time from which averages are taken."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is measured apart: types of jobs."""

    @property
    def intensity(self) -> float | None:
        """Traffic intensity; None where nothing is known of it (a trace)."""

    def run(self, policy: Any, seed: np.random.SeedSequence, say: Callable[[float], None] | None) -> Run:
        """Run once."""

    def utilisation(self, run: Run) -> dict[str, NDArray[np.float64]]:
        """Share of each resource in use, by bin."""


@dataclass(frozen=True)
class QueueResult(Replicated):
    """Replications of one policy on one scene.

    Attributes
    ----------
    policy : str
    scene : Scene
    runs : tuple of Run
    interrupted : bool
        Whether Ctrl-C came before all of them were finished.
    """

    policy: str
    scene: Scene
    runs: tuple[Run, ...]
    interrupted: bool = False

    def queue(self, level: float = 0.95) -> Interval:
        """Mean number of jobs that wait, in the whole cluster, over [W, T]."""
        return self.interval(lambda run: run.queue, level)

    def waiting(self, j: int, level: float = 0.95) -> Interval:
        """Mean number of jobs of a type that wait."""
        return self.interval(lambda run: run.waiting[:, j], level)

    def jobs(self, j: int, level: float = 0.95) -> Interval:
        """Mean number of jobs of a type in service."""
        return self.interval(lambda run: run.jobs[:, j], level)

    def started(self, j: int, level: float = 0.95) -> Interval:
        """Jobs of a type that started over those that came, in [W, T]."""
        return self.ratio(lambda run: run.measures.starts[:, j], lambda run: run.measures.arrivals[:, j], level)

    def growth(self, level: float = 0.95) -> Interval:
        """Growth of the queue per unit time over [W, T]: the slopes of lines, one a replication."""
        bins = self.bins
        first = self.runs[0].first
        edges = self.runs[0].measures.edges
        times = (edges[first + 1 : bins + 1] + edges[first:bins]) / 2
        return growth([run.queue[first:bins] for run in self.apart], times, level)

    def utilisation(self, level: float = 0.95) -> dict[str, Interval]:
        """Share of each resource in use."""
        names = self.scene.utilisation(self.runs[0])
        return {name: self.interval(lambda run, name=name: self.scene.utilisation(run)[name], level) for name in names}  # type: ignore[misc]

    def delay(self, level: float = 0.95) -> Interval:
        """Mean waiting time of the jobs that start in [W, T]."""
        return self.ratio(
            lambda run: run.measures.delay.sum(axis=1), lambda run: run.measures.starts.sum(axis=1), level
        )

    def quantile(self, q: float) -> float:
        """Quantile of the waiting times of all jobs that start in [W, T] of any run, within `RELATIVE_ERROR`."""
        return quantile(np.sum([run.measures.sketch for run in self.runs], axis=0), q)

    def curve(self) -> tuple[NDArray[np.float64], ...]:
        """Return the middle of each bin, and the mean queue there with its pointwise 95 % band."""
        return self.curve_of(lambda run: run.queue)

    def answer(self) -> dict[str, Any]:
        """Return the summary as the document of ``packproof simulate --json``."""
        names = self.scene.names
        jobs = [self.jobs(j) for j in range(len(names))]
        started = [self.started(j) for j in range(len(names))]
        rate = self.growth()
        delay = self.delay()
        made: dict[str, Any] = {
            "policy": self.policy,
            "servers": self.scene.servers,
            "until": min(float(run.measures.edges[-1]) for run in self.runs),
            "warmup": self.scene.warmup,
            **self.effort(),
            "traffic_intensity": self.scene.intensity,
            "jobs": {name: number.mean for name, number in zip(names, jobs, strict=True)},
            "jobs_ci95": {name: as_json(number)["ci95"] for name, number in zip(names, jobs, strict=True)},
            "acceptance": dict.fromkeys(names, 1.0),
            "started": {name: as_json(share) for name, share in zip(names, started, strict=True)},
            "queue": {
                **as_json(self.queue()),
                "growth": {
                    "per_time": as_json(rate)["mean"],
                    "ci95": as_json(rate)["ci95"],
                    "grows": bool(self.growth(SURE).low > 0),
                },
                "delay": {
                    **as_json(delay),
                    "p95": _number(self.quantile(0.95)),
                    "p99": _number(self.quantile(0.99)),
                    "relative_error": RELATIVE_ERROR,
                },
                "by_type": {name: self.waiting(j).mean for j, name in enumerate(names)},
            },
            "utilisation": {name: as_json(share) for name, share in self.utilisation().items()},
            "warmup_check": self.warm_up_answer(),
        }
        return made


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def simulate_waiting(
    policy: Policy | str,
    scene: Scene,
    *,
    replications: int = 1,
    seed: int = 0,
    workers: int = 1,
    engine: str = "local",
    progress: Callable[[str], None] | None = None,
) -> QueueResult:
    """Simulate replications of a queue.

    Parameters
    ----------
    policy : Policy or str
        A policy, its name, or ``FILE.py:NAME``.
    scene : Scene
        `fluid.simulation.queue.model.QueueScene` or `fluid.simulation.slotted.model.SlottedScene`.
    replications, seed, workers, engine, progress
        As for `fluid.simulation.loss.result.simulate_loss`. Two policies with equal seeds see the same jobs.

    Returns
    -------
    QueueResult
        After Ctrl-C, of what was finished (a run by itself: of the time it reached past its warm-up).
    """
    found = policy_by_name(policy) if isinstance(policy, str) else policy
    made = replicate(
        one_waiting, (policy, scene), range(replications), seed, workers=workers, engine=engine, say=progress
    )
    return QueueResult(found.name, scene, *made)


def one_waiting(policy: Policy | str, scene: Scene, seed: np.random.SeedSequence, say: Say) -> Run:
    """Run one replication."""
    found = policy_by_name(policy) if isinstance(policy, str) else policy

    def tell(time: float) -> None:
        if say is not None:
            say(f"{found.name}: time {time:.4g} of {scene.until:.4g}")

    return scene.run(found, seed, tell)


def ranked(results: Sequence[QueueResult]) -> list[QueueResult]:
    """Return results by increasing queue."""
    return sorted(results, key=lambda result: result.queue().mean)
