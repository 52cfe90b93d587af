"""What an author's policy of a loss system may do."""

from __future__ import annotations

from typing import Any

from fluid.simulation.authors import Guard, Rules
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import OUTSIDE, Common, PolicyError, State, fits, write_row
from theory.jit import plain, step

_fits = plain(fits)


class LossGuard(Guard):
    """The functions of an author's policy of a loss system, each call checked."""

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(_fits(state, server, job_type))


@step
def write_known_move(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves``, checked; stands for `fluid.simulation.state.write_move`."""
    if source < 0:
        raise PolicyError("start: expected a policy of model queue, in a loss system nobody waits")
    if source >= len(state.counts) or state.counts[source, job_type] < 1:
        raise PolicyError("move, stop: expected a server that holds a job of the type")
    if target >= len(state.counts) or target < OUTSIDE or (target >= 0 and not fits(state, target, job_type)):
        raise PolicyError("move: expected a target with room for the job")
    write_row(state, job_type, source, target)


@step
def write_no_move(state: State, job_type: int, source: int, target: int) -> None:
    """Refuse a row of ``moves``."""
    raise PolicyError("move, stop: expected Policy(..., moves_jobs=True) of a policy that moves or stops jobs")


def tools(policy: Policy) -> dict[str, Any]:
    """Return what stands for tools in the author's functions."""
    return {"write_move": write_known_move if policy.moves_jobs else write_no_move}


def shapes(setting: Any, state: State) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the fields that are checked."""
    del state
    types = len(setting.instance.types)
    return {"counts": (setting.servers, types), "totals": (types,), "slots": (types,)}


RULES = Rules(Common._fields, "common", shapes, LossGuard, tools=tools)
