"""An author's own policy: what it must be, what it does at each call, and where in the author's file it goes wrong.

A policy is an author's own if one of its functions stands outside packproof. Run as Python, each call of its functions
goes through a `Guard`, which knows the event and sees to it that what comes back is what `fluid.simulation.policy` asks for. An
exception that comes out of the author's code, or out of a tool of `fluid.simulation.state` that it has called, ends in one line
that names file, line, function and event. One that comes from any other code of packproof stays what it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.options import read_by
from fluid.simulation.policy import Policy
from fluid.simulation.queue.state import QUEUE
from fluid.simulation.slotted.state import COMMON as SLOTTED
from fluid.simulation.slotted.state import SIZE
from fluid.simulation.state import MOVES, OUTSIDE, Common, PolicyError, State, fits, write_row
from fluid.simulation.state_types import known_everywhere
from theory.errors import InputError
from theory.jit import plain, source_of, step

FIELDS: dict[str, tuple[str, ...]] = {"loss": Common._fields, "queue": QUEUE, "slotted": SLOTTED}
"""What the state of a policy of each model holds, beside the policy's own arrays."""

_HOME = Path(__file__).resolve().parents[2]
_OURS = tuple(str(_HOME / name) + os.sep for name in ("theory", "fluid", "bounds"))
_SIMULATION = _HOME / "fluid" / "simulation"
_TOOLS = (
    __file__,
    str(_HOME / "fluid" / "chains" / "loss.py"),
    *(str(_SIMULATION / name) for name in ("policy.py", "state.py", "bitset.py", "options.py", "queue/state.py")),
    *(str(_SIMULATION / "slotted" / name) for name in ("state.py", "trees.py")),
)
"""Files whose functions an author calls: what they raise under his hands is his."""


def is_own(policy: Policy) -> bool:
    """Return whether some function of a policy stands outside packproof."""
    functions = (policy.prepare, policy.place, policy.depart, policy.refresh, policy.ring, policy.answer)
    return any(written_by_author(function) for function in functions)


def written_by_author(function: Callable[..., Any]) -> bool:
    """Return whether a function stands outside packproof."""
    return not _file_of(function).startswith(_OURS)


def _file_of(function: Callable[..., Any]) -> str:
    source = source_of(function)
    return source.__code__.co_filename if isinstance(source, FunctionType) else "<object>"


def place_of(function: Callable[..., Any], line: int | None = None) -> str:
    """Return ``FILE:LINE`` of a function, or of a line of its file."""
    source, file = source_of(function), _file_of(function)
    if line is None:
        line = source.__code__.co_firstlineno if isinstance(source, FunctionType) else 0
    near = os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file
    return f"{near}:{line}"


def blamed(function: Callable[..., Any], error: Exception) -> str | None:
    """Return ``FILE:LINE`` of an author's function that an exception comes from; None where it is not his."""
    if not written_by_author(function):
        return None
    file, line = _file_of(function), None
    after: list[str] = []
    step_down = error.__traceback__
    while step_down is not None:
        name = step_down.tb_frame.f_code.co_filename
        if name == file:
            line, after = step_down.tb_lineno, []
        else:
            after.append(name)
        step_down = step_down.tb_next
    if line is None or any(name.startswith(_OURS) and not name.startswith(_TOOLS) for name in after):
        return _wrong_call(function, error)
    return place_of(function, line)


def _wrong_call(function: Callable[..., Any], error: Exception) -> str | None:
    """Return where an object of the author's, called as a function, stands: its frames are in no known file."""
    return place_of(function) if _file_of(function) == "<object>" and isinstance(error, TypeError) else None


def told(error: Exception, state: State | None = None) -> str:
    """Return an exception of an author's function in a few words."""
    if isinstance(error, PolicyError):
        return f": {error}"
    words = f" raised {type(error).__name__}: {error}".rstrip(": ")
    if state is not None and isinstance(error, AttributeError) and error.obj is state:
        words += f"; the state has {', '.join(cast(Any, state)._fields)}"
    return words


def prepared(policy: Policy, setting: Any) -> State:
    """Return ``policy.prepare(setting)``; of an author's own policy, see that it is a state.

    Raises
    ------
    InputError
        One line that names the author's file and line, if it raises or is no NamedTuple of arrays with the fields of
        the policy's model. An option that nobody knows.
    """
    setting = replace(setting, options=read_by(policy, setting.options))
    return _made(policy, setting, policy.prepare, "prepare", setting)


def answered(policy: Policy, setting: Any, state: State) -> State:
    """Return ``policy.answer(setting, state)``, looked at likewise."""
    return _made(policy, setting, policy.answer, "answer", setting, state)


def _made(policy: Policy, setting: Any, function: Callable[..., State], name: str, *arguments: Any) -> State:
    try:
        state = function(*arguments)
    except InputError as error:
        where = blamed(function, error)
        if where is None or str(error).startswith(("simulation.", "--policy")):
            raise
        raise type(error)(f"--policy: {where}: {name} of {policy.name}: {error}") from None
    except Exception as error:
        where = blamed(function, error)
        if where is None:
            raise
        raise InputError(f"--policy: {where}: {name} of {policy.name}{told(error)}") from None
    if written_by_author(function):
        complaint = _complaint(policy, setting, state)
        if complaint:
            raise InputError(f"--policy: {place_of(function)}: {name} of {policy.name}: {complaint}")
        return known_everywhere(state)
    return state


