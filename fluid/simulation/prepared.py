"""The states that policies prepare: those of an author's are looked at before anything runs on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fluid.simulation.authors import (
    AuthorError,
    Guard,
    by_author,
    guard_of,
    place_of,
    place_to_blame,
    words_of_error,
    written_by_author,
)
from fluid.simulation.policy_interface import Policy
from fluid.simulation.policy_names import read_by
from fluid.simulation.state import State, type_of
from theory.doors import PACKAGE
from theory.errors import ArgumentError, ArgumentTooLargeError, InputError, TooLargeError


def prepared(policy: Policy, setting: Any) -> State:
    """Return ``policy.prepare(setting)``; of an author's policy, check that it is a state.

    An author's error, or a state that is none, ends in one line that names the author's file and line.
    """
    setting = replace(setting, options=read_by(policy, setting.options))
    return _checked_state(policy, setting, policy.prepare, "prepare", setting)


def answered(policy: Policy, setting: Any, state: State) -> State:
    """Return ``policy.answer(setting, state)``, checked likewise."""
    return _checked_state(policy, setting, policy.answer, "answer", setting, state)


def _checked_state(policy: Policy, setting: Any, function: Callable[..., State], name: str, *arguments: Any) -> State:
    is_authors = written_by_author(function)
    try:
        state = function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        # a function of packproof complains of the setting, not of the author
        if not by_author(policy) or (
            isinstance(error, InputError) and (not is_authors or error.table in ("simulation", "policy"))
        ):
            raise
        words = f": {error}" if isinstance(error, InputError) else words_of_error(error)
        problem = f"{place_to_blame(function, error)}: {name} of {policy.name}{words}"
        if isinstance(error, TooLargeError):
            raise ArgumentTooLargeError("policy", problem) from error
        kind = ArgumentError if isinstance(error, InputError) else AuthorError
        raise kind("policy", problem) from error
    if not by_author(policy):
        return state
    guard = guard_of(policy)
    complaint = _refusal(policy.model, guard, state)
    if not complaint and is_authors and name == "prepare":
        complaint = guard.refusal(setting, state)
    if complaint:
        raise AuthorError("policy", f"{place_of(function)}: {name} of {policy.name}: {complaint}")
    return state if type(state).__module__.startswith(f"{PACKAGE}fluid.") else type_of(state._fields)(*state)


def _refusal(model: str, guard: type[Guard], state: Any) -> str | None:
    """Return why a thing cannot be the state of a policy, whatever the model; None if it can."""
    if not isinstance(state, tuple) or not hasattr(state, "_fields"):
        return f"expected a NamedTuple of numpy arrays, got {type(state).__name__}"
    for name, value in zip(state._fields, state, strict=True):
        if type(value) is not np.ndarray or value.dtype.kind not in "biuf" or value.dtype == np.float16:
            kind = f"an array of {value.dtype}" if type(value) is np.ndarray else type(value).__name__
            return f"field {name}: expected a numpy array of numbers, got {kind}"
        if not (value.flags.c_contiguous and value.flags.writeable and value.flags.aligned and value.dtype.isnative):
            return f"field {name}: expected an array of its own, contiguous and not read-only, got a view or a constant"
    for name in guard.fields:
        if name not in state._fields:
            return (
                f"field {name}: missing, expected the fields of model {model}: {', '.join(guard.fields)} "
                f"(made by {guard.maker}, see fluid/simulation/policy_interface.py)"
            )
    for (name, one), (other, two) in combinations(zip(state._fields, state, strict=True), 2):
        if one.size and two.size and np.may_share_memory(one, two):
            return f"field {other}: expected an array of its own, got one that shares its memory with {name}"
    return None
