"""What an answer says of the jobs that are there at time 0, and of the trace that they may come from."""

from __future__ import annotations

from typing import Any

from bounds.views.simulation.traced import Traced, trace_answer, trace_lines


def with_initial(answer: dict[str, Any], traced: Traced | None, scene: Any, queue: int = 0) -> dict[str, Any]:
    """Add to an answer how many jobs were there at time 0, and what is known of their service; and of a trace.

    Parameters
    ----------
    answer : dict
    traced : Traced or None
        The trace whose tasks come, and may be there at time 0: those have the service that was left to them (the trace
        does not say how long they had run: censored from the left), and some were still there when the trace ended.
    scene : Scenario, QueueScene or SlottedScene
    queue : int
        Jobs that waited, with service of their own.
    """
    if traced is not None:
        answer = answer | {"trace": trace_answer(traced, scene)}
        if traced.initial:
            jobs = traced.jobs
            answer |= {"initial": {"jobs": len(jobs.present.types), "service": "left", "cut_off": jobs.cut}}
    if queue:
        return answer | {"initial": {"jobs": queue, "service": "whole", "cut_off": 0}}
    return answer


def initial_lines(answer: dict[str, Any]) -> list[str]:
    """Say the same in lines."""
    trace = trace_lines(answer["trace"]) if "trace" in answer else []
    if "initial" not in answer:
        return trace
    initial = answer["initial"]
    if initial["service"] == "whole":
        return [*trace, f"{initial['jobs']:,} jobs wait at time 0"]
    cut = f"; {initial['cut_off']:,} were there to its end, and count as ended then" if initial["cut_off"] else ""
    return [
        *trace,
        f"{initial['jobs']:,} tasks of the trace are there at time 0, with what is left of their service{cut}",
    ]
