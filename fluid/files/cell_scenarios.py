"""What a cell's document stands for: a scene of one of the three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fluid.files.scenarios import loss_scenario, queue_scene
from fluid.files.simulation_table import parse_simulation
from fluid.files.slotted_table import is_sized, parse_slotted, sized_scene, typed_scene
from fluid.simulation.loss.model import Scenario
from fluid.simulation.policy_names import policy
from fluid.simulation.queue.model import QueueScene
from fluid.simulation.slotted.model import SlottedScene
from theory.errors import InputError
from theory.files import parse_instance
from theory.files.sizes import parse_sizes
from theory.instance import Instance

Document = Mapping[str, Any]

BINS = 100
"""Of each cell."""


def _instance(document: Document, source: str) -> Instance:
    return parse_instance({name: document[name] for name in ("server", "type")}, source)


def loss(document: Document, source: str) -> Scenario:
    """Make the scenario of a loss system; on the event list, so that policies see the same jobs."""
    instance = _instance(document, source)
    given = parse_simulation(document["simulation"], instance, source, own=_own(document))
    return loss_scenario(instance, given, *_times(document), synchronised=True, bins=BINS)


def queue(document: Document, source: str) -> QueueScene:
    """Make the scene of a queue in continuous time."""
    instance = _instance(document, source)
    given = parse_simulation(document["simulation"], instance, source, own=_own(document))
    return queue_scene(instance, given, *_times(document), bins=BINS)


def slotted(document: Document, source: str) -> SlottedScene:
    """Make the scene of a slotted queue, of the types of an instance or of a law of sizes; time is in slots."""
    servers, until, warmup = _times(document)
    if until != int(until):
        raise InputError(f"{source}: until: expected a whole number of slots, got {until:g}")
    slots = int(until), int(warmup)
    if is_sized(document):
        sizes = parse_sizes({"sizes": document["sizes"]}, source)
        given = parse_slotted(document["simulation"], source, own=_own(document))
        return sized_scene(sizes, given, servers, *slots, document["policy"], bins=BINS)
    instance = _instance(document, source)
    given = parse_slotted(document["simulation"], source, instance, own=_own(document))
    return typed_scene(instance, given, servers, *slots, bins=BINS)


def _own(document: Document) -> tuple[str, ...]:
    return policy(document["policy"]).options


def _times(document: Document) -> tuple[int, float, float]:
    return document["servers"], document["until"], document["warmup"]


SCENES: dict[str, Callable[[Document, str], Any]] = {"loss": loss, "queue": queue, "slotted": slotted}


def scene_of(document: Document, model: str, source: str = "experiment") -> Any:
    """Make the scene of a cell's document for a policy of a model.

    Raises
    ------
    InputError
        What does not suit, in one line.
    """
    return SCENES[model](document, source)
