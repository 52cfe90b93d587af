"""From a document (an instance or a law of sizes, with its table ``[simulation]``) and a policy to a scenario.

The table is read into a record of the model that the policy is of (`fluid.simulation.documents`), and the model makes
its scenario of the record; no other model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fluid.files.given_by_trace import GivenByTrace, has_trace, what_trace_gives
from fluid.files.tables import Place, parse_table
from fluid.simulation.documents import Table, Times
from fluid.simulation.policy_interface import Policy
from fluid.simulation.scenario import Scenario, TypedScenario
from theory.doors import imported
from theory.errors import ArgumentError, InputError
from theory.instance import Instance
from theory.numbers import MOST_SERVERS

if TYPE_CHECKING:
    from fluid.traces.jobs import TraceJobs

ROUNDED = "deterministic times are rounded, as the least tick of which they could be whole numbers is too short:"
"""The note where simultaneous events of deterministic laws may not be so."""


@dataclass(frozen=True)
class Given:
    """A scenario, and what the file says beside it; no instance beside a law of sizes.

    `traced` are the jobs of the trace from which arrivals are taken, `notes` what was assumed where types leave
    something out.
    """

    scenario: Scenario
    table: Table
    instance: Instance | None = None
    traced: TraceJobs | None = None
    notes: tuple[str, ...] = ()


def is_sized(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a law of sizes."""
    is_alone = not set(document) - {"sizes", "simulation"}  # not one of the fields of another kind of file
    return "sizes" in document and (is_alone or isinstance(document["sizes"], Mapping))


def servers_in(document: Mapping[str, Any], path: Path) -> int:
    """Return the number of servers that a law of sizes names; other files are refused."""
    table = document.get("sizes")
    if not isinstance(table, dict) or "servers" not in table:
        raise ArgumentError("servers", "missing, expected the number of servers")
    from theory.files.sizes import parse_sizes

    servers = parse_sizes(document, str(path), path.parent).servers
    if servers > MOST_SERVERS:
        raise InputError(path, "sizes.servers", f"expected at most {MOST_SERVERS:,} to simulate, got {servers:,}")
    return servers


def read_scenario(
    document: Mapping[str, Any],
    policy: Policy,
    times: Times,
    *,
    source: str,
    folder: Path | None = None,
    trace: Path | None = None,
    drop_open: bool = False,
    strict: bool = False,
    synchronised: bool = False,
    compared: Sequence[Policy] = (),
    **how: Any,
) -> Given:
    """Make the scenario of a document for a policy.

    Parameters
    ----------
    document : mapping
        An instance file, or for slotted policies a law of sizes, with the table ``[simulation]``. Where a trace stands
        for arrivals, types may leave out ``workload`` and ``reward`` (`fluid.files.given_by_trace`).
    policy : Policy
    times : Times
    source, folder, trace, drop_open, strict
        As in `fluid.files.tables.Place`.
    synchronised : bool
        Whether policies of loss systems see the same jobs (`LossScenario.synchronised`).
    compared : sequence of Policy
        All policies that read the document, where there are several: it may hold the options of any of them.
    how
        ``bins`` and ``log`` of the scenario.

    Raises
    ------
    InputError
        One line that names the field and what was expected.
    """
    model = imported(f"fluid.simulation.{policy.model}.document")
    place = Place(source, folder, trace, drop_open, strict)
    fields = document.get("simulation", {})
    if policy.model == "loss":
        how["synchronised"] = synchronised

    def table_beside(instance: Instance | None) -> Table:
        readers = [one.name for one in compared]
        table: Table = parse_table(model.TABLE, fields, instance, place, compared or (policy,), readers)
        how["options"] = {name: value for name, value in table.options.items() if name in policy.options}
        return table

    if is_sized(document):
        if policy.model != "slotted":
            raise InputError("sizes", f"a law of sizes suits slotted policies, and {policy.name} is not one")
        from theory.files.sizes import parse_sizes

        sizes, table = parse_sizes(document, source, folder), table_beside(None)
        if table.trace is None:
            return Given(model.scenario_of_sizes(sizes, table, times, policy, **how), table)
        from fluid.traces.jobs import sized_jobs

        law, traced = sized_jobs(table.trace, present=table.initial.trace)
        return Given(model.scenario_of_trace(law, table, times, traced, **how), table, None, traced)
    given_by_trace = what_trace_gives(document) if trace is not None or has_trace(fields) else GivenByTrace()
    instance = given_by_trace.parsed(document, source)
    table, jobs = table_beside(instance), None
    if table.trace is not None:
        from fluid.traces.jobs import typed_jobs

        jobs = typed_jobs(table.trace, instance, present=table.initial.trace)
    instance, notes = given_by_trace.measured(instance, jobs, times.servers)
    scenario: Scenario = model.scenario_of(instance, table, times, jobs, **how)
    if isinstance(scenario, TypedScenario) and scenario.rounds_times:
        notes = (*notes, f"{ROUNDED} {float(scenario.resolution):.3g} is that for --until {times.until:g}")
    return Given(scenario, table, instance, jobs, notes)
