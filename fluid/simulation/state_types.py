"""Types of states that every process can make from their names.

Numba keeps compiled code by the types of its arguments, and reads all that it keeps of a function at once: a type that
stands in an author's file, or in a notebook, would be looked for by processes that have never seen it. The states of
authors' policies therefore go by types of this module, one for each tuple of fields.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

_NAME = "State"


@cache
def type_of(fields: tuple[str, ...]) -> Any:
    """Return the type of states with these fields.

    Examples
    --------
    >>> import pickle
    >>> state = type_of(("counts", "own_"))([1], [2])
    >>> pickle.loads(pickle.dumps(state)) == state, state.own_
    (True, [2])
    """
    made = namedtuple(_NAME, fields, module=__name__)  # type: ignore[misc]
    made.__qualname__ = ",".join((_NAME, *fields))
    return made


def __getattr__(name: str) -> Any:
    """Return a type by its name, for what another process stored."""
    head, *fields = name.split(",")
    if head != _NAME or not fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return type_of(tuple(fields))


def known_everywhere(state: Any) -> Any:
    """Return a state, of a type of this module unless its own is packproof's."""
    if type(state).__module__.startswith("fluid."):
        return state
    return type_of(state._fields)(*state)
