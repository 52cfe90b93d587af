"""A loop under a policy, as Python or compiled, on the same path.

A run begins as Python and goes on compiled at an event boundary. Runs of few events end before; where the runs of a
process expect many (`COMPILED_FROM`), the loop is compiled before the next one begins.

An author's policy (`fluid.simulation.authors`) runs its first events as Python, where each of its calls is checked.
Compiled, every index of its run is checked, and after each part the state is compared with the loop's own lists. A part
that fails is run once more as Python, from a copy of its beginning, so that the message names the event. What numba
cannot compile runs as Python, which a line on stderr says once in a process.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache, cached_property
from typing import Any, cast

from fluid.simulation.authors import (
    AuthorError,
    Guard,
    by_author,
    guard_of,
    place_of,
    words_of_error,
    written_by_author,
)
from fluid.simulation.loop import Function, observe
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import PolicyError, State
from theory.compiled import bound, is_off, is_stored, plain, result_type
from theory.reached import source_of

COMPILED_FROM, AUTHORS_COMPILED_FROM = 30_000, 8_000
"""Events, expected of a policy's runs in a process, from which on the next one is compiled: of packproof's policies and
of an author's. As Python an event takes 20 to 60 microseconds (dynamic reservation 270), and 230 or more where each
call is checked. To compile a loop takes 5 to 30 s, once on a machine."""

LOADED_FROM = 3_000
"""The same where machine code is stored: to load it takes 0.5 s."""

WATCHED_AS_PYTHON = 300
"""First events of an author's policy in a process, which run as Python: at 0.2 to 0.5 ms each."""

PART = 20_000
"""Events of an author's policy between two looks at the state: a part that fails takes about 5 s as Python."""

Parts = tuple[tuple[str, Function], ...]


class Runner:
    """A loop under a policy, to be called as ``run(*inputs, most)``.

    `parts` are the model's functions that the loop names, and `types` the names of the types in messages. `watch`
    stands for `fluid.simulation.loop.observe`; the loop then runs as Python, as it does with `python`. `events` are
    those that are expected.
    """

    def __init__(
        self,
        policy: Policy,
        loop: Function,
        parts: Mapping[str, Function],
        *,
        events: float,
        python: bool = False,
        watch: Function | None = None,
        types: Sequence[str] = (),
    ) -> None:
        guard = guard_of(policy)
        self.policy, self._loop, self._parts, self._names = policy, loop, dict(parts), guard.called
        self.watch = watch or observe
        self.guard: Guard | None = None
        if by_author(policy):
            self.guard = guard(policy, types)
        plain_functions = {name: getattr(policy, name) for name in guard.called}
        self.functions: dict[str, Function] = self.guard.functions if self.guard else plain_functions
        self._key = (policy, loop, tuple(parts.items()))
        self._compiles = watch is None and not python
        self._python_left = self._python_first(0.0 if python else events)
        """Events that still are to run as Python before the loop is compiled."""
        self._loop_at_hand: Function | None = None

    def _python_first(self, events: float) -> float:
        """Return how many events run as Python before the loop is compiled: if the run is short, more than it has."""
        is_new = self._key not in _EXPECTED
        _EXPECTED[self._key] += events
        expected = _EXPECTED[self._key]
        enough = COMPILED_FROM if self.guard is None else AUTHORS_COMPILED_FROM
        if expected >= enough or (expected >= LOADED_FROM and self._is_stored()):
            return WATCHED_AS_PYTHON if self.guard is not None and is_new else 0
        return 2 * enough  # by then more has happened than was expected

    def _is_stored(self) -> bool:
        loops = [_bound_loop(*self._key)] if self.guard is None else _checked_loops(*self._key)
        return not is_off() and any(map(is_stored, loops))

    @cached_property
    def _python(self) -> Function:
        """The loop as Python."""
        checks = {} if self.guard is None else dict(self.guard.checks)
        watch = {} if self.watch is observe else {"observe": self.watch}
        return plain(self._loop, **self.functions, **(checks | self._parts | watch))

    @property
    def is_python(self) -> bool:
        """Whether what runs next runs as Python."""
        return not self._compiles or self._python_left > 0

    def begin(self, setting: Any, state: State) -> None:
        """Let the guard of an author's policy remember what never changes."""
        if self.guard is not None:
            self.guard.remember(setting, state)

    def ready(self, *inputs: Any) -> None:
        """Compile the loop for these inputs, if what runs next runs compiled; nothing runs."""
        if not self.is_python and self._loop_at_hand is None:
            self._loop_at_hand = None if is_off() else self._compiled(inputs)
            self._compiles = self._loop_at_hand is not None

    def __call__(self, *arguments: Any) -> int:
        """Run the loop; the last argument says how many events at most."""
        *inputs, most = arguments
        self.ready(*inputs)
        if not self.is_python and self._loop_at_hand is not None:
            return self._watched(self._loop_at_hand, inputs, most)
        if not self._compiles:
            return self._part(self._python, inputs, most)
        events = inputs[3].events
        before = int(events[0])
        status = self._part(self._python, inputs, min(most, int(self._python_left)))
        self._python_left -= int(events[0]) - before
        return status

    def _compiled(self, inputs: Sequence[Any]) -> Function | None:
        """Return the compiled loop, None where numba cannot compile the author's functions."""
        if self.guard is None:
            run = _bound_loop(*self._key)
            run(*inputs, 0)  # compiles, and runs nothing
            return run
        key = (self._key, tuple((array.dtype.char, array.ndim) for array in inputs[0]))
        if key not in _LOOPS:
            _LOOPS[key] = _compiled_for_author(self._key, self._names, inputs)
        return _LOOPS[key]

    def _watched(self, compiled: Function, inputs: Sequence[Any], most: int) -> int:
        """Run a part compiled; of an author's policy a part that fails is run once more, as Python."""
        if self.guard is None:
            return int(compiled(*inputs, most))
        before, most = deepcopy(inputs), min(most, PART)
        try:
            return self._part(compiled, inputs, most)
        except Exception as error:
            self._part(self._python, before, most)
            if isinstance(error, AuthorError):  # as Python nothing is wrong with the part
                raise
            raise self._worded(error, inputs[0]) from error

    def _part(self, run: Function, inputs: Sequence[Any], most: int) -> int:
        """Run a part; of an author's policy, look at what it leaves behind."""
        if self.guard is None:
            return int(run(*inputs, most))
        state, jobs, _, measures = inputs[:4]
        self.guard.now = next(part.now for part in inputs if hasattr(part, "now"))
        self.guard.count(state, measures)
        try:
            status = int(run(*inputs, most))
        except PolicyError as error:  # what the loop itself complains of
            raise self._worded(error, state) from error
        if complaint := self.guard.complaint(state, jobs, measures):
            raise self._worded(PolicyError(complaint), state)
        return status

    def refused(self, name: str, state: State, complaint: str) -> Exception:
        """Return the error of a policy that does what it must not."""
        if self.guard is None:
            return PolicyError(self.policy.name, f"{complaint}")
        return self.guard.refuse(name, state, complaint)

    def _worded(self, error: Exception, state: State) -> Exception:
        """Return the one line about an error that does not come out of a call of the author's functions."""
        assert self.guard is not None
        if isinstance(error, PolicyError) and error.place in self._names:
            return self.guard.refuse(error.place, state, error.problem)
        words = str(error) if isinstance(error, PolicyError) else words_of_error(error)
        return self.guard.refuse("refresh", state, words)