def _complaint(policy: Policy, setting: Any, state: Any) -> str | None:
    """Say what keeps a thing from being the state of a policy."""
    fields = FIELDS[policy.model]
    if not hasattr(state, "_fields"):
        return f"expected a NamedTuple of numpy arrays, got {type(state).__name__}"
    for name, value in zip(state._fields, state, strict=True):
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            return f"field {name}: expected a numpy array of numbers, got {kind}"
    lacking = [name for name in fields if name not in state._fields]
    if lacking:
        makers = {"loss": "common", "queue": "queue_fields", "slotted": "shared"}
        return (
            f"field {lacking[0]}: missing, expected the fields of model {policy.model}: {', '.join(fields)} "
            f"(made by {makers[policy.model]}, see fluid/simulation/policy.py)"
        )
    if policy.model == "slotted":
        shapes: dict[str, tuple[int, ...]] = {"free": (setting.servers,), "sizes": (len(setting.sizes),)}
    else:
        types = len(setting.instance.types)
        shapes = {"counts": (setting.servers, types), "totals": (types,), "slots": (types,)}
    if policy.model == "queue":
        shapes["waiting"] = (types,)
        shapes["clocks"] = (state.clocks.size,)
        if state.clocks.dtype.kind != "f":
            return f"field clocks: expected float64, got {state.clocks.dtype}"
    for name, shape in shapes.items():
        if getattr(state, name).shape != shape:
            return f"field {name}: expected shape {shape}, got {getattr(state, name).shape}"
        if name != "clocks" and getattr(state, name).dtype.kind != "i":
            return f"field {name}: expected whole numbers, got {getattr(state, name).dtype}"
    return None


# What the tools do in an author's policy, compiled or not: `fluid.simulation.state.write_move` and the queue loop's `leave` give
# way to these, which look before they write.


