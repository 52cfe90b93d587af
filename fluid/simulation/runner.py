"""A loop under a policy: compiled where numba can, as Python where it cannot, on the same path.

A policy that comes with packproof is bound to the loop and compiled, by another process where the run need not wait
for it (`fluid.simulation.compiling`). With an author's (see `fluid.simulation.authors`)

- the first events of a system of a new size are rehearsed on a copy as Python, where all that it does is looked at;
- loop and functions are compiled so that every index is looked at; what numba cannot compile runs as Python, which a
  line on stderr says once in a process;
- after each part of the run the state is compared with the loop's own lists;
- if compiled code raises, or leaves a state that does not agree with them, the part is halved until the event is found,
  from a copy of the system taken before it, and that event runs as Python, so that the message names it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from functools import cache, cached_property
from io import StringIO
from time import perf_counter
from typing import Any

from fluid.simulation.authors import Guard, by_author, guard_of, place_of, words_of_error, written_by_author
from fluid.simulation.compiling import PART, Compilation, compiling_alone
from fluid.simulation.loop import observe
from fluid.simulation.policy_interface import Policy
from fluid.simulation.state import ASKS, PolicyError
from theory.compiled import bound, checked_copy, plain, source_of
from theory.errors import InputError

REHEARSED = 64
"""Events rehearsed at most."""

REHEARSAL = 0.2
"""Seconds that the rehearsal of more than one event may take."""

Function = Callable[..., Any]


class Runner:
    """A loop under a policy, to be called as ``run(*inputs, most)``.

    `parts` are the model's functions that the loop names, and `types` the names of the types in messages. `watch`
    stands for `fluid.simulation.loop.observe`; there is no compiled form of it, so that the loop then runs as Python.
    """

    def __init__(
        self,
        policy: Policy,
        loop: Function,
        parts: Mapping[str, Function],
        *,
        watch: Function | None = None,
        compiled: bool = True,
        types: Sequence[str] = (),
        setting: Any = None,
    ) -> None:
        from numba import config

        guard = guard_of(policy)
        self.policy, self._loop, self._names = policy, loop, guard.called
        self.watch = watch or observe
        self.guard: Guard | None = guard(policy, types) if by_author(policy) else None
        self.functions: dict[str, Function] = (
            self.guard.functions if self.guard else {name: getattr(policy, name) for name in self._names}
        )
        self._parts = dict(_counting_parts(policy, tuple(parts.items())) if self.guard else parts)
        self._setting = setting
        self._compiles = compiled and watch is None and not config.DISABLE_JIT
        self._run = self._as_python
        self._awaited: tuple[Compilation, Function] | None = None

    @cached_property
    def _plain(self) -> Function:
        """The loop as Python; most runs are compiled and never ask for it."""
        watch = {} if self.watch is observe else {"observe": self.watch}
        return plain(self._loop, **self.functions, **(self._parts | watch))

    @property
    def is_python(self) -> bool:
        """Whether what runs next runs as Python."""
        return self._run == self._as_python

    def ready(self, *inputs: Any) -> None:
        """Rehearse and compile, or begin as Python, with the inputs of the first call; nothing in them changes."""
        if self.guard is not None:
            self.guard.remember(self._setting, inputs[0])
        if not self._compiles:
            return
        parts = tuple(self._parts.items())
        if self.guard is not None:
            self._rehearse(inputs)
            self._tell_time(inputs)
            run = _bound_for_author(self.policy, self._loop, self._names, parts)
        else:
            run = _bound_loop(self.policy, self._loop, self._names, parts)
        # the arguments of a policy's loop have the same types in every run: what one has loaded serves all later runs
        if run is not None and not run.overloads:
            awaited = Compilation.needed(run, inputs)
            if awaited is not None:
                self._awaited = awaited, run
                return
        self._compile(run, inputs)

    def _compile(self, run: Any, inputs: tuple[Any, ...]) -> None:
        """Compile a loop, or load it, and go on with it; a loop under an author's policy may stay as Python."""
        self._awaited = None
        if self.guard is not None:
            checked = _compiled_for_author(self.policy, self._loop, self._names, tuple(self._parts.items()), inputs)
            self._run = self._as_python if checked is None else self._watched(checked)
            return
        if not run.overloads:
            with compiling_alone(run):
                run(*inputs, 0)  # compiles, and runs nothing
        self._run = run

    def __call__(self, *arguments: Any) -> int:
        """Run the loop; the last argument says how many events at most."""
        if self._awaited is None:
            return self._run(*arguments)
        # some events as Python, and a look whether the loop has been compiled
        begin = perf_counter()
        status = self._as_python(*arguments[:-1], min(arguments[-1], PART))
        compilation, run = self._awaited
        if compilation.is_over(perf_counter() - begin):
            self._compile(run, arguments[:-1])
        return status

    def refused(self, name: str, state: Any, complaint: str) -> Exception:
        """Return the error of a policy that does what it must not."""
        if self.guard is None:
            return PolicyError(f"{self.policy.name}: {complaint}")
        return self.guard.refuse(name, state, complaint)

    def _tell_time(self, inputs: tuple[Any, ...]) -> None:
        """Let messages tell the time of these inputs."""
        assert self.guard is not None
        self.guard.now = next(part.now for part in inputs if hasattr(part, "now"))

    def _as_python(self, *arguments: Any) -> int:
        if self.guard is None:
            return self._plain(*arguments)  # type: ignore[no-any-return]
        self._tell_time(arguments)
        try:
            return self._part(self._plain, *arguments)
        except PolicyError as error:  # what the loop itself complains of
            raise self._worded(error, arguments[0]) from None

    def _part(self, run: Function, *arguments: Any) -> int:
        """Run a part under an author's policy, and look what it leaves behind."""
        assert self.guard is not None
        state, jobs, _, measures = arguments[:4]
        self.guard.count(state, measures)
        status: int = run(*arguments)
        if complaint := self.guard.complaint(state, jobs, measures):
            raise PolicyError(complaint)
        return status

    def _worded(self, error: BaseException, state: Any) -> Exception:
        """Return the one line about an error that does not come out of the author's own frames."""
        assert self.guard is not None
        name, _, complaint = str(error).partition(": ")
        if isinstance(error, PolicyError) and name in self._names:
            return self.guard.refuse(name, state, complaint)
        words = str(error) if isinstance(error, PolicyError) else words_of_error(error)
        return self.guard.refuse("refresh", state, words)

    def _rehearse(self, inputs: tuple[Any, ...]) -> None:
        key = (self.policy, self._loop, *(array.shape for array in inputs[0]))
        if key in _REHEARSED:
            return
        trial = deepcopy(inputs)
        end = perf_counter() + REHEARSAL
        with redirect_stdout(StringIO()):  # what the author prints comes with the run itself
            for _ in range(REHEARSED):
                if self._as_python(*trial, 1) or trial[0].done[ASKS] or perf_counter() > end:
                    break
        _REHEARSED.add(key)

    def _watched(self, run: Function) -> Function:
        def watched(*arguments: Any) -> int:
            before = deepcopy(arguments[:-1])
            try:
                return self._part(run, *arguments)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._find(run, before, arguments[-1])
                raise self._worded(error, arguments[0]) from None

        return watched

    def _find(self, run: Function, inputs: tuple[Any, ...], most: int) -> None:
        """Run as Python the first event of a part at which the compiled loop raises, or leaves what it must not."""
        # the first `most` events from `inputs` on hold it
        while most > 1:
            half = most // 2
            trial = deepcopy(inputs)
            try:
                self._part(run, *trial, half)
            except KeyboardInterrupt:
                raise
            except BaseException:
                most = half
            else:
                inputs, most = trial, most - half
        try:
            self._as_python(*inputs, 1)
        except InputError:
            raise
        except Exception:
            return  # the loop stumbles over what was left behind; the error that was found first says it


