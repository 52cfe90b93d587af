"""The grid of an experiment: a file that says what is fixed and what varies, and the cells it stands for.

.. code-block:: toml

    instance = "four_types.toml"        # beside the grid file
    until = 100
    warmup = 20                         # a fifth of `until` unless given
    replications = 10                   # 1 unless given, as of ``packproof simulate``
    seed = 1                            # 0 unless given

    [simulation]                        # what holds in all cells, where the instance says otherwise or nothing
    service = "deterministic"

    [vary]                              # every combination
    policy = ["dra", "first-fit"]
    servers = [100, 1000]
    workload = [0.9, 1.0]               # factors of the instance's workload, optional; or intensity = [0.8, 0.89]
    reservation = ["(log L)^1.5", "log L"]      # any field of [simulation] may vary

What does not vary may stand at the top: ``policy = "dra"``, ``servers = 100``. Fields of ``[simulation]`` in the
instance hold where the grid does not say otherwise, in its own table ``[simulation]`` or under ``[vary]``. For slotted
policies the instance may be a law of sizes (`fluid.files.tables`); ``workload`` is then a factor of its rate, and
``servers`` may stand in its file. ``intensity`` is the traffic intensity that the workload is scaled to; where jobs
come from a trace, the times of their arrivals are stretched, so that the workload measured in it has that intensity.

Arrivals from a trace, ``arrivals = ["poisson", { trace = "jobs.csv", stretch = 0.8 }]``, name a file beside the grid
(in ``[simulation]`` of the instance, beside the instance). Where all cells have a trace, types of the instance may
leave out ``workload`` and ``reward``. What is in the file is part of the cell, not its name: a trace that has changed
makes other cells. On a cluster, workers must see the file under the same name.

A policy may be code of the author's own, ``FILE.py:NAME`` or ``PACKAGE.MODULE:NAME``, beside the grid file. It runs
only where the caller allows it (`read_grid`): a grid is data, and who reads one need not know what it names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from fluid.experiment.grid_file import ARRIVING, AT_THE_TOP, read_grid_file
from fluid.experiment.keys import key_of_run, key_of_runs
from fluid.files.given_by_trace import GivenByTrace, has_trace, what_trace_gives
from fluid.files.scenarios import Given, read_scenario
from fluid.simulation.documents import Times
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import all_options
from fluid.simulation.scenario import Scenario, TypedScenario
from theory.errors import InputError, TooLargeError, meant
from theory.files.document import Fields, read_document
from theory.files.instances import instance_document
from theory.files.places import names_own_code
from theory.files.sizes import Sizes, read_sizes, sizes_document
from theory.instance import Additive, Instance
from theory.numbers import MOST_SERVERS, rational, text
from theory.region.membership import traffic_intensity

CELLS = 1_000_000
"""Most cells of an experiment."""

SEEDS = 1
"""Part of every cell's seed: raised when the same seed should mean other jobs."""

BINS = 100
"""Of each cell."""

Numbers = Annotated[tuple[str, ...], "The numbers that runs of a grid may give, as the columns of the CSV are called."]

REFUSE, RUN, LEAVE_OUT = "refuse", "run", "leave out"
"""What becomes of a grid that names code of its own."""


def given_by(document: Mapping[str, Any], found: Policy, source: str = "experiment") -> Given:
    """Make the scenario of a cell's document; of loss systems on the event list, so that policies see the same jobs."""
    what = {name: document[name] for name in ("server", "type", "sizes", "simulation") if name in document}
    times = Times(document["servers"], document["until"], document["warmup"])
    return read_scenario(what, found, times, source=source, synchronised=True, bins=BINS)


def scenario_of(document: Mapping[str, Any], found: Policy) -> Any:
    """Make the scenario of a cell's document, and nothing of what stands beside it (see `given_by`)."""
    return given_by(document, found).scenario


