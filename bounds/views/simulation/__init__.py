"""What ``packproof simulate`` asks, and the module that answers, found by the model of the policy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from theory.errors import InputError

Result = TypeVar("Result")

RUNNERS = {
    "loss": "bounds.views.simulation.loss:run",
    "queue": "bounds.views.simulation.waiting:run_queue",
    "slotted": "bounds.views.simulation.waiting:run_slotted",
}
"""By model of policy, ``module:function`` of what runs it: ``run(request) -> Report``."""


@dataclass(frozen=True)
class Request:
    """What a person asks for.

    Attributes
    ----------
    instance : Path
        Or a law of sizes, for slotted policies.
    policy : str
        A name, or ``FILE.py:NAME``.
    servers : int
    until, warmup : float
    replications, seed : int
    trace : Path or None
    log : int
        Events to log.
    engine : str
    store : Path or None
        Where replications are kept, to be resumed.
    say : callable
        Told how far it is.
    """

    instance: Path
    policy: str
    servers: int
    until: float
    warmup: float
    replications: int
    seed: int
    trace: Path | None
    log: int
    engine: str
    store: Path | None
    say: Callable[[str], None]


@dataclass(frozen=True)
class Report:
    """An answer: as a document, as lines, and as a picture.

    Attributes
    ----------
    answer : dict
        The JSON document.
    lines : callable
        ``lines() -> list of str``.
    draw : callable
        ``draw(path)``.
    """

    answer: dict[str, Any]
    lines: Callable[[], list[str]]
    draw: Callable[[Path], None]


def run(request: Request) -> Report:
    """Simulate under a policy by the module of its model.

    Raises
    ------
    InputError
        Unknown policy, or options that do not suit.
    """
    from fluid.simulation.policy_names import policy
    from theory.files import read_document

    model = policy(request.policy).model
    if model not in RUNNERS:
        raise InputError(f"--policy: {request.policy} is a policy of model {model}, which is not simulated here")
    if model != "slotted" and "sizes" in read_document(request.instance):
        raise InputError(f"{request.instance}: sizes: a law of sizes suits slotted policies, {request.policy} is none")
    module, _, name = RUNNERS[model].partition(":")
    report: Report = getattr(import_module(module), name)(request)
    return report


def replicated(request: Request, scene: Any, simulate: Callable[..., Result], kept: Callable[..., Result]) -> Result:
    """Run the replications that are asked for, by `simulate`; by `kept` where a store holds some of them."""
    if request.store is None:
        workers = -1 if request.replications > 1 else 1
        return simulate(
            request.policy,
            scene,
            replications=request.replications,
            seed=request.seed,
            workers=workers,
            engine=request.engine,
            progress=request.say,
        )
    from fluid.experiment.store import Store

    with Store(request.store) as store:
        what = store, request.policy, scene, request.replications, request.seed
        return kept(*what, engine=request.engine, say=request.say)


def told_unread(request: Request, options: Mapping[str, Any]) -> None:
    """Say on stderr which options of the file the policy does not read: those of other policies."""
    from fluid.simulation.policy_names import policy

    found = policy(request.policy)
    unread = [name for name in options if name not in found.options]
    if unread:
        print(f"{request.instance}: simulation: {found.name} does not read {', '.join(unread)}", file=sys.stderr)


def servers_of(path: Path) -> int:
    """Return the number of servers that a law of sizes names.

    Raises
    ------
    InputError
        Another kind of file, or one that does not name them.
    """
    from theory.files import read_document
    from theory.files.sizes import read_sizes

    sizes = read_document(path).get("sizes")
    if not isinstance(sizes, dict) or "servers" not in sizes:
        raise InputError("--servers: missing, expected the number of servers")
    return read_sizes(path).servers