_REHEARSED: set[tuple[Any, ...]] = set()
"""What has been rehearsed in this process: policies and loops with the shapes of a state."""

_NOT_COMPILED: set[tuple[Any, ...]] = set()
"""Policies, loops, and whether the functions may make arrays: what numba could not compile in this process."""

Parts = tuple[tuple[str, Function], ...]


@cache
def _counting_parts(policy: Policy, parts: Parts) -> Mapping[str, Function]:
    """Return the parts of a loop that counts jobs for itself, and what it counts with."""
    checks = guard_of(policy).checks
    return {**checks, **{name: bound(part, **checks) for name, part in parts}}


@cache
def _bound_loop(policy: Policy, loop: Function, names: tuple[str, ...], parts: Parts) -> Any:
    return bound(loop, **{name: getattr(policy, name) for name in names}, **dict(parts))


@cache
def _bound_checked(policy: Policy, loop: Function, names: tuple[str, ...], parts: Parts, allocating: bool) -> Any:
    functions = {name: checked_copy(getattr(policy, name), allocating=allocating) for name in names}
    return bound(loop, **functions, **dict(parts))


def _bound_for_author(policy: Policy, loop: Function, names: tuple[str, ...], parts: Parts) -> Any:
    """Return the loop to be compiled beside the run, None where that has failed or cannot begin."""
    if (policy, loop, parts, False) in _NOT_COMPILED:
        return None
    try:
        return _bound_checked(policy, loop, names, parts, False)
    except Exception:  # `_compiled_for_author` says what is wrong with the functions
        return None