_EXPECTED: defaultdict[Any, float] = defaultdict(float)
"""Events that runs of this process have expected, by policies with their loops."""

_LOOPS: dict[Any, Function | None] = {}
"""Compiled loops of authors' policies in this process, by policy, loop and types of the state; None without one."""


@cache
def _bound_loop(policy: Policy, loop: Function, parts: Parts) -> Function:
    functions = {name: getattr(policy, name) for name in guard_of(policy).called} | dict(parts)
    return bound(loop, checked=False, **functions)


def _compiled_for_author(key: Any, names: Sequence[str], inputs: Sequence[Any]) -> Function | None:
    """Compile a loop under an author's policy, or write the line that says why it runs as Python.

    The author's functions are compiled alone first, which takes a tenth of the time that the loop over them takes.
    """
    policy, loops = key[0], _checked_loops(*key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's, about what it does not like in the author's code
        name, allocating = "all", False
        try:
            run = next(filter(is_stored, loops), None)
            if run is None:
                for name in names:
                    if written_by_author(getattr(policy, name)):
                        allocating |= _allocates(policy, name, inputs)
                name, run = "all", loops[allocating]
            run(*inputs, 0)  # compiles or loads, and runs nothing
        except Exception as error:
            print(_line_about(policy, name, error), file=sys.stderr)
            return None
    return run


def _allocates(policy: Policy, name: str, inputs: Sequence[Any]) -> bool:
    """Compile a function of an author alone; return whether it makes arrays, and raise what numba says of it."""
    from numba import int64, typeof
    from numba.core import types

    state, draws, kinds = typeof(inputs[0]), typeof(inputs[-1]), cast(Any, types)  # its stubs lack some of them
    arguments = {
        "place": (state, int64, draws),
        "depart": (state, int64, int64, draws),
        "refresh": (state, draws),
        "ring": (state, int64, draws),
    }[name]
    results: dict[str, tuple[Any, str]] = {
        "place": ((kinds.Integer, kinds.Boolean, kinds.Optional), "a whole number"),
        "refresh": ((kinds.Boolean, kinds.Number, kinds.Optional), "True or False"),
    }
    function, allocates = getattr(policy, name), False
    try:
        result = result_type(function, *arguments)
    except Exception:
        allocates = True
        result = result_type(function, *arguments, allocating=True)
    wanted, words = results.get(name, (kinds.Type, ""))
    if not isinstance(result, wanted):
        raise TypeError(f"it returns {result}, expected {words}")
    return allocates


@cache
def _checked_loops(policy: Policy, loop: Function, parts: Parts) -> tuple[Function, Function]:
    """Return the loop without a run time, which makes no arrays, and with it."""
    guard = guard_of(policy)
    functions = {name: getattr(policy, name) for name in guard.called}
    names = functions | dict(guard.checks) | dict(parts)
    without, allocating = (bound(loop, checked=True, allocating=way, **names) for way in (False, True))
    return without, allocating


def _line_about(policy: Policy, name: str, error: Exception) -> str:
    function = getattr(policy, name, policy.place)
    place = getattr(error, "loc", None)  # of numba's errors, where they know it
    code = getattr(source_of(function), "__code__", None)
    line = place.line if place is not None and code is not None and place.filename == code.co_filename else None
    reason = str(error) if isinstance(error, TypeError) else type(error).__name__
    where = place_of(function, line)
    return f"{where}: {policy.name} runs as Python, numba cannot compile {name}: {reason}"