@dataclass(frozen=True)
class GridCell:
    """One run of a point of the grid.

    Attributes
    ----------
    document : dict
        Instance and table ``[simulation]`` as in a file, policy, servers, until, warmup, seed.
    varied : dict
        The parameters of the grid that tell it from others, for tables.
    replication : int
    intensity : float or None
        Traffic intensity where jobs wait; None in a loss system, and of a trace.
    entropy : int
        Of its seed, by what `entropy_of` says.
    runs : str
        The digest of the policy, the scenario and the seed of the point.
    events : float
        Expected: arrivals, and as many departures. In slotted models, slots and arrivals.
    """

    document: dict[str, Any]
    varied: dict[str, Any]
    replication: int
    intensity: float | None
    entropy: int
    runs: str
    events: float

    @cached_property
    def key(self) -> str:
        """Return the digest of what the result depends on: the content of a trace and of code, not where they lie."""
        return key_of_run(self.runs, self.replication)

    def seed(self) -> np.random.SeedSequence:
        """Return the seed: by content and replication alone, never by worker."""
        return np.random.SeedSequence(self.entropy, spawn_key=(self.replication,))


def entropy_of(document: Mapping[str, Any]) -> int:
    """Return the entropy of the seed of a point, by its content alone.

    Policy and options that only a policy reads are left out, so that policies see the same jobs (common random
    numbers).
    """
    fixed = {name: value for name, value in document.items() if name not in ("policy", "own", "simulation")}
    table = _without_places(document["simulation"])
    laws = {name: value for name, value in table.items() if name in ARRIVING}
    text = json.dumps([SEEDS, fixed, laws], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return int(hashlib.sha256(text.encode()).hexdigest()[:32], 16)


def _without_places(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table ``[simulation]`` with traces by their digests alone."""
    arrivals = table.get("arrivals")
    if isinstance(arrivals, Mapping) and "digest" in arrivals:
        return {**table, "arrivals": {name: value for name, value in arrivals.items() if name != "trace"}}
    return dict(table)


@dataclass(frozen=True)
class UnknownPoint:
    """A point of a grid whose policy is code of the grid's own that was not loaded: its cells have no keys."""

    varied: dict[str, Any]
    policy: str
    replications: int


@dataclass(frozen=True)
class Grid:
    """An experiment.

    Attributes
    ----------
    cells : tuple of GridCell
        In the order of the file: the last parameter varies fastest, then the replication.
    parameters : tuple of str
        What varies, in the order of the file.
    warnings : tuple of str
        About its traces (`fluid.traces.jobs`), each line once.
    numbers : tuple of str
        What its runs may give, as the CSV names it (`number_names`).
    unknown : tuple of UnknownPoint
        What is not among the cells, where code of the grid's own is left out.
    """

    cells: tuple[GridCell, ...]
    parameters: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    unknown: tuple[UnknownPoint, ...] = ()

    @property
    def number_of_cells(self) -> int:
        """How many cells the file stands for, with those that are unknown."""
        return len(self.cells) + sum(point.replications for point in self.unknown)


def number_names(scenario: Scenario, policy: Policy) -> list[str]:
    """Return the names of the numbers that a run gives; those of reserved slots wherever a policy may hold such."""

    def by_type(*numbers: str) -> list[str]:
        return [f"{number}.{name}" for number in numbers for name in scenario.names]

    resources: Sequence[str] = ("size",)
    if isinstance(scenario, TypedScenario):
        spaces = [pool.space for pool in scenario.instance.pools if isinstance(pool.space, Additive)]
        resources = spaces[0].resources if len(spaces) == len(scenario.instance.pools) else ()
    used = [f"utilisation.{name}" for name in resources]
    if scenario.model != "loss":
        queues = ["queue", *by_type("queue", "jobs"), "delay", "delay.p95", "delay.p99", "growth"]
        return [*queues, *used, "events"]
    idle = by_type("reserved_idle") if policy.reserves or policy.code else []
    moved = ["migrations", "reassignments", "preemptions"]
    return ["reward", "acceptance", *by_type("jobs", "acceptance"), *used, *moved, *idle, "events"]


def read_grid(path: str | Path, *, code: str = REFUSE) -> Grid:
    """Read the grid of an experiment.

    Parameters
    ----------
    path : str or Path
    code : {"refuse", "run", "leave out"}
        What becomes of policies that are code of the grid's own: the grid is refused, or the code is loaded, or its
        points are unknown (`Grid.unknown`), and nothing of the code is read.

    Raises
    ------
    InputError
        One line that names the file, the field and what was expected.
    """
    file = read_grid_file(path)
    fields, until, replications, seed = file.at, file.until, file.replications, file.seed
    place = Path(path).parent / file.instance
    document = read_document(place)
    own, varied = dict(file.simulation), {name: list(values) for name, values in file.vary.items()}
    simulation = {**document.get("simulation", {}), **own}
    warmup = until / 5 if file.warmup is None else file.warmup
    fixed = file.fixed()
    given_by_trace = GivenByTrace()
    if "sizes" not in document and all(map(has_trace, _arrivals(simulation, varied))):
        given_by_trace = what_trace_gives(document)
    instance = read_sizes(place) if "sizes" in document else given_by_trace.parsed(document, str(place))
    if isinstance(instance, Sizes) and "servers" in document["sizes"]:
        fixed = {"servers": instance.servers, **fixed}
    for name in ("policy", "servers"):
        if name not in varied and name not in fixed:
            fields.fail(name, "missing, expected a value, or a list under [vary]")
    _refuse_too_many(str(path), varied, replications)
    base = cache(lambda: traffic_intensity(instance) if isinstance(instance, Instance) else Fraction(0))
    names = varied.get("policy") or [fixed["policy"]]
    policies = _policies(fields, names, Path(path).parent, code)
    options = {option for one in policies.values() for option in one.policy.options}
    warnings: dict[str, None] = {}
    if len(policies) == len(names):
        _refuse_unknown(fields, varied, own, options)
        unread = [name for name in varied if name in all_options() and name not in options]
        warnings = dict.fromkeys(f"{path}: vary.{name}: no policy of the grid reads it" for name in unread)
    else:  # what no policy that is known reads may be an option of one that is left out
        options |= {*simulation, *varied}.difference(ARRIVING, AT_THE_TOP, ("slot",))
    cells, unknown = [], []
    numbers: dict[str, None] = {}
    for combination in product(*varied.values()):
        chosen = dict(zip(varied, combination, strict=True))
        settings = {**fixed, **chosen}
        here = "arrivals" in chosen or "arrivals" in own
        folder, times = Path(path).parent if here else place.parent, (until, warmup, seed)
        shown = {name: value if isinstance(value, str | int) else json.dumps(value) for name, value in chosen.items()}
        running = policies.get(settings["policy"])
        if running is None:
            unknown.append(UnknownPoint(shown, settings["policy"], replications))
            continue
        what = (instance, given_by_trace)
        cell, given, intensity = _document(fields, folder, what, simulation, settings, times, base, running, options)
        warnings |= dict.fromkeys(_of_trace(given, replications, fields.source))
        scenario = given.scenario
        numbers |= dict.fromkeys(number_names(scenario, running.policy))
        entropy = entropy_of(cell)
        runs = key_of_runs(running.policy, scenario, entropy)
        point = (entropy, runs, scenario.expected_events)
        cells += [GridCell(cell, shown, r, intensity, *point) for r in range(replications)]
    return Grid(tuple(cells), tuple(varied), tuple(warnings), tuple(numbers), tuple(unknown))


def _refuse_too_many(path: str, varied: Mapping[str, Sequence[Any]], replications: int) -> None:
    number = replications
    for values in varied.values():
        number *= len(values)
    if number > CELLS:
        raise TooLargeError(path, "", f"{number:,} cells, expected at most {CELLS:,}: split the experiment")


def _refuse_unknown(
    fields: Fields, varied: Mapping[str, Any], own: Mapping[str, Any], options: Collection[str]
) -> None:
    """Refuse what neither the models nor a policy of the grid read, and say where which fields stand."""
    readable = [*ARRIVING, "slot", *dict.fromkeys([*all_options(), *options])]
    for name in (name for name in varied if name not in readable and name not in AT_THE_TOP):
        fields.fail(
            f"vary.{name}",
            f"unknown field; under [vary] stand {', '.join(AT_THE_TOP)}, and the fields of [simulation]: "
            f"{', '.join(readable)}{meant(name, [*AT_THE_TOP, *readable])}",
        )
    for name in (name for name in own if name not in readable):
        fields.fail(
            f"simulation.{name}",
            f"unknown field; under [simulation] stand {', '.join(readable)}{meant(name, readable)}",
        )


def _arrivals(simulation: Mapping[str, Any], varied: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the tables of all cells, with their arrivals alone."""
    values = varied.get("arrivals") or [simulation.get("arrivals")]
    return [{"arrivals": value} for value in values]


@dataclass(frozen=True)
class _Chosen:
    """A policy of a grid: its name as other processes find it, the digest of an author's code, itself."""

    name: str
    digest: str | None
    policy: Policy


def _policies(fields: Fields, names: Sequence[Any], folder: Path, code: str) -> dict[str, _Chosen]:
    """Return the policies of a grid by their names in it; without those that are code which is left out."""
    from fluid.simulation.policy_names import policy

    # before any of them is looked up, so that nothing has run where the grid is refused
    own = [name for name in names if isinstance(name, str) and names_own_code(name)]
    if own and code == REFUSE:
        raise InputError(f"{fields.source} names code of its own, {', '.join(own)}; --allow-code runs it")
    chosen = {}
    for name in names:
        if not isinstance(name, str):
            fields.fail("policy", f"expected the name of a policy, got {name!r}")
        if name in own and code == LEAVE_OUT:
            continue
        place = str((folder / name).resolve()) if names_own_code(name) else name  # workers may be elsewhere
        try:
            named_policy = policy(place)
        except InputError as error:
            raise error.within(fields.source) from error
        chosen[name] = _Chosen(place, named_policy.code or None, named_policy)
    return chosen


def _document(
    fields: Fields,
    folder: Path,
    kinds: tuple[Instance | Sizes, GivenByTrace],
    simulation: Mapping[str, Any],
    chosen: dict[str, Any],
    times: tuple[float, float, int],
    base: Callable[[], Fraction],
    named_policy: _Chosen,
    options: Collection[str],
) -> tuple[dict[str, Any], Given, float | None]:
    """The document of one cell, its scenario and traffic intensity; `base` is that of the instance as it stands.

    `options` are those that the policies of the grid read.
    """
    instance, given_by_trace = kinds
    del chosen["policy"]
    servers = chosen.pop("servers")
    if not isinstance(servers, int) or isinstance(servers, bool) or servers < 1:
        fields.fail("servers", f"expected a whole number of at least 1, got {servers!r}")
    if servers > MOST_SERVERS:
        fields.fail("servers", f"expected at most {MOST_SERVERS:,}, got {servers:,}")
    try:
        factor = rational(chosen.pop("workload", 1))
    except ValueError as error:
        fields.fail("workload", f"expected a factor, got {error}")
    if factor < 0:
        fields.fail("workload", f"expected a factor of at least 0, got {factor}")
    # so that what a policy does not read makes no other cells
    unread = {*all_options(), *options}.difference(named_policy.policy.options)
    table = {field: value for field, value in {**simulation, **chosen}.items() if field not in unread}
    _find_trace(fields, table, folder)
    if isinstance(instance, Sizes):
        what = sizes_document(instance)
        for field in ("rate", "intensity"):
            if field in table and factor != 1:
                table[field] = text(rational(table[field]) * factor)
    else:
        if "intensity" in table and factor != 1:
            fields.fail("intensity", "expected a traffic intensity or a factor of the workload, got both")
        factor *= _factor_of_intensity(fields, instance, table, servers, base)
        what = instance_document(instance.with_workload([factor * rho for rho in instance.workload]))
        for j in given_by_trace.workload:
            del what["type"][j]["workload"]
    until, warmup, seed = times
    document = {
        **what,
        "simulation": table,
        "policy": named_policy.name,
        "own": named_policy.digest,
        "servers": servers,
        "until": until,
        "warmup": warmup,
        "seed": seed,
    }
    given = _given(document, named_policy.policy, fields.source)
    return document, given, _intensity(given.scenario, factor, base)


def _factor_of_intensity(
    fields: Fields, instance: Instance, table: dict[str, Any], servers: int, base: Callable[[], Fraction]
) -> Fraction:
    """Take the traffic intensity out of the table of a cell, and return the factor of the workload that attains it.

    A trace is stretched instead: its workload, as Little's law has it, is divided by what its times are multiplied by.
    """
    if "intensity" not in table:
        return Fraction(1)
    expected, value = "a traffic intensity greater than 0", table.pop("intensity")
    try:
        wanted = rational(value)
    except ValueError as error:
        fields.fail("intensity", f"expected {expected}, got {error}")
    if wanted <= 0:
        fields.fail("intensity", f"expected {expected}, got {value}")
    file = None
    if has_trace(table):
        from fluid.traces.file import trace_of
        from fluid.traces.jobs import typed_jobs

        file = trace_of(Fields(table, fields.source, "simulation"), None)
    if file is None:
        present = base()
    else:
        every_type = GivenByTrace(tuple(range(len(instance.types))))
        measured, _ = every_type.measured(instance, typed_jobs(file, instance, present=False), servers)
        present = traffic_intensity(measured)
    if present == 0:
        fields.fail("intensity", "expected types with a workload, which is scaled, found none")
    if file is None:
        return wanted / present
    stretch = (file.stretch * present / wanted).limit_denominator(10**6)
    table["arrivals"] = {**table["arrivals"], "stretch": text(stretch)}
    return Fraction(1)


def _of_trace(given: Given, replications: int, source: str) -> list[str]:
    """Return the warnings about the trace of a cell; none where it has no trace."""
    if given.traced is None:
        return []
    from fluid.traces.jobs import same_jobs, trace_warnings

    file, initial = given.traced.file, given.traced.initial
    try:
        warnings = trace_warnings(file, given.scenario, initial=initial, until="until", warmup="warmup")
    except InputError as error:
        raise error.within(source) from error
    return [*warnings, same_jobs(file)] if replications > 1 else warnings


def _intensity(scenario: Scenario, factor: Fraction, base: Callable[[], Fraction]) -> float | None:
    if scenario.model == "loss" or scenario.jobs is not None:
        return None
    if scenario.model == "slotted" and scenario.intensity is not None:
        return float(scenario.intensity)
    return float(factor * base())


def _find_trace(fields: Fields, table: dict[str, Any], folder: Path) -> None:
    """Note where the trace of a cell lies and what is in it."""
    arrivals = table.get("arrivals")
    if not isinstance(arrivals, Mapping) or not isinstance(arrivals.get("trace"), str):
        return
    from fluid.traces.file import digest_of

    place = (folder / arrivals["trace"]).resolve()
    if "digest" in arrivals:
        fields.fail(
            "arrivals.digest",
            "unknown field, expected one of trace, stretch, completed, types, capacity, columns, drop_open, strict",
        )
    table["arrivals"] = {**arrivals, "trace": str(place), "digest": digest_of(place)}


def _given(document: dict[str, Any], policy: Policy, source: str) -> Given:
    """Make the scenario of a cell: what cannot run is refused before anything does."""
    if "sizes" in document and policy.model != "slotted":
        raise InputError(source, "policy", f"expected a slotted policy for a law of sizes, got {document['policy']}")
    try:
        return given_by(document, policy, source)
    except InputError as error:
        whose = "" if document["policy"] in str(error) else f" (policy {document['policy']})"
        raise error.within(source).ending(whose) from error
