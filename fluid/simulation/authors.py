"""Policies that authors bring: which ones they are, and how they are watched.

A policy is an author's unless packproof has it as it is. It is watched in three ways, by the `Guard` of its model:

- its state is looked at when it has been prepared (`fluid.simulation.prepared`);
- run as Python, each call of its functions is checked: the moves that it has written are made once more on a copy of
  the state from before the call, and then no field of the common part may differ;
- compiled, every index of the run is looked at (`theory.compiled.bound`), the loop counts jobs for itself
  (`Guard.checks`), and between two parts of a run the state is compared with the loop's own lists.

What goes wrong ends in one line with file, line, function and event. Exceptions that come out of a call of the author's
functions are attributed to the author's code. What a policy may do differs by model: each has its `GUARD`, in the file
``model.py`` of its folder.

Functions that a policy calls carry ``@packproof.step`` and are reached by a global name: they are compiled with the
policy, and their indices are checked. Others are refused before anything runs (`refuse_unmarked`).
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from traceback import walk_tb
from types import CodeType, FunctionType, ModuleType
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.measures import ARRIVAL, DEPARTURE, PREEMPTION, START, Measures
from fluid.simulation.measures import note as write_note
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import MOVES, PolicyError, State, fits, put, take, type_of
from theory.compiled import is_marked, plain, step
from theory.doors import imported
from theory.errors import ArgumentError, ContractError, meant
from theory.files.code import text_of, working_folder
from theory.reached import INSTALLED, OURS, is_followed, reached, source_of
from theory.rows import unique_rows

Function = Callable[..., Any]


class AuthorError(ArgumentError, ContractError):
    """An author's policy breaks the contract of its model; the line names file, line, function and event."""


WAITING, SERVED = 0, 1
"""Rows of ``measures.inside``, in which the loop counts the jobs of an author's policy for itself."""


def written_by_author(function: Callable[..., Any]) -> bool:
    """Return whether a function stands outside packproof."""
    return not _file_of(function).startswith(OURS)


def _code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code that a call of a function, or of another object, runs; None of what is built in."""
    while isinstance(function, partial):
        function = function.func
    source: Any = getattr(source_of(function), "__func__", source_of(function))
    if not isinstance(source, FunctionType):
        source = vars(type(source)).get("__call__")
    return source.__code__ if isinstance(source, FunctionType) else None


def _file_of(function: Callable[..., Any]) -> str:
    code = _code_of(function)
    return "<object>" if code is None else code.co_filename


def place_of(function: Callable[..., Any], line: int | None = None) -> str:
    """Return ``FILE:LINE`` of a function, or of a line of its file."""
    code, file = _code_of(function), _file_of(function)
    if line is None:
        line = 0 if code is None else code.co_firstlineno
    return f"{near(file)}:{line}"


def near(file: str) -> str:
    """Return the path of a file as messages show it: from the folder at hand, if it is in there."""
    return os.path.relpath(file) if file.startswith(working_folder() + os.sep) else file


def place_to_blame(function: Callable[..., Any], error: BaseException) -> str:
    """Return ``FILE:LINE`` of the author's code that an exception comes from: the innermost frame of it.

    Where no frame is the author's, of the function that was called: functions of packproof may not suit each other.
    """
    place = place_of(function)
    for frame, line in walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((*OURS, *INSTALLED, "<frozen ")):
            place = f"{near(file)}:{line}"
    return place


def words_of_error(error: BaseException, state: State | None = None) -> str:
    """Return an exception of an author's function in a few words."""
    if isinstance(error, PolicyError):
        return f": {error}{_numbers_at(error)}"
    if isinstance(error, SystemExit):
        return " called sys.exit, expected it to return"
    words = f" raised {text_of(error)}"
    if state is not None and isinstance(error, AttributeError) and error.obj is state:
        words += f"; the state has {', '.join(cast(Any, state)._fields)}"
    if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
        words += meant(error.name or "", dir(error.obj))
    return words


def _numbers_at(error: PolicyError) -> str:
    """Return the numbers with which a tool has refused a call: its arguments, the size of the job and what is free."""
    frames = list(walk_tb(error.__traceback__))
    values = frames[-1][0].f_locals if frames else {}
    names = ("job_type", "job_class", "server", "source", "target", "size", "free")
    numbers = [f"{name} = {values[name]}" for name in names if isinstance(values.get(name), int | np.integer)]
    return f"; got {', '.join(numbers)}" if numbers else ""


def guard_of(policy: Policy) -> type[Guard]:
    """Return the guard of a policy's model, from the folder of that name."""
    guard: type[Guard] = imported(f"fluid.simulation.{policy.model}.model").GUARD
    return guard