@step
def write_known_move(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves`` of a loss system."""
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


@step
def write_start(state: State, job_type: int, source: int, target: int) -> None:
    """Write a row of ``moves`` of a queue."""
    if source != OUTSIDE:
        raise PolicyError("move, stop: expected a policy of model loss, jobs of a queue stay where they start")
    if target < 0 or target >= len(state.counts) or not fits(state, target, job_type):
        raise PolicyError("start: expected a server with room for the job")
    write_row(state, job_type, source, target)


def tools_of(policy: Policy) -> dict[str, Callable[..., Any]]:
    """Return what stands for tools in the functions of an author's policy, by name."""
    if policy.model == "slotted":
        return {}
    if policy.model == "queue":
        return {"write_move": write_start}
    return {"write_move": write_known_move if policy.moves_jobs else write_no_move}


def python_functions(policy: Policy, names: Sequence[str] = ()) -> Guard | Bare:
    """Return the functions of a policy as Python, as attributes; an author's own behind a guard."""
    return Guard(policy, names) if is_own(policy) else Bare(policy)


class Bare:
    """The functions of a policy as Python."""

    def __init__(self, policy: Policy) -> None:
        self._name = policy.name
        self.place, self.depart = plain(policy.place), plain(policy.depart)
        self.refresh, self.ring = plain(policy.refresh), plain(policy.ring)

    def refuse(self, name: str, state: State, complaint: str) -> Exception:
        """Return the error of a policy that does what it must not."""
        del state
        return PolicyError(f"{name} of {self._name}: {complaint}")


class Guard:
    """The functions of an author's policy as Python, each call looked at.

    Parameters
    ----------
    policy : Policy
    names : sequence of str
        Of the types, for messages; numbers from 0 where left out.

    Attributes
    ----------
    now : float64[1] or None
        The time, where there is one.
    """

    def __init__(self, policy: Policy, names: Sequence[str] = ()) -> None:
        self.policy = policy
        self.now: NDArray[np.float64] | None = None
        self._names = names
        self._event = "before the first event"
        self._slotted = policy.model == "slotted"
        tools = tools_of(policy)
        self._functions = {
            name: plain(getattr(policy, name), **tools) for name in ("place", "depart", "refresh", "ring")
        }
        self._fits = plain(fits)

    def functions(self, *names: str) -> dict[str, Callable[..., Any]]:
        """Return the functions of these names."""
        return {name: getattr(self, name) for name in names}

    def place(self, state: State, job_type: int, draws: Any) -> int:
        """Ask for a server, and see that it has room."""
        self._event = f"arrival of {self._kind(state, job_type)}"
        server = self._call("place", state, job_type, draws)
        if isinstance(server, bool | np.bool_) or not isinstance(server, int | np.integer):
            self._fail("place", state, f"returned {server!r} ({type(server).__name__}), {self._expected(state)}")
        if server >= 0 and not self._has_room(state, int(server), job_type):
            why = "which has no room for the job" if server < len(state.free) else "which is none"
            self._fail("place", state, f"returned {int(server)}, {why}; {self._expected(state)}")
        return int(server)

    def depart(self, state: State, server: int, job_type: int, draws: Any) -> None:
        """Tell of a departure."""
        self._event = f"departure of {self._kind(state, job_type)} from server {server}"
        self._call("depart", state, server, job_type, draws)

    def ring(self, state: State, clock: int, draws: Any) -> None:
        """Tell of a clock."""
        self._event = f"ring of clock {clock}"
        self._call("ring", state, clock, draws)

    def refresh(self, state: State, draws: Any) -> bool:
        """Let the policy look at the system after an event."""
        if self._slotted:
            self._event = "jobs that wait"
        again = self._call("refresh", state, draws)
        if not isinstance(again, bool | np.bool_ | int | np.integer):
            self._fail("refresh", state, f"returned {again!r}, expected True or False")
        return bool(again)

    def refuse(self, name: str, state: State, complaint: str) -> InputError:
        """Return the one line about a function of the policy at the event as it is."""
        where = place_of(getattr(self.policy, name))
        return self._error(where, name, complaint.removeprefix(f"{name}: "), state)

    def _call(self, name: str, state: State, *arguments: Any) -> Any:
        queue = self.policy.model == "queue"
        rows, waiting = int(state.done[MOVES]), state.waiting.copy() if queue else None
        jobs = self._jobs(state)
        try:
            # compiled code raises where something is divided by zero, and lets whole numbers overflow
            with np.errstate(divide="raise", over="ignore", invalid="ignore"):
                found = self._functions[name](state, *arguments)
        except Exception as error:
            where = blamed(getattr(self.policy, name), error)
            if where is None:
                raise
            raise self._error(where, name, told(error, state), state) from None
        self._look_at_jobs(name, state, rows, jobs)
        if waiting is not None:
            self._look_at_queue(name, state, rows, waiting)
        return found

    def _jobs(self, state: State) -> NDArray[np.int64]:
        """Return the jobs in service of each type (of all classes), as a server by server count has them."""
        return np.asarray(state.jobs.sum(keepdims=True) if self._slotted else state.counts.sum(axis=0), np.int64)

    def _look_at_jobs(self, name: str, state: State, rows: int, jobs: NDArray[np.int64]) -> None:
        for job_type, source, target in state.moves[rows : state.done[MOVES]].tolist():
            if self._slotted:
                jobs[0] += 1
            else:
                jobs[job_type] += (target >= 0) - (source >= 0)
        held = state.jobs if self._slotted else state.counts
        right = (self._jobs(state) == jobs).all() and held.min(initial=0) >= 0
        if not right or not (self._slotted or (state.totals == jobs).all()):
            tools = {"loss": "move and stop", "queue": "start", "slotted": "begin"}[self.policy.model]
            self._fail(name, state, f"has changed the jobs in service, expected changes by {tools} alone")

    def _look_at_queue(self, name: str, state: State, rows: int, waiting: NDArray[np.int64]) -> None:
        for job_type in state.moves[rows : state.done[MOVES], 0].tolist():
            waiting[job_type] -= 1
        for j, (number, expected) in enumerate(zip(state.waiting.tolist(), waiting.tolist(), strict=True)):
            if expected < 0:
                self._fail(name, state, f"started a job of {self._kind(state, j)}, of which none waits")
            if number != expected:
                self._fail(
                    name,
                    state,
                    f"left waiting[{j}] = {number}, expected {expected}: one less for each job that it starts",
                )
        if not (np.isfinite(state.clocks) & (state.clocks >= 0)).all():
            self._fail(name, state, f"left clocks = {state.clocks.tolist()}, expected rates of at least 0")

    def _has_room(self, state: State, server: int, job_type: int) -> bool:
        if server >= len(state.free):
            return False
        if self._slotted:
            return bool(state.lines[job_type, SIZE] <= state.free[server])
        return bool(self._fits(state, server, job_type))

    def _expected(self, state: State) -> str:
        return f"expected a server from 0 to {len(state.free) - 1} with room for the job, or -1"

    def _kind(self, state: State, job_type: int) -> str:
        if self._slotted:
            return f"class {job_type} (size {state.lines[job_type, SIZE]} of {state.capacity[0]})"
        return f"type {self._names[job_type]}" if self._names else f"type {job_type}"

    def _fail(self, name: str, state: State, complaint: str) -> None:
        raise self.refuse(name, state, complaint)

    def _error(self, where: str, name: str, complaint: str, state: State) -> InputError:
        words = complaint if complaint.startswith((":", " ")) else f" {complaint}"
        if self.now is not None:
            at = f"{'slot' if self._slotted else 'time'} {self.now[0]:.6g}, {self._event}"
        else:
            at = f"{self._event}, {'free' if self._slotted else 'jobs'} "
            at += str((state.free if self._slotted else state.counts).tolist())
        return InputError(f"--policy: {where}: {name} of {self.policy.name}{words} ({at})")
