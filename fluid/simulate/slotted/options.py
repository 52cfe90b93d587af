"""The table ``[simulation]`` for slotted queues, beside the types of an instance or a law of sizes; a scene from both.

.. code-block:: toml

    [sizes]                                    # a law of sizes: servers of capacity 1 (`theory.files.sizes`)
    uniform = ["1/10", "9/10"]
    servers = 5                                # where --servers does not say otherwise

    [simulation]
    intensity = 0.9                            # rate x mean size x mean slots / servers; or rate = 0.08, the jobs that
                                               #    come in a slot, to the whole cluster
    service_rate = 0.01                        # probability that a job in service ends in a slot (1)
    service = "geometric"                      # or "deterministic": exactly the mean number of slots
    arrivals = "poisson"                       # or "bernoulli": at most one job a slot
    grid = 1e-6                                # steps in which pieces of the law are drawn
    partition = 7                              # vqs, vqs-bf: J of the universal partition

With an instance file, rates and service are those of its types: a unit of time is a slot, and ``rate``, ``intensity``,
``service_rate`` and ``grid`` have no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fluid.simulate.slotted.scene import SlottedScene, slotted_scene
from fluid.simulate.slotted.sizes import size_law
from fluid.simulate.slotted.streams import GRID, SlotChunk
from theory import numbers
from theory.errors import InputError
from theory.files.document import Fields
from theory.files.sizes import Sizes
from theory.instance import Instance

SLOT = Fraction(1, 10)
"""Seconds a slot where a trace is read, as in paper 001."""

NAMED = 20
"""Most sizes of a law that are measured apart."""


@dataclass(frozen=True)
class SlottedSimulation:
    """What the table ``[simulation]`` says of a slotted queue.

    Attributes
    ----------
    fixed, bernoulli : bool
        As in `fluid.simulate.slotted.scene.SlottedScene`.
    slot : Fraction
        Seconds, for traces.
    rate, intensity : Fraction or None
        Jobs a slot, or their part of what the servers carry at most; for laws of sizes.
    service_rate, grid : Fraction
        For laws of sizes.
    options : dict
        Of the policy.
    """

    fixed: bool = False
    bernoulli: bool = False
    slot: Fraction = SLOT
    rate: Fraction | None = None
    intensity: Fraction | None = None
    service_rate: Fraction = Fraction(1)
    grid: Fraction = GRID
    options: dict[str, Any] = field(default_factory=dict)


def parse_slotted(table: object, source: str, *, sized: bool) -> SlottedSimulation:
    """Turn the table ``[simulation]`` into what it says; `sized`: beside a law of sizes.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.

    Examples
    --------
    >>> parse_slotted({"intensity": "9/10", "service": "deterministic"}, "sizes.toml", sized=True).fixed
    True
    """
    fields = Fields(table, source, "simulation")
    service = _one_of(fields, "service", ("geometric", "deterministic"))
    arrivals = _one_of(fields, "arrivals", ("poisson", "bernoulli"))
    slot = fields.optional_number("slot", SLOT, "seconds a slot", strict=True)
    given: dict[str, Any] = {}
    if sized:
        for name, expected in (("rate", "jobs a slot"), ("intensity", "a traffic intensity")):
            given[name] = fields.number(name, expected) if fields.has(name) else None
        if given["rate"] is not None and given["intensity"] is not None:
            fields.fail("intensity", "expected a rate or an intensity, got both")
        expected = "a probability greater than 0 and at most 1"
        given["service_rate"] = fields.optional_number("service_rate", Fraction(1), expected, strict=True)
        if given["service_rate"] > 1:
            fields.fail("service_rate", f"expected {expected}, got {numbers.text(given['service_rate'])}")
        expected = "a step from 1e-6 to 1"
        given["grid"] = fields.optional_number("grid", GRID, expected)
        if not GRID <= given["grid"] <= 1:
            fields.fail("grid", f"expected {expected}, got {numbers.text(given['grid'])}")
    options: dict[str, Any] = {}
    if fields.has("partition"):
        options["partition"] = fields.take("partition", "a whole number of at least 2")
    fields.finish()
    return SlottedSimulation(service == "deterministic", arrivals == "bernoulli", slot, options=options, **given)


def _one_of(fields: Fields, name: str, values: tuple[str, ...]) -> str:
    if not fields.has(name):
        return values[0]
    value = fields.text(name, f"one of {', '.join(values)}")
    if value not in values:
        fields.fail(name, f"expected one of {', '.join(values)}, got {value!r}")
    return value


def is_sized(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a law of sizes."""
    return "sizes" in document


def sized_scene(
    sizes: Sizes, given: SlottedSimulation, servers: int, until: int, warmup: int, policy: str = "", **how: Any
) -> SlottedScene:
    """Make a scene of a law of sizes.

    Parameters
    ----------
    sizes : Sizes
        Its own number of servers is not read.
    given : SlottedSimulation
    servers, until, warmup : int
    policy : str
        Refused here where it does not suit the law.
    how
        Other fields of `SlottedScene`.

    Returns
    -------
    SlottedScene
        Its traffic intensity is by the mean size, a lower bound: at 1 or more nothing is stable.

    Raises
    ------
    InputError
        No rate, a rate that is none, a law with too many sizes, one that is not finite under max-weight.

    Examples
    --------
    >>> from theory.files.sizes import parse_sizes
    >>> law = parse_sizes({"sizes": {"uniform": ["1/10", "9/10"]}})
    >>> given = parse_slotted({"intensity": "9/10", "service_rate": "1/100"}, "sizes.toml", sized=True)
    >>> sized_scene(law, given, servers=5, until=1000, warmup=200).rate
    0.09
    """
    if policy == "max-weight" and sizes.law.pieces:
        raise InputError("simulation: max-weight: expected a law of finitely many sizes; use bf-js, vqs or vqs-bf")
    law = size_law(sizes.law, given.grid)
    slots = Fraction(max(1, round(1 / given.service_rate))) if given.fixed else 1 / given.service_rate
    each = sizes.law.mean * slots / servers
    if given.rate is not None:
        rate = given.rate
    elif given.intensity is not None:
        rate = given.intensity / each
    else:
        raise InputError("simulation.rate: missing, expected a rate (jobs a slot) or an intensity")
    if given.bernoulli and rate > 1:
        raise InputError(f"simulation.arrivals: bernoulli: expected at most 1 job a slot, got {float(rate):.6g}")
    named = not sizes.law.pieces and len(law.sizes) <= NAMED
    return SlottedScene(
        law,
        servers,
        until,
        warmup,
        rate=float(rate),
        service=float(given.service_rate),
        fixed=given.fixed,
        bernoulli=given.bernoulli,
        intensity=float(rate * each),
        names=tuple(numbers.text(size) for size, _ in sizes.law.atoms) if named else ("jobs",),
        group=tuple(range(len(law.sizes))) if named else (),
        options=given.options,
        **how,
    )


def typed_scene(
    instance: Instance,
    given: SlottedSimulation,
    servers: int,
    until: int,
    warmup: int,
    *,
    jobs: SlotChunk | None = None,
    **how: Any,
) -> SlottedScene:
    """Make a scene of the types of an instance (see `fluid.simulate.slotted.scene.slotted_scene`)."""
    return slotted_scene(
        instance,
        servers,
        until,
        warmup,
        fixed=given.fixed,
        bernoulli=given.bernoulli,
        jobs=jobs,
        options=given.options,
        **how,
    )
