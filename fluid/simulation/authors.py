"""Policies that authors bring: which ones they are, and what a model asks of them.

A policy is an author's unless packproof has it as it is. It is watched in two ways. Run as Python, each call of its
functions goes through a `fluid.simulation.guard.Guard`, which compares the state with what the policy's moves say.
Compiled, every index of the run is looked at (`theory.compiled.bound`), tools look before they write, the loop looks
at the moves that it carries out, and between two parts of a run the state is compared with the loop's own lists
(`Books`). What goes wrong ends in one line with file, line, function and event (`fluid.simulation.blame`).

What an author's policy may do differs by model: each model has its `Rules`, in the file ``authors.py`` of its folder.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fluid.simulation.blame import written_by_author
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import MOVES, State

Function = Callable[..., Any]


class Books(ABC):
    """What the loop knows of a system by itself: the state of an author's policy agrees with it between two events.

    Parameters
    ----------
    setting : Setting
    state : State
        As it was prepared: what nobody may change is taken from it.
    """

    constants: ClassVar[tuple[str, ...]]
    """Fields that nobody changes."""

    def __init__(self, setting: Any, state: State) -> None:
        self._setting = setting
        self._constants = {name: getattr(state, name).copy() for name in self.constants}

    @abstractmethod
    def open(self, state: State, measures: Any) -> None:
        """Write down how many jobs there are as a part of the run begins, for the checks of the loop to go on from."""

    @abstractmethod
    def expected(self, state: State, jobs: Any, measures: Any) -> dict[str, Any]:
        """Return what fields of the state must be, by the loop's own lists."""

    @abstractmethod
    def overfull(self, state: State) -> NDArray[Any]:
        """Return which servers hold more than there is room for."""

    def complaint(self, state: State, jobs: Any, measures: Any) -> str | None:
        """Return in which field a state is not as it must be, None if it is."""
        if state.done[MOVES] != 0:
            return f"left done[MOVES] = {state.done[MOVES]}, expected rows that move, stop, start or begin have written"
        if (measures.reassigned < 0).any():
            return "left done[REASSIGNED] below 0, expected the number of servers reassigned"
        for name, value in (self._constants | self.expected(state, jobs, measures)).items():
            if (difference := first_difference(getattr(state, name), value)) is not None:
                return f"left {name}{difference}"
        overfull = np.flatnonzero(self.overfull(state))
        return (
            f"left server {overfull[0] + 1} (index {overfull[0]}) with more jobs than it has room for"
            if len(overfull)
            else None
        )


def first_difference(array: NDArray[Any], expected: NDArray[Any]) -> str | None:
    """Return ``[place] = value, expected value`` where an array first differs from another, None if it does not.

    Examples
    --------
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


@dataclass(frozen=True)
class Rules:
    """What a model asks of the policies that authors bring.

    Attributes
    ----------
    fields : tuple of str
        What the state holds, beside the policy's own arrays.
    maker : str
        The function that makes these fields.
    refusal : callable
        ``refusal(setting, state)``: what is wrong with the fields of a state that was prepared, None if nothing.
    guard : type
        The `fluid.simulation.guard.Guard` of the model.
    books : type
        The `Books` of the model.
    checks : mapping
        What stands for names of the event loop; where it names parts of the model, it gets those of the engine.
    functions : tuple of str
        The policy's functions that the event loop calls.
    tools : callable
        ``tools(policy)``: what stands for tools of packproof, wherever an author's functions reach them.
    """

    fields: tuple[str, ...]
    maker: str
    refusal: Callable[[Any, State], str | None]
    guard: Any
    books: type[Books]
    checks: Mapping[str, Function]
    functions: tuple[str, ...] = ("place", "depart", "refresh")
    tools: Callable[[Policy], dict[Function, Function]] = field(default=lambda _: {})


def rules_of(policy: Policy) -> Rules:
    """Return the rules of a policy's model, from the folder of that name."""
    found: Rules = import_module(f"fluid.simulation.{policy.model}.authors").RULES
    return found


def by_author(policy: Policy) -> bool:
    """Return whether a policy is an author's: packproof has none that is equal to it where it is prepared.

    An author may well put functions of packproof together that do not suit each other.
    """
    functions = (policy.prepare, policy.place, policy.depart, policy.refresh, policy.ring, policy.answer)
    if any(written_by_author(function) for function in functions):
        return True
    home = sys.modules.get(getattr(policy.prepare, "__module__", ""))
    return not any(isinstance(value, Policy) and value == policy for value in vars(home).values()) if home else True
