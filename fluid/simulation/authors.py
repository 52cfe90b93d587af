"""Policies that authors bring: what they must be, what they do at each call, and where in their file they go wrong.

A policy is an author's if one of its functions stands outside packproof. Run as Python, each call of its functions goes
through a `Guard`, which knows the event and checks that the answer is what `fluid.simulation.policy_interface` asks
for. An exception that comes out of the author's code, or out of a tool of `fluid.simulation.state` that the author has
called, ends in one line that names file, line, function and event. Exceptions from other code of packproof stay what
they are.

What an author's policy may do differs by model: each model has a `Rules`, in the file ``authors.py`` of its folder.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.compiling import FEW_SERVERS, beside
from fluid.simulation.options import read_by
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import MOVES, PolicyError, State
from fluid.simulation.state_types import known_everywhere
from theory.code_digest import source_of
from theory.errors import InputError
from theory.jit import plain, plain_unless_kept

_HOME = Path(__file__).resolve().parents[2]
_OURS = tuple(str(_HOME / name) + os.sep for name in ("theory", "fluid", "bounds"))
_SIMULATION = _HOME / "fluid" / "simulation"
_TOOLS = (
    __file__,
    str(_HOME / "fluid" / "chains" / "loss.py"),
    *(str(_SIMULATION / name) for name in ("policy_interface.py", "state.py", "bitset.py", "options.py")),
    *(str(_SIMULATION / name) for name in ("loss/authors.py", "queue/authors.py", "slotted/authors.py")),
    *(str(_SIMULATION / name) for name in ("queue/state.py", "slotted/state.py", "slotted/trees.py")),
)
"""Files whose functions an author calls: exceptions raised there are attributed to the author's code."""


def _no_tools(policy: Policy) -> dict[str, Callable[..., Any]]:
    del policy
    return {}


@dataclass(frozen=True)
class Rules:
    """What a model asks of the policies that authors bring.

    Attributes
    ----------
    fields : tuple of str
        What the state holds, beside the policy's own arrays.
    maker : str
        The function that makes these fields.
    shapes : callable
        ``shapes(setting, state)``: the shape of each array of whole numbers that is checked, by field.
    guard : type
        The `Guard` of the model.
    functions : tuple of str
        The policy's functions that the event loop calls.
    tools : callable
        ``tools(policy)``: what stands for tools in the author's functions, by name; they check before they write.
    checks : mapping
        What stands for names of the event loop.
    """

    fields: tuple[str, ...]
    maker: str
    shapes: Callable[[Any, State], dict[str, tuple[int, ...]]]
    guard: type[Guard]
    functions: tuple[str, ...] = ("place", "depart", "refresh")
    tools: Callable[[Policy], dict[str, Callable[..., Any]]] = _no_tools
    checks: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def rules_of(policy: Policy) -> Rules:
    """Return the rules of a policy's model, from the folder of that name."""
    found: Rules = import_module(f"fluid.simulation.{policy.model}.authors").RULES
    return found


def by_author(policy: Policy) -> bool:
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


def blamed(function: Callable[..., Any], error: BaseException) -> str | None:
    """Return ``FILE:LINE`` of an author's function that an exception comes from; None where it comes from elsewhere."""
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


def _wrong_call(function: Callable[..., Any], error: BaseException) -> str | None:
    """Return where an object of the author's, called as a function, stands: its frames are in no known file."""
    return place_of(function) if _file_of(function) == "<object>" and isinstance(error, TypeError) else None


def worded(error: BaseException, state: State | None = None) -> str:
    """Return an exception of an author's function in a few words."""
    if isinstance(error, PolicyError):
        return f": {error}"
    if isinstance(error, SystemExit):
        return " called sys.exit, expected it to return"
    words = f" raised {type(error).__name__}: {error}".rstrip(": ")
    if state is not None and isinstance(error, AttributeError) and error.obj is state:
        words += f"; the state has {', '.join(cast(Any, state)._fields)}"
    return words


