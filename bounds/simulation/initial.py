"""What an answer says of the jobs that are there at time 0."""

from __future__ import annotations

from typing import Any

from fluid.simulate.trace_jobs import TraceJobs


def with_initial(answer: dict[str, Any], jobs: TraceJobs | None, queue: int = 0) -> dict[str, Any]:
    """Add to an answer how many jobs were there at time 0, and what is known of their service.

    Parameters
    ----------
    answer : dict
    jobs : TraceJobs or None
        Of the trace whose tasks are there at time 0: each has the service that was left to it (the trace does not say
        how long it had run: censored from the left), and some were still there when the trace ended.
    queue : int
        Jobs that waited, with service of their own.
    """
    if jobs is not None:
        return answer | {"initial": {"jobs": len(jobs.present.types), "service": "left", "cut_off": jobs.cut}}
    if queue:
        return answer | {"initial": {"jobs": queue, "service": "whole", "cut_off": 0}}
    return answer


def initial_lines(answer: dict[str, Any]) -> list[str]:
    """Say the same in a line."""
    if "initial" not in answer:
        return []
    initial = answer["initial"]
    if initial["service"] == "whole":
        return [f"{initial['jobs']:,} jobs wait at time 0"]
    cut = f"; {initial['cut_off']:,} were there to its end, and count as ended then" if initial["cut_off"] else ""
    return [f"{initial['jobs']:,} tasks of the trace are there at time 0, with what is left of their service{cut}"]
