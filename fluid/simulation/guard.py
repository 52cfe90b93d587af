"""The functions of a policy as Python, each call of an author's checked.

A `Guard` knows the event, checks that an answer is what `fluid.simulation.policy_interface` asks for, and makes the
moves of a call once more on a copy of the state from before it: then no field of the common part may differ. It does
not matter how the author's code came to change it. While that code runs, compiled functions of packproof run as Python.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.authors import by_author, first_difference, rules_of
from fluid.simulation.blame import blamed, place_of, worded
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import MOVES, PolicyError, State
from fluid.simulation.state_types import type_of
from theory.errors import InputError
from theory.inside import called_as
from theory.jit import Tools, plain

Function = Callable[..., Any]


def python_functions(policy: Policy, names: Sequence[str] = ()) -> Guard | Bare:
    """Return the functions of a policy as Python, as attributes; those of an author behind a guard."""
    if not by_author(policy):
        return Bare(policy)
    guard: Guard = rules_of(policy).guard(policy, names)
    return guard


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


def form_as_python(tools: Tools) -> Callable[[Function], Function]:
    """Return what makes the Python form of a compiled function, with tools that stand for others."""
    return cache(lambda function: plain(function, tools))


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

    policys_own: tuple[str, ...] = ("moves", "done", "slots")
    """Fields of the common part that a policy may change without a tool."""

    def __init__(self, policy: Policy, names: Sequence[str] = ()) -> None:
        self.policy = policy
        self.now: NDArray[np.float64] | None = None
        self._names = names
        self._event = "before the first event"
        rules = rules_of(policy)
        tools = rules.tools(policy)
        self._as_python = form_as_python(tools)
        self._functions = {name: plain(getattr(policy, name), tools) for name in ("place", "depart", "refresh", "ring")}
        self._fields = tuple(name for name in rules.fields if name not in self.policys_own)
        self._common = type_of(rules.fields)

    def functions(self, *names: str) -> dict[str, Function]:
        """Return the functions of these names."""
        return {name: getattr(self, name) for name in names}

    def place(self, state: State, job_type: int, draws: Any) -> int:
        """Ask for a server, and check that the job fits there."""
        self._event = f"arrival of {self.kind(state, job_type)}"
        server = self._call("place", state, job_type, draws)
        if isinstance(server, bool | np.bool_) or not isinstance(server, int | np.integer):
            self._fail("place", state, f"returned {_shown(server)} ({type(server).__name__}), {self._expected(state)}")
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
            self._fail("refresh", state, f"returned {_shown(again)}, expected True or False")
        return bool(again)

    def refuse(self, name: str, state: State, complaint: str) -> InputError:
        """Return the one line about a function of the policy at the event as it is."""
        where = place_of(getattr(self.policy, name))
        return self._error(where, name, complaint.removeprefix(f"{name}: "), state)

    # What differs by model.

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

    def difference(self, state: State, name: str, words: str) -> str:
        """Return what is said of a field that differs from what the moves say."""
        del state, words
        what = "the jobs in service" if name in ("counts", "totals", "jobs") else name
        return f"has changed {what}, expected changes by {self.starts} alone"

    def impossible(self, state: State) -> str | None:
        """Return what else is wrong with what a policy may change without a tool, None if nothing."""
        return "left slots below 0" if (state.slots < 0).any() else None

    def _call(self, name: str, state: State, *arguments: Any) -> Any:
        rows = int(state.done[MOVES])
        expected = self._common(*(getattr(state, field).copy() for field in self._common._fields))
        try:
            # compiled code raises where something is divided by zero, and lets whole numbers overflow
            with called_as(self._as_python), np.errstate(divide="raise", over="ignore", invalid="ignore"):
                answer = self._functions[name](state, *arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            where = blamed(getattr(self.policy, name), error)
            if where is None:
                raise
            raise self._error(where, name, worded(error, state), state) from None
        self._compare(name, state, rows, expected)
        return answer

    def _compare(self, name: str, state: State, rows: int, expected: State) -> None:
        """Check that a call has changed what its moves say, and nothing else."""
        if not rows <= state.done[MOVES] <= len(state.moves) or (state.done < 0).any():
            self._fail(name, state, f"left done = {state.done.tolist()}, expected the rows of moves and no less than 0")
        for row in state.moves[rows : state.done[MOVES]].tolist():
            try:
                self.follow(expected, *row)
            except PolicyError as error:
                self._fail(name, state, f"has written the row {row} into moves: {error}")
        for field in self._fields:
            words = first_difference(getattr(state, field), getattr(expected, field))
            if words is not None:
                self._fail(name, state, self.difference(state, field, words))
        if complaint := self.impossible(state):
            self._fail(name, state, complaint)

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


def _shown(value: Any) -> str:
    """Return an author's value as a message shows it."""
    try:
        text = repr(value)
    except Exception:
        return "an object without a text"
    return text if len(text) <= 80 else f"{text[:77]}..."
