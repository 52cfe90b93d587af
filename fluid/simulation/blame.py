"""Whose code a fault comes from, and the words for it: an author's function is named with its file and line.

An exception that comes out of the author's code, or out of a tool of packproof that the author has called, is the
author's. Exceptions from other code of packproof stay what they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, cast

from fluid.simulation.state import PolicyError, State
from theory.compiled import OURS, source_of
from theory.files.code import text_of

_HOME = Path(__file__).resolve().parent
_TOOLS = (
    *(str(_HOME / f"{name}.py") for name in ("policy_interface", "state", "options", "prepared")),
    *(str(_HOME / "structures" / f"{name}.py") for name in ("bits", "bitset", "trees")),
    str(_HOME / "slotted" / "state.py"),
    str(_HOME.parent / "chains" / "loss.py"),
    str(_HOME.parents[1] / "theory" / "compiled" / "code_cache.py"),  # `called_as`
)
"""Files whose functions an author calls: exceptions raised there are attributed to the author's code."""


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
    near = os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file
    return f"{near}:{line}"


def blamed(function: Callable[..., Any], error: BaseException) -> str | None:
    """Return ``FILE:LINE`` of an author's function that an exception comes from; None where it comes from elsewhere.

    A function of packproof in a policy of an author's is named itself: it may not suit the other functions.
    """
    if not written_by_author(function):
        return place_of(function)
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
    if any(name.startswith(OURS) and not name.startswith(_TOOLS) for name in after) and line is not None:
        return None
    return place_of(function, line)


def worded(error: BaseException, state: State | None = None) -> str:
    """Return an exception of an author's function in a few words."""
    if isinstance(error, PolicyError):
        return f": {error}"
    if isinstance(error, SystemExit):
        return " called sys.exit, expected it to return"
    words = f" raised {text_of(error)}"
    if state is not None and isinstance(error, AttributeError) and error.obj is state:
        words += f"; the state has {', '.join(cast(Any, state)._fields)}"
    return words