def prepared(policy: Policy, setting: Any, *, python: bool = False) -> State:
    """Return ``policy.prepare(setting)``; of an author's policy, check that it is a state.

    As Python if `python`. Where the servers are few, only those of its kernels that would have to be compiled run so.

    Raises
    ------
    InputError
        One line that names the author's file and line, if it raises or is no NamedTuple of arrays with the fields of
        the policy's model. An option that nobody knows.
    """
    setting = replace(setting, options=read_by(policy, setting.options))
    prepare = policy.prepare
    if not by_author(policy):
        if python:
            prepare = plain(prepare)
        elif beside() and setting.servers <= FEW_SERVERS:
            prepare = plain_unless_kept(prepare)
    return _made(policy, setting, prepare, "prepare", setting)


def answered(policy: Policy, setting: Any, state: State) -> State:
    """Return ``policy.answer(setting, state)``, checked likewise."""
    return _made(policy, setting, policy.answer, "answer", setting, state)


def _made(policy: Policy, setting: Any, function: Callable[..., State], name: str, *arguments: Any) -> State:
    try:
        state = function(*arguments)
    except InputError as error:
        where = blamed(function, error)
        if where is None or str(error).startswith(("simulation.", "--policy")):
            raise
        raise type(error)(f"--policy: {where}: {name} of {policy.name}: {error}") from None
    except (Exception, SystemExit) as error:
        where = blamed(function, error)
        if where is None:
            raise
        raise InputError(f"--policy: {where}: {name} of {policy.name}{worded(error)}") from None
    if written_by_author(function):
        complaint = _complaint(policy, setting, state)
        if complaint:
            raise InputError(f"--policy: {place_of(function)}: {name} of {policy.name}: {complaint}")
        return known_everywhere(state)
    return state


def _complaint(policy: Policy, setting: Any, state: Any) -> str | None:
    """Return why a thing cannot be the state of a policy."""
    rules = rules_of(policy)
    if not hasattr(state, "_fields"):
        return f"expected a NamedTuple of numpy arrays, got {type(state).__name__}"
    for name, value in zip(state._fields, state, strict=True):
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
            kind = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
            return f"field {name}: expected a numpy array of numbers, got {kind}"
    lacking = [name for name in rules.fields if name not in state._fields]
    if lacking:
        return (
            f"field {lacking[0]}: missing, expected the fields of model {policy.model}: {', '.join(rules.fields)} "
            f"(made by {rules.maker}, see fluid/simulation/policy_interface.py)"
        )
    for name, shape in rules.shapes(setting, state).items():
        array = getattr(state, name)
        if array.shape != shape:
            return f"field {name}: expected shape {shape}, got {array.shape}"
        if name == "clocks":
            if array.dtype.kind != "f":
                return f"field clocks: expected float64, got {array.dtype}"
        elif array.dtype.kind != "i":
            return f"field {name}: expected whole numbers, got {array.dtype}"
    return None


def python_functions(policy: Policy, names: Sequence[str] = ()) -> Guard | Bare:
    """Return the functions of a policy as Python, as attributes; those of an author behind a guard."""
    return rules_of(policy).guard(policy, names) if by_author(policy) else Bare(policy)


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


