"""What a cell's document stands for: a scene of one of the three models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fluid.simulate.loss import Scenario
from fluid.simulate.options import parse_simulation
from fluid.simulate.queue.scene import QueueScene
from fluid.simulate.slotted.options import is_sized, parse_slotted, sized_scene, typed_scene
from fluid.simulate.slotted.scene import SlottedScene
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
    given = parse_simulation(document["simulation"], instance, source)
    return Scenario(
        instance,
        document["servers"],
        document["until"],
        document["warmup"],
        given.arrivals,
        given.service,
        given.initial.counts(document["servers"], len(instance.types)),
        None,
        given.options,
        synchronised=True,
        bins=BINS,
    )


def queue(document: Document, source: str) -> QueueScene:
    """Make the scene of a queue in continuous time."""
    instance = _instance(document, source)
    given = parse_simulation(document["simulation"], instance, source)
    return QueueScene(
        instance,
        document["servers"],
        document["until"],
        document["warmup"],
        given.arrivals,
        given.service,
        None,
        given.options,
        bins=BINS,
    )


def slotted(document: Document, source: str) -> SlottedScene:
    """Make the scene of a slotted queue, of the types of an instance or of a law of sizes; time is in slots."""
    given = parse_slotted(document["simulation"], source, sized=is_sized(document))
    until, warmup = int(document["until"]), int(document["warmup"])
    if until != document["until"]:
        raise InputError(f"{source}: until: expected a whole number of slots, got {document['until']:g}")
    if is_sized(document):
        sizes = parse_sizes({"sizes": document["sizes"]}, source)
        return sized_scene(sizes, given, document["servers"], until, warmup, document["policy"], bins=BINS)
    return typed_scene(_instance(document, source), given, document["servers"], until, warmup, bins=BINS)


SCENES: dict[str, Callable[[Document, str], Any]] = {"loss": loss, "queue": queue, "slotted": slotted}


def scene_of(document: Document, model: str, source: str = "experiment") -> Any:
    """Make the scene of a cell's document for a policy of a model.

    Raises
    ------
    InputError
        What does not suit, in one line.
    """
    return SCENES[model](document, source)