def _compiled_for_author(
    policy: Policy, loop: Function, names: tuple[str, ...], parts: Parts, inputs: Any
) -> Function | None:
    """Return the compiled loop, None where numba cannot compile the author's functions: a line says why, once."""
    key, failure = (policy, loop, parts), None
    for allocating in (False, True):
        if (*key, allocating) in _NOT_COMPILED:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numba's, about what it does not like in the author's code
                run: Function = _bound_checked(policy, loop, names, parts, allocating)
                run(*inputs, 0)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _NOT_COMPILED.add((*key, allocating))
            failure = error
        else:
            return run
    if failure is not None:
        print(_reason_not_compiled(policy, names, inputs, failure), file=sys.stderr)
    return None


def _reason_not_compiled(
    policy: Policy, names: tuple[str, ...], inputs: tuple[Any, ...], failure: BaseException
) -> str:
    """Return the line that says which function numba cannot compile, and why."""
    from numba import int64, typeof
    from numba.core import types

    state, draws = typeof(inputs[0]), typeof(inputs[-1])
    arguments = {
        "place": (state, int64, draws),
        "depart": (state, int64, int64, draws),
        "refresh": (state, draws),
        "ring": (state, int64, draws),
    }
    results: dict[str, tuple[Any, str]] = {
        "place": (types.Integer, "a whole number"),
        "refresh": ((types.Boolean, types.Integer), "True or False"),
    }
    for name in names:
        function = getattr(policy, name)
        if not written_by_author(function):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compiled: Any = checked_copy(function, allocating=True)
                compiled.compile(arguments[name])
        except Exception as error:
            return _line_about(policy, name, error)
        wanted, words = results.get(name, (types.Type, ""))
        result = compiled.nopython_signatures[-1].return_type
        if not isinstance(result, wanted):
            return _line_about(policy, name, TypeError(f"it returns {result}, expected {words}"))
    return _line_about(policy, "all", failure)


def _line_about(policy: Policy, name: str, error: BaseException) -> str:
    function = getattr(policy, name, policy.place)
    place = getattr(error, "loc", None)  # of numba's errors, where they know it
    code = getattr(source_of(function), "__code__", None)
    line = place.line if place is not None and code is not None and place.filename == code.co_filename else None
    reason = str(error) if isinstance(error, TypeError) else type(error).__name__
    where = place_of(function, line)
    return f"{where}: {policy.name} runs as Python, numba cannot compile {name}: {reason}"