class Guard(ABC):
    """The functions of an author's policy as Python, each call checked; each model has its own.

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

    clock = "time"
    """What the time is called in messages."""

    starts = "move and stop"
    """The tools by which jobs in service may change."""

    def __init__(self, policy: Policy, names: Sequence[str] = ()) -> None:
        self.policy = policy
        self.now: NDArray[np.float64] | None = None
        self._names = names
        self._event = "before the first event"
        tools = rules_of(policy).tools(policy)
        self._functions = {
            name: plain(getattr(policy, name), **tools) for name in ("place", "depart", "refresh", "ring")
        }

    def functions(self, *names: str) -> dict[str, Callable[..., Any]]:
        """Return the functions of these names."""
        return {name: getattr(self, name) for name in names}

    def place(self, state: State, job_type: int, draws: Any) -> int:
        """Ask for a server, and check that the job fits there."""
        self._event = f"arrival of {self.kind(state, job_type)}"
        server = self._call("place", state, job_type, draws)
        if isinstance(server, bool | np.bool_) or not isinstance(server, int | np.integer):
            self._fail("place", state, f"returned {server!r} ({type(server).__name__}), {self._expected(state)}")
        if server >= 0 and (server >= len(state.free) or not self.fits(state, int(server), job_type)):
            why = "which has no room for the job" if server < len(state.free) else "which is none"
            self._fail("place", state, f"returned {int(server)}, {why}; {self._expected(state)}")
        return int(server)

    def depart(self, state: State, server: int, job_type: int, draws: Any) -> None:
        """Report a departure."""
        self._event = f"departure of {self.kind(state, job_type)} from server {server + 1} (index {server})"
        self._call("depart", state, server, job_type, draws)

    def ring(self, state: State, clock: int, draws: Any) -> None:
        """Report the ring of a clock."""
        self._event = f"ring of clock {clock}"
        self._call("ring", state, clock, draws)

    def refresh(self, state: State, draws: Any) -> bool:
        """Let the policy look at the system after an event."""
        again = self._call("refresh", state, draws)
        if not isinstance(again, bool | np.bool_ | int | np.integer):
            self._fail("refresh", state, f"returned {again!r}, expected True or False")
        return bool(again)

    def refuse(self, name: str, state: State, complaint: str) -> InputError:
        """Return the one line about a function of the policy at the event as it is."""
        where = place_of(getattr(self.policy, name))
        return self._error(where, name, complaint.removeprefix(f"{name}: "), state)

    # What differs by model.

    @abstractmethod
    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""

    def kind(self, state: State, job_type: int) -> str:
        """Return what a type is called in messages."""
        del state
        return f"type {self._names[job_type]}" if self._names else f"type {job_type}"

    def held(self, state: State) -> NDArray[Any]:
        """Return the jobs in service by server."""
        return cast(NDArray[Any], state.counts)

    def contents(self, state: State) -> str:
        """Return what a message says of the servers where there is no time."""
        return f"jobs {state.counts.tolist()}"

    def totals(self, state: State) -> NDArray[np.int64]:
        """Return the jobs in service of each type, counted server by server."""
        return np.asarray(state.counts.sum(axis=0), np.int64)

    def moved(self, jobs: NDArray[np.int64], job_type: int, source: int, target: int) -> None:
        """Change the jobs in service of each type by a row of ``moves``."""
        jobs[job_type] += (target >= 0) - (source >= 0)

    def agrees(self, state: State, jobs: NDArray[np.int64]) -> bool:
        """Return whether what the state itself counts is right."""
        return bool((state.totals == jobs).all())

    def before(self, state: State) -> Any:
        """Return what `after` compares with, before a call."""
        del state
        return None

    def after(self, name: str, state: State, rows: int, before: Any) -> None:
        """Check what else a call may have changed: nothing here."""
        del name, state, rows, before

    def _call(self, name: str, state: State, *arguments: Any) -> Any:
        rows, before = int(state.done[MOVES]), self.before(state)
        jobs = self.totals(state)
        try:
            # compiled code raises where something is divided by zero, and lets whole numbers overflow
            with np.errstate(divide="raise", over="ignore", invalid="ignore"):
                found = self._functions[name](state, *arguments)
        except (Exception, SystemExit) as error:
            where = blamed(getattr(self.policy, name), error)
            if where is None:
                raise
            raise self._error(where, name, worded(error, state), state) from None
        for row in state.moves[rows : state.done[MOVES]].tolist():
            self.moved(jobs, *row)
        right = (self.totals(state) == jobs).all() and self.held(state).min(initial=0) >= 0
        if not right or not self.agrees(state, jobs):
            self._fail(name, state, f"has changed the jobs in service, expected changes by {self.starts} alone")
        self.after(name, state, rows, before)
        return found

    def _expected(self, state: State) -> str:
        return f"expected the index of a server, from 0 to {len(state.free) - 1}, with room for the job, or -1"

    def _fail(self, name: str, state: State, complaint: str) -> None:
        raise self.refuse(name, state, complaint)

    def _error(self, where: str, name: str, complaint: str, state: State) -> InputError:
        words = complaint if complaint.startswith((":", " ")) else f" {complaint}"
        if self.now is not None:
            at = f"{self.clock} {self.now[0]:.6g}, {self._event}"
        else:
            at = f"{self._event}, {self.contents(state)}"
        return InputError(f"--policy: {where}: {name} of {self.policy.name}{words} ({at})")