def by_author(policy: Policy) -> bool:
    """Return whether a policy is an author's: packproof has none that is equal to it where it is prepared.

    An author may well put functions of packproof together that do not suit each other.
    """
    functions = (policy.prepare, policy.place, policy.depart, policy.refresh, policy.ring, policy.answer)
    if any(written_by_author(function) for function in functions):
        return True
    home = sys.modules.get(getattr(policy.prepare, "__module__", ""))
    return not any(isinstance(value, Policy) and value == policy for value in vars(home).values()) if home else True


def python_functions(policy: Policy, names: Sequence[str] = ()) -> Guard | Unwatched:
    """Return the functions of a policy as Python, as attributes; those of an author behind a guard."""
    return guard_of(policy)(policy, names) if by_author(policy) else Unwatched(policy)


UNMARKED = "expected functions that a policy calls to carry @packproof.step and to be reached by a global name"


@cache
def refuse_unmarked(policy: Policy, names: tuple[str, ...]) -> None:
    """Refuse what an author's functions call without ``@packproof.step``, or reach otherwise than by a global name.

    Functions of Python and of installed packages, such as numpy's, are left to numba.
    """
    for name in names:
        seen: set[FunctionType] = set()
        waiting = [source_of(getattr(policy, name))]
        while waiting:
            source = waiting.pop()
            if source in seen or not isinstance(source, FunctionType) or not written_by_author(source):
                continue
            seen.add(source)
            for words, value, is_global in functions_reached(source):
                if not (is_global and is_marked(value)):
                    place = place_of(source)
                    raise AuthorError("policy", f"{place}: {name} of {policy.name} calls {words}, {UNMARKED}")
                waiting.append(source_of(value))


def functions_reached(source: FunctionType) -> Iterator[tuple[str, Any, bool]]:
    """Yield the functions of authors and of packproof that a function reaches, and whether by a global name."""
    for words, value, is_global in reached(source):
        if is_followed(value):
            yield words, value, is_global
        elif isinstance(value, tuple) and any(map(is_followed, value)):
            yield f"a function in {words}", value, False


class Unwatched:
    """The functions of a policy of packproof as Python."""

    def __init__(self, policy: Policy) -> None:
        self._name = policy.name
        self.place, self.depart = plain(policy.place), plain(policy.depart)
        self.refresh, self.ring = plain(policy.refresh), plain(policy.ring)

    def refuse(self, name: str, state: State, complaint: str) -> Exception:
        """Return the error of a policy that does what it must not."""
        del state
        return PolicyError(f"{name} of {self._name}: {complaint}")


def first_difference(array: NDArray[Any], expected: NDArray[Any]) -> str | None:
    """Return ``[place] = value, expected value`` where an array first differs from another, None if it does not.

    >>> first_difference(np.array([[1, 2], [3, 4]]), np.array([[1, 2], [5, 4]]))
    '[1, 0] = 3, expected 5'
    """
    if array.shape != expected.shape:
        return f" of shape {array.shape}, expected {expected.shape}"
    if not array.flags.writeable and expected.flags.writeable:
        return " read-only, expected an array that can be written"
    if np.array_equal(array, expected):
        return None
    place = tuple(int(at[0]) for at in np.nonzero(array != expected))
    return f"{list(place)} = {array[place]}, expected {expected[place]}"


