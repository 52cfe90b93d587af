"""Replications of ``packproof simulate`` kept in a store, so that an interrupted command is taken up where it was."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from fluid.experiment.fingerprint import fingerprint
from fluid.experiment.store import Store
from fluid.simulation.loss.model import LossRun, Scenario
from fluid.simulation.loss.result import LossResult, one_loss
from fluid.simulation.measures import Measures, bin_edges
from fluid.simulation.policy_names import policy as policy_by_name
from fluid.simulation.queue.driver import Run
from fluid.simulation.queue.measures import QueueMeasures
from fluid.simulation.replicate import Replications, replicate
from fluid.simulation.slotted.measures import SlottedMeasures
from fluid.simulation.slotted.model import SlottedScene
from fluid.simulation.waiting import QueueResult, Scene, one_waiting

AnyRun = TypeVar("AnyRun", LossRun, Run)


def kept_loss(store: Store, policy: str, scenario: Scenario, replications: int, seed: int, **how: Any) -> LossResult:
    """Return replications of a loss system, of which those in the store are read and the others run and kept.

    Parameters
    ----------
    store : Store
    policy : str
        A name, or ``FILE.py:NAME``.
    scenario, replications, seed
        See `fluid.simulation.loss.result.simulate_loss`.
    how
        ``engine`` and ``workers`` as there; ``say``, told after every replication.
    """
    _, first = bin_edges(scenario.until, scenario.warmup, scenario.bins)

    def read(measures: Measures, seconds: float) -> LossRun:
        return LossRun(scenario, measures, first, seconds)

    made = _kept(store, policy, scenario, replications, seed, one_loss, Measures, read, _reward, **how)
    return LossResult(policy_by_name(policy), scenario, *made)


def kept_waiting(store: Store, policy: str, scene: Scene, replications: int, seed: int, **how: Any) -> QueueResult:
    """Return replications of a queue, in continuous time or in slots, as `kept_loss` does; runs read lack the state."""
    kind = SlottedMeasures if isinstance(scene, SlottedScene) else QueueMeasures

    def read(measures: Any, seconds: float) -> Run:
        return Run(measures, None, seconds)

    made = _kept(store, policy, scene, replications, seed, one_waiting, kind, read, _queue, **how)
    return QueueResult(policy_by_name(policy).name, scene, *made)


def _kept(
    store: Store,
    policy: str,
    scene: Any,
    replications: int,
    seed: int,
    one: Callable[..., AnyRun],
    kind: type[Any],
    read: Callable[[Any, float], AnyRun],
    numbers: Callable[[AnyRun], dict[str, float | None]],
    *,
    engine: str = "local",
    workers: int = -1,
    say: Callable[[str], None] | None = None,
) -> Replications:
    """Read what the store holds, run and keep the rest."""
    own = Path(policy.rpartition(":")[0]).read_bytes() if ".py:" in policy else b""
    content = fingerprint([policy, own, scene, seed])
    keys = [fingerprint([content, r]) for r in range(replications)]
    runs: dict[int, AnyRun] = {}
    for r, key in enumerate(keys):
        held = store.arrays(key)
        if held is not None:
            runs[r] = read(_unpacked(kind, held[0]), held[1])

    def keep(r: int, run: AnyRun) -> None:
        parameters = {"policy": policy, "servers": scene.servers, "seed": seed}
        store.put(keys[r], r, parameters, numbers(run), run.seconds, _packed(run.measures))

    waiting = [r for r in range(replications) if r not in runs]
    return replicate(one, (policy, scene), waiting, seed, workers=workers, engine=engine, say=say, held=runs, keep=keep)


def _reward(run: LossRun) -> dict[str, float | None]:
    return {"reward": run.mean_reward}


def _queue(run: Run) -> dict[str, float | None]:
    return {"queue": run.mean_queue}


def _packed(measures: Any) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **measures._asdict())
    return stream.getvalue()


def _unpacked(kind: type[Any], content: bytes) -> Any:
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return kind(**{name: arrays[name] for name in kind._fields})
