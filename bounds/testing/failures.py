"""How a failing example is shown, as a small table, and written, as a file that commands read."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from bounds.adversary.documents import case_document
from bounds.adversary.items import Items
from bounds.testing.queueing import AnyQueue, Queue, SlottedQueue
from bounds.views.attack import case_tables, evidence_answer
from bounds.views.shown import Table, lines_of
from theory.errors import InputError
from theory.files.instances import write_tables
from theory.instance import Instance
from theory.numbers import text
from theory.sharing.model import Cluster


def failure(what: str, name: str, case: Any, evidence: dict[str, Any], folder: str | Path | None) -> str:
    """Write an example to a file, and return what is said of it: what failed, a table, and where the file is."""
    return "\n".join([*lines_of(what, example_tables(case, evidence)), "", _written(name, case, evidence, folder)])


def example_tables(case: Any, evidence: dict[str, Any]) -> list[Table]:
    """Return an example as tables."""
    if isinstance(case, Instance):
        return case_tables(case)
    if isinstance(case, Cluster | Items):
        return case_tables(case, evidence_answer(evidence, case))
    return _queue_tables(case, evidence)


def _queue_tables(case: AnyQueue, evidence: dict[str, Any]) -> list[Table]:
    servers = f"{case.servers} server{'s' * (case.servers > 1)}"
    if isinstance(case, Queue):
        between = case.arrivals.between.name.replace("exponential", "poisson")
        laws = f"{servers}; arrivals {between} in batches of {case.arrivals.batch:g}; service {case.service.name}"
        instance = case.scaled(evidence["share"]) if "share" in evidence else case.instance
        return [Table("queue", [""], [[laws]], [False]), *case_tables(instance)]
    assert isinstance(case, SlottedQueue)
    service = "deterministic" if case.fixed else "geometric"
    law = f"{servers}; service {service}, {text(1 / case.service_rate)} slots on average"
    sizes = [[text(size), text(p)] for size, p in case.sizes.atoms]
    return [
        Table("queue", [""], [[law]], [False]),
        Table("sizes of jobs", ["size", "probability"], sizes, [True, True]),
    ]


def _written(name: str, case: Any, evidence: dict[str, Any], folder: str | Path | None) -> str:
    """Write the example; a place that cannot be written hides no failure."""
    # beside hypothesis' own database
    storage = Path(os.environ.get("HYPOTHESIS_STORAGE_DIRECTORY", ".hypothesis")) / "packproof"
    place = storage if folder is None else Path(folder)
    path = place / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', name).strip('_') or 'rule'}.toml"
    try:
        place.mkdir(parents=True, exist_ok=True)
        write_tables(path, case.document(evidence["share"]) if isinstance(case, AnyQueue) else case_document(case))
    except (OSError, InputError) as error:
        return f"not written: {error}"
    return f"written to {path}, for: packproof {_command(case)}"


def _command(case: Any) -> str:
    kinds = {Instance: "assignment", Cluster: "sharing", Items: "items"}
    if kind := kinds.get(type(case)):
        return f"attack RULE.py:NAME --kind {kind} --from FILE --evaluations 1"
    return "simulate FILE --policy NAME" + (", or throughput FILE" if isinstance(case, SlottedQueue) else "")


def shown_as_tables() -> None:
    """Let hypothesis print examples as tables: it prints the arguments of a failing test itself."""
    from hypothesis.vendor.pretty import for_type_by_name

    for kind in (Instance, Cluster, Items, Queue, SlottedQueue):
        for_type_by_name(kind.__module__, kind.__name__, _print)


_KEPT: list[Any] = []
"""Examples on which a rule kept its share when the search beside hypothesis had found an instance where it does not."""


def excuse(case: Any) -> None:
    """Note that a test fails on an instance that its message shows, and not on this example."""
    if case not in _KEPT:
        _KEPT.append(case)


def accuse(case: Any) -> None:
    """Note that a test fails on an example itself."""
    _KEPT[:] = [kept for kept in _KEPT if kept != case]


def _print(case: Any, printer: Any, cycle: bool) -> None:
    """Print an example; of one that does not fail, that the message has the instance that does."""
    del cycle
    if case in _KEPT:
        printer.text(f"<any {type(case).__name__}: the instance that fails is the one above>")
        return
    with printer.group(4, f"{type(case).__name__}:"):
        for line in lines_of(type(case).__name__, example_tables(case, {}))[2:]:
            printer.break_()
            printer.text(line)
