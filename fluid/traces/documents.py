"""Logs that are documents of JSON: the pods of Kubernetes (``kubectl get pods -o json``), and the jobs of Philly.

A document becomes a table with a row a task, which is then read as a log of known origin (`fluid.traces.known`). Rows
have the numbers of the objects in their list.

Sources: the API reference of Kubernetes (Pod, and its pages on resource units, init containers and pod overhead); the
README of msr-fiddle/philly-traces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from fluid.traces.known import CellsOfRow, LogFormat, Made, Rule, one_of, read_table
from fluid.traces.model import Trace
from theory.errors import InputError
from theory.files.objects import document_of
from theory.files.table import fail
from theory.files.table_records import table_of_objects
from theory.numbers import text

Rows = Iterator[tuple[int, dict[str, str]]]


def read_document(path: str | Path, *, drop_open: bool = False, strict: bool = False) -> Trace | None:
    """Read a log that is a document of JSON; None for a file that is none, or an array of plain objects.

    Raises
    ------
    InputError
        A document that is of no known kind, or whose fields are not as they should be.
    """
    place = Path(path)
    document = document_of(place)
    if isinstance(document, dict):
        form, rows = PODS, _pods(place, document)
    elif isinstance(document, list) and document and isinstance(document[0], dict) and "attempts" in document[0]:
        form, rows = PHILLY, _attempts(place, document)
    else:
        return None
    table = table_of_objects(place, rows)
    return read_table(table, form, drop_open=drop_open, strict=strict)


# ---- fields ----------------------------------------------------------------------------------------------------------


@contextmanager
def _telling(place: Path, number: int) -> Iterator[None]:
    """Say of an error in which object of a file it is."""
    try:
        yield
    except InputError as error:
        fail(place, number, error.place, error.problem)


def _object_of(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(place, f"expected an object, got {value!r:.40}")
    return value


def _object(table: Mapping[str, Any], name: str, place: str = "") -> Mapping[str, Any]:
    """Return an object of a field, empty where there is none; `place` is where the table stands."""
    value = table.get(name)
    return {} if value is None else _object_of(value, place + name)


def _objects(table: Mapping[str, Any], name: str, place: str = "") -> list[Mapping[str, Any]]:
    """Return a list of objects of a field, empty where there is none."""
    value = table.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(place + name, f"expected a list, got {value!r:.40}")
    return [_object_of(one, f"{place}{name}[{i}]") for i, one in enumerate(value, 1)]


def _text(table: Mapping[str, Any], name: str, place: str = "") -> str:
    """Return a text of a field, empty where there is none."""
    value = table.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(place + name, f"expected a text, got {value!r:.40}")
    return value or ""


# ---- Kubernetes ------------------------------------------------------------------------------------------------------

SUFFIXES = {"": Fraction(1), "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SUFFIXES |= {letter: Fraction(10) ** (3 * power) for power, letter in enumerate("kMGTPE", 1)}
SUFFIXES |= {f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", 1)}
"""Suffixes of quantities of Kubernetes: decimal, where M is a million, and binary."""

_QUANTITY = re.compile(r"(\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d{1,2})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?", re.ASCII)

RESOURCES = {"cpu": ("cpu", Fraction(1)), "memory": ("memory", Fraction(1, 2**30))}
RESOURCES |= {"ephemeral-storage": ("disk", Fraction(1, 2**30))}
"""What the resources of Kubernetes are called here, and the factor from their unit: cores, and bytes."""

Requests = dict[str, Fraction]


def quantity(cell: str) -> Fraction:
    """Read a quantity of Kubernetes.

    Examples
    --------
    >>> quantity("500m"), quantity("2Gi") == 2**31, quantity("1.5G") == 1_500_000_000, quantity("1e3")
    (Fraction(1, 2), True, True, Fraction(1000, 1))
    """
    parts = _QUANTITY.fullmatch(cell)
    if parts is None:
        raise InputError(f"expected a quantity such as 500m or 2Gi, got {cell[:40]!r}")
    number = Fraction(parts[1]) * (Fraction(10) ** int(parts[2]) if parts[2] else 1)
    return number * SUFFIXES[parts[3] or ""]


def _pods(place: Path, document: Mapping[str, Any]) -> Rows:
    """Give a row for each pod of a list, or of a document that is one pod."""
    items = document.get("items", [document])
    if not isinstance(items, list):
        raise InputError(place, "items", f"expected a list of pods, got {items!r:.60}")
    kinds = sorted({str(one.get("kind", "Pod")) for one in items if isinstance(one, dict)} - {"Pod"})
    if kinds:
        raise InputError(place, "", f"expected pods (kubectl get pods -o json), found {', '.join(kinds)[:80]}")
    if not items:
        raise InputError(place, "", "expected pods (kubectl get pods -o json), found an empty list")
    for number, pod in enumerate(items, 1):
        with _telling(place, number):
            row = _pod(_object_of(pod, ""))
        yield number, row


def _pod(pod: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of a pod."""
    spec, status = _object(pod, "spec"), _object(pod, "status")
    phase = _text(status, "phase", "status.") or "Unknown"
    conditions = {
        _text(one, "type", "status.conditions."): one
        for one in _objects(status, "conditions", "status.")
        if one.get("status") == "True"
    }
    scheduled = conditions.get("PodScheduled", {})
    metadata = _object(pod, "metadata")
    if not metadata:
        raise InputError("metadata", "missing, expected it with creationTimestamp")
    row = {
        "creationTimestamp": _text(metadata, "creationTimestamp", "metadata."),
        "PodScheduled": _text(scheduled, "lastTransitionTime", "status.conditions.")
        or _text(status, "startTime", "status."),
        "finishedAt": _finished(status, phase) or ("" if phase not in ENDED else NOT_SAID),
        "phase": phase,
    }
    requests = _requests(spec)
    named: Requests = {}
    others = []
    for name, amount in requests.items():
        known, factor = RESOURCES.get(name, ("gpu" if name.endswith("/gpu") else "", Fraction(1)))
        if known:
            named[known] = named.get(known, Fraction(0)) + amount * factor
        elif amount:
            others.append(name)
    row |= {name: text(named.get(name, Fraction(0))) for name in ("cpu", "memory", "disk", "gpu")}
    return row | {"other requests": " ".join(sorted(others))}