class Guard(ABC):
    """What is checked of an author's policy; each model has a subclass.

    Messages call the types by `names`, by numbers where there are none.
    """

    fields: ClassVar[tuple[str, ...]]  # what the state holds beside the policy's own arrays
    maker: ClassVar[str]  # the function that makes these fields
    free_fields: ClassVar[tuple[str, ...]] = ("moves", "done", "slots")  # those that change without a tool
    constants: ClassVar[tuple[str, ...]]  # those that never change
    # of a field that may have several shapes: whether its array in a state has one of them
    lengths: ClassVar[Mapping[str, Callable[[State], bool]]]
    called: ClassVar[tuple[str, ...]] = ("place", "depart", "refresh")  # by the event loop
    checks: ClassVar[Mapping[str, Function]]  # what stands for names of the event loop in compiled runs
    clock: ClassVar[str] = "time"  # as messages call it, and the tools by which jobs in service may change
    tools: ClassVar[str] = "move and stop"

    def __init__(self, policy: Policy, names: Sequence[str] = ()) -> None:
        if any(map(written_by_author, (policy.place, policy.depart, policy.refresh, policy.ring))):
            refuse_unmarked(policy, self.called)
        self.policy = policy
        self.now: NDArray[np.float64] | None = None
        self._names = names
        self._event = "before the first event"
        self._functions = {name: plain(getattr(policy, name)) for name in ("place", "depart", "refresh", "ring")}
        self._common = type_of(self.fields)

    # A state as it was prepared.

    @classmethod
    @abstractmethod
    def empty(cls, setting: Any, state: State) -> dict[str, NDArray[Any]]:
        """Return the common part of an empty system, in the variant that a state holds."""

    @classmethod
    def refusal(cls, setting: Any, state: State) -> str | None:
        """Return what is wrong with the common part of a state that was prepared, None if nothing."""
        for name, model in cls.empty(setting, state).items():
            array = getattr(state, name)
            alike = array.shape == model.shape
            if not (cls.lengths[name](state) if name in cls.lengths else alike):
                return f"field {name}: expected shape {model.shape}, got {array.shape}"
            if array.dtype.kind != model.dtype.kind or array.dtype.itemsize < model.dtype.itemsize:
                return f"field {name}: expected {model.dtype}, got {array.dtype}"
            if alike and (name not in cls.free_fields or name == "done"):
                words = first_difference(array, model)
                if words is not None:
                    return f"field {name}: is{words}"
        return cls.impossible(state)

    # The calls of a policy's functions as Python.

    @property
    def functions(self) -> dict[str, Function]:
        """The policy's functions that the event loop calls, each call checked."""
        return {name: getattr(self, name) for name in self.called}

    def place(self, state: State, job_type: int, draws: Any) -> int:
        """Ask for a server, and check that the job fits there."""
        self._event = f"arrival of {self.kind(state, job_type)}"
        server = self._call("place", state, job_type, draws)
        expected = f"expected the index of a server, from 0 to {len(state.free) - 1}, with room for the job, or -1"
        if isinstance(server, bool | np.bool_) or not isinstance(server, int | np.integer):
            raise self.refuse("place", state, f"returned {_shown(server)} ({type(server).__name__}), {expected}")
        if server >= 0 and (server >= len(state.free) or not self.fits(state, int(server), job_type)):
            why = "which has no room for the job" if server < len(state.free) else "which is none"
            raise self.refuse("place", state, f"returned {int(server)}, {why}; {expected}")
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
            raise self.refuse("refresh", state, f"returned {_shown(again)}, expected True or False")
        return bool(again)

    def refuse(self, name: str, state: State, complaint: str) -> AuthorError:
        """Return the one line about a function of the policy at the event as it is."""
        where = place_of(getattr(self.policy, name))
        return self._error(where, name, complaint.removeprefix(f"{name}: "), state)

    @abstractmethod
    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""

    @abstractmethod
    def follow(self, state: State, job_type: int, source: int, target: int) -> None:
        """Make a move of a row of ``moves`` in a copy of the common part; raise `PolicyError` if it cannot be made."""

    def kind(self, state: State, job_type: int) -> str:
        """Return what a type is called in messages."""
        del state
        return f"type {self._names[job_type]}" if self._names else f"type {job_type}"

    def contents(self, state: State) -> str:
        """Return what a message says of the servers where there is no time."""
        return f"jobs {state.counts.tolist()}"

    def difference(self, name: str, words: str) -> str:
        """Return what is said of a field that differs from what the moves say."""
        del words
        what = "the jobs in service" if name in ("counts", "totals", "jobs") else name
        return f"has changed {what}, expected changes by {self.tools} alone"

    @classmethod
    def impossible(cls, state: State) -> str | None:
        """Return what is wrong with what a policy may change without a tool, None if nothing."""
        return "left slots below 0" if (state.slots < 0).any() else None

    def _call(self, name: str, state: State, *arguments: Any) -> Any:
        rows = int(state.done[MOVES])
        expected = self._common(*(getattr(state, field).copy() for field in self.fields))
        try:
            # compiled code raises where something is divided by zero, and lets whole numbers overflow
            with np.errstate(divide="raise", over="ignore", invalid="ignore"):
                answer = self._functions[name](state, *arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            where = place_to_blame(getattr(self.policy, name), error)
            raise self._error(where, name, words_of_error(error, state), state) from error
        if complaint := self._wrong_change(state, rows, expected):
            raise self.refuse(name, state, complaint)
        return answer

    def _wrong_change(self, state: State, rows: int, expected: State) -> str | None:
        """Return what a call has changed beside what its moves say, None if nothing."""
        if not rows <= state.done[MOVES] <= len(state.moves) or (state.done < 0).any():
            return f"left done = {state.done.tolist()}, expected the rows of moves and no less than 0"
        for row in state.moves[rows : state.done[MOVES]].tolist():
            try:
                self.follow(expected, *row)
            except PolicyError as error:
                return f"has written the row {row} into moves: {error}"
        for name in self.fields:
            words = first_difference(getattr(state, name), getattr(expected, name))
            if name not in self.free_fields and words is not None:
                return self.difference(name, words)
        return self.impossible(state)

    def _error(self, where: str, name: str, complaint: str, state: State) -> AuthorError:
        words = complaint if complaint.startswith((":", " ")) else f" {complaint}"
        if self.now is None:
            at = f"{self._event}, {self.contents(state)}"
        else:
            at = f"{self.clock} {self.now[0]:.6g}, {self._event}"
        return AuthorError("policy", f"{where}: {name} of {self.policy.name}{words} ({at})")

    # Between two parts of a run, compiled or not.

    def remember(self, setting: Any, state: State) -> None:
        """Take over what never changes from a state as it was prepared."""
        self._setting = setting
        self._constants = {name: getattr(state, name).copy() for name in self.constants}

    @abstractmethod
    def count(self, state: State, measures: Measures) -> None:
        """Write down how many jobs there are as a part of the run begins, for `checks` to go on from."""

    @abstractmethod
    def expected(self, state: State, jobs: Any, measures: Measures) -> dict[str, Any]:
        """Return what fields of the state must be, by the loop's own lists."""

    @abstractmethod
    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers hold more than there is room for."""

    def complaint(self, state: State, jobs: Any, measures: Measures) -> str | None:
        """Return in which field a state differs from the loop's own lists, None if it agrees with them."""
        if state.done[MOVES] != 0:
            return f"left done[MOVES] = {state.done[MOVES]}, expected rows that move, stop, start or begin have written"
        if (measures.reassigned < 0).any():
            return "left done[REASSIGNED] below 0, expected the number of servers reassigned"
        for name, value in (self._constants | self.expected(state, jobs, measures)).items():
            if (difference := first_difference(getattr(state, name), value)) is not None:
                return f"left {name}{difference}"
        for server in np.flatnonzero(self.overfull(state))[:1].tolist():
            return f"left server {server + 1} (index {server}) with more jobs than it has room for"
        return None


def _shown(value: Any) -> str:
    """Return an author's value as a message shows it."""
    try:
        text = repr(value)
    except Exception:
        return "an object without a text"
    return text if len(text) <= 80 else f"{text[:77]}..."


@step
def note_and_count(measures: Measures, kind: int, what: int, server: int, other: int) -> None:
    """Count the jobs inside beside what `fluid.simulation.measures.note` does, for which it stands.

    In a loss system no START is noted, so that the jobs that came stay in the first row.
    """
    if kind == ARRIVAL:
        measures.inside[WAITING, what] += 1
    elif kind == START:
        measures.inside[WAITING, what] -= 1
        measures.inside[SERVED, what] += 1
    elif kind in (DEPARTURE, PREEMPTION):
        measures.inside[SERVED, what] -= 1
    write_note(measures, kind, what, server, other)


class TypedGuard(Guard):
    """What is checked where jobs have types: in loss systems and in queues in continuous time."""

    constants = ("demands", "generators", "spans", "pool")
    lengths: ClassVar[Mapping[str, Callable[[State], bool]]] = {
        "moves": lambda state: state.moves.ndim == 2 and state.moves.shape[1] == 3 and len(state.moves) > 0,
        "clocks": lambda state: state.clocks.ndim == 1,
    }
    make_empty: ClassVar[Callable[..., dict[str, NDArray[Any]]]]  # called as `maker` says
    _fits, _put, _take = (staticmethod(plain(tool)) for tool in (fits, put, take))

    @classmethod
    def empty(cls, setting: Any, state: State) -> dict[str, NDArray[Any]]:
        """Return the common part of an empty system, with resources where the state holds them."""
        return cls.make_empty(setting, resources=bool(state.free.size or state.generators.size), most_moves=1)

    def fits(self, state: State, server: int, job_type: int) -> bool:
        """Return whether a server has free capacity for a job."""
        return bool(self._fits(state, server, job_type))

    def remember(self, setting: Any, state: State) -> None:
        """Take over the constants, and the capacity of each server."""
        super().remember(setting, state)
        self._capacity = state.free + state.counts.astype(np.int64) @ state.demands

    def count(self, state: State, measures: Measures) -> None:
        """Count the jobs in service."""
        measures.inside[WAITING] = 0
        measures.inside[SERVED] = state.totals

    @abstractmethod
    def in_service(self, state: State, jobs: Any) -> NDArray[np.int64]:
        """Return the jobs in service by server and type, as the loop has them in its own lists."""

    def expected(self, state: State, jobs: Any, measures: Measures) -> dict[str, Any]:
        """Return the jobs in service, and what they leave free."""
        del measures
        counts = self.in_service(state, jobs)
        free = self._capacity - counts @ self._constants["demands"]
        return {"counts": counts, "totals": counts.sum(axis=0), "free": free}

    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers hold no configuration of their pool."""
        rows, _, inverse = unique_rows(np.column_stack([self._constants["pool"], state.counts]))
        spaces = [pool.space for pool in self._setting.instance.pools]
        return ~np.array([spaces[pool].holds(contents) for pool, *contents in rows.tolist()])[inverse]