ENDED = ("Succeeded", "Failed")
NOT_SAID = "not said"


def _finished(status: Mapping[str, Any], phase: str) -> str:
    """Return when the last container of a pod that has ended was finished; empty where that is not said."""
    if phase not in ENDED:
        return ""
    times = [""]
    for name in ("containerStatuses", "initContainerStatuses"):
        for one in _objects(status, name, "status."):
            place = f"status.{name}.state."
            ended = _object(_object(one, "state", f"status.{name}."), "terminated", place)
            times.append(_text(ended, "finishedAt", f"{place}terminated."))
    return max(times)


def _requests(spec: Mapping[str, Any]) -> Requests:
    """Return the effective request of a pod: of its containers and sidecars together, or of an init container."""
    containers = _sum(_requested(one, "spec.containers.") for one in _objects(spec, "containers", "spec."))
    sidecars: Requests = {}
    most: Requests = {}
    for one in _objects(spec, "initContainers", "spec."):
        requested = _requested(one, "spec.initContainers.")
        if one.get("restartPolicy") == "Always":  # a sidecar, which stays
            sidecars = _sum([sidecars, requested])
            most = _most([most, sidecars])
        else:
            most = _most([most, _sum([sidecars, requested])])
    effective = _most([_sum([containers, sidecars]), most]) | _requested(spec, "spec.")
    return _sum([effective, _quantities(spec, "overhead", "spec.")])


def _requested(container: Mapping[str, Any], place: str) -> Requests:
    """Return what a container, or a pod as a whole, requests; without a request its limit counts."""
    resources, place = _object(container, "resources", place), f"{place}resources."
    return _quantities(resources, "limits", place) | _quantities(resources, "requests", place)


def _quantities(table: Mapping[str, Any], name: str, place: str) -> Requests:
    """Return the quantities of a field by resource."""
    found: Requests = {}
    for resource, amount in _object(table, name, place).items():
        try:
            found[resource] = quantity(str(amount))
        except InputError as error:
            raise InputError(f"{place}{name}.{resource}", error.problem) from error
    return found


def _sum(parts: Iterable[Requests]) -> Requests:
    total: Requests = {}
    for part in parts:
        for name, amount in part.items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def _most(parts: Sequence[Requests]) -> Requests:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: max(part.get(name, Fraction(0)) for part in parts) for name in names}


def _other_requests(cells: Mapping[str, Sequence[CellsOfRow]]) -> list[str]:
    names = sorted({name for (_, others) in cells["cpu"] for name in others.split()})
    return [f"Kubernetes: requests not used: {', '.join(names)}"] if names else []


PODS = LogFormat(
    "the pods of Kubernetes (kubectl get pods -o json)",
    (
        Made("time", ("creationTimestamp",)),
        Made("start", ("PodScheduled",)),
        Made("end", ("finishedAt",)),
        Made("cpu", ("cpu", "other requests"), lambda cpu, _: cpu),
        *(Made(name, (name,)) for name in ("memory", "disk", "gpu")),
        Made("outcome", ("phase",), lambda phase: {"Succeeded": "finish", "Failed": "fail"}.get(phase, "censored")),
    ),
    leave=(Rule("of pods that have ended at a time that is not said", "finishedAt", NOT_SAID.__eq__),),
    notes=(
        "Kubernetes: what a pod requests is that of its containers together or of its largest init container, with its "
        "overhead; it counts from when the pod is scheduled",
        "Kubernetes: pods that were deleted are not in such a list, so that it shows fewer pods the older they are",
    ),
    remarks=_other_requests,
)


# ---- Philly ----------------------------------------------------------------------------------------------------------


def _attempts(place: Path, jobs: Sequence[Any]) -> Rows:
    """Give a row for each machine of each attempt; a job without an attempt is one row without a start."""
    for number, job in enumerate(jobs, 1):
        with _telling(place, number):
            rows = list(_attempts_of(_object_of(job, "")))
        yield from ((number, row) for row in rows)


def _attempts_of(job: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for name in ("submitted_time", "attempts", "status"):
        if name not in job:
            raise InputError(name, "missing, expected it as cluster_job_log has it")
    arrival, attempts = _text(job, "submitted_time"), _objects(job, "attempts")
    if not attempts:
        yield {"submitted_time": arrival, "start_time": "", "end_time": "", "status": "", "gpus": "1"}
    for place, attempt in enumerate(attempts):
        start, end = (_text(attempt, name, "attempts.") for name in ("start_time", "end_time"))
        is_last = place == len(attempts) - 1
        row = {
            "submitted_time": arrival,
            "start_time": start,
            "end_time": end or ("" if is_last else NOT_SAID),
            "status": _text(job, "status") if is_last else "Failed",
        }
        for machine in _objects(attempt, "detail", "attempts."):
            gpus = machine.get("gpus") or []
            if not isinstance(gpus, list):
                raise InputError("attempts.detail.gpus", f"expected a list, got {gpus!r:.40}")
            yield row | {"gpus": str(len(gpus))}
        arrival = end or start or arrival


OUTCOMES: dict[str, str] = {"Pass": "finish", "Killed": "kill", "Failed": "fail"}


def _outcome(status: str, end: str) -> str:
    """Return how an attempt ended, by the status of its job."""
    return one_of(OUTCOMES)(status) if end else "censored"


PHILLY = LogFormat(
    "the jobs of Philly (cluster_job_log)",
    (
        Made("time", ("submitted_time",)),
        Made("start", ("start_time",)),
        Made("end", ("end_time",)),
        Made("gpu", ("gpus",)),
        Made("outcome", ("status", "end_time"), _outcome),
    ),
    leave=(Rule("of attempts that have ended at a time that is not said", "end_time", NOT_SAID.__eq__),),
    notes=(
        "Philly: each machine of an attempt counts as a task of its own; an attempt after the first arrives when the "
        "one before it ended",
    ),
)
